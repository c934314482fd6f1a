"""What is written is read: rows, curves, arrays, the attempts of one trial, and plain pandas.

A test that asks for `place` is run in a directory and in a bucket; what only a bucket can do is in
test_remote_store.py.
"""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from store_helpers import files, fill_store, holds, make_record, make_row, parquet_files

from sweeps.errors import UnknownTrial
from sweeps.store.row import Record
from sweeps.store.schema import KINDS, SCHEMAS
from sweeps.store.store import Store


def test_a_trial_is_there_when_its_row_is(store):
    assert not store.has_part("abc0")
    store.write(make_record())
    assert holds(store, make_record())
    assert store.outcomes() == {"abc0": "ok"}
    assert store.has_part("abc0")
    (name,) = files(store)
    with store.folder.opened(f"rows/{name}") as source:
        identity = source.identity
    store.folder.remove({f"rows/{name}": identity})
    assert store.rows() == []
    with pytest.raises(UnknownTrial):
        store.curves("abc0")


def test_an_empty_store_has_no_rows(store):
    assert (store.rows(), store.outcomes(), store.compact()) == ([], {}, 0)


def test_a_failed_trial_may_leave_nothing_but_its_row(store):
    store.write(Record(make_row(outcome="error", reason="RuntimeError: ∂ is not defined")))
    assert (store.curves("abc0"), store.arrays("abc0")) == ([], {})
    assert store.row("abc0").reason == "RuntimeError: ∂ is not defined"


def test_a_retry_takes_the_place_of_the_earlier_attempt_and_never_the_other_way(store):
    for attempt in (1, 3, 2):
        store.write(make_record(attempt=attempt))
    assert holds(store, make_record(attempt=3))
    assert len(store.rows()) == 1
    store.compact()
    assert len(files(store)) == 1
    assert holds(store, make_record(attempt=3))


def test_a_failure_never_takes_the_place_of_a_result_of_the_same_attempt(store):
    result, failure = make_record(), Record(make_row(outcome="error", finished_at="2026-01-09"))
    store.write(result)
    store.write(failure)
    for _ in range(2):
        assert holds(store, result)
        assert store.outcomes() == {"abc0": "ok"}
        assert store.ended("abc0", 1) in (result.row, None)  # none once it is compacted
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 1


@pytest.mark.parametrize("compacted", [False, True])
def test_a_result_takes_the_place_of_a_failure_of_the_same_attempt_that_ended_later(store, compacted):
    store.write(Record(make_row(outcome="timeout", finished_at="2026-01-09")))
    store.write(make_record("abc1"))
    if compacted:
        store.compact()
    store.write(make_record())
    for _ in range(2):
        assert holds(store, make_record())
        assert store.outcomes() == {"abc0": "ok", "abc1": "ok"}
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 2


def test_the_failure_of_a_retry_takes_the_place_of_an_earlier_result(store):
    store.write(make_record())
    store.write(make_record(attempt=2, outcome="error"))
    store.compact()
    assert holds(store, make_record(attempt=2, outcome="error"))


def test_a_retry_in_a_directory_overwrites_the_row_of_the_attempt_before(tmp_path):
    store = Store(tmp_path)
    for attempt in (1, 3, 2):
        store.write(make_record(attempt=attempt))
    assert files(store) == ["abc0.parquet"]


def test_a_retry_that_left_no_curves_does_not_show_those_of_the_attempt_before(store):
    store.write(make_record())
    store.write(Record(make_row(attempt=2)))
    assert (store.curves("abc0"), store.arrays("abc0")) == ([], {})
    store.compact()
    assert (store.curves("abc0"), store.arrays("abc0")) == ([], {})


def test_a_trial_is_found_by_the_beginning_of_its_id(store):
    for trial_id in ("abc0", "abc01", "abd2"):
        store.write(Record(make_row(trial_id)))
    assert store.row("abd").trial_id == "abd2"
    assert store.row("abc0").trial_id == "abc0"
    with pytest.raises(UnknownTrial, match="3 trials begin with 'ab': abc0, abc01, abd2"):
        store.row("ab")
    with pytest.raises(UnknownTrial, match="Nearest: abd2"):
        store.row("abe2")
    with pytest.raises(UnknownTrial, match=r"'zzzz', or one that begins so\."):
        store.row("zzzz")
    store.compact()
    assert store.row("abd").trial_id == "abd2"


def test_pandas_reads_the_rows_before_and_after_compaction_and_in_a_mix(tmp_path):
    store = fill_store(tmp_path)
    (tmp_path / "rows" / ".123-abc.tmp").write_bytes(b"half a part")
    (tmp_path / "rows" / ".hidden.parquet").write_bytes(b"half a part")
    ids = [f"t{i:02}" for i in range(5)]
    for change in (lambda: None, store.compact, lambda: store.write(make_record("t99"))):
        change()
        table = pd.read_parquet(tmp_path / "rows")
        assert sorted(table["trial_id"]) == [row.trial_id for row in store.rows()]
        assert set(ids) <= set(table["trial_id"])
        assert json.loads(table["metrics"][0]) == {"loss": 0.5}
    assert store.problems == []


def test_the_schemas_are_what_the_files_have(tmp_path):
    store = fill_store(tmp_path, 2)
    for _ in range(2):
        for kind in KINDS:
            schema = pq.read_schema(tmp_path / kind / files(store, kind)[0])
            assert schema.equals(SCHEMAS[kind])
            assert [column.metadata for column in schema] == [column.metadata for column in SCHEMAS[kind]]
        store.compact()

"""Writing and reading a store: rows, curves, arrays, the attempts of one trial, and plain pandas.

A test with the fixture `store` runs with a directory and with a bucket. Tests of buckets alone are in
test_bucket_store.py.
"""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from facts import raises_with
from store_helpers import files, fill_store, holds, make_record, make_row, parquet_files

from sweeps.errors import AmbiguousTrial, UnknownTrial
from sweeps.store.row import Record
from sweeps.store.schema import KINDS, SCHEMAS
from sweeps.store.store import Store


def test_a_trial_is_stored_exactly_while_its_row_exists(store):
    assert not store.has_part("abc0")
    store.write(make_record())
    assert holds(store, make_record())
    assert store.read_outcomes() == {"abc0": "ok"}
    assert store.has_part("abc0")
    (name,) = files(store)
    with store.folder.open_file(f"rows/{name}") as source:
        identity = source.identity
    store.folder.remove({f"rows/{name}": identity})
    assert store.read_rows() == []
    with pytest.raises(UnknownTrial):
        store.read_curves("abc0")


def test_an_empty_store_has_no_rows(store):
    assert (store.read_rows(), store.read_outcomes(), store.compact()) == ([], {}, 0)


def test_a_failed_trial_may_consist_of_a_row_alone(store):
    store.write(Record(make_row(outcome="error", reason="RuntimeError: ∂ is not defined")))
    assert (store.read_curves("abc0"), store.read_arrays("abc0")) == ([], {})
    assert store.read_row("abc0").reason == "RuntimeError: ∂ is not defined"


def test_a_retry_replaces_the_earlier_attempt_and_never_the_reverse(store):
    for attempt in (1, 3, 2):
        store.write(make_record(attempt=attempt))
    assert holds(store, make_record(attempt=3))
    assert len(store.read_rows()) == 1
    store.compact()
    assert len(files(store)) == 1
    assert holds(store, make_record(attempt=3))


def test_many_trials_are_read_from_parts_and_compacted_files_alike(store):
    for name in ("abc0", "abc1", "abc2"):
        store.write(make_record(name))
    store.compact()
    store.write(make_record("abc1", attempt=2))  # supersedes its compacted record
    store.write(make_record("abc3"))
    store.write(Record(make_row("abc4")))  # neither curves nor arrays
    rows = [row for row in store.read_rows() if row.trial_id != "abc2"]
    curves, arrays = store.read_many_curves(rows), dict(store.read_many_arrays(rows))
    assert curves == {name: store.read_curves(name) for name in ("abc0", "abc1", "abc3")}
    assert {name: found["samples"].max() for name, found in arrays.items()} == {
        "abc0": 1,
        "abc1": 2,
        "abc3": 1,
    }
    assert store.read_many_curves([]) == {}


def test_a_failure_never_replaces_a_result_of_the_same_attempt(store):
    result, failure = make_record(), Record(make_row(outcome="error", finished_at="2026-01-09"))
    store.write(result)
    store.write(failure)
    for _ in range(2):
        assert holds(store, result)
        assert store.read_outcomes() == {"abc0": "ok"}
        assert store.wait_for_row("abc0", 1) in (result.row, None)  # none once it is compacted
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 1


@pytest.mark.parametrize("compacted", [False, True])
def test_a_result_replaces_a_failure_of_the_same_attempt_that_ended_later(store, compacted):
    store.write(Record(make_row(outcome="timeout", finished_at="2026-01-09")))
    store.write(make_record("abc1"))
    if compacted:
        store.compact()
    store.write(make_record())
    for _ in range(2):
        assert holds(store, make_record())
        assert store.read_outcomes() == {"abc0": "ok", "abc1": "ok"}
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 2


def test_the_failure_of_a_retry_replaces_an_earlier_result(store):
    store.write(make_record())
    store.write(make_record(attempt=2, outcome="error"))
    store.compact()
    assert holds(store, make_record(attempt=2, outcome="error"))


def test_a_retry_in_a_directory_overwrites_the_row_of_the_earlier_attempt(tmp_path):
    store = Store(tmp_path)
    for attempt in (1, 3, 2):
        store.write(make_record(attempt=attempt))
    assert files(store) == ["abc0.parquet"]


def test_a_retry_without_curves_does_not_show_those_of_the_earlier_attempt(store):
    store.write(make_record())
    store.write(Record(make_row(attempt=2)))
    assert (store.read_curves("abc0"), store.read_arrays("abc0")) == ([], {})
    store.compact()
    assert (store.read_curves("abc0"), store.read_arrays("abc0")) == ([], {})


def test_a_trial_is_found_by_the_beginning_of_its_id(store):
    for trial_id in ("abc0", "abc01", "abd2"):
        store.write(Record(make_row(trial_id)))
    assert store.read_row("abd").trial_id == "abd2"
    assert store.read_row("abc0").trial_id == "abc0"
    with raises_with(AmbiguousTrial, "3 trials", "'ab'", "abc0, abc01, abd2"):
        store.read_row("ab")
    with raises_with(UnknownTrial, "'abe2'", "abd2"):
        store.read_row("abe2")
    with raises_with(UnknownTrial, "'zzzz'", store.location):
        store.read_row("zzzz")
    store.compact()
    assert store.read_row("abd").trial_id == "abd2"


def test_pandas_reads_single_parts_compacted_files_and_a_mix(tmp_path):
    store = fill_store(tmp_path)
    (tmp_path / "rows" / ".123-abc.tmp").write_bytes(b"half a part")
    (tmp_path / "rows" / ".hidden.parquet").write_bytes(b"half a part")
    ids = [f"t{i:02}" for i in range(5)]
    for change in (lambda: None, store.compact, lambda: store.write(make_record("t99"))):
        change()
        table = pd.read_parquet(tmp_path / "rows")
        assert sorted(table["trial_id"]) == [row.trial_id for row in store.read_rows()]
        assert set(ids) <= set(table["trial_id"])
        assert json.loads(table["metrics"][0]) == {"loss": 0.5}
    assert store.problems == []


def test_files_have_the_declared_schemas(tmp_path):
    store = fill_store(tmp_path, 2)
    for _ in range(2):
        for kind in KINDS:
            schema = pq.read_schema(tmp_path / kind / files(store, kind)[0])
            assert schema.equals(SCHEMAS[kind])
            assert [column.metadata for column in schema] == [column.metadata for column in SCHEMAS[kind]]
        store.compact()


def test_curves_of_many_trials_are_read_at_once(location):
    store = Store(location)
    for i in range(4):
        store.write(make_record(f"t{i:02}"))
    store.compact()
    store.write(make_record("t01", attempt=2))
    store.write(make_record("t09"))
    rows = store.read_rows()
    found = store.read_many_curves(rows[1:])
    assert found == {row.trial_id: store.read_curves(row.trial_id) for row in rows[1:]}
    assert len(found["t01"]) == 3

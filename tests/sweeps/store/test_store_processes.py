"""Several processes use one store: writers, readers, a compaction, a killed writer."""

import signal
import time

import pandas as pd
from store_helpers import files, fill_store, finish_python, holds, make_record, start_python

from sweeps.store.store import Store


def test_two_writers_of_one_trial_leave_one_complete_record(location, tmp_path):
    code = """
store = Store(sys.argv[1])
for _ in range(20):
    store.write(make_record(attempt=int(sys.argv[2])))
"""
    for process in [start_python(code, location, attempt) for attempt in (1, 2)]:
        finish_python(process)
    store = Store(location)
    assert len(store.read_rows()) == 1
    assert holds(store, make_record(attempt=2))
    store.compact()
    assert len(files(store)) == 1
    assert list(tmp_path.rglob(".*.tmp")) == []


def test_readers_miss_nothing_while_others_write_and_compact(tmp_path):
    store = fill_store(tmp_path, 10)
    write = """
store = Store(sys.argv[1])
for i in range(60):
    store.write(make_record(f't{i % 20:02}', attempt=1 + i // 20))
"""
    compact = "store = Store(sys.argv[1])\nfor _ in range(30): store.compact()"
    running = [start_python(write, tmp_path), start_python(compact, tmp_path)]
    while any(process.poll() is None for process in running):
        assert {f"t{i:02}" for i in range(10)} <= set(store.read_outcomes())
        assert all(holds_one_attempt(store, f"t{i:02}") for i in range(10))
    for process in running:
        finish_python(process)
    assert [row.attempt for row in store.read_rows()] == [3] * 20
    assert all(holds(store, make_record(row.trial_id, 3)) for row in store.read_rows())
    assert store.problems == []


def holds_one_attempt(store, trial_id):
    """Whether the curves are complete and of one attempt. The row is not compared, because a retry may come
    between two reads."""
    curves = store.read_curves(trial_id)
    return len(curves) == 3 and len({point.value for point in curves}) == 1


def test_a_killed_writer_leaves_complete_records_only(tmp_path):
    store = Store(tmp_path)
    code = "store = Store(sys.argv[1])\nfor i in range(100_000): store.write(make_record(f't{i:06}'))"
    for _ in range(3):
        process = start_python(code, tmp_path)
        enough = min(len(store.read_outcomes()) + 10, 100)
        while process.poll() is None and len(store.read_outcomes()) < enough:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert all(holds(store, make_record(row.trial_id)) for row in store.read_rows())
        assert len(pd.read_parquet(tmp_path / "rows")) == len(store.read_rows())
    assert store.problems == []

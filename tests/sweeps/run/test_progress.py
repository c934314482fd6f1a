"""Progress: one line per ended trial, and a live line on a terminal."""

import io
from dataclasses import asdict, replace

import pytest
from engine_helpers import make_row, plugin
from terminal import Terminal

from sweeps.cluster.engine import build_job
from sweeps.run import progress as progress_module
from sweeps.run.attempt import Attempt
from sweeps.run.conditions import Conditions
from sweeps.run.progress import Progress, format_clock, format_row
from sweeps.store.store import Store


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


def run(out):
    progress = Progress(4, dict.fromkeys("abcd", 100), out)
    progress.on_start("a")
    progress.on_advance("a", 50)
    progress.on_end(make_row("a"))
    progress.on_end(make_row("b", outcome="diverged", outcome_step=7, reason="loss is not finite"))
    progress.on_end(make_row("c", outcome="error", reason="ValueError: no"))
    progress.on_start("d")
    progress.close()
    return progress


def test_a_file_gets_plain_lines():
    out = io.StringIO()
    run(out)
    assert "\r" not in out.getvalue()
    assert "\x1b" not in out.getvalue()
    assert len(out.getvalue().splitlines()) == 3


def test_a_terminal_gets_a_live_line_that_is_cleared_at_the_end():
    out = Terminal()
    run(out)
    assert "\r\x1b[2K" in out.getvalue()
    assert "3/4 done   1 running   1 diverged   1 failed   0 left" in out.getvalue()
    assert out.getvalue().endswith("\r\x1b[2K")


def test_failures_and_divergences_are_counted_separately():
    progress = run(io.StringIO())
    assert (progress.done_count, progress.failed_count, progress.diverged_count) == (3, 1, 1)


@pytest.mark.parametrize("outcome", ["error", "timeout", "out_of_memory"])
def test_errors_of_machine_or_code_are_failures(outcome):
    progress = Progress(1, {}, io.StringIO())
    progress.on_end(make_row(outcome=outcome))
    assert (progress.failed_count, progress.diverged_count) == (1, 0)


def test_the_remaining_time_follows_from_the_steps_done(clock):
    progress = Progress(4, dict.fromkeys("abcd", 100), io.StringIO())
    progress.on_start("a")
    assert "eta unknown" in progress.format_line()
    clock[0] = 30.0
    progress.on_end(make_row("a"))
    progress.on_advance("b", 50)
    assert "eta 0:50   5 steps/s" in progress.format_line()
    progress.on_advance("b", 1_000_000)
    assert "eta 0:30" in progress.format_line()


def test_the_remaining_time_is_weighted_by_the_expected_cost_of_a_step(clock):
    """A step of b costs nine times one of a, a step of c, whose cost is not known, five times: a is a 15th of
    the work."""
    progress = Progress(3, dict.fromkeys("abc", 100), io.StringIO(), seconds={"a": 10.0, "b": 90.0})
    clock[0] = 30.0
    progress.on_end(make_row("a"))
    assert "eta 7:00   3 steps/s" in progress.format_line()
    progress.on_advance("b", 50)
    assert "eta 0:51" in progress.format_line()


def test_long_remaining_times_have_hours():
    assert [format_clock(seconds) for seconds in (59.9, 3_599, 3_845)] == ["0:59", "59:59", "1:04:05"]


def test_steps_of_an_earlier_run_do_not_count(clock):
    progress = Progress(2, dict.fromkeys("ab", 1_000), io.StringIO())
    progress.on_start("a")
    progress.on_resume("a", 800)
    clock[0] = 10.0
    progress.on_advance("a", 900)
    assert "eta 1:50   10 steps/s" in progress.format_line()
    progress.on_resume("a", 900)  # its worker failed: the steps up to here were done in this run
    progress.on_end(make_row("a"))
    assert "eta 0:50   20 steps/s" in progress.format_line()


@pytest.mark.usefixtures("trouble_plugin")
def test_the_first_report_of_a_resumed_trial_holds_the_step_of_its_checkpoint(tmp_path):
    from sweeps.cluster.callbacks import ListenerCallback
    from sweeps.cluster.trainable import TrialTrainable

    trial, conditions = plugin().trouble(steps=20), Conditions(checkpoint_dir=str(tmp_path / "checkpoints"))
    saved = Attempt(trial, conditions)
    saved.advance(60.0, until=8)
    saved.save()
    Store(tmp_path / "store")
    worker = TrialTrainable.__new__(TrialTrainable)
    worker.settings = {"conditions": asdict(conditions), "store": str(tmp_path / "store"), "plugins": []}
    worker._begin({"job": build_job(trial, 1, 0.0)})
    worker.attempt.advance(60.0, until=10)
    progress = Progress(1, {trial.id: 20}, io.StringIO())
    callback = ListenerCallback(progress, Store(tmp_path / "store"))
    callback.on_trial_result(1, [], None, worker._build_report(done=False))
    assert (progress.resumed_at, progress.running) == ({trial.id: 8}, {trial.id: 10})


def test_a_trial_that_starts_twice_is_counted_once():
    progress = Progress(2, {"a": 1, "b": 1}, io.StringIO())
    progress.on_start("a")
    progress.on_start("a")
    assert "1 running" in progress.format_line()
    assert "1 left" in progress.format_line()


def test_the_line_of_an_ended_trial():
    good = make_row(
        "0123456789",
        label="VERA",
        dataset="moons",
        seed=2,
        metrics='{"loss": 9, "test_log_likelihood": -2.6123}',
        seconds=12.3,
    )
    assert (
        format_row(good) == " ✓ VERA         moons    seed 2    test_log_likelihood -2.612   12 s   01234567"
    )
    wide = format_row(replace(good, spec='{"dataset":{"file":"iris.csv"}}'), (14, 12))
    assert wide == " ✓ VERA           iris.csv     seed 2    test_log_likelihood -2.612   12 s   01234567"
    bad = format_row(make_row(outcome="diverged", outcome_step=1_234, reason="loss is not finite"))
    assert "✗" in bad
    assert "diverged at step 1,234 (loss is not finite)" in bad
    assert "!" in format_row(make_row(outcome="error", metrics="{}"))

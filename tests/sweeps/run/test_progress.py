"""Progress: plain lines into a file, one live line on a terminal."""

import io
from dataclasses import asdict, replace

import pytest
from engine_helpers import make_row, plugin

from sweeps.cluster.engine import build_job
from sweeps.run import progress as progress_module
from sweeps.run.attempt import Attempt
from sweeps.run.conditions import Conditions
from sweeps.run.progress import Progress, format_row
from sweeps.store.store import Store


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


def run(out):
    progress = Progress(4, dict.fromkeys("abcd", 100), out)
    progress.started("a")
    progress.advanced("a", 50)
    progress.ended(make_row("a"))
    progress.ended(make_row("b", outcome="diverged", outcome_step=7, reason="loss is not finite"))
    progress.ended(make_row("c", outcome="error", reason="ValueError: no"))
    progress.started("d")
    progress.close()
    return progress


def test_plain_lines_where_there_is_no_terminal():
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


def test_failures_and_divergences_are_counted_apart():
    progress = run(io.StringIO())
    assert (progress.done, progress.failed, progress.diverged) == (3, 1, 1)


@pytest.mark.parametrize("outcome", ["error", "timeout", "out_of_memory"])
def test_what_says_nothing_about_the_method_is_a_failure(outcome):
    progress = Progress(1, {}, io.StringIO())
    progress.ended(make_row(outcome=outcome))
    assert (progress.failed, progress.diverged) == (1, 0)


def test_the_eta_follows_from_the_steps_behind_us(clock):
    progress = Progress(4, dict.fromkeys("abcd", 100), io.StringIO())
    progress.started("a")
    assert "eta unknown" in progress.line()
    clock[0] = 30.0
    progress.ended(make_row("a"))
    progress.advanced("b", 50)
    assert "eta 0:50   5 steps/s" in progress.line()
    progress.advanced("b", 1_000_000)
    assert "eta 0:30" in progress.line()


def test_steps_of_an_earlier_process_are_not_counted_as_trained_here(clock):
    progress = Progress(2, dict.fromkeys("ab", 1_000), io.StringIO())
    progress.started("a")
    progress.resumed("a", 800)
    clock[0] = 10.0
    progress.advanced("a", 900)
    assert "eta 1:50   10 steps/s" in progress.line()
    progress.resumed("a", 900)  # its worker was lost: what it had trained was trained here
    progress.ended(make_row("a"))
    assert "eta 0:50   20 steps/s" in progress.line()


@pytest.mark.usefixtures("trouble_plugin")
def test_a_worker_says_where_a_trial_goes_on_and_the_listener_hears_it_once(tmp_path):
    from sweeps.cluster.callbacks import ListenerCallback
    from sweeps.cluster.trainable import TrialTrainable

    trial, conditions = plugin().trouble(steps=20), Conditions(checkpoint_dir=str(tmp_path / "checkpoints"))
    saved = Attempt(trial, conditions)
    saved.advance(60.0, until=8)
    saved.save()
    Store(tmp_path / "store")
    worker = TrialTrainable.__new__(TrialTrainable)
    worker.site = {"conditions": asdict(conditions), "store": str(tmp_path / "store"), "plugins": []}
    worker._begin({"job": build_job(trial, 1, 0.0)})
    worker.attempt.advance(60.0, until=10)
    progress = Progress(1, {trial.id: 20}, io.StringIO())
    callback = ListenerCallback(progress, Store(tmp_path / "store"))
    callback.on_trial_result(1, [], None, worker._report(done=False))
    assert (progress.before, progress.running) == ({trial.id: 8}, {trial.id: 10})


def test_a_trial_that_starts_again_is_not_counted_twice():
    progress = Progress(2, {"a": 1, "b": 1}, io.StringIO())
    progress.started("a")
    progress.started("a")
    assert "1 running" in progress.line()
    assert "1 left" in progress.line()


def test_the_line_of_a_trial():
    good = make_row(
        "0123456789",
        label="VERA",
        dataset="moons",
        seed=2,
        metrics='{"loss": 9, "test_log_likelihood": -2.6123}',
        seconds=12.3,
    )
    assert format_row(good) == " ✓ VERA         moons    seed 2    test_log_likelihood -2.612   12 s   01234567"
    wide = format_row(replace(good, spec='{"dataset":{"file":"iris.csv"}}'), (14, 12))
    assert wide == " ✓ VERA           iris.csv     seed 2    test_log_likelihood -2.612   12 s   01234567"
    bad = format_row(make_row(outcome="diverged", outcome_step=1_234, reason="loss is not finite"))
    assert "✗" in bad
    assert "diverged at step 1,234 (loss is not finite)" in bad
    assert "!" in format_row(make_row(outcome="error", metrics="{}"))

"""The end of a run: divergence, saving, extending and forking."""

import math

import pytest
import torch
from conformance import find_differences, get_state
from facts import raises_with
from trainer_helpers import POINTS, make_mixture, make_scripted_trainer

from vera.errors import CheckpointError, VeraError
from vera.methods import MaximumLikelihood
from vera.training.trainer import Trainer


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2e8, -2e8])
@pytest.mark.parametrize("step", [1, 2, 4, 5, 10])
def test_a_run_ends_at_the_exact_step_whose_loss_is_bad(bad, step):
    trainer = make_scripted_trainer(lambda s: bad if s == step else float(s))
    result = trainer.run()
    assert (result.outcome, result.step, result.reason) == ("diverged", step, f"loss is {bad:g}")
    assert [row["step"] for row in trainer.history] == [4, 8][: (step - 1) // 4] + [step - 1] * (
        (step - 1) % 4 > 0
    )
    assert all(math.isfinite(value) for row in trainer.history for value in row.values())


def test_the_metrics_of_a_diverged_run_are_the_last_finite_ones():
    assert make_scripted_trainer(lambda s: math.nan if s == 7 else float(s)).run().metrics["loss"] == 5.5
    assert make_scripted_trainer(lambda s: math.nan).run().metrics == {}


def test_the_limit_applies_to_the_loss_only():
    assert make_scripted_trainer(lambda s: 3.0 * s, max_loss=10).run().step == 4
    assert (
        make_scripted_trainer(lambda s: {"loss": torch.tensor(1.0), "norm": torch.tensor(1e20)}).run().outcome
        == "ok"
    )


def test_any_non_finite_metric_ends_the_run_and_is_reported():
    result = make_scripted_trainer(
        lambda s: {"loss": torch.tensor(1.0), "norm": torch.tensor(math.inf)}
    ).run()
    assert (result.step, result.reason) == (1, "norm is inf")


@pytest.mark.parametrize(
    ("report", "facts"),
    [
        (
            lambda step: {"loss": torch.tensor(1.0)} | ({"extra": torch.tensor(1.0)} if step == 1 else {}),
            ["step 2", "'extra'", "missing"],
        ),
        (
            lambda step: (
                {"loss": torch.tensor(1.0)} | ({"extra": torch.tensor(math.nan)} if step > 1 else {})
            ),
            ["step 2", "'extra'", "new"],
        ),
        (lambda step: {"loss": 1.0}, ["loss", "float", "loss.detach()"]),
        (lambda step: {"loss": torch.ones(3)}, ["loss", "(3,)", "mean"]),
        (lambda step: {"objective": torch.tensor(1.0)}, ["loss", "objective"]),
    ],
    ids=["missing later", "new later", "a float", "a vector", "no loss"],
)
def test_metrics_that_violate_the_contract_are_refused(report, facts):
    with raises_with(VeraError, *facts):
        make_scripted_trainer(report).run()


def test_a_finished_run_is_still_finished_after_a_restore(tmp_path):
    for script in (float, lambda step: math.nan):
        trainer, again = make_scripted_trainer(script), make_scripted_trainer(script)
        trainer.run()
        trainer.save(tmp_path / "run.pt")
        again.restore(tmp_path / "run.pt")
        assert again.run() == trainer.result
        assert again.method.count == trainer.method.count


def test_a_finished_run_can_be_extended(tmp_path):
    short, long = make_scripted_trainer(steps=8), make_scripted_trainer(steps=12)
    short.run()
    short.save(tmp_path / "run.pt")
    extended = make_scripted_trainer(steps=12)
    extended.restore(tmp_path / "run.pt")
    assert extended.result is None
    long.run()
    extended.run()
    assert find_differences(get_state(long), get_state(extended)) == []


def test_a_diverged_run_cannot_be_extended(tmp_path):
    short, long = make_scripted_trainer(lambda s: math.nan, steps=8), make_scripted_trainer(steps=12)
    short.run()
    short.save(tmp_path / "run.pt")
    long.restore(tmp_path / "run.pt")
    assert long.run().outcome == "diverged"


def test_a_checkpoint_beyond_the_last_step_is_refused(tmp_path):
    far, near = make_scripted_trainer(steps=10), make_scripted_trainer(steps=5)
    far.run(until=8)
    far.save(tmp_path / "run.pt")
    with raises_with(CheckpointError, "step 8", "5 steps"):
        near.restore(tmp_path / "run.pt")


def test_a_failed_save_keeps_the_old_checkpoint_and_leaves_no_other_file(tmp_path, monkeypatch):
    def half_written(state, file):
        file.write(b"half")
        raise OSError("disk full")

    trainer = make_scripted_trainer()
    trainer.save(tmp_path / "run.pt")
    before = (tmp_path / "run.pt").read_bytes()
    monkeypatch.setattr("vera.training.state.checkpoint.torch.save", half_written)
    with raises_with(CheckpointError, "disk full", str(tmp_path / "run.pt")):
        trainer.save(tmp_path / "run.pt")
    assert (tmp_path / "run.pt").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]


def test_a_run_can_be_forked_in_memory():
    options = {"steps": 8, "batch_size": 5}
    make = lambda: Trainer(MaximumLikelihood(make_mixture()), POINTS, **options)  # noqa: E731
    straight, one, other = make(), make(), make()
    straight.run()
    one.run(until=4)
    other.load_state_dict(one.state_dict())
    one.run()
    other.run()
    assert find_differences(get_state(straight), get_state(one)) == []
    assert find_differences(get_state(straight), get_state(other)) == []

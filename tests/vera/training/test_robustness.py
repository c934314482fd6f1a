"""Robustness: after interrupts, failed steps and bad checkpoints a run resumes bit-identically or raises."""

import enum
import os
import signal
import threading
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from facts import raises_with
from torch import nn

from vera.errors import CheckpointError, VeraError
from vera.methods import DSM, PCD, Method
from vera.models import MLP
from vera.training.optimisers import adam, descend
from vera.training.trainer import Trainer


def kind(value):
    return type(value).__name__


POINTS = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))


@dataclass(eq=False)
class CountingMethod(Method):
    """Keeps state in a list of optimisers, in a dict and in a plain number."""

    _: KW_ONLY
    lr: float = 1e-2
    extra: Any = None

    def setup(self):
        self.optimisers = [adam(self.energy_weights, self.lr, (0.9, 0.99))]
        self.by_name = {"also": adam(self.energy_weights, self.lr / 2, (0.5, 0.9))}
        self.count = 0
        self.averages = [torch.zeros(())]

    def step(self, x):
        self.count += 1
        loss = self.energy(x).square().mean() * (1 + 1 / self.count) + self.averages[0]
        self.averages[0].mul_(0.9).add_(0.1 * loss.detach())
        descend(loss, self.energy_weights, (self.optimisers[0], self.by_name["also"])[self.count % 2])
        self.on_step()
        return {"loss": loss.detach()}

    def on_step(self):
        pass


def trainer(method_class=CountingMethod, steps=40, **options):
    torch.manual_seed(1)
    return Trainer(
        method_class(MLP(2, hidden=(8,)), **options.pop("settings", {})),
        POINTS,
        steps=steps,
        batch_size=16,
        **options,
    )


def weights(run):
    return torch.cat([p.detach().flatten() for p in run.method.energy.parameters()])


def test_state_in_lists_dicts_and_numbers_is_saved(tmp_path):
    straight, first, second = trainer(), trainer(), trainer()
    straight.run()
    first.run(until=13)
    first.save(tmp_path / "run.pt")
    second.restore(tmp_path / "run.pt")
    second.run()
    assert second.method.count == straight.method.count == 40
    assert torch.equal(weights(second), weights(straight))


@dataclass(eq=False)
class InterruptedMethod(CountingMethod):
    def on_step(self):
        if self.count == 7:
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_takes_effect_after_the_step_and_the_run_resumes_bit_identically(tmp_path):
    straight, stopped, resumed = trainer(), trainer(InterruptedMethod), trainer(InterruptedMethod)
    straight.run()
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    assert stopped.step == 7
    stopped.save(tmp_path / "run.pt")
    resumed.restore(tmp_path / "run.pt")
    resumed.run()
    stopped.run()
    assert torch.equal(weights(resumed), weights(straight))
    assert torch.equal(weights(stopped), weights(straight))


def test_ctrl_c_writes_the_checkpoint(tmp_path):
    stopped, resumed = trainer(InterruptedMethod, checkpoint=tmp_path / "run.pt"), trainer(InterruptedMethod)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    resumed.restore(tmp_path / "run.pt")
    assert resumed.step == 7


def test_training_works_outside_the_main_thread():
    run = trainer()
    thread = threading.Thread(target=run.run)
    thread.start()
    thread.join()
    assert run.result.outcome == "ok"


@dataclass(eq=False)
class FragileMethod(CountingMethod):
    def on_step(self):
        if self.count == 5:
            raise RuntimeError("a bug in the method")


def test_a_run_that_failed_inside_a_step_cannot_be_saved_or_continued_but_restored(tmp_path):
    run = trainer(FragileMethod)
    run.run(until=3)
    run.save(tmp_path / "run.pt")
    with pytest.raises(RuntimeError, match="a bug"):
        run.run()
    with raises_with(VeraError, "inside a step", "restore"):
        run.save(tmp_path / "other.pt")
    with raises_with(VeraError, "inside a step", "restore"):
        run.run()
    run.restore(tmp_path / "run.pt")
    assert run.step == 3
    run.run(until=4)


def test_a_killed_run_can_be_restored_from_its_last_checkpoint(tmp_path):
    path = tmp_path / "deep" / "run.pt"
    run = trainer(checkpoint=path, save_every=1e-6)
    run.run(until=20)
    straight, other = trainer(), trainer()
    other.restore(path)
    assert other.step == 20
    other.run()
    straight.run()
    assert torch.equal(weights(other), weights(straight))


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "extra",
    [Colour.RED, np.zeros(2), lambda: 0, {"a": {1, 2}}, nn.Linear(1, 1)],
    ids=lambda value: type(value).__name__,
)
def test_settings_that_are_not_plain_data_are_refused_at_once(extra):
    with raises_with(VeraError, "settings", "extra"):
        trainer(settings={"extra": extra})


def test_state_that_is_not_plain_data_is_refused_when_saved(tmp_path):
    run = trainer()
    run.stream.state_dict = lambda: {"where": np.float64(1.0)}
    with raises_with(CheckpointError, "stream.where", "float64"):
        run.save(tmp_path / "run.pt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "x" * 300, "file/run.pt"])
def test_a_path_that_cannot_be_written_raises_with_the_path(tmp_path, name):
    (tmp_path / "file").write_text("")
    with raises_with(CheckpointError, f"{tmp_path / name} cannot be written"):
        trainer().save(tmp_path / name)


def test_a_checkpoint_without_a_file_name_is_refused():
    with raises_with(CheckpointError, "file name", "'.'"):
        trainer().save("")


class Pair(NamedTuple):
    a: int


@pytest.mark.parametrize("odd", [Pair(1), {np.int64(1): 2}], ids=kind)
def test_state_that_only_looks_plain_does_not_replace_a_good_checkpoint(tmp_path, odd):
    run = trainer()
    run.save(tmp_path / "run.pt")
    run.stream.state_dict = lambda: {"odd": odd}
    with raises_with(CheckpointError, "stream.odd", kind(odd) if isinstance(odd, Pair) else "int64"):
        run.save(tmp_path / "run.pt")
    trainer().restore(tmp_path / "run.pt")


def test_a_run_in_short_slices_is_saved_as_often_as_any_other(tmp_path):
    run = trainer(steps=400, checkpoint=tmp_path / "run.pt", save_every=0.01)
    while not (tmp_path / "run.pt").exists():
        assert run.step < 400
        run.run(until=run.step + 2)
    other = trainer(steps=400)
    other.restore(tmp_path / "run.pt")
    assert 0 < other.seconds <= run.seconds


def test_an_interrupted_evaluation_is_repeated():
    calls = []

    def evaluate(method):
        calls.append(method.count)
        if len(calls) == 2:
            raise RuntimeError("once")
        return {"score": 1.0}

    run = trainer(evaluate=evaluate, evaluate_every=10)
    with pytest.raises(RuntimeError, match="once"):
        run.run()
    run.run()
    assert [row["step"] for row in run.evaluations] == [10, 20, 30, 40]


def test_ctrl_c_in_the_last_evaluation_raises():
    def evaluate(method):
        os.kill(os.getpid(), signal.SIGINT)
        return {"score": 1.0}

    run = trainer(evaluate=evaluate)
    with pytest.raises(KeyboardInterrupt):
        run.run()
    assert run.result.outcome == "ok"


def test_the_callers_own_handler_is_not_replaced():
    seen = []
    previous = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        assert trainer(InterruptedMethod).run().outcome == "ok"
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [1]


def test_a_checkpoint_that_does_not_fit_changes_nothing(tmp_path):
    run, victim = trainer(), trainer()
    run.run(until=10)
    state = run.state_dict()
    state["method"]["optimisers.0"] = {}
    torch.save({"format": 1, **state}, tmp_path / "odd.pt")
    before = weights(victim)
    with raises_with(CheckpointError, str(tmp_path / "odd.pt"), "nothing was changed"):
        victim.restore(tmp_path / "odd.pt")
    assert victim.step == 0
    assert torch.equal(weights(victim), before)
    victim.run()


class Tempered(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature, self.net = temperature, nn.Linear(2, 1)

    def forward(self, x):
        return self.net(x).squeeze(-1) / self.temperature


def test_a_checkpoint_of_a_network_with_another_option_or_precision_is_refused(tmp_path):
    Trainer(DSM(Tempered(1.0)), POINTS, steps=2, batch_size=8).save(tmp_path / "run.pt")
    for network, fact in ((Tempered(9.0), "temperature=1.0"), (Tempered(1.0).double(), "float32")):
        with raises_with(CheckpointError, fact):
            Trainer(DSM(network), POINTS, steps=2, batch_size=8).restore(tmp_path / "run.pt")


def test_the_difference_in_methods_is_reported_first(tmp_path):
    Trainer(DSM(MLP(2)), POINTS, steps=2, batch_size=8).save(tmp_path / "run.pt")
    with raises_with(CheckpointError, "another run: method.name was dsm, is pcd"):
        Trainer(PCD(MLP(2)), POINTS, steps=2, batch_size=8).restore(tmp_path / "run.pt")

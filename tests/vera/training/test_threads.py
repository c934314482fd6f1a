"""The number of threads of a run: one for small networks, unless the user has set it; restored afterwards."""

import os

import pytest
import torch
from facts import raises_with
from trainer_helpers import POINTS, make_scripted_trainer

from vera.errors import CallbackError, SettingError
from vera.methods import DSM
from vera.models import MLP
from vera.training import threads
from vera.training.trainer import Trainer

LARGE = threads.SMALL_WORK


@pytest.fixture(autouse=True)
def defaults(monkeypatch):
    """A machine with three cores on which nobody has set the number of threads."""
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "count_cores", lambda: frozenset({3}))
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_little_work_takes_one_thread_and_much_work_takes_those_of_torch():
    assert threads.choose_threads(None, LARGE - 1) == 1
    assert threads.choose_threads(None, LARGE) == 3


@pytest.mark.parametrize("work", [1, LARGE])
def test_a_number_that_the_user_set_is_kept(work, monkeypatch):
    assert threads.choose_threads(4, work) == 4
    torch.set_num_threads(2)
    assert threads.choose_threads(None, work) == 2
    torch.set_num_threads(3)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads.choose_threads(None, work) == 3
    assert threads.choose_threads(1, work) == 1


def record_threads(**options) -> tuple[Trainer, list[int]]:
    """A Trainer, and the numbers of threads that its steps will have."""
    seen = []
    trainer = make_scripted_trainer(lambda step: seen.append(torch.get_num_threads()) or 1.0, **options)
    return trainer, seen


@pytest.mark.parametrize(("given", "expected"), [(None, 1), (1, 1), (2, 2), (3, 3)])
def test_a_run_uses_its_number_and_restores_that_of_the_caller(given, expected):
    trainer, seen = record_threads(threads=given)
    trainer.run(until=2)
    assert torch.get_num_threads() == 3
    trainer.run()
    assert seen == [expected] * 10
    assert torch.get_num_threads() == 3


def test_the_number_is_restored_after_an_error():
    def fail(step, metrics):
        raise ValueError

    with pytest.raises(CallbackError):
        make_scripted_trainer(on_log=fail).run()
    assert torch.get_num_threads() == 3


def test_work_grows_with_weights_batch_and_pixels():
    energy = MLP(2, hidden=(8,))
    weights = sum(p.numel() for p in energy.parameters())
    assert Trainer(DSM(energy), POINTS, steps=1, batch_size=5)._estimate_work() == weights * 5
    assert Trainer(DSM(energy), POINTS, steps=1, batch_size=10)._estimate_work() == weights * 10
    trainer = make_scripted_trainer()
    trainer.point_shape = (3, 4, 6)
    assert trainer._estimate_work() == 2 * 5 * 24
    trainer.device = torch.device("meta")
    assert trainer._estimate_work() > LARGE, "the rule is about the CPU"


def test_the_cores_are_counted_once_per_physical_core(monkeypatch, tmp_path):
    monkeypatch.undo()
    for i in range(4):
        (tmp_path / f"cpu{i}/topology").mkdir(parents=True)
        (tmp_path / f"cpu{i}/topology/thread_siblings_list").write_text(f"{i % 2},{i % 2 + 2}\n")
    monkeypatch.setattr(threads, "TOPOLOGY", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert threads.count_cores.__wrapped__() == {4, 3, 2}
    monkeypatch.setattr(threads, "TOPOLOGY", tmp_path / "none")
    assert threads.count_cores.__wrapped__() == {4, 3}


@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_an_impossible_number_is_refused(value):
    with raises_with(SettingError, "Trainer: threads", f"got {value}"):
        make_scripted_trainer(threads=value)

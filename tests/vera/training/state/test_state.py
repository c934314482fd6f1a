"""Stateful: all state of an object is saved without listing its attributes."""

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from torch import nn

from vera.training.state.stateful import Stateful


class Inner(Stateful):
    def __init__(self):
        self.level = torch.tensor(1.0)


class Outer(Stateful):
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=0.1)
        self.scale = nn.Parameter(torch.ones(3))
        self.buffer = torch.zeros(4)
        self.inner = Inner()
        self.rate = 0.5
        self.note = "not state"

    def work(self):
        self.optimiser.zero_grad()
        self.net(torch.ones(1, 2)).sum().backward()
        self.optimiser.step()
        self.buffer += 1
        self.inner.level = self.inner.level * 2
        with torch.no_grad():
            self.scale += 1


def test_exactly_the_attributes_that_hold_state_are_saved():
    assert set(Outer().state_dict()) == {"net", "optimiser", "scale", "buffer", "inner", "rate"}


def test_a_loaded_object_continues_like_the_saved_one(tmp_path):
    one, other = Outer(), Outer()
    one.work()
    torch.save(one.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    one.work()
    other.work()
    assert find_differences(one.state_dict(), other.state_dict()) == []


def test_later_work_does_not_change_a_saved_state():
    worker = Outer()
    worker.work()
    state, weight = worker.state_dict(), worker.net.weight.detach().clone()
    average = worker.optimiser.state[worker.net.weight]["exp_avg"].clone()
    worker.work()
    assert torch.equal(state["buffer"], torch.ones(4))
    assert torch.equal(state["net"]["weight"], weight)
    assert torch.equal(state["optimiser"]["state"][0]["exp_avg"], average)


def test_two_objects_loaded_from_one_state_share_no_tensors():
    one, other, alone = Outer(), Outer(), Outer()
    one.work()
    state = one.state_dict()
    other.load_state_dict(state)
    alone.load_state_dict(state)
    one.work()
    other.work()
    assert find_differences(one.state_dict(), other.state_dict()) == []
    assert find_differences(alone.state_dict(), state) == []


def test_loading_keeps_the_identity_of_parameters():
    worker = Outer()
    weight, scale = worker.net.weight, worker.scale
    worker.load_state_dict(Outer().state_dict())
    assert worker.net.weight is weight
    assert worker.scale is scale


@pytest.mark.parametrize("change", ["missing", "extra"])
def test_a_state_with_other_attributes_raises_with_both_lists(change):
    worker = Outer()
    state = worker.state_dict()
    if change == "missing":
        del state["buffer"]
    else:
        state["second_buffer"] = torch.zeros(4)
    with raises_with(KeyError, "Outer", str(sorted(worker.state_dict())), str(sorted(state))):
        worker.load_state_dict(state)


def test_to_moves_tensors_and_nested_objects():
    worker = Outer()
    del worker.scale
    assert worker.to(torch.device("meta")) is worker
    assert {worker.buffer.device.type, worker.inner.level.device.type, worker.net.weight.device.type} == {
        "meta"
    }


def test_to_keeps_the_identity_of_parameters():
    worker = Outer()
    weight, scale = worker.net.weight, worker.scale
    worker.to(torch.device("cpu"))
    assert worker.net.weight is weight
    assert worker.scale is scale

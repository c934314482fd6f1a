"""Checkpoint files: damaged, malicious or from another run, and runs rebuilt from a checkpoint."""

import math
import os
import pickle

import numpy as np
import pytest
import torch
from conformance import find_differences, get_state
from facts import raises_with

from vera.errors import CheckpointError
from vera.methods import DSM, VERA, MaximumLikelihood
from vera.models import MLP, NICE, GaussianMixture, mlp_generator
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_trainer, load_trainer
from vera.training.state.checkpoint import write_checkpoint
from vera.training.trainer import Trainer

POINTS = torch.randn(20, 2, generator=torch.Generator().manual_seed(0))


def make(energy=None, data=POINTS, seed=0, batch_size=5, method=MaximumLikelihood, **settings) -> Trainer:
    energy = GaussianMixture(2, 3) if energy is None else energy
    return Trainer(method(energy, **settings), data, steps=4, batch_size=batch_size, seed=seed)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run.pt"
    trainer = make()
    trainer.run()
    trainer.save(path)
    return path


def test_a_missing_checkpoint_raises_with_its_path(tmp_path):
    for path in (tmp_path / "none.pt", tmp_path):
        with raises_with(CheckpointError, "no checkpoint", str(path)):
            make().restore(path)


@pytest.mark.parametrize("fraction", [0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_a_truncated_checkpoint_is_refused(saved, fraction):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(len(whole) * fraction)])
    with raises_with(CheckpointError, str(saved), "not a readable checkpoint"):
        make().restore(saved)


@pytest.mark.parametrize(
    "content",
    [
        b"hello, world\n",
        bytes(1000),
        bytes(range(256)),
        b"(" * 10,
        b"0" * 10,
        b"G" * 6,
        b"\x80\x04.",
        b"PK\x03\x04" + bytes(50),
    ],
    ids=["text", "zeros", "all bytes", "marks", "pops", "short float", "empty pickle", "zip header"],
)
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "run.pt"
    path.write_bytes(content)
    with raises_with(CheckpointError, str(path), "not a readable checkpoint"):
        make().restore(path)


def test_a_flipped_bit_in_a_weight_is_detected(saved):
    weights = torch.load(saved, weights_only=True)["method"]["energy"]["means"].numpy().tobytes()
    whole = saved.read_bytes()
    place = whole.index(weights)
    saved.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with raises_with(CheckpointError, str(saved)):
        make().restore(saved)


class MaliciousObject:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize(
    "write", [lambda state, path: path.write_bytes(pickle.dumps(state)), torch.save], ids=["pickle", "torch"]
)
def test_a_checkpoint_cannot_run_code(tmp_path, write):
    path, marker = tmp_path / "run.pt", tmp_path / "executed"
    write({"format": 1, "spec": MaliciousObject(marker)}, path)
    for read in (make().restore, load_trainer):
        with pytest.raises(CheckpointError) as error:
            read(path)
        assert str(path) in str(error.value)
        assert "can still be loaded" not in str(error.value), "torch's advice on running the code is omitted"
    assert not marker.exists()


@pytest.mark.parametrize("state", [{"format": 999}, {"weights": torch.zeros(2)}, [1, 2], {"format": 1}])
def test_a_file_in_another_format_is_refused(tmp_path, state):
    path = tmp_path / "run.pt"
    torch.save(state, path)
    for read in (make().restore, load_trainer):
        with raises_with(CheckpointError, str(path)):
            read(path)


OTHERS = {
    "method": (lambda: make(method=DSM), ["method.name was ml", "dsm"]),
    "setting": (lambda: make(lr=0.5), ["method.lr was 0.001, is 0.5"]),
    "betas": (lambda: make(betas=(0.5, 0.9)), ["method.betas"]),
    "seed": (lambda: make(seed=1), ["seed was 0, is 1"]),
    "data": (lambda: make(data=POINTS + 1), ["data.fingerprint"]),
    "batch size": (lambda: make(batch_size=4), ["batch_size was 5, is 4"]),
    "network width": (
        lambda: make(GaussianMixture(2, 4)),
        ["networks.energy.means was torch.float32 [3, 2], is torch.float32 [4, 2]"],
    ),
    "network kind": (lambda: make(NICE(2, hidden=4)), ["networks.energy", "absent"]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_another_run_raises_with_the_differences(saved, name):
    build, facts = OTHERS[name]
    trainer = build()
    before = get_state(trainer)
    with raises_with(CheckpointError, str(saved), "another run", *facts):
        trainer.restore(saved)
    assert find_differences(before, get_state(trainer)) == []


def test_only_differences_are_reported(saved):
    with pytest.raises(CheckpointError) as error:
        make(seed=1).restore(saved)
    assert str(error.value).endswith(": seed was 0, is 1.")


def test_a_checkpoint_of_a_network_with_another_activation_is_refused(tmp_path):
    path = tmp_path / "run.pt"
    make(MLP(2, (8,), "softplus"), method=DSM).save(path)
    with raises_with(CheckpointError, "another run", "energy"):
        make(MLP(2, (8,), "leaky_relu"), method=DSM).restore(path)


def test_a_checkpoint_of_a_generator_with_another_range_of_sigma_is_refused(tmp_path):
    path = tmp_path / "run.pt"

    def vera(sigma_max: float) -> Trainer:
        return Trainer(VERA(MLP(2), mlp_generator(2, sigma_max=sigma_max)), POINTS, steps=4, batch_size=5)

    vera(0.3).save(path)
    with raises_with(CheckpointError, "another run", "generator"):
        vera(0.5).restore(path)


def test_saving_creates_folders_and_replaces_an_old_checkpoint(tmp_path):
    path = tmp_path / "a" / "b" / "run.pt"
    trainer = make()
    trainer.save(path)
    trainer.run()
    trainer.save(str(path))
    again = make()
    again.restore(str(path))
    assert again.step == 4
    assert [p.name for p in path.parent.iterdir()] == ["run.pt"]


def test_a_checkpoint_with_numpy_settings_is_readable(tmp_path):
    path = tmp_path / "run.pt"
    rate = np.logspace(-3, -1, 3)[1]
    trainer = make(lr=rate)
    trainer.run()
    trainer.save(path)
    again = make(lr=float(rate))
    again.restore(path)
    assert again.step == 4


def spec(**changes) -> TrialSpec:
    components = {
        "dataset": {"name": "moons"},
        "networks": {"energy": {"name": "mixture", "components": 3}},
        "method": {"name": "ml"},
    }
    return TrialSpec(**(components | {"steps": 6, "batch_size": 10} | changes))


def test_a_run_built_from_a_spec_is_rebuilt_from_its_checkpoint(tmp_path):
    straight, paused = build_trainer(spec()), build_trainer(spec())
    straight.run()
    paused.run(until=3)
    paused.save(tmp_path / "run.pt")
    torch.manual_seed(5)
    resumed = load_trainer(tmp_path / "run.pt")
    assert resumed.step == 3
    resumed.run()
    assert find_differences(get_state(straight), get_state(resumed)) == []


def test_a_checkpoint_with_numpy_numbers_in_its_spec_is_readable(tmp_path):
    build_trainer(spec(method={"name": "ml", "lr": np.float64(0.01)})).save(tmp_path / "run.pt")
    assert load_trainer(tmp_path / "run.pt").method.lr == 0.01


def test_loading_a_run_without_a_spec_raises_with_the_way_to_restore_it(saved):
    with raises_with(CheckpointError, str(saved), "spec", "trainer.restore(path)"):
        load_trainer(saved)


def test_a_checkpoint_of_a_finished_run_keeps_its_result(tmp_path):
    trainer = build_trainer(spec())
    result = trainer.run()
    trainer.save(tmp_path / "run.pt")
    assert load_trainer(tmp_path / "run.pt").result == result


def test_a_checkpoint_that_cannot_be_written_leaves_no_file(tmp_path):
    path = tmp_path / "run.pt"
    with raises_with(CheckpointError, "unpicklable", "generator"):
        write_checkpoint(path, {"unpicklable": (number for number in range(3))})
    assert list(tmp_path.iterdir()) == []


TAMPERED = {
    "negative step": ("step", -1),
    "a step that is no whole number": ("step", 2.0),
    "a step that is true": ("step", True),
    "a step as text": ("step", "2"),
    "nan seconds": ("seconds", math.nan),
    "negative seconds": ("seconds", -1.0),
    "seconds as a tensor": ("seconds", torch.ones(())),
    "no identity": ("identity", None),
    "an unknown result": ("result", {"outcome": "great", "step": 1, "reason": "", "metrics": {}}),
    "a result of a later step": ("result", {"outcome": "ok", "step": 99, "reason": "", "metrics": {}}),
    "a result without metrics": ("result", {"outcome": "ok", "step": 1, "reason": ""}),
    "a result that is a list": ("result", [1]),
    "no method": ("method", None),
    "random numbers of another size": ("random.cpu", torch.zeros(3, dtype=torch.uint8)),
    "random numbers of another type": ("random.cpu", torch.zeros(5056)),
    "no random numbers of gpus": ("random.cuda", None),
    "a negative cursor": ("stream.cursor", -5),
    "a cursor beyond the data": ("stream.cursor", 10**9),
    "a history of later steps": ("journal.history", [{"step": 99, "loss": 1.0}]),
    "a history with nan": ("journal.history", [{"step": 1, "loss": math.nan}]),
    "a history without steps": ("journal.history", [{"loss": 1.0}]),
    "a history in reverse": ("journal.history", [{"step": 2, "loss": 1.0}, {"step": 1, "loss": 1.0}]),
    "evaluations that are numbers": ("journal.evaluations", [3]),
    "steps of other metrics": ("journal.held", torch.zeros(1, 7, dtype=torch.float64)),
    "names that are numbers": ("journal.names", [1]),
    "a learning rate of nan": ("method.optimiser.param_groups.0.lr", math.nan),
    "an optimiser of other weights": ("method.optimiser.state.0.exp_avg", torch.zeros(99)),
    "weights of another shape": ("method.energy.means", torch.zeros(1, 2)),
}


def replace_value(state, path, value):
    """The state with another value at the dotted path."""
    *outer, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    place = state
    for key in outer:
        place = place[key]
    assert last in place or isinstance(place, list)
    place[last] = value
    return state


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_checkpoint_is_refused_and_changes_nothing(name, tmp_path):
    path, (key, value) = tmp_path / "run.pt", TAMPERED[name]
    trainer = make()
    trainer.run(until=3)
    write_checkpoint(path, replace_value(trainer.state_dict(), key, value))
    other = make()
    before = get_state(other)
    with raises_with(CheckpointError, str(path)):
        other.restore(path)
    assert find_differences(before, get_state(other)) == []
    other.run()
    assert other.result.outcome == "ok"


@pytest.mark.parametrize("key", ["step", "seconds", "random", "journal", "stream", "method", "identity"])
def test_a_checkpoint_without_a_value_is_refused(key, saved):
    state = torch.load(saved, weights_only=True)
    del state[key]
    torch.save(state, saved)
    with raises_with(CheckpointError, str(saved)):
        make().restore(saved)

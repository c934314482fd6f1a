"""The Trainer: the loop, what it keeps, how a run ends, and what it refuses."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from conformance import differences, expect_refusal, numbers, probe
from torch import nn

from vera.data import TensorData
from vera.errors import CheckpointError, IncompatibleModel, SettingError, VeraError
from vera.generator import Generator
from vera.methods import DSM, PCD, VERA, MaximumLikelihood, Method
from vera.models import MLP, GaussianMixture, mlp_generator
from vera.trainer import Result, Trainer

POINTS = torch.randn(20, 2, generator=torch.Generator().manual_seed(0))


class Bowl(nn.Module):
    """A user's own energy: f(x) = −½‖x − c‖²."""

    def __init__(self):
        super().__init__()
        self.data_dim = 2
        self.centre = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return -0.5 * (x - self.centre).square().sum(1)


@dataclass(eq=False)
class Scripted(Method):
    """Reports as its loss what a function of the step says, and one random number a step."""

    def setup(self):
        self.count = torch.zeros((), dtype=torch.int64)
        self.script = float

    def step(self, x):
        self.count += 1
        loss = self.script(int(self.count))
        return loss if isinstance(loss, dict) else {"loss": torch.tensor(float(loss)), "noise": torch.rand(())}


def scripted(script=float, **options) -> Trainer:
    method = Scripted(Bowl())
    method.script = script
    return Trainer(method, POINTS, **({"steps": 10, "batch_size": 5, "log_every": 4} | options))


def losses(trainer: Trainer) -> list[tuple[int, float]]:
    return [(row["step"], row["loss"]) for row in trainer.history]


# Running


def test_run_until_pauses_and_goes_on():
    trainer = scripted()
    assert trainer.run(until=3) is None
    assert (trainer.step, trainer.result) == (3, None)
    assert trainer.run(until=2) is None
    assert trainer.step == 3
    result = trainer.run()
    assert result is trainer.result
    assert (result.outcome, result.step, result.reason) == ("ok", 10, "")


def test_run_never_goes_past_the_end_nor_past_a_result():
    trainer = scripted()
    result = trainer.run(until=1000)
    assert trainer.run() is result
    assert (trainer.step, int(trainer.method.count)) == (10, 10)


def test_a_result_is_plain_and_frozen():
    result = Result("ok", 3)
    assert (result.reason, result.metrics) == ("", {})
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.step = 4


def test_history_holds_the_means_of_blocks_and_of_the_last_partial_block():
    trainer = scripted()
    result = trainer.run()
    assert losses(trainer) == [(4, 2.5), (8, 6.5), (10, 9.5)]
    assert result.metrics == {name: value for name, value in trainer.history[-1].items() if name != "step"}


@pytest.mark.parametrize("stops", [(1, 2, 3, 4, 5, 6, 7, 8, 9), (4, 8), (5,), (9,)])
def test_history_does_not_depend_on_where_a_run_pauses_or_is_restored(stops, tmp_path):
    straight, paused = scripted(), scripted()
    straight.run()
    for stop in stops:
        paused.run(until=stop)
        paused.save(tmp_path / "run.pt")
        paused = scripted()
        paused.restore(tmp_path / "run.pt")
    paused.run()
    assert differences(numbers(straight), numbers(paused)) == []


def test_seconds_add_up_over_runs_and_checkpoints(monkeypatch, tmp_path):
    clock = iter(range(0, 1000, 10))
    trainer = scripted()
    monkeypatch.setattr("vera.trainer.time.monotonic", lambda: next(clock))
    trainer.run(until=2)
    trainer.run(until=4)
    assert trainer.seconds == 20
    trainer.save(tmp_path / "run.pt")
    later = scripted()
    later.restore(tmp_path / "run.pt")
    later.run()
    assert later.seconds == 30


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_the_progress_bar_is_drawn_on_stderr_where_it_is_wanted(progress, shown, capsys):
    scripted(progress=progress).run()
    out, err = capsys.readouterr()
    assert out == ""
    assert ("Scripted" in err and "10/10" in err) == shown
    assert shown or err == ""


# Evaluation


def test_evaluations_come_at_their_steps_and_at_the_end():
    trainer = scripted(evaluate=lambda method: {"seen": int(method.count)}, evaluate_every=4)
    result = trainer.run()
    assert trainer.evaluations == [{"step": step, "seen": step} for step in (4, 8, 10)]
    assert result.metrics["seen"] == 10
    assert result.metrics["loss"] == 9.5


def test_without_an_interval_there_is_one_evaluation_at_the_end():
    trainer = scripted(evaluate=lambda method: {"seen": int(method.count)})
    trainer.run()
    assert trainer.evaluations == [{"step": 10, "seen": 10}]


def test_looking_more_often_changes_nothing_else():
    runs = [scripted(evaluate=probe, evaluate_every=every) for every in (1, 5)]
    for trainer in runs:
        trainer.run()
    often, seldom = ({row["step"]: row for row in trainer.evaluations} for trainer in runs)
    assert runs[0].history == runs[1].history
    assert often[5] == seldom[5]


@pytest.mark.parametrize("value", [np.float64(1.5), np.float32(1.5), torch.tensor(1.5), 1.5])
def test_whatever_kind_of_number_an_evaluation_returns_is_kept_as_a_plain_one(value, tmp_path):
    trainer = scripted(evaluate=lambda method: {"value": value})
    trainer.run()
    assert [type(row["value"]) for row in trainer.evaluations] == [float]
    trainer.save(tmp_path / "run.pt")
    other = scripted()
    other.restore(tmp_path / "run.pt")
    assert other.evaluations == [{"step": 10, "value": 1.5}]


@pytest.mark.parametrize("returned", [None, 1.0, {"value": "high"}])
def test_an_evaluation_that_returns_no_numbers_is_refused(returned):
    with expect_refusal("evaluat"):
        scripted(evaluate=lambda method: returned).run()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_evaluation_that_is_not_finite_ends_the_run(bad):
    trainer = scripted(evaluate=lambda method: {"score": 1.0 if method.count < 8 else bad}, evaluate_every=2)
    result = trainer.run()
    assert (result.outcome, result.step, result.reason) == ("diverged", 8, f"score is {bad}")
    assert [row["step"] for row in trainer.evaluations] == [2, 4, 6]
    assert result.metrics["score"] == 1.0
    assert result.metrics["loss"] == 6.5


def test_an_evaluation_that_ends_the_run_inside_a_block_keeps_the_blocks_finite_metrics():
    trainer = scripted(evaluate=lambda method: {"score": math.nan}, evaluate_every=6)
    result = trainer.run()
    assert (result.outcome, result.step) == ("diverged", 6)
    assert losses(trainer) == [(4, 2.5), (6, 5.5)]
    assert result.metrics["loss"] == 5.5


def test_a_loss_that_broke_before_an_evaluation_is_the_one_that_is_named():
    broken = scripted(
        lambda step: math.nan if step >= 6 else step, log_every=10, evaluate=lambda m: {"score": math.nan}, evaluate_every=8
    )
    result = broken.run()
    assert (result.step, result.reason) == (6, "loss is nan")
    assert result.metrics["loss"] == 3.0


def test_a_checkpoint_written_inside_an_evaluation_is_refused_or_resumes_bit_for_bit(tmp_path):
    trainers = []

    def save(method):
        if method.count == 4:
            trainers[0].save(tmp_path / "run.pt")
        return {}

    trainers.append(scripted(evaluate=save, evaluate_every=4))
    try:
        trainers[0].run()
    except VeraError:
        return
    other = scripted(evaluate=lambda method: {}, evaluate_every=4)
    other.restore(tmp_path / "run.pt")
    other.run()
    assert other.history == trainers[0].history


# Divergence


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2e8, -2e8])
@pytest.mark.parametrize("step", [1, 2, 4, 5, 10])
def test_a_run_ends_at_the_very_step_whose_loss_is_bad(bad, step):
    trainer = scripted(lambda s: bad if s == step else float(s))
    result = trainer.run()
    assert (result.outcome, result.step, result.reason) == ("diverged", step, f"loss is {bad:g}")
    assert [row["step"] for row in trainer.history] == [4, 8][: (step - 1) // 4] + [step - 1] * ((step - 1) % 4 > 0)
    assert all(math.isfinite(value) for row in trainer.history for value in row.values())


def test_the_metrics_of_a_diverged_run_are_the_last_finite_ones():
    assert scripted(lambda s: math.nan if s == 7 else float(s)).run().metrics["loss"] == 5.5
    assert scripted(lambda s: math.nan).run().metrics == {}


def test_the_loss_limit_is_a_setting_and_binds_the_loss_alone():
    assert scripted(lambda s: 3.0 * s, max_loss=10).run().step == 4
    assert scripted(lambda s: {"loss": torch.tensor(1.0), "norm": torch.tensor(1e20)}).run().outcome == "ok"


def test_any_metric_that_is_not_finite_ends_the_run_and_is_named():
    result = scripted(lambda s: {"loss": torch.tensor(1.0), "norm": torch.tensor(math.inf)}).run()
    assert (result.step, result.reason) == (1, "norm is inf")


@pytest.mark.parametrize(
    ("report", "named"),
    [
        (
            lambda step: {"loss": torch.tensor(1.0)} | ({"extra": torch.tensor(1.0)} if step == 1 else {}),
            "at step 2 'extra' is missing",
        ),
        (
            lambda step: {"loss": torch.tensor(1.0)} | ({"extra": torch.tensor(math.nan)} if step > 1 else {}),
            "at step 2 'extra' is new",
        ),
        (lambda step: {"loss": 1.0}, "loss is a float: return loss.detach(), not loss.item()."),
        (lambda step: {"loss": torch.ones(3)}, "loss is a tensor of shape (3,): return its mean."),
        (lambda step: {"objective": torch.tensor(1.0)}, "loss"),
    ],
    ids=["missing later", "new later", "a float", "a vector", "no loss"],
)
def test_a_method_that_reports_other_than_the_contract_says_is_told_so(report, named):
    with expect_refusal(named):
        scripted(report).run()


# Saving and extending


def test_a_finished_run_is_finished_after_a_restore(tmp_path):
    for script in (float, lambda step: math.nan):
        trainer, again = scripted(script), scripted(script)
        trainer.run()
        trainer.save(tmp_path / "run.pt")
        again.restore(tmp_path / "run.pt")
        assert again.run() == trainer.result
        assert again.method.count == trainer.method.count


def test_a_finished_run_can_be_extended(tmp_path):
    short, long = scripted(steps=8), scripted(steps=12)
    short.run()
    short.save(tmp_path / "run.pt")
    extended = scripted(steps=12)
    extended.restore(tmp_path / "run.pt")
    assert extended.result is None
    long.run()
    extended.run()
    assert differences(numbers(long), numbers(extended)) == []


def test_a_diverged_run_cannot_be_extended(tmp_path):
    short, long = scripted(lambda s: math.nan, steps=8), scripted(steps=12)
    short.run()
    short.save(tmp_path / "run.pt")
    long.restore(tmp_path / "run.pt")
    assert long.run().outcome == "diverged"


def test_a_checkpoint_beyond_the_budget_is_refused_or_finished(tmp_path):
    far, near = scripted(steps=10), scripted(steps=5)
    far.run(until=8)
    far.save(tmp_path / "run.pt")
    try:
        near.restore(tmp_path / "run.pt")
    except CheckpointError:
        return
    assert near.run() is not None


def test_a_save_that_fails_leaves_the_old_checkpoint_and_no_other_file(tmp_path, monkeypatch):
    def half_written(state, file):
        file.write(b"half")
        raise OSError("disk full")

    trainer = scripted()
    trainer.save(tmp_path / "run.pt")
    before = (tmp_path / "run.pt").read_bytes()
    monkeypatch.setattr("vera.checkpoint.torch.save", half_written)
    with pytest.raises(CheckpointError, match="disk full"):
        trainer.save(tmp_path / "run.pt")
    assert (tmp_path / "run.pt").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]


def test_a_run_can_be_forked_in_memory():
    options = {"steps": 8, "batch_size": 5}
    make = lambda: Trainer(MaximumLikelihood(mixture()), POINTS, **options)  # noqa: E731
    straight, one, other = make(), make(), make()
    straight.run()
    one.run(until=4)
    other.load_state_dict(one.state_dict())
    one.run()
    other.run()
    assert differences(numbers(straight), numbers(one)) == []
    assert differences(numbers(straight), numbers(other)) == []


def mixture() -> GaussianMixture:
    torch.manual_seed(0)
    return GaussianMixture(2, 3)


# Data, device and networks


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_trains_like_the_tensor_it_holds(dtype):
    runs = [Trainer(MaximumLikelihood(mixture()), data, steps=4, batch_size=5) for data in (POINTS, POINTS.numpy().astype(dtype))]
    for trainer in runs:
        trainer.run()
    assert isinstance(runs[1].data, TensorData)
    assert differences(numbers(runs[0]), numbers(runs[1])) == []


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ([[1.0, 2.0]], ["DataSet", "list"]),
        (np.ones((20, 2), dtype=np.int64), ["floats", "int64"]),
        (torch.ones(20), ["(points, dimensions)", "(20,)"]),
        (torch.ones(3, 2), ["batch_size 5", "3 points"]),
    ],
)
def test_data_of_another_kind_is_refused(data, parts):
    with expect_refusal(*parts, kind=SettingError):
        Trainer(MaximumLikelihood(mixture()), data, steps=4, batch_size=5)


WRONG_OPTIONS = {
    "steps": [0, -1, 1.5, True],
    "batch_size": [0],
    "seed": [-1, 0.0],
    "log_every": [0],
    "evaluate_every": [0],
    "max_loss": [0, math.nan],
    "device": [0],
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option, values in WRONG_OPTIONS.items() for value in values])
def test_an_option_outside_its_range_is_refused(option, value):
    with expect_refusal("Trainer", option, kind=SettingError):
        scripted(**{option: value})


def test_the_device_is_an_argument():
    assert scripted(device="cpu").device == torch.device("cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(device):
    with expect_refusal(device):
        scripted(device=device)


class Restless(nn.Module):
    """A user's own energy with a dropout layer, a batch norm and a step counter of its own."""

    def __init__(self):
        super().__init__()
        self.data_dim = 2
        self.net = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Softplus(), nn.Dropout(0.3), nn.Linear(8, 1))
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x):
        self.calls += 1
        return self.net(x).squeeze(1)


class Wrapped(nn.Module):
    """Any function of a network as an energy."""

    def __init__(self, net, function):
        super().__init__()
        self.net, self.function = net, function

    def forward(self, x):
        return self.function(self.net(x))


@pytest.mark.parametrize(
    "energy",
    [Bowl, Restless, lambda: Wrapped(nn.Linear(2, 4), lambda y: -y.square().sum(1))],
    ids=["plain module", "dropout and batch norm", "wrapped lambda"],
)
@pytest.mark.parametrize("method", [DSM, PCD, lambda energy: VERA(energy, mlp_generator(2))], ids=["dsm", "pcd", "vera"])
def test_a_users_own_energy_trains_and_resumes_bit_for_bit(method, energy, tmp_path):
    def make():
        torch.manual_seed(0)
        return Trainer(method(energy()), POINTS, steps=6, batch_size=8)

    straight, paused, resumed = make(), make(), make()
    assert straight.run().outcome == "ok"
    paused.run(until=3)
    paused.save(tmp_path / "run.pt")
    resumed.restore(tmp_path / "run.pt")
    resumed.run()
    assert differences(numbers(straight), numbers(resumed)) == []


@pytest.mark.parametrize(
    ("energy", "parts"),
    [
        (nn.Linear(2, 1), ["one number a point", "(2,)", "(2, 1)"]),
        (nn.Linear(2, 3), ["one number a point", "(2, 3)"]),
        (Wrapped(nn.Linear(2, 1), torch.sum), ["one number a point", "()"]),
        (Wrapped(nn.Linear(2, 1), lambda y: (y, y)), ["one number a point", "tuple"]),
        (MLP(3), ["MLP", "2)"]),
        (GaussianMixture(1, 3), ["GaussianMixture", "2"]),
    ],
    ids=["column", "matrix", "scalar", "tuple", "other dimension", "mixture of other dimension"],
)
def test_an_energy_that_does_not_fit_the_data_is_refused_before_the_first_step(energy, parts):
    with expect_refusal("dsm", *parts, kind=IncompatibleModel):
        Trainer(DSM(energy), POINTS, steps=1, batch_size=5)


def test_an_energy_without_weights_is_refused():
    with expect_refusal("dsm", "Softplus", "no weights", kind=IncompatibleModel):
        DSM(nn.Softplus())


def test_an_energy_that_is_no_module_is_refused():
    with expect_refusal("dsm", "energy", "torch.nn.Module", "function", kind=SettingError):
        DSM(lambda x: x.sum(1))


def test_a_generator_of_the_wrong_width_is_refused():
    with expect_refusal("vera", "generator", "(3,)", "(2,)", kind=IncompatibleModel):
        Trainer(VERA(MLP(2), mlp_generator(3)), POINTS, steps=1, batch_size=5)


@pytest.mark.parametrize("network", [MLP(2), nn.Linear(2, 2)])
def test_a_bare_network_in_place_of_a_generator_is_refused(network):
    with expect_refusal("vera", "generator", "Generator", type(network).__name__):
        VERA(MLP(2), network)


def test_a_generator_of_another_latent_width_is_refused():
    with expect_refusal("vera", "Generator", kind=IncompatibleModel):
        Trainer(VERA(MLP(2), Generator(nn.Linear(3, 2), latent_dim=4)), POINTS, steps=1, batch_size=5)


def test_batch_norm_cannot_train_on_batches_of_one_and_says_so():
    with expect_refusal("batch"):
        Trainer(VERA(MLP(2), mlp_generator(2)), POINTS, steps=1, batch_size=1).run()

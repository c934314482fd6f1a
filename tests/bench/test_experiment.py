"""Experiment on a small made-up experiment: enumeration, hooks, grids, plug-in lines and cost."""

from dataclasses import replace

import pytest
from facts import raises_with

from bench.experiment import DataSetting, Experiment, Line, Scale, spell_setting
from sweeps.trial.identity import reseed
from vera.errors import SettingError, UnknownName
from vera.methods.amortised.vera import VERA
from vera.methods.ml import MaximumLikelihood
from vera.spec.registry import methods

MOONS = DataSetting("Moons", {"name": "moons"}, epoch=10)
RINGS = DataSetting("Rings", {"name": "rings"}, steps=7, evaluations=0)
NETWORKS = {"energy": {"name": "mlp", "hidden": [4]}, "generator": {"name": "mlp-generator"}}
ML = Line(
    "ML",
    method={"name": "ml", "lr": 1e-4},
    laptop={"lr": 1e-2},
    laptop_grid={"lr": (1e-2, 1e-3)},
    gflop=2.0,
    restarts=1,
)
PCD = Line(
    "PCD",
    method={"name": "pcd", "sampler_steps": 40, "noise": 0.1},
    grid={"noise": (0.1, 1.0), "sampler_steps": (20, 40)},
    gflop={"moons": 3.0},
    epochs={"decay_at": (1, 1.5)},
    dataset={"noise": 0.3},
)
VERA_LINE = Line(
    "PCD + generator",
    method={"name": "vera"},
    roles=("energy", "generator"),
    networks={"generator": {"latent_dim": 3}},
)
SMALL = Scale(
    about="20 steps",
    data=(MOONS, RINGS),
    networks=NETWORKS,
    steps=20,
    batch_size=5,
    evaluations=4,
    seeds=(0, 1),
)
LARGE = replace(SMALL, about="300 steps", steps=300, batch_size=50, seeds=(0, 1, 2))
TOY = Experiment("toy", (ML, PCD, VERA_LINE), {"laptop": SMALL, "paper": LARGE})


@pytest.fixture
def plugin_methods(monkeypatch):
    """Two methods that plug-ins registered: one for the energy, one that also needs a generator."""

    class PluginLikelihood(MaximumLikelihood):
        """A method of a plug-in."""

    class PluginVERA(VERA):
        """A method of a plug-in with a generator."""

    added = {"plug": PluginLikelihood, "plug-vera": PluginVERA}
    for kind in added.values():
        kind.__module__ = "somewhere.else"
    monkeypatch.setattr(methods, "_known", methods._entries | added)


def describe(trials):
    return [(trial.spec.dataset["name"], trial.label) for trial in trials]


def test_trials_go_through_data_sets_and_then_lines_in_order():
    labels = ["ML", "PCD", "PCD + generator"]
    expected = [(name, label) for name in ("moons", "rings") for label in labels]
    assert describe(TOY.trials("laptop")) == expected
    assert describe(TOY.trials("laptop", [RINGS])) == expected[3:]
    without_pcd = TOY.trials("laptop", [MOONS], include=lambda line: line.label != "PCD")
    assert describe(without_pcd) == [expected[0], expected[2]]


def test_a_trial_has_the_scale_of_its_profile():
    trial = TOY.trial("ML", "laptop")
    assert (trial.profile, trial.label) == ("laptop", "ML")
    assert trial.spec.networks == {"energy": NETWORKS["energy"]}
    assert (trial.spec.steps, trial.spec.batch_size, trial.spec.evaluate_every) == (20, 5, 5)
    assert (trial.spec.task, trial.spec.restarts) == ("density", 0)
    assert TOY.trial("ML", "paper").spec.restarts == 1
    assert TOY.seeds() == {"laptop": (0, 1), "paper": (0, 1, 2)}
    assert (TOY.about("paper"), TOY.data("paper")) == ("300 steps", (MOONS, RINGS))


def test_settings_of_the_laptop_replace_those_of_the_paper():
    assert TOY.trial("ML", "laptop").spec.method == {"name": "ml", "lr": 1e-2}
    assert TOY.trial("ML", "paper").spec.method == {"name": "ml", "lr": 1e-4}
    assert TOY.trial("ML", "paper", lr=0.5).spec.method["lr"] == 0.5


def test_settings_in_epochs_become_steps_at_paper_only():
    assert TOY.trial("PCD", "paper").spec.method["decay_at"] == [10, 15]
    assert "decay_at" not in TOY.trial("PCD", "laptop").spec.method


def test_a_line_can_change_networks_and_data():
    generator = TOY.trial("PCD + generator", "laptop").spec.networks["generator"]
    assert generator == {"name": "mlp-generator", "latent_dim": 3}
    assert TOY.trial("PCD", "laptop").spec.dataset == {"name": "moons", "noise": 0.3}
    assert TOY.trial("ML", "laptop").spec.dataset == {"name": "moons"}


def test_a_data_set_can_have_its_own_steps_and_evaluations():
    spec = TOY.trial("ML", "laptop", RINGS).spec
    assert (spec.steps, spec.evaluate_every) == (7, None)
    unspecified = replace(TOY, scales={"laptop": replace(SMALL, steps=None)})
    assert unspecified.trial("ML", "laptop", RINGS).spec.steps == 7
    with raises_with(SettingError, "toy", "Moons", "laptop"):
        unspecified.trial("ML", "laptop", MOONS)


def test_evaluations_happen_at_least_every_step():
    often = replace(TOY, scales={"laptop": replace(SMALL, evaluations=1_000)})
    assert often.trial("ML", "laptop").spec.evaluate_every == 1


def test_an_unknown_line_is_named_with_the_known_ones():
    assert TOY.find_line("PDC") is None
    with raises_with(UnknownName, "toy", "PDC", "ML, PCD, PCD + generator"):
        TOY.trial("PDC", "laptop")


def test_other_data_are_refused_unless_a_family_takes_them():
    with raises_with(SettingError, "toy"):
        TOY.other_data({"name": "circles"}, "laptop")


def test_grid_trials_are_the_product_of_the_grid_on_a_tuning_seed():
    trials = TOY.grid_trials(PCD, "paper")
    assert [trial.label for trial in trials] == [
        "PCD noise=0.1 sampler_steps=20",
        "PCD noise=0.1 sampler_steps=40",
        "PCD noise=1 sampler_steps=20",
        "PCD noise=1 sampler_steps=40",
    ]
    assert {trial.spec.seed for trial in trials} == {100}
    assert [trial.spec.method["sampler_steps"] for trial in trials] == [20, 40, 20, 40]
    assert trials[1].spec == reseed(TOY.trial("PCD", "paper"), 100).spec


def test_the_laptop_has_its_own_grid_or_that_of_the_paper():
    assert [trial.label for trial in TOY.grid_trials(ML, "laptop")] == ["ML lr=0.01", "ML lr=0.001"]
    assert [trial.label for trial in TOY.grid_trials(ML, "paper")] == ["ML"]
    assert len(TOY.grid_trials(PCD, "laptop")) == 4


def test_the_grid_sweep_covers_lines_and_data_sets_for_each_tuning_seed():
    sweep = TOY.grid_sweep("toy-grid", "all grids")
    trials = sweep.trials("laptop")
    assert len(trials) == 2 * (2 + 4 + 1)
    assert [trial.spec.dataset["name"] for trial in trials] == ["moons"] * 7 + ["rings"] * 7
    assert {trial.spec.seed for trial in trials} == {100}
    assert [trial.spec.seed for trial in sweep.trials("laptop", [0, 1])] == [100] * 14 + [101] * 14
    assert {trial.spec.seed for trial in sweep.trials("laptop", [103])} == {103}


def test_plugin_methods_follow_the_lines_of_each_data_set_with_their_defaults(plugin_methods):
    labels = [label for _, label in describe(TOY.trials("laptop"))]
    assert labels == ["ML", "PCD", "PCD + generator", "plug", "plug-vera"] * 2
    plug, vera = TOY.plugin_trials("laptop", RINGS)
    assert (plug.spec.dataset, plug.spec.steps, plug.spec.method["name"]) == ({"name": "rings"}, 7, "plug")
    assert "lr" in plug.spec.method
    assert list(vera.spec.networks) == ["energy", "generator"]


def test_plugin_methods_that_need_other_networks_are_left_out(plugin_methods):
    small = replace(SMALL, networks={"energy": NETWORKS["energy"]})
    alone = replace(TOY, scales={"laptop": small})
    assert [trial.label for trial in alone.plugin_trials("laptop")] == ["plug"]


def test_an_experiment_without_a_registry_takes_no_plugin_methods(plugin_methods):
    assert list(replace(TOY, registry=None).plugin_trials("laptop")) == []


class ShiftedExperiment(Experiment[DataSetting]):
    """Overrides every hook."""

    plugin_roles = ("energy",)

    def settings(self, line, profile, data):
        return {**super().settings(line, profile, data), "gamma": 0.5}

    def networks(self, profile, data, line):
        shared = super().networks(profile, data, line)
        return {role: {**network, "data_dim": 2} for role, network in shared.items()}

    def dataset(self, data, line):
        return {**super().dataset(data, line), "noise": 0.0 if line is None else 1.0}

    def task(self, profile, data):
        return {"name": "density", "samples": len(data.name)}

    def steps(self, line, profile, data):
        return 2 * super().steps(line, profile, data)

    def lines_for(self, profile, data):
        return self.lines if data is MOONS else self.lines[:1]

    def trial_label(self, line, data):
        return f"{line.label} on {data.name}"

    def grid_points(self, line, profile, data):
        yield f"{line.label} once", {"lr": 0.25}

    def other_data(self, dataset, profile):
        return DataSetting(f"other {dataset['name']}", dataset)


SHIFTED = ShiftedExperiment("shifted", TOY.lines, TOY.scales)


def test_hooks_decide_every_part_of_a_trial(plugin_methods):
    labels = [trial.label for trial in SHIFTED.trials("laptop")]
    assert labels == [
        "ML on Moons",
        "PCD on Moons",
        "PCD + generator on Moons",
        "plug",
        "ML on Rings",
        "plug",
    ]
    spec = SHIFTED.trial("ML", "laptop", RINGS).spec
    assert spec.method == {"name": "ml", "lr": 1e-2, "gamma": 0.5}
    assert spec.networks["energy"] == {**NETWORKS["energy"], "data_dim": 2}
    assert (spec.dataset, spec.task) == ({"name": "rings", "noise": 1.0}, {"name": "density", "samples": 5})
    assert spec.steps == 14
    (plug,) = SHIFTED.plugin_trials("laptop", RINGS)
    assert (plug.spec.dataset["noise"], plug.spec.steps) == (0.0, 14)
    assert "gamma" not in plug.spec.method or plug.spec.method["gamma"] != 0.5


def test_hooks_decide_grids_and_other_data():
    (trial,) = SHIFTED.grid_trials(ML, "laptop")
    assert (trial.label, trial.spec.method["lr"]) == ("ML once", 0.25)
    assert len(SHIFTED.grid_sweep("shifted-grid", "").trials("laptop")) == 3 + 1
    other = SHIFTED.other_data({"name": "circles"}, "laptop")
    assert SHIFTED.trial("ML", "laptop", other).label == "ML on other circles"


def test_cost_counts_all_steps_at_paper_only():
    assert TOY.flop(TOY.trial("ML", "paper")) == 2e9 * 300
    assert TOY.flop(TOY.trial("ML", "paper", RINGS)) == 2e9 * 7
    assert TOY.flop(TOY.trial("ML", "laptop")) is None


def test_cost_is_unknown_for_lines_and_data_that_were_not_counted(plugin_methods):
    assert TOY.flop(TOY.trial("PCD", "paper")) == 3e9 * 300
    assert TOY.flop(TOY.trial("PCD", "paper", RINGS)) is None
    assert TOY.flop(TOY.trial("PCD + generator", "paper")) is None, "not counted as PCD"
    assert TOY.flop(next(TOY.plugin_trials("paper"))) is None


def test_cost_of_a_grid_trial_grows_with_its_sampler_steps():
    costs = {trial.label: TOY.flop(trial) for trial in TOY.grid_trials(PCD, "paper")}
    assert costs["PCD noise=1 sampler_steps=40"] == 3e9 * 300
    assert costs["PCD noise=1 sampler_steps=20"] == 1.5e9 * 300


def test_settings_are_spelled_as_on_the_command_line():
    settings = [("lr", 3e-4), ("noise", 1.0), ("steps", 20), ("probe", "gaussian"), ("reduced", True)]
    assert [spell_setting(setting) for setting in settings] == [
        "lr=0.0003",
        "noise=1",
        "steps=20",
        "probe=gaussian",
        "reduced=True",
    ]

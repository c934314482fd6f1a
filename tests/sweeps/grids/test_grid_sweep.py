"""`sweeps.grid`: which trials a grid declares, and how mistakes are answered."""

import subprocess
import sys

import numpy as np
import pytest
from facts import raises_with

import sweeps
from sweeps.errors import EngineError
from sweeps.grids.grid_sweep import find_plugins
from sweeps.trial.identity import Trial
from sweeps.trial.matching import RowMatcher
from vera.errors import SettingError, UnknownName
from vera.spec.registry import load_plugin, methods
from vera.spec.trial_spec import TrialSpec

NETWORKS = {"energy": {"name": "mixture"}, "generator": {"name": "mlp-generator"}}
SPEC = TrialSpec({"name": "moons"}, NETWORKS, {"name": "vera", "lr": 1e-3}, steps=5, batch_size=20)


def test_every_combination_is_one_trial_and_the_first_seed_comes_first():
    grid = sweeps.grid(SPEC, {"method.lr": [1e-3, 3e-4], "method.k": [5, 20], "seed": range(3)})
    found = [(t.spec.seed, t.spec.method["lr"], t.spec.method["k"]) for t in grid.trials()]
    assert found == [(seed, lr, k) for seed in range(3) for lr in (1e-3, 3e-4) for k in (5, 20)]
    assert len({trial.id for trial in grid.trials()}) == 12


def test_trial_of_a_grid_has_the_id_of_its_spec():
    """A grid is another way to declare trials; what it trains is found by every other sweep."""
    (trial,) = sweeps.grid(SPEC, {"method.k": [5], "seed": [4]}, profile="smoke").trials()
    spec = TrialSpec(SPEC.dataset, NETWORKS, {"name": "vera", "lr": 1e-3, "k": 5}, 5, 20, seed=4)
    assert trial.id == Trial(spec, "smoke").id
    assert (trial.label, trial.sweep) == ("vera (k=5)", "grid [method.k]")


def test_grid_without_seeds_keeps_the_seed_of_the_spec():
    assert [t.spec.seed for t in sweeps.grid(SPEC, {"method.k": [5, 6]}).trials()] == [0, 0]
    assert len(sweeps.grid(SPEC, {}).trials()) == 1


def test_equal_trials_are_declared_once():
    assert len(sweeps.grid(SPEC, {"method.entropy_weight": [0, 0.0, 1]}).trials()) == 2


def test_spec_may_be_a_mapping_and_values_numpy_numbers():
    grid = sweeps.grid(SPEC.to_dict(), {"method.lr": np.array([1e-3, 1e-2]), "seed": np.arange(2)})
    assert [trial.id for trial in grid.trials()] == [
        trial.id for trial in sweeps.grid(SPEC, {"method.lr": [1e-3, 1e-2], "seed": range(2)}).trials()
    ]


def test_components_are_replaced_before_their_settings_are_changed():
    only_energy = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, 5)
    grid = sweeps.grid(only_energy, {"method.lr": [0.01], "method": ["ml", {"name": "pcd", "noise": 0.1}]})
    assert [trial.spec.method for trial in grid.trials()] == [
        {"name": "ml", "lr": 0.01},
        {"name": "pcd", "noise": 0.1, "lr": 0.01},
    ]


@pytest.mark.parametrize(
    ("axes", "kind", "facts"),
    [
        ({"method.lrr": [1]}, UnknownName, ("'method.lrr'", "method.lr?")),
        ({"lr": [1]}, UnknownName, ("method.lr?",)),
        ({"method.k": [5, 0]}, SettingError, ("at least 1", "got 0")),
        ({"method.k": 5}, SettingError, ("'method.k'", "list", "got 5")),
        ({"dataset": "rings"}, SettingError, ("'dataset'", "list")),
        ({"seed": []}, SettingError, ("'seed'", "no values")),
        ({"dataset": ["ring"]}, UnknownName, ("'ring'", "rings")),
        ({"method": [{"name": "vera", "kk": 1}]}, UnknownName, ("'kk'",)),
    ],
)
def test_mistake_is_refused_before_anything_is_trained(axes, kind, facts):
    with raises_with(kind, *facts):
        sweeps.grid(SPEC, axes)


def test_spec_of_another_type_is_refused():
    with raises_with(SettingError, "TrialSpec", "str"):
        sweeps.grid("table2", {})


def test_only_settings_that_differ_from_the_default_keep_a_row_from_other_lines():
    grid = sweeps.grid(SPEC, {"method.k": [5, 20]}, name="mine")
    assert [trial.sweep for trial in grid.trials()] == ["mine [method.k]", "mine"]
    assert RowMatcher([]).match(grid.trials()[0]).rows == []


def test_plugins_are_found_by_what_the_trials_use(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import dataclass\nfrom vera.methods.ml import MaximumLikelihood\n"
        "from vera.spec.registry import methods\n"
        "@methods.register('mine')\n@dataclass(eq=False)\nclass Mine(MaximumLikelihood):\n    pass\n"
    )
    load_plugin(file)
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "mine"}, 5)
    assert find_plugins(sweeps.grid(spec, {"seed": range(3)}).trials()) == [str(file)]
    assert find_plugins(sweeps.grid(SPEC, {}).trials()) == []


def test_component_of_the_notebook_itself_is_refused():
    @methods.register("of-the-notebook")
    class OfTheNotebook(methods.get("ml")):
        __module__ = "__main__"

    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "of-the-notebook"}, 5)
    with raises_with(EngineError, "'of-the-notebook'", "vera.load_plugin"):
        find_plugins(sweeps.grid(spec, {}).trials())


def test_import_of_sweeps_loads_nothing_heavy():
    code = (
        "import sys, sweeps; print(sorted({'torch', 'ray', 'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert set(sweeps.__all__) <= set(dir(sweeps))
    with pytest.raises(AttributeError, match="nothing"):
        _ = sweeps.nothing

"""Registries and plug-ins: lookup, clashes of names, and loading on demand."""

import sys

import pytest
from conformance import ENERGIES, check_resume
from facts import raises_with

from vera.errors import PluginError, UnknownName, VeraError
from vera.spec.registry import Registry, datasets, load_plugin, methods, models
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_trainer

PLUGIN = '''
"""Contrastive divergence from the data: one noisy gradient step away."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.gradients import gradient
from vera.methods import Method, Metrics
from vera.training.optimisers import adam, descend
from vera.spec.registry import methods
from vera.spec.settings import Positive


@methods.register("one-step")
@dataclass(eq=False)
class OneStep(Method):
    """Samples are data points moved uphill once."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate"] = 1e-3
    noise: Annotated[Positive, "deviation of the noise"] = 0.1

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr)

    def step(self, x: Tensor) -> Metrics:
        moved = x + self.noise**2 / 2 * gradient(self.energy, x) + self.noise * torch.randn_like(x)
        loss = self.energy(moved).mean() - self.energy(x).mean()
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}
'''


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "one_step.py"
    path.write_text(PLUGIN)
    yield path
    sys.modules.pop("vera_plugin_one_step", None)


def one_step(**settings) -> TrialSpec:
    energy = {"name": "mlp", "hidden": [8]}
    return TrialSpec(
        {"name": "moons"}, {"energy": energy}, {"name": "one-step", **settings}, steps=4, batch_size=10
    )


def test_names_map_to_factories_in_sorted_order():
    registry = Registry("thing")
    registry.register("b")(dict)
    registry.register("a")(list)
    assert (list(registry), registry.names()) == (["a", "b"], ["a", "b"])
    assert registry.get("b") is dict
    assert (registry.name_of(list), registry.name_of(set)) == ("a", None)


@pytest.mark.parametrize(
    ("registry", "name", "facts"),
    [
        (methods, "vra", ["method 'vra'", "vera?"]),
        (methods, "cpsm", ["method 'cpsm'", "cp-sm"]),
        (models, "mixtures", ["model 'mixtures'", "mixture?"]),
        (datasets, "moon", ["data set 'moon'", "moons?"]),
        (datasets, "qqqq", ["data set 'qqqq'", "vera data list"]),
        (models, "qqqq", ["model 'qqqq'", "mixture", "mlp", "nice"]),
    ],
)
def test_an_unknown_name_raises_with_the_closest_names(registry, name, facts):
    with raises_with(UnknownName, *facts):
        registry.create(name)


def test_a_missing_argument_is_named():
    with raises_with(VeraError, "model 'statistics'", "latent_dim"):
        models.create("statistics", data_dim=2)


def test_a_name_can_be_registered_only_once():
    registry = Registry("thing")

    @registry.register("a")
    class First:
        pass

    with raises_with(VeraError, "thing name 'a'", "First", "my-a"):
        registry.register("a")(dict)
    assert registry.get("a") is First


def test_a_plugin_registers_a_method_that_trains(plugin):
    assert len(PLUGIN.strip().splitlines()) < 40
    with raises_with(UnknownName, "method 'one-step'"):
        build_trainer(one_step())
    load_plugin(plugin)
    assert "one-step" in methods
    trainer = build_trainer(one_step(noise=0.2))
    assert trainer.run().outcome == "ok"
    assert trainer.method.label() == "one-step"


def test_the_settings_of_a_plugins_method_are_checked_and_its_runs_resume_bit_identically(plugin, tmp_path):
    load_plugin(str(plugin))
    for energy in ENERGIES:
        check_resume("one-step", energy, tmp_path)
    with raises_with(VeraError, "OneStep: noise", "above 0"):
        build_trainer(one_step(noise=-1))
    with raises_with(UnknownName, "method 'one-step'", "'nose'", "noise?"):
        build_trainer(one_step(nose=1))


def test_a_plugin_can_be_loaded_twice_but_cannot_take_a_built_in_name(plugin, tmp_path):
    load_plugin(plugin)
    load_plugin(plugin)
    thief = tmp_path / "thief.py"
    thief.write_text(PLUGIN.replace('"one-step"', '"vera"'))
    with raises_with(
        VeraError,
        "method name 'vera'",
        "vera.methods.amortised.vera.VERA",
        "OneStep",
        str(thief),
        "'my-vera'",
    ):
        load_plugin(thief)
    assert methods.get("vera").__module__ == "vera.methods.amortised.vera"


def test_two_plugin_files_with_the_same_file_name_do_not_replace_each_other(plugin, tmp_path):
    load_plugin(plugin)
    other = tmp_path / "elsewhere" / "one_step.py"
    other.parent.mkdir()
    other.write_text(PLUGIN.replace("= 1e-3", "= 1e-1"))
    with raises_with(VeraError, "method name 'one-step'", str(other)):
        load_plugin(other)
    assert build_trainer(one_step()).method.lr == 1e-3


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ("import no_such_module_at_all", ["ModuleNotFoundError", "no_such_module_at_all"]),
        ("def broken(:", ["SyntaxError"]),
        ("\n1 / 0", ["line 2", "ZeroDivisionError"]),
    ],
)
def test_a_broken_plugin_raises_with_its_path_and_reason(tmp_path, content, facts):
    path = tmp_path / "broken.py"
    path.write_text(content)
    with raises_with(PluginError, str(path), *facts):
        load_plugin(path)


def test_a_broken_plugin_can_be_fixed_and_loaded_again(plugin):
    plugin.write_text(PLUGIN + "\n\n1 / 0\n")
    with raises_with(PluginError, str(plugin), "ZeroDivisionError"):
        load_plugin(plugin)
    plugin.write_text(PLUGIN)
    load_plugin(plugin)
    assert build_trainer(one_step()).run().outcome == "ok"


@pytest.mark.parametrize(
    ("definition", "facts"),
    [
        ("class Odd: pass", ["Odd ", "vera.methods.Method"]),
        ("def odd(energy): pass", ["odd ", "vera.methods.Method"]),
        (
            "class Odd(Method):\n    def setup(self): ...\n    def step(self, x): ...",
            ["Odd ", "@dataclass(eq=False)"],
        ),
    ],
)
def test_a_plugin_that_registers_something_else_as_a_method_is_refused(tmp_path, definition, facts):
    path = tmp_path / "odd.py"
    path.write_text(
        "from vera.methods import Method\nfrom vera.spec.registry import methods\n\n"
        f"@methods.register('odd-one')\n{definition}\n"
    )
    with raises_with(PluginError, str(path), "method 'odd-one'", *facts):
        load_plugin(path)
    assert "odd-one" not in methods


@pytest.mark.parametrize(
    ("annotation", "facts"),
    [
        ('"Nope"', ["NameError: name 'Nope' is not defined"]),
        ('"1 +"', ["SyntaxError"]),
        ("dict[str, set]", ["'noise'", "dict[str, set]", "bool, int"]),
        ("list", ["'noise'", "with list"]),
        ("tuple[int, dict] | None", ["'noise'", "tuple[int, dict] | None"]),
    ],
)
def test_a_plugin_with_an_annotation_that_cannot_be_checked_is_refused(plugin, annotation, facts):
    plugin.write_text(
        PLUGIN.replace(
            'noise: Annotated[Positive, "deviation of the noise"] = 0.1', f"noise: {annotation} = None"
        )
    )
    with raises_with(PluginError, str(plugin), "method 'one-step'", "OneStep", *facts):
        load_plugin(plugin)
    assert "one-step" not in methods


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ("] = 0.1", '] = "fast"', ["default", "noise", "a number", "'fast'"]),
        ("] = 0.1", "] = -1.0", ["default", "noise", "above 0", "-1.0"]),
        (
            "    def setup(self",
            '    needs = ("densty",)\n\n    def setup(self',
            ["'densty'", "density, hessian"],
        ),
    ],
)
def test_a_plugin_with_an_invalid_default_or_an_unknown_need_is_refused(plugin, old, new, facts):
    assert PLUGIN.count(old) == 1
    plugin.write_text(PLUGIN.replace(old, new))
    with raises_with(PluginError, str(plugin), "method 'one-step'", "OneStep", *facts):
        load_plugin(plugin)
    assert "one-step" not in methods


def test_a_plugins_data_set_with_an_undefined_annotation_is_refused(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(
        "from vera.spec.registry import datasets\n@datasets.register('odd')\ndef odd(size: 'Nope' = 1): ...\n"
    )
    with raises_with(PluginError, str(path), "data set 'odd'", "NameError", "'Nope'"):
        load_plugin(path)


@pytest.mark.parametrize(("name", "fact"), [("missing.py", "no plug-in file"), (".", "directory")])
def test_a_missing_plugin_raises_with_its_path(tmp_path, name, fact):
    with raises_with(PluginError, fact, str(tmp_path / name)):
        load_plugin(tmp_path / name)


def test_a_plugin_that_is_not_python_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with raises_with(PluginError, str(path), "not a Python file"):
        load_plugin(path)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An installed distribution with two methods: one that loads and one that does not."""
    (tmp_path / "vera_extra.py").write_text(PLUGIN)
    (tmp_path / "vera_broken.py").write_text("1 / 0")
    info = tmp_path / "vera_extra-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vera-extra\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[vera.methods]\none-step = vera_extra:OneStep\nfaulty = vera_broken:Faulty\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for module in ("vera_extra", "vera_broken"):
        sys.modules.pop(module, None)


@pytest.mark.usefixtures("installed")
def test_an_entry_point_is_suggested_without_being_loaded():
    assert {"one-step", "faulty", "vera"} <= set(methods.names())
    methods.get("ml")
    with raises_with(UnknownName, "method 'one-stop'", "one-step"):
        methods.get("one-stop")
    assert "vera_extra" not in sys.modules
    assert "one-step" not in list(methods)


@pytest.mark.usefixtures("installed")
def test_an_entry_point_is_loaded_when_its_name_is_used_and_trains():
    assert build_trainer(one_step()).run().outcome == "ok"
    assert methods.get("one-step") is sys.modules["vera_extra"].OneStep
    assert "vera_broken" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_a_broken_entry_point_raises_with_its_name_and_reason():
    with raises_with(PluginError, "faulty", "vera_broken:Faulty", "division by zero"):
        methods.get("faulty")

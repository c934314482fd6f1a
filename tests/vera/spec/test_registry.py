"""Registries and plug-ins: names, clashes, code that runs only when it is asked for."""

import sys

import pytest
from conformance import ENERGIES, check_resume, expect_refusal

from vera.errors import PluginError, UnknownName
from vera.spec.registry import Registry, datasets, load_plugin, methods, models
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_trainer

pytestmark = pytest.mark.usefixtures("registries")

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


def test_names_lead_to_factories_in_order():
    registry = Registry("thing")
    registry.register("b")(dict)
    registry.register("a")(list)
    assert (list(registry), registry.names()) == (["a", "b"], ["a", "b"])
    assert registry.get("b") is dict
    assert (registry.name_of(list), registry.name_of(set)) == ("a", None)


@pytest.mark.parametrize(
    ("registry", "name", "parts"),
    [
        (methods, "vra", ["no method 'vra'", "Did you mean", "vera"]),
        (methods, "cpsm", ["no method 'cpsm'", "cp-sm"]),
        (models, "mixtures", ["no model 'mixtures'", "Did you mean mixture"]),
        (datasets, "moon", ["no data set 'moon'", "Did you mean moons"]),
        (datasets, "qqqq", ["no data set 'qqqq'. To see them: vera data list"]),
        (models, "qqqq", ["no model 'qqqq'", "There is: ", "mixture"]),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_ones(registry, name, parts):
    with expect_refusal(*parts, kind=UnknownName):
        registry.create(name)


def test_a_missing_argument_is_named():
    with expect_refusal("model 'statistics' needs latent_dim"):
        models.create("statistics", data_dim=2)


def test_a_name_can_be_taken_once():
    registry = Registry("thing")

    @registry.register("a")
    class First:
        pass

    with expect_refusal("thing name 'a' is taken by", "First"):
        registry.register("a")(dict)
    assert registry.get("a") is First


def test_a_plugin_registers_a_method_that_trains(plugin):
    assert len(PLUGIN.strip().splitlines()) < 40
    with expect_refusal("no method 'one-step'", kind=UnknownName):
        build_trainer(one_step())
    load_plugin(plugin)
    assert "one-step" in methods
    trainer = build_trainer(one_step(noise=0.2))
    assert trainer.run().outcome == "ok"
    assert trainer.method.label() == "one-step"


def test_a_plugins_method_has_checked_settings_and_resumes_bit_for_bit(plugin, tmp_path):
    load_plugin(str(plugin))
    for energy in ENERGIES:
        check_resume("one-step", energy, tmp_path)
    with expect_refusal("OneStep: noise must be above 0"):
        build_trainer(one_step(noise=-1))
    with expect_refusal("method 'one-step' has no setting 'nose'", "noise", kind=UnknownName):
        build_trainer(one_step(nose=1))


def test_a_plugin_can_be_loaded_twice_but_cannot_take_a_name_of_ours(plugin, tmp_path):
    load_plugin(plugin)
    load_plugin(plugin)
    thief = tmp_path / "thief.py"
    thief.write_text(PLUGIN.replace('"one-step"', '"vera"'))
    with expect_refusal(
        "method name 'vera' is taken by vera.methods.vera.VERA", f"OneStep of {thief} under another name"
    ):
        load_plugin(thief)
    assert methods.get("vera").__module__ == "vera.methods.vera"


def test_two_plugin_files_of_one_name_do_not_replace_each_other(plugin, tmp_path):
    load_plugin(plugin)
    other = tmp_path / "elsewhere" / "one_step.py"
    other.parent.mkdir()
    other.write_text(PLUGIN.replace("= 1e-3", "= 1e-1"))
    with expect_refusal("method name 'one-step' is taken"):
        load_plugin(other)
    assert build_trainer(one_step()).method.lr == 1e-3


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("import no_such_module_at_all", ["ModuleNotFoundError", "no_such_module_at_all"]),
        ("def broken(:", ["SyntaxError"]),
        ("\n1 / 0", ["in line 2: ZeroDivisionError"]),
    ],
)
def test_a_broken_plugin_is_named_with_its_reason(tmp_path, content, parts):
    path = tmp_path / "broken.py"
    path.write_text(content)
    with expect_refusal(str(path), *parts, kind=PluginError):
        load_plugin(path)


def test_a_broken_plugin_can_be_mended_and_loaded_again(plugin):
    plugin.write_text(PLUGIN + "\n\n1 / 0\n")
    with expect_refusal(str(plugin), "ZeroDivisionError", kind=PluginError):
        load_plugin(plugin)
    plugin.write_text(PLUGIN)
    load_plugin(plugin)
    assert build_trainer(one_step()).run().outcome == "ok"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("@methods.register('odd-one')\nclass Odd: pass", "Odd is no class derived from vera.methods.Method"),
        (
            "@methods.register('odd-one')\ndef odd(energy): pass",
            "odd is no class derived from vera.methods.Method",
        ),
        (
            "@methods.register('odd-one')\nclass Odd(Method):\n    def setup(self): ...\n    def step(self, x): ...",
            "Odd lacks the decorator @dataclass",
        ),
    ],
)
def test_what_is_no_method_is_refused_when_it_is_registered(tmp_path, content, reason):
    path = tmp_path / "odd.py"
    path.write_text(f"from vera.methods import Method\nfrom vera.spec.registry import methods\n{content}\n")
    with expect_refusal(str(path), "registers the method 'odd-one'", reason, kind=PluginError):
        load_plugin(path)
    assert "odd-one" not in methods


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ('"Nope"', "OneStep has an annotation that means nothing (NameError: name 'Nope' is not defined)"),
        ('"1 +"', "OneStep has an annotation that means nothing (SyntaxError"),
        (
            "dict[str, set]",
            "OneStep annotates its setting 'noise' with dict[str, set], which cannot be checked: take bool, int",
        ),
        ("list", "annotates its setting 'noise' with list, which cannot be checked"),
        ("tuple[int, dict] | None", "which cannot be checked"),
    ],
)
def test_an_annotation_that_can_check_nothing_is_refused_when_it_is_registered(plugin, annotation, reason):
    plugin.write_text(
        PLUGIN.replace(
            'noise: Annotated[Positive, "deviation of the noise"] = 0.1', f"noise: {annotation} = None"
        )
    )
    with expect_refusal(str(plugin), "registers the method 'one-step'", reason, kind=PluginError):
        load_plugin(plugin)
    assert "one-step" not in methods


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("] = 0.1", '] = "fast"', "OneStep refuses its default: noise must be a number, got 'fast'"),
        ("] = 0.1", "] = -1.0", "OneStep refuses its default: noise must be"),
        (
            "    def setup(self",
            '    needs = ("densty",)\n\n    def setup(self',
            "OneStep needs 'densty', which is none of density, hessian",
        ),
    ],
)
def test_a_default_that_is_refused_and_a_need_that_is_none_are_told_when_it_is_registered(
    plugin, old, new, reason
):
    assert PLUGIN.count(old) == 1
    plugin.write_text(PLUGIN.replace(old, new))
    with expect_refusal(str(plugin), "registers the method 'one-step'", reason, kind=PluginError):
        load_plugin(plugin)
    assert "one-step" not in methods


def test_a_data_set_with_an_annotation_that_names_nothing_is_refused_when_it_is_registered(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(
        "from vera.spec.registry import datasets\n@datasets.register('odd')\ndef odd(size: 'Nope' = 1): ...\n"
    )
    with expect_refusal(
        str(path),
        "registers the data set 'odd'",
        "odd has an annotation that means nothing",
        kind=PluginError,
    ):
        load_plugin(path)


@pytest.mark.parametrize(("name", "why"), [("missing.py", "no plug-in file"), (".", "is a directory")])
def test_a_missing_plugin_is_named(tmp_path, name, why):
    with expect_refusal(why, str(tmp_path / name), kind=PluginError):
        load_plugin(tmp_path / name)


def test_a_plugin_that_is_not_python_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with expect_refusal(str(path), "not a Python file", kind=PluginError):
        load_plugin(path)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution on the path with two methods: one that loads and one that does not."""
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
def test_an_entry_point_is_offered_without_being_loaded():
    assert {"one-step", "faulty", "vera"} <= set(methods.names())
    methods.get("ml")
    with expect_refusal("no method 'one-stop'", "one-step", kind=UnknownName):
        methods.get("one-stop")
    assert "vera_extra" not in sys.modules
    assert "one-step" not in list(methods)


@pytest.mark.usefixtures("installed")
def test_an_entry_point_is_loaded_when_its_name_is_asked_for_and_trains():
    assert build_trainer(one_step()).run().outcome == "ok"
    assert methods.get("one-step") is sys.modules["vera_extra"].OneStep
    assert "vera_broken" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_a_broken_entry_point_is_named_with_its_reason():
    with expect_refusal("faulty", "vera_broken:Faulty", "division by zero", kind=PluginError):
        methods.get("faulty")

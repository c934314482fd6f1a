"""Settings: validation, conversion and error messages."""

import inspect
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from facts import raises_with

from vera.errors import SettingError, UnknownName, VeraError
from vera.methods import CPSM, PCD, SSM, VERA, VERAHMC, MaximumLikelihood
from vera.models import MLP, NICE, GaussianMixture, MLPGenerator, mlp_generator
from vera.models.generator import Generator
from vera.spec.registry import Registry, methods, models
from vera.spec.resolve import resolve_component
from vera.spec.settings import (
    Bound,
    Count,
    NonNegative,
    NonNegativeCount,
    OmitDefault,
    Positive,
    Sizes,
    UnitInterval,
    check_fields,
    check_names,
    check_value,
    settings_of,
    suggest_or_list,
    validate_arguments,
)

VALID = [
    (0.5, Positive, 0.5),
    (1, Positive, 1.0),
    (0, NonNegative, 0.0),
    (1, UnitInterval, 1.0),
    (3, Count, 3),
    (0, NonNegativeCount, 0),
    (True, bool, True),
    ("text", str, "text"),
    ("b", Literal["a", "b"], "b"),
    ([8, 8], Sizes, (8, 8)),
    ((), Sizes, ()),
    ([0.9, 1], tuple[UnitInterval, UnitInterval], (0.9, 1.0)),
    (None, Positive | None, None),
    (2, Annotated[Positive | None, "help"], 2.0),
    (np.float64(0.5), Positive, 0.5),
    (np.float32(0.5), Positive, 0.5),
    (np.int64(3), Count, 3),
]

WRONG = [
    (0, Positive, "above 0"),
    (-1.0, NonNegative, "at least 0"),
    (1.5, UnitInterval, "at least 0 and at most 1"),
    (math.nan, Positive, "finite"),
    (math.inf, Positive, "finite"),
    (True, Positive, "a number"),
    ("1e-3", Positive, "a number"),
    (None, Positive, "a number"),
    (0, Count, "at least 1"),
    (-2, NonNegativeCount, "at least 0"),
    (True, Count, "a whole number"),
    (2.0, Count, "a whole number"),
    ("2", Count, "a whole number"),
    (1, bool, "true or false"),
    ("yes", bool, "true or false"),
    (3, str, "a string"),
    ("c", Literal["a", "b"], "one of 'a', 'b'"),
    (["a"], Literal["a", "b"], "one of 'a', 'b'"),
    (8, Sizes, "a sequence"),
    ("88", Sizes, "a sequence"),
    ([0.9], tuple[UnitInterval, UnitInterval], "2 entries"),
    (-1, Positive | None, "above 0"),
]


@pytest.mark.parametrize(("value", "annotation", "expected"), VALID)
def test_a_valid_value_is_converted_to_the_annotated_type(value, annotation, expected):
    found = check_value("Owner", "setting", value, annotation)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("value", "annotation", "rule"), WRONG)
def test_an_invalid_value_raises_with_owner_setting_rule_and_value(value, annotation, rule):
    with raises_with(SettingError, "Owner: setting", rule, f"got {value!r}"):
        check_value("Owner", "setting", value, annotation)


@pytest.mark.parametrize("value", [[8, 0], (8, True), [8, 8.0]])
def test_an_invalid_entry_of_a_sequence_raises_with_its_index(value):
    with raises_with(SettingError, "Owner: setting[1]", f"got {value[1]!r}"):
        check_value("Owner", "setting", value, Sizes)


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (Bound(0), "at least 0"),
        (Bound(0, strict=True), "above 0"),
        (Bound(0, 1), "at least 0 and at most 1"),
        (Bound(high=2), "at most 2"),
        (Bound(0, below=1), "at least 0 and below 1"),
    ],
)
def test_the_text_of_a_bound_is_its_rule(bound, text):
    assert str(bound) == text


@dataclass
class Knobs:
    sizes: Sizes
    rate: Annotated[Positive, "how fast"] = 0.1


def test_fields_are_checked_and_converted_in_place():
    knobs = Knobs([4, 4], 1)
    check_fields(knobs)
    assert (knobs.sizes, knobs.rate, type(knobs.rate)) == ((4, 4), 1.0, float)
    with raises_with(SettingError, "Knobs: rate", "above 0", "got 0"):
        check_fields(Knobs([4], 0))


def test_arguments_are_checked_by_position_and_by_name_and_the_signature_is_kept():
    @validate_arguments
    def scale(x: Count, by: Positive = 2) -> float:
        """Scale it."""
        return x * by

    assert scale(3, by=2) == 6.0
    assert scale.__doc__ == "Scale it."
    assert list(inspect.signature(scale).parameters) == ["x", "by"]
    for call in (lambda: scale(0), lambda: scale(x=0)):
        with raises_with(SettingError, "scale: x", "at least 1", "got 0"):
            call()
    with raises_with(SettingError, "scale: by", "above 0"):
        scale(1, -1)


def test_settings_of_a_signature_hold_name_default_and_help():
    found = settings_of(Knobs)
    assert list(found) == ["sizes", "rate"]
    assert found["sizes"].is_required
    assert (found["rate"].is_required, found["rate"].default, found["rate"].help) == (False, 0.1, "how fast")


@pytest.mark.parametrize("method", list(methods))
def test_every_setting_of_a_method_has_a_default_and_a_help_text(method):
    networks = methods.get(method).network_names()
    for name, setting in settings_of(methods.get(method)).items():
        assert setting.is_required == (name in networks)
        assert name in networks or setting.help, name


@pytest.mark.parametrize("registry", [methods, models])
def test_every_default_is_valid(registry):
    for name in registry:
        for setting in settings_of(registry.get(name)).values():
            if not setting.is_required:
                assert check_value(name, setting.name, setting.default, setting.annotation) == setting.default


MISTAKES = [
    (lambda: VERA(MLP(2), mlp_generator(2), k=0), ["VERA: k", "at least 1", "got 0"]),
    (lambda: VERA(MLP(2), mlp_generator(2), k=True), ["VERA: k", "a whole number", "True"]),
    (lambda: VERA(MLP(2), mlp_generator(2), k=20.0), ["VERA: k", "a whole number", "20.0"]),
    (lambda: VERA(MLP(2), mlp_generator(2), lr="1e-3"), ["VERA: lr", "a number", "'1e-3'"]),
    (lambda: VERA(MLP(2), mlp_generator(2), lr=math.nan), ["VERA: lr", "finite", "nan"]),
    (
        lambda: VERA(MLP(2), mlp_generator(2), entropy_weight=-1),
        ["VERA: entropy_weight", "at least 0", "-1.0"],
    ),
    (
        lambda: VERA(MLP(2), mlp_generator(2), penalty="double"),
        ["VERA: penalty", "one of 'half', 'full'", "'double'"],
    ),
    (lambda: VERAHMC(MLP(2), mlp_generator(2), burn_in=-1), ["VERAHMC: burn_in", "at least 0", "got -1"]),
    (lambda: PCD(MLP(2), restart=1.5), ["PCD: restart", "at least 0 and at most 1", "1.5"]),
    (lambda: PCD(MLP(2), step_size=0), ["PCD: step_size", "above 0", "0.0"]),
    (lambda: SSM(NICE(2), variance_reduced=1), ["SSM: variance_reduced", "true or false", "got 1"]),
    (lambda: NICE(2.0), ["NICE: data_dim", "a whole number", "2.0"]),
    (lambda: GaussianMixture(2, 0), ["GaussianMixture: components", "at least 1", "got 0"]),
    (lambda: MLP(2, hidden=[8, 0]), ["MLP: hidden[1]", "at least 1", "got 0"]),
    (
        lambda: MLP(2, activation="swish"),
        ["MLP: activation", "one of 'leaky_relu', 'relu', 'softplus'", "'swish'"],
    ),
]


@pytest.mark.parametrize(("mistake", "facts"), MISTAKES, ids=[facts[0] for _, facts in MISTAKES])
def test_an_invalid_setting_raises_with_owner_setting_rule_and_value(mistake, facts):
    with raises_with(SettingError, *facts):
        mistake()


@pytest.mark.parametrize(
    "build", [lambda **s: mlp_generator(2, **s), lambda **s: Generator(MLPGenerator(2, 2), **s)]
)
def test_an_inverted_range_of_sigma_is_refused(build):
    with raises_with(SettingError, "sigma_min <= sigma <= sigma_max", "0.4", "0.2"):
        build(sigma=0.4, sigma_min=0.4, sigma_max=0.2)


@pytest.mark.parametrize("betas", [(0.9, 1.0), (1.0, 0.9), (-0.1, 0.9), (0.9,), 0.9])
@pytest.mark.parametrize("method", [MaximumLikelihood, CPSM])
def test_invalid_betas_of_adam_are_refused(method, betas):
    with raises_with(SettingError, "betas"):
        method(NICE(2, hidden=4), betas=betas)


def test_an_unknown_setting_raises_with_the_closest_name():
    with raises_with(UnknownName, "method 'vera'", "'generator_rl'", "generator_lr"):
        methods.create("vera", energy=MLP(2), generator=mlp_generator(2), generator_rl=0.1)
    with raises_with(UnknownName, "model 'mlp'", "'actvation'", "activation"):
        models.create("mlp", data_dim=2, actvation="relu")


def test_a_name_without_close_names_raises_with_all_names():
    assert "a, b." in suggest_or_list("zzz", ["b", "a"])
    assert suggest_or_list("zzz", []) == ""
    with raises_with(UnknownName, "thing", "'zzz'", "a, b."):
        check_names("thing", {"a": 1, "b": 2}, {"a": 1, "zzz": 2})


def test_errors_of_settings_and_names_are_vera_errors():
    for kind in (SettingError, UnknownName):
        assert issubclass(kind, VeraError)


def test_a_later_setting_is_left_out_of_resolved_specs_while_it_has_its_default():
    registry = Registry("thing")

    @registry.register("box")
    def box(side: Count = 3, weight: Annotated[Positive, OmitDefault()] = 1.0) -> None: ...

    assert resolve_component(registry, {"name": "box"}) == {"name": "box", "side": 3}
    assert resolve_component(registry, {"name": "box", "weight": 1}) == {"name": "box", "side": 3}
    assert resolve_component(registry, {"name": "box", "weight": 2}) == {
        "name": "box",
        "side": 3,
        "weight": 2.0,
    }
    with raises_with(SettingError, "weight", "above 0"):
        resolve_component(registry, {"name": "box", "weight": 0})

"""Settings: what a value must be, what is converted, and what a user is told."""

import inspect
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from conformance import expect_refusal

from vera.errors import SettingError, UnknownName, VeraError
from vera.methods import CPSM, PCD, SSM, VERA, VERAHMC, MaximumLikelihood
from vera.models import MLP, NICE, GaussianMixture, MLPGenerator, mlp_generator
from vera.models.generator import Generator
from vera.spec.registry import methods, models
from vera.spec.settings import (
    Bound,
    Count,
    NonNegative,
    NonNegativeCount,
    Positive,
    Sizes,
    UnitInterval,
    check_fields,
    check_names,
    check_value,
    settings_of,
    suggest_or_list,
    validated,
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
    (3, str, "a text"),
    ("c", Literal["a", "b"], "one of 'a', 'b'"),
    (["a"], Literal["a", "b"], "one of 'a', 'b'"),
    (8, Sizes, "a sequence"),
    ("88", Sizes, "a sequence"),
    ([0.9], tuple[UnitInterval, UnitInterval], "2 entries"),
    (-1, Positive | None, "above 0"),
]


@pytest.mark.parametrize(("value", "annotation", "expected"), VALID)
def test_a_valid_value_comes_out_in_the_annotated_type(value, annotation, expected):
    found = check_value("Owner", "setting", value, annotation)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("value", "annotation", "rule"), WRONG)
def test_a_wrong_value_is_answered_with_owner_setting_rule_and_value(value, annotation, rule):
    with expect_refusal("Owner: setting must", rule, f"got {value!r}.", kind=SettingError):
        check_value("Owner", "setting", value, annotation)


@pytest.mark.parametrize("value", [[8, 0], (8, True), [8, 8.0]])
def test_the_entry_of_a_sequence_that_is_wrong_is_named(value):
    with expect_refusal("Owner: setting[1] must be", f"got {value[1]!r}", kind=SettingError):
        check_value("Owner", "setting", value, Sizes)


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (Bound(0), "at least 0"),
        (Bound(0, strict=True), "above 0"),
        (Bound(0, 1), "at least 0 and at most 1"),
        (Bound(high=2), "at most 2"),
    ],
)
def test_a_bound_reads_as_a_rule(bound, text):
    assert str(bound) == text


@dataclass
class Knobs:
    sizes: Sizes
    rate: Annotated[Positive, "how fast"] = 0.1


def test_fields_are_checked_and_converted_in_place():
    knobs = Knobs([4, 4], 1)
    check_fields(knobs)
    assert (knobs.sizes, knobs.rate, type(knobs.rate)) == ((4, 4), 1.0, float)
    with expect_refusal("Knobs: rate must be above 0, got 0", kind=SettingError):
        check_fields(Knobs([4], 0))


def test_a_signature_is_checked_by_position_and_by_name_and_keeps_its_face():
    @validated
    def scale(x: Count, by: Positive = 2) -> float:
        """Scale it."""
        return x * by

    assert scale(3, by=2) == 6.0
    assert scale.__doc__ == "Scale it."
    assert list(inspect.signature(scale).parameters) == ["x", "by"]
    for call in (lambda: scale(0), lambda: scale(x=0)):
        with expect_refusal("x must be at least 1, got 0", kind=SettingError):
            call()
    with expect_refusal("by must be above 0", kind=SettingError):
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
def test_every_default_is_a_valid_value_of_its_own_annotation(registry):
    for name in registry:
        for setting in settings_of(registry.get(name)).values():
            if not setting.is_required:
                assert check_value(name, setting.name, setting.default, setting.annotation) == setting.default


MISTAKES = [
    (lambda: VERA(MLP(2), mlp_generator(2), k=0), "VERA: k must be at least 1, got 0."),
    (lambda: VERA(MLP(2), mlp_generator(2), k=True), "VERA: k must be a whole number, got True."),
    (lambda: VERA(MLP(2), mlp_generator(2), k=20.0), "VERA: k must be a whole number, got 20.0."),
    (lambda: VERA(MLP(2), mlp_generator(2), lr="1e-3"), "VERA: lr must be a number, got '1e-3'."),
    (lambda: VERA(MLP(2), mlp_generator(2), lr=math.nan), "VERA: lr must be finite, got nan."),
    (
        lambda: VERA(MLP(2), mlp_generator(2), entropy_weight=-1),
        "VERA: entropy_weight must be at least 0, got -1.0.",
    ),
    (
        lambda: VERA(MLP(2), mlp_generator(2), penalty="double"),
        "VERA: penalty must be one of 'half', 'full', got 'double'.",
    ),
    (lambda: VERAHMC(MLP(2), mlp_generator(2), burn_in=-1), "VERAHMC: burn_in must be at least 0, got -1."),
    (lambda: PCD(MLP(2), restart=1.5), "PCD: restart must be at least 0 and at most 1, got 1.5."),
    (lambda: PCD(MLP(2), step_size=0), "PCD: step_size must be above 0, got 0.0."),
    (lambda: SSM(NICE(2), variance_reduced=1), "SSM: variance_reduced must be true or false, got 1."),
    (lambda: NICE(2.0), "NICE: data_dim must be a whole number, got 2.0."),
    (lambda: GaussianMixture(2, 0), "GaussianMixture: components must be at least 1, got 0."),
    (lambda: MLP(2, hidden=[8, 0]), "MLP: hidden[1] must be at least 1, got 0."),
    (
        lambda: MLP(2, activation="swish"),
        "MLP: activation must be one of 'leaky_relu', 'relu', 'softplus', got 'swish'.",
    ),
]


@pytest.mark.parametrize(
    ("mistake", "message"), MISTAKES, ids=[message.split(",")[0] for _, message in MISTAKES]
)
def test_a_wrong_setting_is_answered_with_one_sentence(mistake, message):
    with pytest.raises(SettingError) as caught:
        mistake()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "build", [lambda **s: mlp_generator(2, **s), lambda **s: Generator(MLPGenerator(2, 2), **s)]
)
def test_a_range_of_sigma_that_is_upside_down_is_refused(build):
    with expect_refusal("sigma_min <= sigma <= sigma_max", "0.4", "0.2", kind=SettingError):
        build(sigma=0.4, sigma_min=0.4, sigma_max=0.2)


@pytest.mark.parametrize("betas", [(0.9, 1.0), (1.0, 0.9), (-0.1, 0.9), (0.9,), 0.9])
@pytest.mark.parametrize("method", [MaximumLikelihood, CPSM])
def test_betas_that_adam_cannot_take_are_refused_as_settings(method, betas):
    with expect_refusal("betas", kind=SettingError):
        method(NICE(2, hidden=4), betas=betas)


def test_an_unknown_setting_is_answered_with_the_nearest_name():
    with expect_refusal(
        "method 'vera' has no setting 'generator_rl'", "Did you mean generator_lr", kind=UnknownName
    ):
        methods.create("vera", energy=MLP(2), generator=mlp_generator(2), generator_rl=0.1)
    with expect_refusal(
        "model 'mlp' has no setting 'actvation'", "Did you mean activation?", kind=UnknownName
    ):
        models.create("mlp", data_dim=2, actvation="relu")


def test_a_name_that_is_near_to_none_is_answered_with_all():
    assert suggest_or_list("zzz", ["b", "a"]) == " There is: a, b."
    assert suggest_or_list("zzz", []) == ""
    with expect_refusal("thing has no setting 'zzz'. There is: a, b.", kind=UnknownName):
        check_names("thing", {"a": 1, "b": 2}, {"a": 1, "zzz": 2})


def test_every_user_error_can_be_caught_as_one_kind():
    for kind in (SettingError, UnknownName):
        assert issubclass(kind, VeraError)

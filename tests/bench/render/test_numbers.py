"""Numbers are printed with a true minus sign, with the digits asked for, and with a dash if not measured."""

import math

import pytest

from bench.render.numbers import (
    NOT_MEASURED,
    format_exact,
    format_fixed,
    format_interval,
    format_signed,
    format_significant,
    format_stored,
    set_hyphen,
)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(-1.25, 1, "−1.2"), (-0.04, 1, "0.0"), (3, 2, "3.00"), (math.nan, 1, "nan"), (-math.inf, 1, "−inf")],
)
def test_fixed_digits_with_a_true_minus_and_no_negative_zero(value, digits, text):
    assert format_fixed(value, digits) == text


def test_thousands_are_separated_on_request():
    assert format_fixed(-12345.678, 2, separator=",") == "−12,345.68"


def test_exact_values_keep_their_own_digits():
    assert [format_exact(value) for value in (-791.0, 0.12, -3.5, 25.5)] == ["−791", "0.12", "−3.5", "25.5"]


@pytest.mark.parametrize(("value", "text"), [(0.5, "+0.5"), (-7.0, "−7.0"), (0.01, "0.0"), (-0.01, "0.0")])
def test_a_signed_value_that_rounds_to_zero_has_no_sign(value, text):
    assert format_signed(value, 1) == text


def test_an_interval_is_printed_if_there_is_one():
    assert format_interval(-2.0, 0.25, 2) == "−2.00 ± 0.25"
    assert format_interval(-2.0, None, 2) == "−2.00"


def test_significant_digits_and_a_dash_for_none():
    assert format_significant(-1138.5) == "−1138"
    assert format_significant(1e-7, 2) == "1e−07"
    assert format_significant(None) == NOT_MEASURED == "—"


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1 / 3, "−0.3333333333333333"), (-4, "−4"), (True, "True"), ("a-b", "a-b"), (1e-5, "1e−05")],
)
def test_stored_values_keep_full_precision_and_texts_stay(value, text):
    assert format_stored(value) == text


def test_programs_get_hyphens():
    assert set_hyphen("x − y") == "x - y"

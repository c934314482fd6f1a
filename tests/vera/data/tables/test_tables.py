"""Tables: the rule for features, moments, held-out rows, and invalid tables."""

import numpy as np
import pytest
from facts import raises_with

from vera.data.tables import contract
from vera.data.tables.contract import compute_moments, drop_repeated_features, hold_out_last, parse_blocks
from vera.errors import DataCorrupt


def make_column(smallest_times, rows=40, seed=0):
    values = np.random.default_rng(seed).normal(size=rows) + 10
    values[np.random.default_rng(seed).permutation(rows)[:smallest_times]] = -1.0
    return values


@pytest.mark.parametrize("block", [3, 7, 40, 1000])
def test_a_feature_is_dropped_if_its_smallest_value_occurs_more_than_five_times(monkeypatch, block):
    monkeypatch.setattr(contract, "BLOCK", block)
    x = np.column_stack([make_column(times, seed=times) for times in (1, 5, 6, 2, 30)])
    blocks = [x[start : start + block] for start in range(0, len(x), block)]
    kept = drop_repeated_features(blocks)
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, x[:, [0, 1, 3]].astype(np.float32))
    np.testing.assert_array_equal(drop_repeated_features(blocks, exempt=3), x[:, :4].astype(np.float32))


def test_only_the_smallest_value_is_counted_and_a_smaller_one_resets_the_count():
    high, low = np.full((20, 1), 7.0), np.full((3, 1), -7.0)
    assert drop_repeated_features([high, low]).shape == (23, 1)
    assert drop_repeated_features([low, high]).shape == (23, 1)
    assert drop_repeated_features([low, high, low]).shape == (26, 0)


def test_values_are_compared_in_double_precision():
    x = 1 + np.arange(8)[:, None] * 1e-12
    assert len(np.unique(x.astype(np.float32))) == 1
    assert drop_repeated_features([x]).shape == (8, 1)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_moments_use_the_population_deviation(monkeypatch, block):
    monkeypatch.setattr(contract, "BLOCK", block)
    x = np.random.default_rng(0).normal(5, 3, (50, 4)).astype(np.float32)
    mean, deviation = compute_moments(x)
    np.testing.assert_allclose(mean, x.astype(float).mean(0), rtol=1e-12)
    np.testing.assert_allclose(deviation, x.astype(float).std(0, ddof=0), rtol=1e-12)


def test_a_constant_is_not_divided_by_its_deviation():
    mean, deviation = compute_moments(np.column_stack([np.full(30, 0.1), np.arange(30.0)]))
    assert deviation[0] == 1
    assert mean[0] == pytest.approx(0.1)


def test_the_last_of_the_shuffled_rows_are_held_out():
    order = np.arange(57)
    np.random.RandomState(11).shuffle(order)
    train, held_out = hold_out_last(57, 0.2, seed=11)
    assert train.tolist() == order[:46].tolist()
    assert held_out.tolist() == order[46:].tolist()


def test_numbers_are_parsed_in_blocks(monkeypatch):
    monkeypatch.setattr(contract, "BLOCK", 3)
    x = np.random.default_rng(0).normal(size=(8, 3))
    lines = [" ".join(repr(float(value)) for value in row) + "\n" for row in x]
    blocks = list(parse_blocks(lines, None, "x"))
    assert [len(block) for block in blocks] == [3, 3, 2]
    np.testing.assert_array_equal(np.concatenate(blocks), x)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["1,2\n", "3,x\n"], "'x'"),
        (["1,2\n", "3\n"], "columns"),
        (["1,2\n", "nan,2\n"], "finite"),
        (["1,2\n", "inf,2\n"], "finite"),
        (["1,2\n", "3,4\n", "5,6,7\n"], "length"),
        (["<html>\n"], "html"),
        ([], "no rows"),
    ],
)
def test_an_invalid_table_is_corrupt_and_named(monkeypatch, lines, reason):
    monkeypatch.setattr(contract, "BLOCK", 2)
    with raises_with(DataCorrupt, "some file", reason):
        list(parse_blocks(lines, ",", "some file"))

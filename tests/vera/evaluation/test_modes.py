"""Counting modes: manual counts, closed forms of the divergence, and errors of the published counting."""

import math

import pytest
import torch
from facts import raises_with

from vera.data import StackedMNIST
from vera.errors import SettingError
from vera.evaluation import count_modes, mode_numbers, mode_shares

UNIFORM = torch.full((1_000,), 1e-3, dtype=torch.float64)


def make_every_mode():
    """Return all 1,000 triples once; channel 0 changes fastest."""
    return torch.stack([torch.arange(1_000) // 10**j % 10 for j in range(3)], 1)


def test_mode_numbers_follow_the_data_set():
    """The digit of channel j is multiplied by 10^j."""
    assert mode_numbers(torch.tensor([[1, 2, 3], [0, 0, 9], [7, 0, 0]])).tolist() == [321, 900, 7]
    assert mode_numbers(make_every_mode()).tolist() == list(range(1_000))


def test_equal_shares_of_all_modes_have_zero_divergence():
    count = count_modes(make_every_mode().repeat(3, 1), UNIFORM)
    assert (count.modes, count.outside, count.n) == (1_000, 0, 3_000)
    assert count.divergence == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("k", [1, 10, 250])
def test_k_equal_modes_have_the_divergence_log_1000_over_k(k):
    count = count_modes(make_every_mode()[:k].repeat(4, 1), UNIFORM)
    assert count.modes == k
    assert count.divergence == pytest.approx(math.log(1_000 / k))


def test_manual_counts():
    """Three samples of one mode and one of another, for true shares ½, ¼, ¼ of two-class pairs."""
    labels = torch.tensor([[1, 0], [1, 0], [1, 0], [1, 1]])
    count = count_modes(labels, torch.tensor([0.5, 0.25, 0.0, 0.25]), classes=2)
    assert count.modes == 2
    assert count.divergence == pytest.approx(0.75 * math.log(3) + 0.25 * math.log(1))


def test_modes_that_do_not_exist_are_counted_and_reported():
    shares = mode_shares(make_every_mode()[:500])
    count = count_modes(make_every_mode()[400:600], shares)
    assert (count.modes, count.outside, count.divergence) == (200, 0.5, math.inf)
    assert count.metrics() == {"modes": 200, "mass_outside_modes": 0.5, "mode_samples": 200}
    inside = count_modes(make_every_mode()[:100], shares)
    assert inside.metrics()["mode_divergence"] == pytest.approx(math.log(5))


def test_modes_have_the_order_of_the_data_set():
    stack = StackedMNIST(source="mnist5k")
    triples = torch.randint(4_000, (500, 3), generator=torch.Generator().manual_seed(0))
    digits = stack.train[1][triples]
    assert torch.equal(mode_numbers(digits), digits @ torch.tensor([1, 10, 100]))
    count = count_modes(make_every_mode(), stack.compute_mode_shares())
    assert (count.modes, count.divergence) == (1_000, pytest.approx(0, abs=1e-12))


def test_samples_of_the_true_distribution_have_the_expected_divergence():
    """(K − 1) / 2n, to first order."""
    torch.manual_seed(0)
    labels = torch.randint(10, (50_000, 3))
    assert count_modes(labels, UNIFORM).divergence == pytest.approx(999 / 100_000, rel=0.15)


def test_the_published_order_of_digits_is_reversed():
    """The first channel of the data is always 0. In reversed order the samples seem to fill modes that do not
    exist."""
    torch.manual_seed(0)
    labels = torch.randint(10, (20_000, 3))
    labels[:, 0] = 0
    shares = mode_shares(labels)
    assert count_modes(labels, shares).divergence == pytest.approx(0, abs=1e-12)
    backwards = count_modes(labels.flip(1), shares)
    assert backwards.divergence == math.inf
    assert backwards.outside == pytest.approx(0.9, abs=0.02)


def test_the_published_sum_counts_a_mode_once_per_batch():
    """An indexed += 1 counts each index once, even if it occurs several times."""
    labels = torch.tensor([[1, 0, 0]] * 9 + [[2, 0, 0]])
    published = torch.zeros(1_000)
    published[mode_numbers(labels)] += 1
    assert published[[1, 2]].tolist() == [1, 1]
    assert mode_shares(labels)[[1, 2]].tolist() == [0.9, 0.1]


def test_a_non_finite_sample_gives_nan():
    labels = make_every_mode()
    labels[5] = -1
    count = count_modes(labels, UNIFORM)
    assert all(math.isnan(value) for value in (count.modes, count.divergence, count.outside))
    assert math.isnan(count.metrics()["mode_divergence"])


def test_invalid_arguments_are_rejected():
    with raises_with(SettingError, "count_modes", "1000", "100"):
        count_modes(make_every_mode(), torch.ones(100) / 100)
    with raises_with(SettingError, "mode_shares", "0 to 9", "0 to 10"):
        mode_shares(torch.tensor([[0, 10]]))
    with raises_with(SettingError, "mode_shares", "(n, channels)", "(3,)"):
        mode_shares(torch.tensor([1, 2, 3]))

"""Counting modes: hand-made counts, closed forms of the divergence, and what the published counting gets
wrong."""

import math

import pytest
import torch

from vera.data import StackedMNIST
from vera.errors import SettingError
from vera.evaluation import count_modes, mode_numbers, mode_shares

UNIFORM = torch.full((1_000,), 1e-3, dtype=torch.float64)


def every_mode():
    """All 1,000 triples once, channel 0 changing fastest."""
    return torch.stack([torch.arange(1_000) // 10**j % 10 for j in range(3)], 1)


def test_numbers_are_those_of_the_data_set():
    """Channel j counts 10^j times its digit."""
    assert mode_numbers(torch.tensor([[1, 2, 3], [0, 0, 9], [7, 0, 0]])).tolist() == [321, 900, 7]
    assert mode_numbers(every_mode()).tolist() == list(range(1_000))


def test_all_modes_in_equal_shares_have_no_divergence():
    count = count_modes(every_mode().repeat(3, 1), UNIFORM)
    assert (count.modes, count.outside, count.n) == (1_000, 0, 3_000)
    assert count.divergence == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("k", [1, 10, 250])
def test_k_equal_modes_of_a_thousand_have_the_divergence_of_their_missing(k):
    count = count_modes(every_mode()[:k].repeat(4, 1), UNIFORM)
    assert count.modes == k
    assert count.divergence == pytest.approx(math.log(1_000 / k))


def test_hand_made_counts():
    """Three of one mode and one of another, against shares ½, ¼, ¼ of two-class pairs."""
    labels = torch.tensor([[1, 0], [1, 0], [1, 0], [1, 1]])
    count = count_modes(labels, torch.tensor([0.5, 0.25, 0.0, 0.25]), classes=2)
    assert count.modes == 2
    assert count.divergence == pytest.approx(0.75 * math.log(3) + 0.25 * math.log(1))


def test_modes_that_do_not_exist_are_counted_and_reported():
    shares = mode_shares(every_mode()[:500])
    count = count_modes(every_mode()[400:600], shares)
    assert (count.modes, count.outside, count.divergence) == (200, 0.5, math.inf)
    assert count.metrics() == {"modes": 200, "mass_outside_modes": 0.5, "mode_samples": 200}
    inside = count_modes(every_mode()[:100], shares)
    assert inside.metrics()["mode_divergence"] == pytest.approx(math.log(5))


def test_modes_are_in_the_order_of_the_data_set():
    stack = StackedMNIST(source="mnist5k")
    triples = torch.randint(4_000, (500, 3), generator=torch.Generator().manual_seed(0))
    assert torch.equal(mode_numbers(stack.train[1][triples]), stack.modes(stack.train, triples))
    count = count_modes(every_mode(), stack.mode_shares())
    assert (count.modes, count.divergence) == (1_000, pytest.approx(0, abs=1e-12))


def test_draws_of_the_truth_have_the_divergence_of_chance():
    """(K − 1) / 2n, to first order."""
    torch.manual_seed(0)
    labels = torch.randint(10, (50_000, 3))
    assert count_modes(labels, UNIFORM).divergence == pytest.approx(999 / 100_000, rel=0.15)


def test_the_published_order_of_digits_is_another():
    """Data whose first channel is always 0: read backwards, the same samples seem to fill modes that do not
    exist."""
    torch.manual_seed(0)
    labels = torch.randint(10, (20_000, 3))
    labels[:, 0] = 0
    shares = mode_shares(labels)
    assert count_modes(labels, shares).divergence == pytest.approx(0, abs=1e-12)
    backwards = count_modes(labels.flip(1), shares)
    assert backwards.divergence == math.inf
    assert backwards.outside == pytest.approx(0.9, abs=0.02)


def test_the_published_sum_counts_a_mode_once_a_batch():
    """An indexed += 1 writes each place once, however often its index comes."""
    labels = torch.tensor([[1, 0, 0]] * 9 + [[2, 0, 0]])
    published = torch.zeros(1_000)
    published[mode_numbers(labels)] += 1
    assert published[[1, 2]].tolist() == [1, 1]
    assert mode_shares(labels)[[1, 2]].tolist() == [0.9, 0.1]


def test_a_sample_that_is_not_finite_leaves_no_number():
    labels = every_mode()
    labels[5] = -1
    count = count_modes(labels, UNIFORM)
    assert all(math.isnan(value) for value in (count.modes, count.divergence, count.outside))
    assert math.isnan(count.metrics()["mode_divergence"])


def test_refusals():
    with pytest.raises(SettingError, match="1000 modes, but 100 true shares"):
        count_modes(every_mode(), torch.ones(100) / 100)
    with pytest.raises(SettingError, match="0 to 9, got 0 to 10"):
        mode_shares(torch.tensor([[0, 10]]))
    with pytest.raises(SettingError, match=r"\(n, channels\), got \(3,\)"):
        mode_shares(torch.tensor([1, 2, 3]))

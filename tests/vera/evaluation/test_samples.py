"""The energy distance of samples compared with closed forms."""

import math

import pytest
import torch

from vera.evaluation import energy_distance


def test_the_energy_distance_of_two_points_is_known():
    """Points at 0 and 1 against a point mass at 0: E|X − Y| = ½, E|X − X'| = 1 between different points."""
    x, y = torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [0.0]])
    assert energy_distance(x, y) == pytest.approx(2 * 0.5 - 1.0 - 0.0)


def test_the_energy_distance_of_shifted_normals_has_a_closed_form():
    """In one dimension, of N(0, 1) and N(m, 1): 2 (E|N(m, 2)| − E|N(0, 2)|)."""
    torch.manual_seed(0)
    x, y = torch.randn(3_000, 1), torch.randn(3_000, 1) + 1.0
    mean = 2 / math.sqrt(math.pi)  # E|N(0, 2)|
    shifted = mean * math.exp(-1 / 4) + math.erf(1 / 2)  # E|N(1, 2)|
    assert energy_distance(x, y) == pytest.approx(2 * (shifted - mean), abs=0.05)
    assert energy_distance(x, torch.randn(3_000, 1)) == pytest.approx(0, abs=0.01)

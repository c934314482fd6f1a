"""Outliers: the three scores against closed forms, separation in the right direction, histograms over shared
bins."""

import math

import pytest
import torch
from torch import nn

from vera.evaluation import bin_scores, compute_aurocs, outlier_aurocs, outlier_metrics, outlier_scores
from vera.models import MLPClassifier, WideResNet
from vera.models.classifier import Classifier


class Linear(Classifier):
    """Two classes with logits ± slope·x, and dropout that would be seen."""

    def __init__(self):
        super().__init__()
        self.classes = 2
        self.slope = nn.Parameter(torch.tensor([3.0, 4.0]))
        self.dropout = nn.Dropout(0.9)

    def logits(self, x):
        level = self.dropout(x.flatten(1)) @ self.slope
        return torch.stack([level, -level], 1)


class Round(nn.Module):
    """f = −‖x‖² / 2: no classifier, so it has no confidence."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return -self.scale * x.flatten(1).square().sum(1) / 2


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_scores_are_the_closed_forms():
    x, model = torch.randn(25, 1, 1, 2) * 0.3, Linear()
    scores = outlier_scores(model, x, chunk=7)
    level = (x.flatten(1) @ model.slope).detach().double()
    torch.testing.assert_close(scores["f"], (2 * level.cosh()).log(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(scores["confidence"], (2 * level.abs()).sigmoid(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(scores["gradient"], -5 * level.tanh().abs(), rtol=1e-4, atol=1e-4)
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_gradient_is_taken_over_the_whole_image():
    x = torch.randn(6, 3, 4, 4)
    scores = outlier_scores(Round(), x)
    assert set(scores) == {"f", "gradient"}
    torch.testing.assert_close(scores["gradient"], -x.flatten(1).norm(dim=1).double(), rtol=1e-5, atol=1e-5)


def test_points_near_the_mode_are_told_from_points_far_from_it():
    sets = {
        "far": torch.randn(200, 2) + 20,
        "same": torch.randn(200, 2),
        "nearer": torch.randn(200, 2) * 0.01,
    }
    aurocs = outlier_aurocs(Round(), torch.randn(300, 2), sets)
    for score in ("f", "gradient"):
        assert aurocs[score, "far"] == 1
        assert 0.4 < aurocs[score, "same"] < 0.6
        assert aurocs[score, "nearer"] < 0.05


def test_metrics_have_the_names_of_score_and_set():
    sets = {"svhn-test": torch.randn(10, 4), "noise": torch.rand(10, 4)}
    metrics = outlier_metrics(outlier_aurocs(MLPClassifier(4, 3, hidden=(8,)), torch.randn(10, 4), sets))
    assert set(metrics) == {
        f"auroc_{score}_{name}" for score in ("f", "confidence", "gradient") for name in sets
    }
    assert all(0 <= value <= 1 for value in metrics.values())


def test_images_go_through_the_wide_resnet():
    model = WideResNet(3, depth=10, width=1, dropout=0.3)
    x = torch.rand(5, 3, 8, 8) * 2 - 1
    torch.testing.assert_close(
        outlier_scores(model, x, 2)["f"], outlier_scores(model, x, 5)["f"], rtol=1e-4, atol=1e-4
    )
    assert outlier_aurocs(model, x, {"itself": x})["f", "itself"] == pytest.approx(0.5, abs=0.05)


def test_a_score_that_is_not_finite_gives_no_auroc():
    seen, broken = {"f": torch.randn(5)}, {"f": torch.tensor([0.0, math.nan])}
    assert math.isnan(compute_aurocs(seen, {"broken": broken})["f", "broken"])


def test_histograms_share_their_bins_and_count_every_finite_score():
    scores = {"seen": torch.tensor([0.0, 1, 1, 10]), "unseen": torch.tensor([5.0, math.nan, math.inf])}
    drawn = bin_scores(scores, bins=10)
    assert drawn["edges"].tolist() == list(range(11))
    assert drawn["seen"].tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert drawn["unseen"].tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_histograms_of_one_value_and_of_none():
    drawn = bin_scores({"seen": torch.full((7,), 2.0)}, bins=4)
    assert float(drawn["seen"].sum()) == 7
    assert bin_scores({"seen": torch.full((7,), math.nan)}) == {}

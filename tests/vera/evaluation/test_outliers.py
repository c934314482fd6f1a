"""Outliers: closed forms of the three scores, the direction of separation, histograms over shared bins."""

import math

import pytest
import torch
from torch import nn

from vera.evaluation import bin_scores, compute_aurocs, outlier_aurocs, outlier_metrics, outlier_scores
from vera.models import MLPClassifier, WideResNet
from vera.models.classifier import Classifier


class TwoClassClassifier(Classifier):
    """Two classes with logits ± slope·x, and strong dropout, which evaluation must switch off."""

    def __init__(self):
        super().__init__()
        self.classes = 2
        self.slope = nn.Parameter(torch.tensor([3.0, 4.0]))
        self.dropout = nn.Dropout(0.9)

    def logits(self, x):
        level = self.dropout(x.flatten(1)) @ self.slope
        return torch.stack([level, -level], 1)


class RoundEnergy(nn.Module):
    """f = −‖x‖² / 2; not a classifier, so it has no confidence."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return -self.scale * x.flatten(1).square().sum(1) / 2


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_scores_equal_their_closed_forms():
    x, model = torch.randn(25, 1, 1, 2) * 0.3, TwoClassClassifier()
    scores = outlier_scores(model, x, chunk=7)
    level = (x.flatten(1) @ model.slope).detach().double()
    torch.testing.assert_close(scores["f"], (2 * level.cosh()).log(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(scores["confidence"], (2 * level.abs()).sigmoid(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(scores["gradient"], -5 * level.tanh().abs(), rtol=1e-4, atol=1e-4)
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_gradient_is_taken_over_the_whole_image():
    x = torch.randn(6, 3, 4, 4)
    scores = outlier_scores(RoundEnergy(), x)
    assert set(scores) == {"f", "gradient"}
    torch.testing.assert_close(scores["gradient"], -x.flatten(1).norm(dim=1).double(), rtol=1e-5, atol=1e-5)


def test_points_near_the_mode_are_separated_from_distant_ones():
    sets = {
        "far": torch.randn(200, 2) + 20,
        "same": torch.randn(200, 2),
        "nearer": torch.randn(200, 2) * 0.01,
    }
    aurocs = outlier_aurocs(RoundEnergy(), torch.randn(300, 2), sets)
    for score in ("f", "gradient"):
        assert aurocs[score, "far"] == 1
        assert 0.4 < aurocs[score, "same"] < 0.6
        assert aurocs[score, "nearer"] < 0.05


def test_metric_names_contain_score_and_set():
    sets = {"svhn-test": torch.randn(10, 4), "noise": torch.rand(10, 4)}
    metrics = outlier_metrics(outlier_aurocs(MLPClassifier(4, 3, hidden=(8,)), torch.randn(10, 4), sets))
    assert set(metrics) == {
        f"auroc_{score}_{name}" for score in ("f", "confidence", "gradient") for name in sets
    }
    assert all(0 <= value <= 1 for value in metrics.values())


def test_scores_of_images_do_not_depend_on_the_chunk_size():
    model = WideResNet(3, depth=10, width=1, dropout=0.3)
    x = torch.rand(5, 3, 8, 8) * 2 - 1
    torch.testing.assert_close(
        outlier_scores(model, x, 2)["f"], outlier_scores(model, x, 5)["f"], rtol=1e-4, atol=1e-4
    )
    assert outlier_aurocs(model, x, {"itself": x})["f", "itself"] == pytest.approx(0.5, abs=0.05)


def test_a_non_finite_score_gives_a_nan_auroc():
    seen, broken = {"f": torch.randn(5)}, {"f": torch.tensor([0.0, math.nan])}
    assert math.isnan(compute_aurocs(seen, {"broken": broken})["f", "broken"])


def test_histograms_share_their_bins_and_count_every_finite_score():
    scores = {"seen": torch.tensor([0.0, 1, 1, 10]), "unseen": torch.tensor([5.0, math.nan, math.inf])}
    drawn = bin_scores(scores, bins=10)
    assert drawn["edges"].tolist() == list(range(11))
    assert drawn["seen"].tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert drawn["unseen"].tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_histograms_of_equal_scores_and_of_non_finite_scores():
    drawn = bin_scores({"seen": torch.full((7,), 2.0)}, bins=4)
    assert float(drawn["seen"].sum()) == 7
    assert bin_scores({"seen": torch.full((7,), math.nan)}) == {}

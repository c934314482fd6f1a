"""The networks have the parameter counts of the paper."""

import pytest
import torch

from vera.models import NICE
from vera.spec.registry import models

COUNTS = [
    ("mlp", {"data_dim": 2}, 10_501),
    ("mlp-generator", {"data_dim": 2}, 10_802),
    ("mixture", {}, 500),
    ("nice", {}, 15_154_352),
    ("nice", {"hidden_layers": 5}, 19_158_352),
    ("nice-generator", {}, 945_784),
    ("nice-generator", {"hidden": (500, 500)}, 694_784),
    ("nice-generator", {"data_dim": 15, "latent_dim": 10}, 515_515),
    ("nice-generator", {"data_dim": 174, "latent_dim": 128}, 654_174),
    ("nice-generator", {"data_dim": 523, "latent_dim": 128}, 829_023),
    ("nice-generator", {"data_dim": 784, "latent_dim": 128}, 959_784),
    ("statistics", {"data_dim": 784, "latent_dim": 100}, 944_001),
    ("linear-generator", {"data_dim": 784}, 79_184),
    ("wrn", {"classes": 10}, 36_471_338),
    ("wrn", {"classes": 100}, 36_529_028),
    ("wrn", {"classes": 10, "width": 2}, 1_466_026),
    ("sngan-generator", {}, 4_079_363),
    ("sngan-generator", {"shortcut": "learned"}, 4_276_739),
    ("sngan-generator", {"width": 128}, 1_154_947),
    ("dcgan", {}, 2_764_736),
    ("dcgan-generator", {}, 3_576_707),
    ("dcgan-classifier", {"classes": 10, "channels": 1, "side": 16, "width": 32}, 43_616),
    ("digit-classifier", {}, 7_393_034),
    ("digit-classifier", {"side": 28}, 1_199_882),
]
"""Parameter counts of the paper's networks, without the σ of a generator."""


@pytest.mark.parametrize(("name", "settings", "expected"), COUNTS)
def test_parameter_counts_are_the_papers(name, settings, expected):
    with torch.device("meta"):
        model = models.create(name, **settings)
    net = model.net if hasattr(model, "log_sigma") else model
    assert sum(p.numel() for p in net.parameters()) == expected
    assert sum(p.numel() for p in model.parameters()) == expected + hasattr(model, "log_sigma")


def test_one_coupling_network_has_the_papers_count():
    with torch.device("meta"):
        assert {sum(p.numel() for p in shift.parameters()) for shift in NICE().shifts} == {3_788_392}

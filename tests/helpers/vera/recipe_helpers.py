"""Shared by the tests of vera.train: small data of each shape."""

import numpy as np

import vera

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(120, 2)) * [10.0, 0.1] + [500.0, -3.0]
TABLE = RNG.normal(size=(120, 5)) * 10.0 ** np.arange(5)
IMAGES = RNG.integers(0, 256, size=(40, 1, 6, 9), dtype=np.uint8)
CLASSES = np.arange(120) % 3
SHAPES = {"line": TABLE[:, :1], "plane": POINTS, "table": TABLE, "images": IMAGES}


def train_briefly(data, **options):
    """A model after a few steps, without a progress bar."""
    return vera.train(data, **{"steps": 3, "progress": False} | options)

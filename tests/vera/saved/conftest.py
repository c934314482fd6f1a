"""Fixtures of the tests of saved models."""

import pytest

from vera.samplers import Refiner


@pytest.fixture
def short_tuning(monkeypatch):
    """The step size of MALA is tuned in a few steps: on images that takes most of the time of a test."""
    tune = Refiner.tune
    monkeypatch.setattr(Refiner, "tune", lambda self, length: tune(self, n=4, steps=10, length=length))

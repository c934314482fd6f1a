"""Fixtures of the tests of the paper's artifacts."""

import pytest


@pytest.fixture
def untrained_classifiers(monkeypatch, tmp_path):
    """Digit classifiers are initialised and not trained."""
    from vera.evaluation import digit_features
    from vera.models.classifier import DigitClassifier

    def untrained(recipe, split, device):
        return DigitClassifier(split.classes, recipe.side), 0.1

    monkeypatch.setenv("VERA_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(digit_features, "_train", untrained)

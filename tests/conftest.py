"""One thread per test process, so that numbers are reproducible and parallel test runs do not fight for cores."""

import pytest
import torch

from vera.registry import datasets, methods, models

torch.set_num_threads(1)


@pytest.fixture
def registries():
    """Whatever a test registers is forgotten again."""
    before = [(registry, dict(registry._entries)) for registry in (methods, models, datasets)]
    yield
    for registry, entries in before:
        registry._known = entries

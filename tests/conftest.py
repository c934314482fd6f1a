"""Each test process uses one thread: numbers are reproducible and parallel runs do not compete for cores."""

import os
import signal

import pytest
import torch

from sweeps.cluster.connection import RAY_DEFAULTS
from vera.spec.registry import datasets, joint_methods, methods, models

torch.set_num_threads(1)
# Ray reads these when it is imported, which happens long before the first test starts a cluster.
os.environ.update({name: os.environ.get(name, value) for name, value in RAY_DEFAULTS.items()})
# A background process ignores Ctrl-C and its children inherit that; some tests send Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def registries():
    """Removes after the test what it registered."""
    before = [(registry, dict(registry._entries)) for registry in (methods, joint_methods, models, datasets)]
    yield
    for registry, entries in before:
        registry._known = entries

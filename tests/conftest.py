"""One thread per test process, so that numbers are reproducible and parallel test runs do not fight for
cores."""

import os
import signal

import pytest
import torch

from sweeps.cluster.connection import QUIET
from vera.spec.registry import datasets, joint_methods, methods, models

torch.set_num_threads(1)
# Ray reads them when it is imported, which some test modules do, long before others start a cluster in this process.
os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
# A suite that runs in the background is started with Ctrl-C ignored, and so are its children; these tests send it on purpose.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def registries():
    """Whatever a test registers is forgotten again."""
    before = [(registry, dict(registry._entries)) for registry in (methods, joint_methods, models, datasets)]
    yield
    for registry, entries in before:
        registry._known = entries

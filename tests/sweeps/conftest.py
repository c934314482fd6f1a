"""The tests' own plug-in, for the modules that ask for it."""

import pytest
from engine_helpers import plugged


@pytest.fixture(scope="module")
def trouble_plugin():
    with plugged() as module:
        yield module

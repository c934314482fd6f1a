"""The golden table and figure, made up for tests of rendering."""

import pytest


@pytest.fixture
def golden():
    """The golden table and figure by name, and no other artifact."""
    from bench_helpers import use_golden_artifacts

    with use_golden_artifacts() as known:
        yield known

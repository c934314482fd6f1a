"""Tests of tables and figures make their rows as the tests of the engine do, whose helpers are therefore importable here."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "sweeps"))


@pytest.fixture
def golden():
    """The golden table and figure by name, and no other artifact."""
    from bench_helpers import golden_artifacts

    with golden_artifacts() as known:
        yield known

"""A test process that seems to have joined no Ray cluster."""

import pytest


@pytest.fixture
def no_ray(monkeypatch):
    """Ray looks as if this process had joined no cluster; the shared one stays up."""
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.shutdown", lambda: None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

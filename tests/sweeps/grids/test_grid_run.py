"""A grid on Ray: it trains what is missing, stores the models, and a second call trains nothing."""

import pytest
import torch

import sweeps
from sweeps.store.store import Store
from vera.spec.trial_spec import TrialSpec

NETWORKS = {"energy": {"name": "mixture"}, "generator": {"name": "mlp-generator", "hidden": [8]}}
SPEC = TrialSpec({"name": "moons"}, NETWORKS, {"name": "vera"}, steps=3, batch_size=20)
METRIC = "test_log_likelihood"


@pytest.mark.usefixtures("shared_ray")
def test_grid_trains_once_and_gives_back_models(tmp_path, monkeypatch):
    grid = sweeps.grid(SPEC, {"method.lr": [1e-3, 1e-2], "seed": range(2)}, profile="smoke")
    results = grid.run(tmp_path, progress=False)
    assert list(results.frame()["outcome"]) == ["ok"] * 4
    best = results.best(METRIC)
    assert best.settings["method.lr"] in (1e-3, 1e-2)
    model = best.model(seed=1)
    assert model.spec.seed == 1
    assert model.metrics[METRIC] == best.values[1]
    assert torch.as_tensor(model.sample(5)).shape == (5, 2)
    assert best.model().metrics[METRIC] == max(best.values.values())

    def refuse(*arguments, **named):
        raise AssertionError("a second call trained something")

    monkeypatch.setattr("sweeps.cluster.execute.execute", refuse)
    assert grid.run(tmp_path).frame().equals(results.frame())
    larger = sweeps.grid(SPEC, {"method.lr": [1e-3], "seed": range(3)}, profile="smoke")
    with pytest.raises(AssertionError, match="second call"):
        larger.run(tmp_path)
    monkeypatch.undo()
    assert list(larger.run(tmp_path, models=False, progress=False).frame()["outcome"]) == ["ok"] * 3
    assert len(Store(tmp_path / "trials").models.list_sizes()) == 4

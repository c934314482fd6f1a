"""The model of a trial that was killed and resumed: the same bytes as that of an undisturbed one."""

import pytest

from sweeps.run.attempt import Attempt, run_attempt
from sweeps.run.conditions import Conditions
from sweeps.trial.identity import Trial
from vera.saved.load import decode_model
from vera.spec.trial_spec import TrialSpec

SMALL = {"hidden": [8]}
NETWORKS = {
    "energy": {"name": "mlp", **SMALL},
    "generator": {"name": "mlp-generator", **SMALL},
    "statistics": {"name": "statistics", **SMALL},
}


@pytest.mark.parametrize(
    ("method", "roles"),
    [
        ("vera", ["energy", "generator"]),
        ("meg", ["energy", "generator", "statistics"]),
        ("pcd", ["energy"]),
    ],
)
def test_a_killed_and_resumed_trial_leaves_the_same_model(method, roles, tmp_path):
    networks = {role: NETWORKS[role] for role in roles}
    spec = TrialSpec({"name": "gaussian", "dim": 4}, networks, {"name": method}, steps=12, batch_size=16)
    trial, conditions = Trial(spec, "smoke"), Conditions(checkpoint_dir=str(tmp_path))
    killed = Attempt(trial, conditions)
    killed.advance(60.0, until=5)
    killed.save()
    killed.advance(60.0, until=9)
    resumed = Attempt(trial, conditions)
    assert (killed.step, resumed.step) == (9, 5)
    while resumed.ending is None:
        resumed.advance(60.0)
    content = resumed.encode_model()
    assert content == run_attempt(trial, Conditions()).encode_model()
    model = decode_model(content, "the model")
    assert (model.facts.step, list(model.networks)) == (12, roles)
    assert (model.eta is not None) == (method == "vera")
    if model.generator is not None:
        state = model.generator.state_dict()
        assert "log_sigma" in state
        assert any(name.endswith("running_mean") for name in state)

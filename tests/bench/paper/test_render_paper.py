"""Every artifact of the paper finds its own rows in the store, and is rendered without results.

A row matches a declared trial if it has the declared settings. A trial that leaves a setting to its default
therefore also matches rows with another value of that setting. These tests find such trials.
"""

from dataclasses import replace

import pytest
from bench_helpers import row_of, store_rows

from bench.catalogue import catalogue
from bench.render.files import write_rendering
from vera.spec.resolve import resolve_spec
from vera.spec.trial_spec import TrialSpec

PROFILES = ("smoke", "laptop", "paper")


@pytest.fixture
def artifacts():
    return {artifact.name: artifact for artifact in catalogue.artifacts()}


def make_finished_row(trial):
    """The row of the trial with every default written out."""
    resolved = replace(trial, spec=TrialSpec.from_dict(resolve_spec(trial.spec)))
    return row_of(resolved, trial.spec.seed, finished_at="2026-01-01T00:00:00+00:00")


@pytest.mark.parametrize("profile", PROFILES)
def test_declared_trial_finds_its_own_rows_and_no_others(artifacts, profile, tmp_path):
    declared = [(name, trial) for name, artifact in artifacts.items() for trial in artifact.trials(profile)]
    rows = [make_finished_row(trial) for _, trial in declared]
    results = store_rows(tmp_path, [])
    results.profile, results.rows = profile, list({row.trial_id: row for row in rows}.values())
    for (name, trial), row in zip(declared, rows, strict=True):
        assert [found.trial_id for found in results.find_rows(trial)] == [row.trial_id], (name, trial)
        assert results.notes == [], (name, trial)


def test_claims_are_undetermined_without_rows(artifacts, tmp_path):
    for artifact in artifacts.values():
        findings = {claim.key: claim.check(store_rows(tmp_path, [])).judgement for claim in artifact.claims}
        assert set(findings.values()) <= {"undetermined"}, (artifact.name, findings)


@pytest.mark.long
def test_artifact_with_one_diverged_trial_is_rendered_with_blanks(artifacts, tmp_path):
    """Searches are left out: their rows do not belong to declared trials. So are tables without rows."""
    for name, artifact in artifacts.items():
        if not artifact.listed or not artifact.needs_rows:
            continue
        row = make_finished_row(next(artifact.trials("laptop")))
        results = store_rows(tmp_path / name, [replace(row, outcome="diverged", reason="loss is nan")])
        files = write_rendering(artifact.render(results), tmp_path / name)
        assert all(path.stat().st_size > 0 for path in files), name
        assert {claim.check(results).judgement for claim in artifact.claims} <= {"undetermined"}, name

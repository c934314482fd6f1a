"""Every artifact of the paper can be read off the store without mistaking one trial for another.

A declared trial is matched by what it declares. One that leaves a setting to its default would therefore also
find the rows of a trial that sets it otherwise; this test says which setting must be spelled out.
"""

from dataclasses import replace

import pytest
from bench_helpers import row_of, stored

from bench.catalogue import catalogue
from bench.render.files import write
from sweeps.trial.identity import resolved
from vera.spec.trial_spec import TrialSpec

PROFILES = ("smoke", "laptop", "paper")


@pytest.fixture
def known():
    """Name → artifact, of all that the paper has here."""

    return {artifact.name: artifact for artifact in catalogue.artifacts()}


def finished(trial):
    """The row that the trial will leave, every default written out."""
    made = replace(trial, spec=TrialSpec.from_dict(resolved(trial.spec)))
    return row_of(made, trial.spec.seed, finished_at="2026-01-01T00:00:00+00:00")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_declared_trial_finds_its_own_rows_and_no_others(known, profile, tmp_path):
    declared = [(name, trial) for name, artifact in known.items() for trial in artifact.trials(profile)]
    own = [finished(trial) for _, trial in declared]
    results = stored(tmp_path, [])
    results.profile, results.rows = profile, list({row.trial_id: row for row in own}.values())
    for (name, trial), row in zip(declared, own, strict=True):
        assert [found.trial_id for found in results.find_rows(trial)] == [row.trial_id], (name, trial)
        assert results.notes == [], (name, trial)


def test_claims_decide_nothing_where_nothing_was_run(known, tmp_path):
    for artifact in known.values():
        findings = {claim.key: claim.check(stored(tmp_path, [])).judgement for claim in artifact.claims}
        assert set(findings.values()) <= {"undetermined"}, (artifact.name, findings)


def test_an_artifact_of_which_one_trial_ran_and_diverged_is_rendered_with_blanks(known, tmp_path):
    for name, artifact in known.items():
        if not artifact.listed or not artifact.needs_rows:
            continue  # a search, whose rows are not those of a declared trial; a table that has none
        row = replace(finished(next(artifact.trials("laptop"))), outcome="diverged", reason="loss is nan")
        results = stored(tmp_path / name, [row])
        assert all(path.stat().st_size > 0 for path in write(artifact.render(results), tmp_path / name)), name
        assert {claim.check(results).judgement for claim in artifact.claims} <= {"undetermined"}, name

"""Rows as trials of the paper leave them, a store of such rows, and the finding of a claim."""

from engine_helpers import make_row

from bench.judging.results import Results
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import PROTOCOL, reseed


def record_of(trial, seed=0, outcome="ok", arrays=None, step=None, **metrics):
    """What the trial leaves with this seed, outcome and metrics."""
    trial = reseed(trial, seed)
    spec = trial.spec
    row = make_row(
        trial.id,
        outcome=outcome,
        outcome_step=spec.steps if step is None else step,
        metrics=canonical_json(metrics),
        profile=trial.profile,
        label=trial.label,
        dataset=spec.dataset["name"],
        energy=spec.networks.get("energy", {"name": ""})["name"],
        method=spec.method["name"],
        seed=seed,
        steps=spec.steps,
        spec=canonical_json(trial.facts),
        protocol=PROTOCOL,
        versions='{"torch":"2.13.0"}',
        task=spec.task_component["name"],
    )
    return Record(row, arrays=arrays or {})


def results_of(folder, records, profile="laptop"):
    """A store of these records, as tables read it."""
    store = Store(folder / "trials")
    for record in records:
        store.write(record)
    return Results(store, profile)


def hold_rows(folder, records, profile="laptop"):
    """The same rows and curves without writing them: for many rows and without arrays."""
    results, records = results_of(folder, [], profile), list(records)
    results.rows = [record.row for record in records if record.row.profile == profile]
    results._curves.update({record.row.trial_id: record.curves for record in records})
    return results


def check_claim(artifact, key, results):
    """The finding of the claim with this key."""
    (claim,) = [claim for claim in artifact.claims if claim.key == key]
    return claim.check(results)

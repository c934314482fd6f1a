"""A search as Tune's searcher and scheduler, without a cluster: jobs, early stops and rows."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from facts import raises_with
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher
from store_helpers import make_row

from sweeps.cluster import search_run
from sweeps.cluster.engine import Engine
from sweeps.cluster.search_tuning import ProposerSearcher, RuleScheduler, SearchJobs
from sweeps.errors import StoreError
from sweeps.run.conditions import Conditions
from sweeps.run.progress import TrialListener
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.proposer import Proposer
from sweeps.search.space import Space, choice, integer, log_uniform
from sweeps.search.stopping_rules import NeverStop, build_rule
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec

AXES = (log_uniform("method.lr", low=1e-4, high=1e-1, grid=(1e-4, 1e-3, 1e-2)),)
SPEC = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, 100, evaluate_every=10)
SEARCH = Search(
    "toy", "for these tests", lambda profile: Trial(SPEC, profile),
    Space(AXES), (Objective("test_log_likelihood", worst=-50.0),), (100, 101),
)  # fmt: skip
DONE = {"done": True}


@pytest.fixture
def begin_search(tmp_path):
    """Begins a search of two configurations whose trials have a quarter of a GPU."""
    engine = Engine(tmp_path / "trials", tmp_path / "checkpoints", Conditions(gpus=1.0))
    store = Store(tmp_path / "trials")

    def begin(rule=None):
        proposer = Proposer(
            SEARCH,
            "smoke",
            sampler="grid",
            rule=rule or NeverStop(),
            configurations=2,
            rows=store.read_rows(),
        )
        jobs = SearchJobs(engine, store, 0.25, proposer.rule.milestones)
        return SimpleNamespace(
            proposer=proposer, jobs=jobs, searcher=ProposerSearcher(proposer, jobs), store=store
        )

    return begin


def end_trial(search, name, outcome="ok", **changes):
    """Write the row as a worker does, and notify the searcher as Tune does."""
    trial = search.searcher.issued[name]
    job = search.jobs.by_trial[trial.id]
    facts = {
        "seed": trial.spec.seed,
        "spec": canonical_json(trial.facts),
        "sweep": trial.sweep,
        "profile": trial.profile,
    }
    own = {"attempt": job["attempt"], "gpus": job["gpus"], "metrics": '{"test_log_likelihood": -1.0}'}
    search.store.write(Record(make_row(trial.id, outcome=outcome, **(facts | own | changes)), [], {}))
    search.searcher.on_trial_complete(name, DONE)


def test_a_trial_out_of_memory_on_a_share_of_a_gpu_is_retried_once_on_a_whole_gpu(begin_search):
    search = begin_search()
    jobs = [search.searcher.suggest(f"t{number}")["job"] for number in range(4)]
    assert {(job["gpus"], job["attempt"]) for job in jobs} == {(0.25, 1)}
    for number in range(1, 4):
        end_trial(search, f"t{number}")
    assert search.searcher.suggest("early") is None, "the first may be retried"
    end_trial(search, "t0", "out_of_memory", reason="CUDA out of memory", outcome_step=7)
    again = search.searcher.suggest("t4")["job"]
    assert (again["id"], again["gpus"], again["attempt"]) == (jobs[0]["id"], 1.0, 2)
    assert "Attempt 1 ended out_of_memory at step 7 with 0.25 of a GPU" in again["before"]
    end_trial(search, "t4", "out_of_memory")
    assert search.searcher.suggest("t5") == Searcher.FINISHED, "once"
    assert search.proposer.known[next(iter(search.proposer.known))].compute_score() is None


def test_the_row_of_an_earlier_attempt_is_not_the_row_of_the_job(begin_search):
    search = begin_search()
    search.searcher.suggest("t0")
    end_trial(search, "t0", "error")
    again = begin_search()
    assert again.searcher.suggest("t0")["job"]["attempt"] == 2
    again.searcher.on_trial_complete("t0", None, error=True)  # Tune gave it up because its worker died
    entry = again.proposer.owners[again.searcher.issued["t0"].id]
    assert entry.rows == {}


def report(trial, step, value):
    worker = {
        "worker/device": "cuda",
        "worker/processor": "a GPU elsewhere",
        "worker/started_at": "2026-01-01T00:00:00.000+00:00",
    }
    about = {
        "trial": trial.id,
        "trained_steps": step,
        "trained_seconds": 3.0,
        "done": False,
        "metrics/test_log_likelihood": value,
    }
    return about | worker


def test_the_row_of_a_stopped_trial_has_the_provenance_of_its_worker(begin_search):
    search = begin_search(build_rule("asha", 100, 10))
    scheduler = RuleScheduler(search.proposer, search.jobs)
    first, second = (search.searcher.suggest(name) and search.searcher.issued[name] for name in ("t0", "t1"))
    assert scheduler.on_trial_result(None, None, report(first, 10, -1.0)) == TrialScheduler.CONTINUE
    assert scheduler.on_trial_result(None, None, report(second, 10, -2.0)) == TrialScheduler.STOP
    row = search.store.read_row(second.id)
    assert (row.outcome, row.outcome_step, row.gpus, row.seconds) == ("stopped_early", 10, 0.25, 3.0)
    assert (row.device, row.processor, row.started_at) == (
        "cuda",
        "a GPU elsewhere",
        "2026-01-01T00:00:00.000+00:00",
    )
    assert [(point.step, point.value) for point in search.store.read_curves(second.id)] == [(10, -2.0)]


def test_the_checkpoint_of_a_stopped_trial_is_deleted_after_its_row_is_stored(
    begin_search, tmp_path, monkeypatch
):
    search = begin_search(build_rule("asha", 100, 10))
    scheduler = RuleScheduler(search.proposer, search.jobs)
    first, second = (search.searcher.suggest(name) and search.searcher.issued[name] for name in ("t0", "t1"))
    (tmp_path / "checkpoints").mkdir()
    for trial in (first, second):
        (tmp_path / "checkpoints" / f"{trial.id}.pt").write_text("state")
    scheduler.on_trial_result(None, None, report(first, 10, -1.0))
    stopped = report(second, 10, -2.0) | {"metrics": {}, "worker": {}}
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", refuse)
        with raises_with(StoreError, "the disk is full"):
            search.jobs.stop(second, stopped, SEARCH.objectives[0], {})
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2
    assert scheduler.on_trial_result(None, None, report(second, 10, -2.0)) == TrialScheduler.STOP
    assert [path.stem for path in (tmp_path / "checkpoints").iterdir()] == [first.id]


def refuse(store, record):
    raise StoreError("the disk is full")


def test_a_second_seed_is_judged_without_taking_a_place(begin_search):
    search = begin_search(build_rule("asha", 100, 10))
    scheduler = RuleScheduler(search.proposer, search.jobs)
    search.searcher.suggest("t0")
    end_trial(search, "t0", "diverged", outcome_step=5)
    assert search.searcher.suggest("t1")["job"]["facts"]["seed"] == 101
    second = search.searcher.issued["t1"]
    before = {step: dict(known) for step, known in search.proposer.rule.scores.items()}
    assert scheduler.on_trial_result(None, None, report(second, 10, -1.0)) == TrialScheduler.CONTINUE
    assert search.proposer.rule.scores == before


def test_gpu_shares_are_measured_on_the_largest_trials(monkeypatch, tmp_path):
    methods = choice("method.name", values=("ml", "dsm"))
    space = Space((*AXES, integer("batch_size", low=8, high=64), methods))
    measured = []

    def measure(trials, settings, available, notify):
        measured.extend((trial.spec.batch_size, trial.spec.method["name"]) for trial in trials)
        return {trial.id: 1 / (2 + number) for number, trial in enumerate(trials)}

    monkeypatch.setattr(search_run, "measure_shares", measure)
    search = replace(SEARCH, space=space)
    proposer = Proposer(search, "smoke", sampler="random", rule=NeverStop(), configurations=1, rows=[])
    engine = Engine(tmp_path / "trials", tmp_path / "checkpoints", pack_gpus=True)
    assert search_run._choose_gpus(proposer, engine, {}, TrialListener()) == pytest.approx(1 / 3)
    assert measured == [(64, "ml"), (64, "dsm")]
    engine = replace(engine, pack_gpus=False, conditions=Conditions(gpus=0.5))
    assert search_run._choose_gpus(proposer, engine, {}, TrialListener()) == 0.5

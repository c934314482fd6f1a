"""A search as Tune sees it, without a cluster: what is handed out, and what is told to the search of the
trials' ends."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from engine_helpers import make_row
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

from sweeps.cluster import search_run as running
from sweeps.cluster.execute import Engine
from sweeps.cluster.search_jobs import Jobs
from sweeps.cluster.search_tuning import ProposerSearcher, RuleScheduler
from sweeps.errors import StoreError
from sweeps.run.conditions import Conditions
from sweeps.run.listener import Listener
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.proposer import Proposer
from sweeps.search.space import Space, choice, log_uniform, whole
from sweeps.search.stopping_rules import Never, rule_for
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
def scene(tmp_path):
    """A search of two configurations whose trials have a quarter of a GPU, and a store to write their rows
    into."""
    engine, store = (
        Engine(tmp_path / "trials", tmp_path / "checkpoints", Conditions(gpus=1.0)),
        Store(tmp_path / "trials"),
    )

    def begin(rule=None):
        proposer = Proposer(
            SEARCH, "smoke", sampler="grid", rule=rule or Never(), configurations=2, rows=store.rows()
        )
        jobs = Jobs(engine, store, 0.25, proposer.rule.milestones)
        return SimpleNamespace(
            proposer=proposer, jobs=jobs, searcher=ProposerSearcher(proposer, jobs), store=store
        )

    return begin


def end(scene, name, outcome="ok", **changes):
    """A worker writes the row of its job; Tune tells the searcher."""
    trial = scene.searcher.issued[name]
    job = scene.jobs.made[trial.id]
    facts = {
        "seed": trial.spec.seed,
        "spec": canonical_json(trial.facts),
        "sweep": trial.sweep,
        "profile": trial.profile,
    }
    told = {"attempt": job["attempt"], "gpus": job["gpus"], "metrics": '{"test_log_likelihood": -1.0}'}
    scene.store.write(Record(make_row(trial.id, outcome=outcome, **(facts | told | changes)), [], {}))
    scene.searcher.on_trial_complete(name, DONE)


def test_a_trial_that_runs_out_of_memory_on_a_part_of_a_gpu_comes_once_more_with_a_whole_one(scene):
    made = scene()
    jobs = [made.searcher.suggest(f"t{number}")["job"] for number in range(4)]
    assert {(job["gpus"], job["attempt"]) for job in jobs} == {(0.25, 1)}
    for number in range(1, 4):
        end(made, f"t{number}")
    assert made.searcher.suggest("early") is None, "the first may come again"
    end(made, "t0", "out_of_memory", reason="CUDA out of memory", outcome_step=7)
    again = made.searcher.suggest("t4")["job"]
    assert (again["id"], again["gpus"], again["attempt"]) == (jobs[0]["id"], 1.0, 2)
    assert "Attempt 1 ended out_of_memory at step 7 with 0.25 of a GPU" in again["before"]
    end(made, "t4", "out_of_memory")
    assert made.searcher.suggest("t5") == Searcher.FINISHED, "once"
    assert made.proposer.known[next(iter(made.proposer.known))].result() is None


def test_a_row_of_an_earlier_attempt_is_not_taken_for_that_of_the_job(scene):
    made = scene()
    made.searcher.suggest("t0")
    end(made, "t0", "error")
    again = scene()
    assert again.searcher.suggest("t0")["job"]["attempt"] == 2
    again.searcher.on_trial_complete("t0", None, error=True)  # its worker died, and it was given up
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


def test_what_is_stopped_has_the_row_of_its_worker(scene):
    made = scene(rule_for("asha", 100, 10))
    scheduler = RuleScheduler(made.proposer, made.jobs)
    first, second = (made.searcher.suggest(name) and made.searcher.issued[name] for name in ("t0", "t1"))
    assert scheduler.on_trial_result(None, None, report(first, 10, -1.0)) == TrialScheduler.CONTINUE
    assert scheduler.on_trial_result(None, None, report(second, 10, -2.0)) == TrialScheduler.STOP
    row = made.store.row(second.id)
    assert (row.outcome, row.outcome_step, row.gpus, row.seconds) == ("stopped_early", 10, 0.25, 3.0)
    assert (row.device, row.processor, row.started_at) == (
        "cuda",
        "a GPU elsewhere",
        "2026-01-01T00:00:00.000+00:00",
    )
    assert [(point.step, point.value) for point in made.store.curves(second.id)] == [(10, -2.0)]


def test_the_checkpoint_of_what_is_stopped_goes_once_its_row_is_stored(scene, tmp_path, monkeypatch):
    made = scene(rule_for("asha", 100, 10))
    scheduler = RuleScheduler(made.proposer, made.jobs)
    first, second = (made.searcher.suggest(name) and made.searcher.issued[name] for name in ("t0", "t1"))
    (tmp_path / "checkpoints").mkdir()
    for trial in (first, second):
        (tmp_path / "checkpoints" / f"{trial.id}.pt").write_text("state")
    scheduler.on_trial_result(None, None, report(first, 10, -1.0))
    told = report(second, 10, -2.0) | {"metrics": {}, "worker": {}}
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", refuse)
        with pytest.raises(StoreError, match="the disk is full"):
            made.jobs.stop(second, told, SEARCH.objectives[0], {})
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2
    assert scheduler.on_trial_result(None, None, report(second, 10, -2.0)) == TrialScheduler.STOP
    assert [path.stem for path in (tmp_path / "checkpoints").iterdir()] == [first.id]


def refuse(store, record):
    raise StoreError("the disk is full")


def test_a_second_seed_is_judged_and_takes_no_place(scene):
    made = scene(rule_for("asha", 100, 10))
    scheduler = RuleScheduler(made.proposer, made.jobs)
    made.searcher.suggest("t0")
    end(made, "t0", "diverged", outcome_step=5)
    assert made.searcher.suggest("t1")["job"]["facts"]["seed"] == 101
    second = made.searcher.issued["t1"]
    before = {step: dict(known) for step, known in made.proposer.rule.scores.items()}
    assert scheduler.on_trial_result(None, None, report(second, 10, -1.0)) == TrialScheduler.CONTINUE
    assert made.proposer.rule.scores == before


def test_gpus_are_measured_on_the_largest_of_the_trials(monkeypatch, tmp_path):
    space = Space((*AXES, whole("batch_size", low=8, high=64), choice("method.name", values=("ml", "dsm"))))
    search, asked = replace(SEARCH, space=space), []

    def measured(trials, site, available, tell):
        asked.extend((trial.spec.batch_size, trial.spec.method["name"]) for trial in trials)
        return {trial.id: 1 / (2 + number) for number, trial in enumerate(trials)}

    monkeypatch.setattr(running, "measured_shares", measured)
    proposer = Proposer(search, "smoke", sampler="random", rule=Never(), configurations=1, rows=[])
    engine = Engine(tmp_path / "trials", tmp_path / "checkpoints", pack_gpus=True)
    assert running._gpus(proposer, engine, {}, Listener()) == pytest.approx(1 / 3)
    assert asked == [(64, "ml"), (64, "dsm")]
    assert (
        running._gpus(
            proposer, replace(engine, pack_gpus=False, conditions=Conditions(gpus=0.5)), {}, Listener()
        )
        == 0.5
    )

"""Searches on a real cluster: early stops, resumption, and the command line."""

import json
import re
from pathlib import Path

import pytest
from cluster_helpers import run_here
from facts import raises_with

from bench.searches.problems import PROBLEMS
from sweeps.cluster.engine import Engine
from sweeps.cluster.search_run import SearchOptions, run_search
from sweeps.run.conditions import Conditions
from sweeps.search.declaration import Search, find_best
from sweeps.search.objective import Objective
from sweeps.search.space import Space, log_uniform
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.errors import VeraError
from vera.methods.ml import MaximumLikelihood
from vera.saved.load import decode_model
from vera.spec.trial_spec import TrialSpec


def base(profile):
    networks = {"energy": {"name": "mixture", "components": 5}}
    spec = TrialSpec({"name": "moons"}, networks, {"name": "ml"}, 60, 50, evaluate_every=5)
    return Trial(spec, profile, label="ML")


AXIS = log_uniform("method.lr", low=1e-4, high=10.0, grid=(1e-3, 1e-1))
LIKELIHOOD = Objective("test_log_likelihood", worst=-50.0)
SEARCH = Search("tiny", "for these tests", base, Space((AXIS,)), (LIKELIHOOD,), (100, 101))


def build_engine(folder):
    return Engine(folder / "trials", folder / "checkpoints", Conditions())


def read_times(folder):
    return {row.trial_id: row.finished_at for row in Store(folder / "trials").read_rows()}


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_a_search_stops_poor_trials_and_can_be_extended(tmp_path, monkeypatch):
    options, engine = SearchOptions("random", "asha", 9), build_engine(tmp_path)
    found = run_search(SEARCH, "smoke", options, engine)
    check_rows(tmp_path, found)
    check_best(found)
    before = read_times(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("sweeps.cluster.search_run.open_cluster", lambda *_: pytest.fail("something ran"))
        run_search(SEARCH, "smoke", options, engine)
    assert read_times(tmp_path) == before
    more = run_search(SEARCH, "smoke", SearchOptions("tpe", "none", 11), engine)
    after = read_times(tmp_path)
    assert len(more) == 11
    assert before.items() <= after.items()
    assert len(after) == len(before) + 4


def check_rows(folder, found):
    """Every trial has one row, and some were stopped at a milestone."""
    store = Store(folder / "trials")
    rows = store.read_rows()
    assert len(found) == 9
    assert {row.outcome for row in rows} <= {"ok", "stopped_early", "diverged"}
    assert len({row.trial_id for row in rows}) == len(rows)
    stopped = [row for row in rows if row.outcome == "stopped_early"]
    assert stopped
    assert {row.outcome_step for row in stopped} <= {5, 10, 20}
    for row in stopped:  # the model as it was when the trial was stopped
        assert decode_model(store.models.read(row.trial_id), row.trial_id).facts.step == row.outcome_step
    assert all(row.sweep == "search-tiny" and row.seconds > 0 for row in rows)
    assert not list((folder / "checkpoints").glob("*.pt"))


def check_best(found):
    """The best configuration is the best of those that ran to their end."""
    (winner,) = find_best(found)
    scores = [entry.compute_score() for entry in found if not entry.is_stopped]
    assert winner.compute_score().scores[0] == max(score.scores[0] for score in scores if score)
    assert all(row.outcome_step == 60 for row in winner.rows.values())


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (SearchOptions(scheduler="asha", sampler="bogus"), "sampler 'bogus'"),
        (SearchOptions(scheduler="bogus"), "scheduler 'bogus'"),
    ],
)
def test_invalid_options_are_refused_before_anything_starts(tmp_path, options, fact):
    with raises_with(VeraError, fact):
        run_search(SEARCH, "smoke", options, build_engine(tmp_path))


@pytest.mark.long
def test_the_command_line_searches_and_the_best_configuration_can_be_run(tmp_path, shared_ray):
    grid = ("--profile", "smoke", "--configurations", 3, "--seeds", 1, "--sampler", "grid")
    place = ("--results-dir", tmp_path)
    flags = ("--scheduler", "none", "--max-concurrent", 1)
    code, out, err = run_here("search", "moons", "--method", "ml", *grid, *flags, *place)
    assert (code, err) == (0, "")
    assert out.startswith("search-moons-ml-grid · smoke profile · 3 configurations")
    assert {row.sweep for row in Store(tmp_path / "trials").read_rows()} == {"search-moons-ml-grid"}
    assert out.endswith(f"vera render searches --profile smoke --results-dir {tmp_path}\n")
    assert re.search(r"3 configurations, 0\b.* stopped early", out)
    (command,) = re.findall(r"vera run spec:.*$", out, re.MULTILINE)
    _, verb, spec, *flags = command.split()
    assert flags == ["--seeds", "3", "--results-dir", str(tmp_path)]
    content = json.loads(Path(spec.removeprefix("spec:")).read_text())
    assert content["spec"]["method"]["name"] == "ml"
    code, out, err = run_here(verb, spec, *flags, "--max-concurrent", 1)
    assert (code, err) == (0, "")
    assert "3 of 3" in out


def test_a_search_whose_trials_fail_names_one_of_them(tmp_path, shared_ray, monkeypatch):
    monkeypatch.setattr(MaximumLikelihood, "step", MaximumLikelihood.step)  # the plug-in replaces it
    plugin = tmp_path / "broken.py"
    plugin.write_text(
        "from vera.methods.ml import MaximumLikelihood\n\n\n"
        "def step(self, batch):\n    raise ValueError('as planned')\n\n\nMaximumLikelihood.step = step\n"
    )
    grid = ("--profile", "smoke", "--sampler", "grid", "--scheduler", "none", "--seeds", 1)
    place = ("--plugin", plugin, "--results-dir", tmp_path, "--max-concurrent", 1)
    code, out, err = run_here("search", "moons", "--method", "ml", *grid, *place)
    ids = [row.trial_id[:8] for row in Store(tmp_path / "trials").read_rows()]
    assert (code, len(ids)) == (1, 3)
    (line,) = err.splitlines()
    assert line.startswith("vera: 3 of 3 trials ended as error")
    command = line[line.index("vera show ") :].split()
    assert command[2] in ids
    assert command[3:] == ["--results-dir", str(tmp_path)]
    assert re.search(r"3 configurations, 0\b.* stopped early, 3\b", out)
    assert "best" not in out


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (("moon",), ("'moon'", "moons")),
        (("moons", "--method", "mlx"), ("'mlx'",)),
        (("moons", "--against", "seconds", "--scheduler", "asha"), ("--scheduler none",)),
        (("moons", "--grid", "lr=1e-3"), ("--grid", "tpe", "--sampler grid")),
        (("moons", "--sampler", "grid", "--grid", "lr"), ("AXIS=V1,V2", "'lr'")),
        (("moons", "--sampler", "grid", "--grid", "speed=1"), ("'speed'",)),
        (("moons", "--sampler", "grid", "--grid", "lr=7"), ("'lr'", "7.0", "1e-05 to 0.1")),
        (("moons", "--name", "../x"), ("--name", "'../x'")),
    ],
)
def test_a_mistake_is_refused_in_one_line(tmp_path, arguments, facts):
    code, _, err = run_here("search", *arguments, "--results-dir", tmp_path)
    assert code == 2
    assert err.count("\n") == 1
    assert [fact for fact in facts if fact not in err] == [], err


def test_without_a_search_problem_all_are_listed():
    code, out, _ = run_here("search")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(PROBLEMS)


def test_a_search_can_have_a_name_and_another_grid(tmp_path):
    grid = ("--sampler", "grid", "--grid", "lr=1e-3,1e-2", "--grid", "method.generator_lr=1e-3")
    place = ("--scheduler", "none", "--results-dir", tmp_path)
    common = ("search", "moons", "--profile", "smoke", "--dry-run", *place)
    code, out, _ = run_here(*common, *grid, "--name", "few")
    assert code == 0
    assert out.startswith("search-moons-vera-few · smoke profile · 8 configurations of 2 seeds, 0 ")
    assert re.search(r"16 more trials\b.*\b320\b.*\b8\b.*\b320$", out, re.MULTILINE)
    assert "\n  method.lr              0.001, 0.01\n" in out
    assert "without a score" not in out
    _, out, _ = run_here(*common)
    assert out.startswith("search-moons-vera-tpe · smoke profile · 40 configurations")
    assert "\n  method.lr              1e-05 to 0.1\n" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "name", "scheduler"),
    [
        ((), "tpe", "asha"),
        (("--sampler", "grid"), "grid", "none"),
        (("--against", "seconds"), "tpe-seconds", "none"),
        (("--sampler", "grid", "--scheduler", "median"), "grid", "median"),
    ],
)
def test_a_grid_and_two_objectives_stop_no_trial_by_default(tmp_path, flags, name, scheduler):
    place = ("--profile", "smoke", "--dry-run", "--results-dir", tmp_path)
    _, out, _ = run_here("search", "moons", *place, *flags)
    assert out.startswith(f"search-moons-vera-{name} · ")
    assert f"scheduler {scheduler} · " in out


def test_trials_that_are_evaluated_at_their_end_only_are_not_stopped(tmp_path):
    place = ("--profile", "smoke", "--dry-run", "--results-dir", tmp_path)
    code, out, _ = run_here("search", "modes", *place)
    assert code == 0
    assert "scheduler none · " in out
    code, _, err = run_here("search", "modes", *place, "--scheduler", "asha")
    assert code == 2
    assert "--scheduler none" in err

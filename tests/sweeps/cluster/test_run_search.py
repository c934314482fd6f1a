"""Searches that really run: on a local cluster, interrupted and resumed, with early stops; and the command
line round them."""

import json
from pathlib import Path

import pytest
from engine_helpers import vera

from sweeps.cluster.execute import Engine
from sweeps.cluster.search_run import Budget, run_search
from sweeps.run.conditions import Conditions
from sweeps.search.declaration import Search, best
from sweeps.search.objective import Objective
from sweeps.search.space import Space, log_uniform
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.errors import VeraError
from vera.spec.trial_spec import TrialSpec


def base(profile):
    networks = {"energy": {"name": "mixture", "components": 5}}
    return Trial(
        TrialSpec({"name": "moons"}, networks, {"name": "ml"}, 60, 50, evaluate_every=5), profile, label="ML"
    )


SEARCH = Search(
    "tiny", "for these tests", base, Space((log_uniform("method.lr", low=1e-4, high=10.0, grid=(1e-3, 1e-1)),)),
    (Objective("test_log_likelihood", worst=-50.0),), (100, 101),
)  # fmt: skip


def engine(folder):
    return Engine(folder / "trials", folder / "checkpoints", Conditions())


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    found = run_search(SEARCH, "smoke", Budget("random", "asha", 9), engine(folder))
    return folder, found


def test_every_trial_has_one_row_and_bad_ones_are_stopped(searched):
    folder, found = searched
    rows = Store(folder / "trials").rows()
    assert len(found) == 9
    assert {row.outcome for row in rows} <= {"ok", "stopped_early", "diverged"}
    assert len({row.trial_id for row in rows}) == len(rows)
    stopped = [row for row in rows if row.outcome == "stopped_early"]
    assert stopped
    assert {row.outcome_step for row in stopped} <= {5, 10, 20}
    assert all(row.sweep == "search-tiny" and row.seconds > 0 for row in rows)
    assert not list((folder / "checkpoints").glob("*.pt"))


def test_the_best_is_the_best_of_those_that_ran_to_the_end(searched):
    _, found = searched
    (winner,) = best(found)
    whole = [entry for entry in found if not entry.stopped and entry.result()]
    assert winner.result().scores[0] == max(entry.result().scores[0] for entry in whole)
    assert all(row.outcome_step == 60 for row in winner.rows.values())


def test_a_second_call_runs_nothing_and_a_larger_number_goes_on(searched):
    folder, _ = searched
    before = {row.trial_id: row.finished_at for row in Store(folder / "trials").rows()}
    run_search(SEARCH, "smoke", Budget("random", "asha", 9), engine(folder))
    assert {row.trial_id: row.finished_at for row in Store(folder / "trials").rows()} == before
    more = run_search(SEARCH, "smoke", Budget("tpe", "none", 11), engine(folder))
    after = {row.trial_id: row.finished_at for row in Store(folder / "trials").rows()}
    assert len(more) == 11
    assert before.items() <= after.items()
    assert len(after) == len(before) + 4


@pytest.mark.parametrize(("budget", "message"), [
    (Budget(scheduler="asha", sampler="bogus"), "no sampler 'bogus'"),
    (Budget(scheduler="bogus"), "no scheduler 'bogus'"),
])  # fmt: skip
def test_what_cannot_be_done_is_said_before_anything_starts(tmp_path, budget, message):
    with pytest.raises(VeraError, match=message):
        run_search(SEARCH, "smoke", budget, engine(tmp_path))


def test_the_command_line_searches_says_what_is_best_and_runs_it(tmp_path):
    code, out, err = vera("search", "moons", "--method", "ml", "--profile", "smoke", "--configurations", "3", "--seeds", "1",
                          "--scheduler", "none", "--sampler", "grid", "--results-dir", tmp_path)  # fmt: skip
    assert (code, err) == (0, "")
    assert out.startswith("search-moons-ml-grid · smoke profile · 3 configurations")
    assert {row.sweep for row in Store(tmp_path / "trials").rows()} == {"search-moons-ml-grid"}
    assert out.endswith(f"to see it: vera render searches --profile smoke --results-dir {tmp_path}\n")
    assert "3 configurations, 0 of them stopped early" in out
    assert "the grid of 3 would take 60" in out
    (command,) = [line.split("to run it: ")[1] for line in out.splitlines() if "to run it" in line]
    _, verb, spec, *flags = command.split()
    assert flags == ["--seeds", "3", "--results-dir", str(tmp_path)]
    content = json.loads(Path(spec.removeprefix("spec:")).read_text())
    assert content["spec"]["method"]["name"] == "ml"
    code, out, err = vera(verb, spec, *flags)
    assert (code, err) == (0, "")
    assert "3 of 3 trials are done" in out


def test_a_search_whose_trials_fail_says_so_and_how_to_see_one(tmp_path):
    """The plug-in imports Ray, as a careless one may: the settings that Ray reads then are made before."""
    plugin = tmp_path / "broken.py"
    plugin.write_text(
        "import ray\nfrom vera.methods.ml import MaximumLikelihood\n\n\n"
        "def step(self, batch):\n    raise ValueError('as planned')\n\n\nMaximumLikelihood.step = step\n"
    )
    code, out, err = vera("search", "moons", "--method", "ml", "--profile", "smoke", "--sampler", "grid", "--scheduler", "none",
                          "--seeds", "1", "--plugin", plugin, "--results-dir", tmp_path)  # fmt: skip
    ids = [row.trial_id[:8] for row in Store(tmp_path / "trials").rows()]
    assert (code, len(ids)) == (1, 3)
    assert err.startswith("vera: 3 of 3 trials ended as error; see: vera show ")
    assert err.endswith(f" --results-dir {tmp_path}\n")
    assert err.split()[-3] in ids
    assert "3 configurations, 0 of them stopped early, 3 without a score" in out
    assert "best" not in out


@pytest.mark.parametrize(("arguments", "message"), [
    (("moon",), "no task 'moon' to search"), (("moons", "--method", "mlx"), "no search for 'mlx'"),
    (("moons", "--against", "seconds", "--scheduler", "asha"), "take --scheduler none"),
    (("moons", "--grid", "lr=1e-3"), "the sampler is tpe: add --sampler grid"),
    (("moons", "--sampler", "grid", "--grid", "lr"), "takes AXIS=V1,V2"),
    (("moons", "--sampler", "grid", "--grid", "speed=1"), "no axis 'speed'"),
    (("moons", "--sampler", "grid", "--grid", "lr=7"), "not in its range, 1e-05 to 0.1"),
    (("moons", "--name", "../x"), "--name takes"),
])  # fmt: skip
def test_mistakes_are_one_line(tmp_path, arguments, message):
    code, _, err = vera("search", *arguments, "--results-dir", tmp_path)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_without_a_task_it_says_what_there_is():
    code, out, _ = vera("search")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["moons", "circles", "rings", "flow", "labels"]


def test_names_and_grids_are_part_of_what_is_asked(tmp_path):
    grid = ("--sampler", "grid", "--grid", "lr=1e-3,1e-2", "--grid", "method.generator_lr=1e-3")
    common = (
        "search",
        "moons",
        "--profile",
        "smoke",
        "--dry-run",
        "--scheduler",
        "none",
        "--results-dir",
        tmp_path,
    )
    code, out, _ = vera(*common, *grid, "--name", "few")
    assert code == 0
    assert out.startswith(
        "search-moons-vera-few · smoke profile · 8 configurations of 2 seeds, 0 of them begun already"
    )
    assert (
        "\nwould run up to 16 more trials of 320 training steps in all; the grid of 8 would take 320\n" in out
    )
    assert "\n  method.lr              0.001, 0.01\n" in out
    assert "without a score" not in out
    assert vera(*common)[1].startswith("search-moons-vera-tpe · smoke profile · 40 configurations")
    assert "\n  method.lr              1e-05 to 0.1\n" in vera(*common)[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("flags", "name", "scheduler"), [
    ((), "tpe", "asha"), (("--sampler", "grid"), "grid", "none"), (("--against", "seconds"), "tpe-seconds", "none"),
    (("--sampler", "grid", "--scheduler", "median"), "grid", "median"),
])  # fmt: skip
def test_a_grid_and_two_objectives_stop_no_trial_unless_it_is_asked_for(tmp_path, flags, name, scheduler):
    out = vera("search", "moons", "--profile", "smoke", "--dry-run", "--results-dir", tmp_path, *flags)[1]
    assert out.startswith(f"search-moons-vera-{name} · ")
    assert f"scheduler {scheduler} · " in out

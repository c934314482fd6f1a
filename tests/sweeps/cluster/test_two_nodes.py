"""A search over two nodes, one of which dies in the middle, and then the head, which is started again; told
as one story.

The command is the same each time. It ends with the head, since nobody hands out trials then; given once more,
it does the rest.
"""

import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from types import SimpleNamespace

import pytest
from engine_helpers import finish, start, vera, wait_for
from locations import HELPERS
from node_helpers import cluster

from bench.searches.problems import FLOW_LIKELIHOOD
from sweeps.store.store import Store

PLUGIN = HELPERS / "traced_plugin.py"
CONFIGURATIONS, SEEDS, STEPS = 12, 2, 20


class Scene:
    """Where the story plays: what lies in the results, and which node has taken how many steps."""

    def __init__(self, folder):
        self.results, self.trace, self.allowance = folder / "results", folder / "trace", folder / "allowance"

    def allow(self, steps):
        """So many for a node, in all; renamed into place, so that none reads half a number."""
        new = self.allowance.with_suffix(".new")
        new.write_text(str(steps))
        new.replace(self.allowance)

    def steps(self):
        return Counter(
            line for line in self.trace.read_text().splitlines(keepends=True) if line.endswith("\n")
        )

    def rows(self):
        return {row.trial_id: row for row in Store(self.results / "trials").rows()}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    scene = Scene(tmp_path_factory.mktemp("nodes"))
    scene.allow(5 * STEPS)
    with cluster(
        TRACE=scene.trace, ALLOWANCE=scene.allowance, RAY_gcs_rpc_server_reconnect_timeout_s=15
    ) as nodes:
        shared = ("--results-dir", scene.results, "--plugin", PLUGIN, "--address", nodes.address)
        command = ("search", "flow", "--method", "ml", "--profile", "smoke", "--scheduler", "none",
                   "--configurations", CONFIGURATIONS, "--seeds", SEEDS, *shared)  # fmt: skip
        head, second = nodes.head(), nodes.another()
        driver = start(*command, **nodes.environment)
        wait_for(lambda: len(scene.steps()) == 2 and min(scene.steps().values()) > STEPS, driver)
        second.kill()
        both, with_both = scene.steps(), scene.rows()
        scene.allow(8 * STEPS)
        wait_for(lambda: len(scene.rows()) > len(with_both) + 2, driver)
        head.kill()
        broken, with_one = finish(driver), scene.rows()

        scene.allow(1_000 * STEPS)
        nodes.head()
        last = finish(start(*command, **nodes.environment))
        best = [line.split("to run it: ")[1] for line in last[1].splitlines() if "to run it: " in line]
        _, verb, spec, *flags = best[0].split()
        run_best = vera(verb, spec, *flags, *shared, **nodes.environment)
        return SimpleNamespace(**locals())


def test_trials_are_trained_on_both_nodes(story):
    """A node has one CPU: where more steps were taken than a trial has, a trial has ended."""
    assert len(story.both) == 2
    assert min(story.both.values()) > STEPS
    assert 0 < len(story.with_both) < len(story.with_one)
    assert len(story.with_one) < CONFIGURATIONS * SEEDS


def test_the_head_takes_the_command_with_it_and_the_same_command_does_the_rest(story):
    assert story.broken[0] != 0
    assert (story.last[0], story.last[2]) == (0, "")
    assert f"{CONFIGURATIONS} configurations, 0 of them stopped early, 0 without a score" in story.last[1]


def searched(story):
    return [row for row in Store(story.scene.results / "trials").rows() if row.sweep == "search-flow-ml-tpe"]


def test_no_trial_is_lost_or_counted_twice(story):
    rows = searched(story)
    assert len({row.trial_id for row in rows}) == len(rows) == CONFIGURATIONS * SEEDS
    assert {row.outcome for row in rows} <= {"ok", "diverged"}
    assert {row.attempt for row in rows} == {1}
    parts = (story.scene.results / "trials" / "rows").glob(
        "[!.]*"
    )  # what a killed node was writing begins with a dot
    assert len(list(parts)) == len(Store(story.scene.results / "trials").rows())
    kept = {row.trial_id: row for row in rows}
    assert story.with_both.items() <= story.with_one.items() <= kept.items(), (
        "what was finished is not run again"
    )


def test_the_best_configuration_is_the_best_of_the_rows_and_can_be_run(story):
    scores = defaultdict(list)
    for row in searched(story):
        score = (
            json.loads(row.metrics)["test_log_likelihood"] if row.outcome == "ok" else FLOW_LIKELIHOOD.worst
        )
        scores[json.loads(row.spec)["method"]["lr"]].append(max(score, FLOW_LIKELIHOOD.worst))
    assert {len(values) for values in scores.values()} == {SEEDS}
    winner = max(scores, key=lambda lr: mean(scores[lr]))
    content = json.loads(Path(story.spec.removeprefix("spec:")).read_text())
    assert content["spec"]["method"]["lr"] == winner
    assert (story.run_best[0], story.run_best[2]) == (0, "")
    assert "3 of 3 trials are done" in story.run_best[1]

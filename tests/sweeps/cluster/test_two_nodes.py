"""Two real nodes: the preflight check of each, a node that dies under a sweep, and a search that loses a node
and then the head.

It is one test on one cluster, because parallel test processes would repeat a shared cluster. The command of
the search is the same each time. It ends with the head, and finishes when it is run again.
"""

import json
import os
import secrets
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from types import SimpleNamespace

import pytest
from cluster_helpers import read_processes, read_rows
from engine_helpers import PATIENCE, PLUGIN, finish, start, vera, wait_for
from locations import HELPERS, ROOT
from node_helpers import manage_nodes
from pyarrow import fs
from store_helpers import CREDENTIALS

from bench.searches.problems import FLOW_LIKELIHOOD
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.store import Store

TRACED = HELPERS / "sweeps" / "traced_plugin.py"
CONFIGURATIONS, SEEDS, STEPS = 8, 2, 20


class Scene:
    """The files of the story: results, the log of steps, and the steps that each node has taken."""

    def __init__(self, folder):
        self.folder, self.results = folder, folder / "results"
        self.log, self.gate = folder / "log", folder / "gate"
        self.trace, self.allowance = folder / "trace", folder / "allowance"
        self.allow(5 * STEPS)

    def allow(self, steps):
        """Allow each node this many steps in total. The file is renamed, so that no reader sees half a
        number."""
        new = self.allowance.with_suffix(".new")
        new.write_text(str(steps))
        new.replace(self.allowance)

    def count_steps(self):
        lines = self.trace.read_text().splitlines(keepends=True)
        return Counter(line for line in lines if line.endswith("\n"))


@pytest.mark.long
def test_a_cluster_of_two_nodes(tmp_path, guarded_bucket):
    """The second node has no credentials for the bucket."""
    scene = Scene(tmp_path)
    files = {"TRACE": scene.trace, "ALLOWANCE": scene.allowance, "TROUBLE_LOG": scene.log}
    with manage_nodes(**files, TROUBLE_GATE=scene.gate, **CREDENTIALS) as cluster:
        cluster.start_head()
        cluster.start_node(without=CREDENTIALS)
        check_preflight(run_preflight(cluster, scene, guarded_bucket), guarded_bucket)
        check_trials_of_a_dead_node_finished_on_the_other(run_until_a_node_dies(cluster, scene), scene)
        story = search_until_the_head_dies(cluster, scene)
    check_trials_were_trained_on_both_nodes(story)
    check_the_same_command_finished_the_search(story)
    check_every_trial_has_one_row(story)
    check_the_best_configuration_is_the_best_of_the_rows_and_can_be_run(story)


@pytest.fixture
def guarded_bucket(s3_endpoint):
    """A bucket behind a server that requires credentials; moto itself does not."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    backend = DomainDispatcherApplication(create_backend_app)

    def guard(request, respond):
        if CREDENTIALS["AWS_ACCESS_KEY_ID"] in request.get("HTTP_AUTHORIZATION", ""):
            return backend(request, respond)
        respond("403 Forbidden", [("Content-Length", "0")])
        return [b""]

    server = make_server("127.0.0.1", 0, guard, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = f"endpoint_override=127.0.0.1:{server.port}&scheme=http&region=us-east-1"
    yield f"s3://results/{secrets.token_hex(6)}/runs?{options}"
    server.shutdown()
    server.server_close()


PREFLIGHT = """
import json, pathlib, sys
from sweeps.cluster.connection import connect
from sweeps.cluster import preflight
from sweeps.errors import EngineError

address, results, bucket = sys.argv[1:]

def explain(*arguments):
    try:
        preflight.check_nodes(*arguments)
    except EngineError as error:
        return str(error)
    return ""

with connect(address):
    reports = preflight._collect_reports(preflight.NodeRequirements(results, ".not-there"))
    answers = {
        "good": explain(results, [results]),
        "left": [path.name for path in pathlib.Path(results).iterdir()],
        "missing": explain(results, ["/no/such/data"]),
        "has_marker": [report.has_marker for report in reports.values()],
        "bucket": explain(bucket),
    }
print(json.dumps(answers))
"""


def run_preflight(cluster, scene, guarded_bucket):
    """The messages of preflight checks in a driver that has joined the cluster."""
    folder = scene.folder / "shared"
    folder.mkdir()
    arguments = [cluster.address, str(folder), guarded_bucket]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PREFLIGHT, *arguments], cwd=ROOT, capture_output=True,
        env=os.environ | cluster.environment, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return SimpleNamespace(**json.loads(done.stdout))


def check_preflight(answers, guarded_bucket):
    """Nodes that can run the trials pass and no marker remains; every node is asked; the node without
    credentials is named."""
    assert answers.good == ""
    assert answers.left == []
    assert answers.missing.count("node ") == 2
    assert answers.missing.count("/no/such/data") == 1
    assert answers.has_marker == [False, False]
    assert answers.bucket.count("node ") == 1
    facts = ("(127.0.0.2)", guarded_bucket, "AWS_ACCESS_KEY_ID")
    assert [fact for fact in facts if fact not in answers.bucket] == []
    folder = BucketFolder(guarded_bucket)
    selector = fs.FileSelector(folder.root, recursive=True, allow_not_found=True)
    assert [info for info in folder.objects.get_file_info(selector) if info.is_file] == []


def run_until_a_node_dies(cluster, scene):
    """A sweep of two trials, one on each node. Both wait half-way until the second node is dead."""
    folder = scene.folder / "patience"
    flags = ("--checkpoint-every", 0, "--address", cluster.address)
    command = ("run", "patience", "--seeds", 2, "--plugin", PLUGIN, "--results-dir", folder, *flags)
    driver = start(*command, **cluster.environment)
    wait_for(lambda: len(list((folder / "checkpoints").glob("*.pt"))) == 2, driver)
    cluster.nodes[1].kill()
    scene.gate.touch()
    return folder, *finish(driver)


def check_trials_of_a_dead_node_finished_on_the_other(run, scene):
    folder, code, _, err = run
    assert code == 0, err
    assert [row.outcome for row in read_rows(folder).values()] == ["ok", "ok"]
    lives = [list(read_processes(scene.log, seed).values()) for seed in range(2)]
    stayed, moved = sorted(lives, key=len)
    assert (len(stayed), len(moved)) == (1, 2)
    assert moved[1][0] > 1, "it continued from its checkpoint"


def search_until_the_head_dies(cluster, scene):
    """A search that loses its second node and then the head, and is run again; what was seen on the way."""
    shared = ("--results-dir", scene.results, "--plugin", TRACED, "--address", cluster.address)
    size = ("--configurations", CONFIGURATIONS, "--seeds", SEEDS)
    problem = ("search", "flow", "--method", "ml", "--profile", "smoke")
    command = (*problem, "--scheduler", "none", *size, *shared)
    second = cluster.start_node()
    driver = start(*command, **cluster.environment)
    wait_for(lambda: len(scene.count_steps()) == 2 and min(scene.count_steps().values()) > STEPS, driver)
    second.kill()
    both, with_both = scene.count_steps(), read_rows(scene.results)
    scene.allow(8 * STEPS)
    wait_for(lambda: len(read_rows(scene.results)) > len(with_both) + 2, driver)
    cluster.nodes[0].kill()
    broken, with_one = finish(driver), read_rows(scene.results)

    scene.allow(1_000 * STEPS)
    cluster.start_head()
    last = vera(*command, **cluster.environment)
    best = next(line for line in last[1].splitlines() if "vera run spec:" in line)
    _, verb, spec, *flags = best[best.index("vera run ") :].split()
    run_best = vera(verb, spec, *flags, *shared, **cluster.environment)
    return SimpleNamespace(**locals())


def check_trials_were_trained_on_both_nodes(story):
    """A node has one CPU: if it took more steps than a trial has, a trial has ended on it."""
    assert len(story.both) == 2
    assert min(story.both.values()) > STEPS
    assert 0 < len(story.with_both) < len(story.with_one)
    assert len(story.with_one) < CONFIGURATIONS * SEEDS


def check_the_same_command_finished_the_search(story):
    assert story.broken[0] != 0
    assert (story.last[0], story.last[2]) == (0, "")
    assert f"{CONFIGURATIONS} configurations, 0" in story.last[1]


def read_search_rows(story):
    rows = Store(story.scene.results / "trials").read_rows()
    return [row for row in rows if row.sweep == "search-flow-ml-tpe"]


def check_every_trial_has_one_row(story):
    rows = read_search_rows(story)
    assert len({row.trial_id for row in rows}) == len(rows) == CONFIGURATIONS * SEEDS
    assert {row.outcome for row in rows} <= {"ok", "diverged"}
    assert {row.attempt for row in rows} == {1}
    parts = (story.scene.results / "trials" / "rows").glob("[!.]*")  # a killed node may leave a hidden file
    assert len(list(parts)) == len(read_rows(story.scene.results))
    final = {row.trial_id: row for row in rows}
    assert story.with_both.items() <= story.with_one.items() <= final.items(), "no trial runs twice"


def check_the_best_configuration_is_the_best_of_the_rows_and_can_be_run(story):
    scores = defaultdict(list)
    worst = FLOW_LIKELIHOOD.worst
    for row in read_search_rows(story):
        score = json.loads(row.metrics)["test_log_likelihood"] if row.outcome == "ok" else worst
        scores[json.loads(row.spec)["method"]["lr"]].append(max(score, worst))
    assert {len(values) for values in scores.values()} == {SEEDS}
    winner = max(scores, key=lambda lr: mean(scores[lr]))
    content = json.loads(Path(story.spec.removeprefix("spec:")).read_text())
    assert content["spec"]["method"]["lr"] == winner
    assert (story.run_best[0], story.run_best[2]) == (0, "")
    assert "3 of 3" in story.run_best[1]

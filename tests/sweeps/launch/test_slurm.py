"""The Slurm script: valid bash, run from end to end with commands that only write down how they were
called."""

import os
import re
import socket
import stat
import subprocess
from contextlib import contextmanager

import pytest
from launch_helpers import RUN, SHARED, error_of, parsed, text_of
from ray.scripts.scripts import start
from ray.scripts.symmetric_run import curate_and_validate_ray_start_args, symmetric_run

from sweeps.launch.slurm import ports

RECORD = r"""#!/bin/bash
printf '%s\n' "$(printf '%s' "$(basename "$0")"; printf '\t%s' "$@")" >> "$CALLS"  # at once: two nodes write there
"""
FAKES = {
    "srun": RECORD + 'while [[ "$1" == --* ]]; do shift; done; exec "$@"\n',
    "scontrol": RECORD + "printf 'node7\\nnode8\\n'\n",
    "hostname": RECORD + "echo 'fe80::1 127.0.0.1 192.168.0.3 '\n",
    "ray": RECORD
    + 'env | grep ^RAY_ >> "$ENVIRONMENT"; stat -c %a "$RAY_AUTH_TOKEN_PATH" >> "$MODES"; cat "$RAY_AUTH_TOKEN_PATH" >> "$TOKENS"\n'
    + 'if [ "$1" = symmetric-run ] && [ -n "$RAY_FAILS" ]; then echo "Failed to start Ray" >&2; exit 0; fi\n'
    + 'if [ "$1" = symmetric-run ]; then while [ "$1" != -- ]; do shift; done; shift; exec "$@"; fi\n'
    + 'if [ "$1" = start ]; then trap "exit 0" TERM; while sleep 0.05; do :; done; fi\n',
    "python3": RECORD  # which waits for all nodes, where it is not only asked for a module
    + 'cat > /dev/null; [ "$1" != - ] || until [ "$(grep -c ^ray.start "$CALLS")" = "$2" ]; do sleep 0.05; done\n',
    "vera": RECORD + "umask; exit ${VERA_EXIT:-0}\n",
}


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A folder of commands that record their calls, in front of the real ones."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in FAKES.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("calls", "environment", "modes", "tokens"):
        monkeypatch.setenv(name.upper(), str(tmp_path / name))
    return tmp_path


def run(script, job_id, **environment):
    job = {
        "SLURM_JOB_ID": str(job_id),
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_JOB_NODELIST": "node[7-8]",
        **environment,
    }
    return subprocess.run(
        ["bash", "-c", script], env=os.environ | job, capture_output=True, text=True, timeout=60, check=False
    )


@contextmanager
def listening(job_id):
    """Something answers where the job's head would."""
    with socket.create_server(("127.0.0.1", ports(job_id)["port"])):
        yield


def calls(cluster, name):
    lines = [line.split("\t") for line in (cluster / "calls").read_text().splitlines()]
    return [words[1:] for words in lines if words[0] == name]


def script_of(capsys, *arguments):
    return text_of(
        capsys, "slurm", "--nodes", 2, "--cpus-per-node", 6, "--gpus-per-node", 3, *arguments, "--", *RUN
    )


def test_what_slurm_is_asked_for(capsys):
    script = script_of(capsys, "--time", "1-12:00:00", "--partition", "gpu", "--name", "night")
    asked = [line.removeprefix("#SBATCH --") for line in script.splitlines() if line.startswith("#SBATCH")]
    assert asked == [
        "job-name=night", "nodes=2", "ntasks-per-node=1", "cpus-per-task=6", "time=1-12:00:00", "output=night-%j.log",
        "gpus-per-node=3", "partition=gpu", "exclusive",
    ]  # fmt: skip
    assert script.startswith("#!/bin/bash\n#SBATCH"), "Slurm reads directives up to the first command"
    assert "exclusive" not in script_of(capsys, "--share-nodes")


def test_slurm_can_be_asked_for_more(capsys):
    more = ("--account=lab", "--qos=long", "--mem=64G")
    script = script_of(capsys, *(f"--sbatch={line}" for line in more))
    assert [line for line in script.splitlines() if line.startswith("#SBATCH")][-3:] == [
        f"#SBATCH {line}" for line in more
    ]


@pytest.mark.parametrize("variant", [(), ("--share-nodes",)])
def test_it_is_bash(capsys, variant):
    done = subprocess.run(
        ["bash", "-n"], input=script_of(capsys, *variant), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_runs_on_a_cluster_of_all_nodes(capsys, cluster):
    done = run(script_of(capsys, *SHARED, "--setup", "echo ready"), 4711)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ready\n")
    assert calls(cluster, "vera") == [[*RUN, *SHARED]]
    assert parsed(("vera", *calls(cluster, "vera")[0])).results_dir == "/shared/results"
    (words,) = calls(cluster, "ray")
    separator = words.index("--")
    given = symmetric_run.make_context("_", words[1:separator], resilient_parsing=True).params
    assert (given["address"], given["min_nodes"]) == (f"127.0.0.1:{ports(4711)['port']}", 2)
    step = next(call for call in calls(cluster, "srun") if "symmetric-run" in call)
    assert step[:5] == [
        "--nodes=2",
        "--ntasks=2",
        "--ntasks-per-node=1",
        "--cpus-per-task=6",
        "--gpus-per-node=3",
    ]
    options = curate_and_validate_ray_start_args(words[1:separator])
    for context in (["--head", "--port=1"], ["--address=a:1"]):
        found = start.make_context("start", [*options, *context]).params
        assert (found["num_cpus"], found["num_gpus"], found["temp_dir"]) == (6, 3, "/tmp/vera-4711-0")
        assert (found["min_worker_port"], found["max_worker_port"]) == (0, 0)
        mine = {name: found[name.replace("-", "_")] for name in ports(4711) if name != "port"}
        assert mine == {name: port for name, port in ports(4711).items() if name != "port"}


def test_the_token_is_the_jobs_own_and_for_its_owner_alone(capsys, cluster):
    for job_id in (1, 2):
        done = run(script_of(capsys), job_id, RAY_AUTH_TOKEN="somebody's")
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() != "0077", "what the run writes is not hidden from the group by it"
    assert (cluster / "modes").read_text().split() == ["600", "600"]
    tokens = (cluster / "tokens").read_text()
    assert len(tokens) == 128
    assert tokens[:64] != tokens[64:]
    environment = (cluster / "environment").read_text().splitlines()
    assert environment.count("RAY_AUTH_MODE=token") == 2
    assert not any(line.startswith("RAY_AUTH_TOKEN=") for line in environment)
    assert stat.S_IMODE((cluster / "home" / ".ray").stat().st_mode) == 0o700
    assert list((cluster / "home" / ".ray").iterdir()) == []


def test_the_exit_code_is_the_commands_and_nothing_is_left(capsys, cluster):
    for variant in ((), ("--share-nodes",)):
        with listening(99):
            done = run(script_of(capsys, *variant), 99, VERA_EXIT="3")
        assert done.returncode == 3, done.stderr
    assert not os.path.exists("/tmp/vera-99-0")
    assert list((cluster / "home" / ".ray").iterdir()) == []


@pytest.mark.parametrize("nodes", ["1", "2"])
def test_a_ray_that_does_not_start_fails_the_job(capsys, cluster, nodes):
    """As `ray symmetric-run` ends then: with a line on what is wrong, and 0."""
    done = run(script_of(capsys), 99, SLURM_JOB_NUM_NODES=nodes, RAY_FAILS="yes")
    assert done.returncode == 1
    said, ours = done.stderr.splitlines()
    assert said == "Failed to start Ray"
    assert ours.startswith("vera: the command has not run to its end: Ray did not start")
    assert calls(cluster, "vera") == []
    assert not os.path.exists("/tmp/vera-99-0")


def test_a_setup_line_may_ask_for_what_is_not_set_but_may_not_fail(capsys, cluster):
    done = run(script_of(capsys, "--setup", 'echo "[$NEVER_SET]"', "--setup", "echo ready"), 99)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[]\nready\n")
    done = run(script_of(capsys, "--setup", "false"), 99)
    assert done.returncode == 1
    assert len(calls(cluster, "vera")) == 1, "that of the first"


def test_on_shared_nodes_ray_is_started_and_ended_by_the_script_alone(capsys, cluster):
    with listening(4711):
        done = run(script_of(capsys, "--share-nodes"), 4711)
    assert done.returncode == 0, done.stderr
    first, *_ = ports(4711).values()
    started = [words for words in calls(cluster, "ray") if words[0] == "start"]
    head, other = (
        start.make_context("start", words[1:]).params
        for words in sorted(started, key=lambda words: "--head" not in words)
    )
    assert (head["head"], head["block"], head["port"], head["node_ip_address"]) == (
        True,
        True,
        first,
        "127.0.0.1",
    )
    assert (other["head"], other["block"], other["address"]) == (False, True, f"127.0.0.1:{first}")
    assert head["temp_dir"] == other["temp_dir"] == "/tmp/vera-4711-0"
    places = [
        next(flag for flag in call if "list" in flag or "exclude" in flag)
        for call in calls(cluster, "srun")
        if "start" in call
    ]
    assert sorted(places) == ["--exclude=node7", "--nodelist=node7"]
    assert not any("stop" in words or "symmetric-run" in words for words in calls(cluster, "ray"))
    assert calls(cluster, "vera") == [list(RUN)]


def test_a_folder_that_is_already_there_ends_the_job(capsys, cluster):
    os.mkdir("/tmp/vera-77001-0")
    try:
        done = run(script_of(capsys), 77001)
        assert os.path.isdir("/tmp/vera-77001-0"), "it is somebody else's"
    finally:
        os.rmdir("/tmp/vera-77001-0")
    assert done.returncode != 0
    assert calls(cluster, "vera") == []


def test_two_jobs_never_share_a_port_unless_their_ids_are_2800_apart():
    taken = [port for job_id in range(50_000_000, 50_002_800) for port in ports(job_id).values()]
    assert len(set(taken)) == len(taken)
    assert min(taken) >= 10_240
    assert max(taken) < 32_768, "above, Linux hands ports out by itself"
    assert ports(5) == ports(2_805)


def test_ray_finds_room_for_its_sockets(capsys):
    folder = re.search(r"^folder=(.*)$", script_of(capsys), re.MULTILINE)[1]
    longest = folder.replace("$SLURM_JOB_ID", "4294967295").replace("${SLURM_RESTART_COUNT:-0}", "99")
    assert len(f"{longest}/session_2026-01-01_00-00-00_123456_1234567/sockets/plasma_store_12") < 107


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--time", "3h", "--", *RUN], "--time is written HH:MM:SS or D-HH:MM:SS"),
        (["--time", "00:00:00", "--", *RUN], "longer than nothing"),
        (
            ["--sbatch=account=lab", "--", *RUN],
            "--sbatch takes one line that begins with --, e.g. --sbatch=--account=lab, got",
        ),
        (["--sbatch=--account=lab\nrm x", "--", *RUN], "--sbatch takes one line"),
        (["--name", "My Job", "--", *RUN], "--name must be lower-case"),
        ([], "Say what to run after --, e.g. vera launch slurm"),
        (["--", "status"], "vera status runs no trials"),
        (
            ["--", "run", "table2", "--profle", "paper"],
            "cannot be run: vera run: there is no --profle. Did you mean --profile?",
        ),
        (
            ["--", "run", "table2", "--seeds", "0"],
            "cannot be run: vera run: argument --seeds: must be a whole number, at least 1",
        ),
        (["--", "run", "--help"], "it only prints a text"),
        ([*SHARED, "--", *RUN, "--results-dir=/x"], "--results-dir is given before -- and after it"),
        (["--output", "/no/such/folder/x", "--", *RUN], "cannot be written: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line(capsys, arguments, words):
    assert words in error_of(capsys, "slurm", *arguments)


def test_it_can_be_saved_and_says_how_to_go_on(capsys, tmp_path):
    file = tmp_path / "job.sh"
    printed = text_of(capsys, "slurm", "--", *RUN)
    assert (
        text_of(capsys, "slurm", "--output", file, "--", *RUN)
        == f"Wrote {file}; to start it: sbatch {file}\n"
    )
    assert file.read_text() == printed

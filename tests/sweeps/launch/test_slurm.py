"""The Slurm script: valid bash, run from end to end with fake commands that record their calls."""

import errno
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from launch_helpers import RUN, SHARED, assert_refused, parse_command, render_launch
from ray.scripts.scripts import start
from ray.scripts.symmetric_run import curate_and_validate_ray_start_args, symmetric_run

from bench.cli.main import main
from sweeps.launch.slurm import compute_ports

RECORD = r"""#!/bin/bash
# One write, because two nodes share the file.
printf '%s\n' "$(printf '%s' "$(basename "$0")"; printf '\t%s' "$@")" >> "$CALLS"
"""
FAKES = {
    "srun": RECORD + 'while [[ "$1" == --* ]]; do shift; done; exec "$@"\n',
    "scontrol": RECORD + "[ $1 = requeue ] || printf 'node7\\nnode8\\n'\n",
    "hostname": RECORD + "echo 'fe80::1 127.0.0.1 192.168.0.3 '\n",
    "ray": RECORD
    + 'env | grep ^RAY_ >> "$ENVIRONMENT"; stat -c %a "$RAY_AUTH_TOKEN_PATH" >> "$MODES"\n'
    + 'cat "$RAY_AUTH_TOKEN_PATH" >> "$TOKENS"\n'
    + 'if [ "$1" = symmetric-run ] && [ -n "$RAY_FAILS" ]; then echo "Failed to start Ray" >&2; exit 0; fi\n'
    + 'if [ "$1" = symmetric-run ]; then while [ "$1" != -- ]; do shift; done; shift; exec "$@"; fi\n'
    + 'if [ "$1" = start ]; then trap "exit 0" TERM; while sleep 0.05; do :; done; fi\n',
    "python3": RECORD  # waits for all nodes, unless it only checks for a module
    + "cat > /dev/null\n"
    + '[ "$1" != - ] || until [ "$(grep -c ^ray.start "$CALLS")" = "$2" ]; do sleep 0.05; done\n',
    "vera": RECORD
    + 'umask; if [ -n "$VERA_WAITS" ]; then trap "exit 143" TERM; touch "$VERA_WAITS"; '
    + "while sleep 0.05; do :; done; fi; exit ${VERA_EXIT:-0}\n",
}


TOY = ("run", "toy-demo")
"""Needs no data, so that there is no warning about them."""


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A folder whose fake commands precede the real ones on the PATH."""
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
def listen(job_id):
    """A server answers at the port of the job's head."""
    with socket.create_server(("127.0.0.1", compute_ports(job_id)["port"])):
        yield


def read_calls(cluster, name):
    lines = [line.split("\t") for line in (cluster / "calls").read_text().splitlines()]
    return [words[1:] for words in lines if words[0] == name]


def render_script(capsys, *arguments):
    return render_launch(
        capsys, "slurm", "--nodes", 2, "--cpus-per-node", 6, "--gpus-per-node", 3, "--setup", ":", *arguments,
        "--", *RUN,
    )  # fmt: skip


def test_the_directives_for_slurm(capsys):
    script = render_script(capsys, "--time", "1-12:00:00", "--partition", "gpu", "--name", "night")
    asked = [line.removeprefix("#SBATCH --") for line in script.splitlines() if line.startswith("#SBATCH")]
    assert asked == [
        "job-name=night", "nodes=2", "ntasks-per-node=1", "cpus-per-task=6", "time=1-12:00:00",
        "output=night-%j.log", "open-mode=append", "requeue", "signal=B:USR1@300", "gpus-per-node=3",
        "partition=gpu", "exclusive", "mem=0",
    ]  # fmt: skip
    assert script.startswith("#!/bin/bash\n#SBATCH"), "Slurm reads directives up to the first command"
    assert "exclusive" not in render_script(capsys, "--share-nodes")


def test_the_notice_of_a_short_job_is_a_quarter_of_its_time(capsys):
    assert "#SBATCH --signal=B:USR1@60" in render_script(capsys, "--time", "00:04:00")


def test_by_default_the_programs_of_this_python_are_used(capsys):
    script = render_launch(capsys, "slurm", "--", *RUN)
    line = next(line for line in script.splitlines() if line.startswith("export PATH="))
    done = subprocess.run(
        ["bash", "-c", f"{line}; command -v python"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(Path(sys.executable).with_name("python"))


@pytest.mark.parametrize("variant", [(), ("--share-nodes",)])
def test_before_the_time_limit_the_command_is_stopped_and_the_job_is_queued_again(capsys, cluster, variant):
    waits = cluster / "waits"
    job = {"SLURM_JOB_ID": "99", "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NODELIST": "node7"}
    with listen(99):
        script = subprocess.Popen(
            ["bash", "-c", render_script(capsys, *variant)],
            env=os.environ | job | {"VERA_WAITS": str(waits)}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while not waits.exists():
            assert script.poll() is None
            time.sleep(0.02)
        script.send_signal(signal.SIGUSR1)
        _, err = script.communicate(timeout=60)
    assert script.returncode == 0, err
    assert ["requeue", "99"] in read_calls(cluster, "scontrol")
    assert not os.path.exists("/tmp/vera-99-0")


def test_further_directives_can_be_added(capsys):
    more = ("--account=lab", "--qos=long", "--mem=64G")
    script = render_script(capsys, *(f"--sbatch={line}" for line in more))
    assert [line for line in script.splitlines() if line.startswith("#SBATCH")][-3:] == [
        f"#SBATCH {line}" for line in more
    ]


@pytest.mark.parametrize("variant", [(), ("--share-nodes",)])
def test_the_script_is_valid_bash(capsys, variant):
    done = subprocess.run(
        ["bash", "-n"], input=render_script(capsys, *variant), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_runs_on_a_cluster_of_all_nodes(capsys, cluster):
    done = run(render_script(capsys, *SHARED, "--setup", "echo ready"), 4711)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ready\n")
    assert read_calls(cluster, "vera") == [[*RUN, *SHARED]]
    assert parse_command(("vera", *read_calls(cluster, "vera")[0])).results_dir == "/shared/results"
    (words,) = read_calls(cluster, "ray")
    separator = words.index("--")
    given = symmetric_run.make_context("_", words[1:separator], resilient_parsing=True).params
    assert (given["address"], given["min_nodes"]) == (f"127.0.0.1:{compute_ports(4711)['port']}", 2)
    step = next(call for call in read_calls(cluster, "srun") if "symmetric-run" in call)
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
        mine = {name: found[name.replace("-", "_")] for name in compute_ports(4711) if name != "port"}
        assert mine == {name: port for name, port in compute_ports(4711).items() if name != "port"}


def test_each_job_has_its_own_token_that_only_its_owner_can_read(capsys, cluster):
    for job_id in (1, 2):
        done = run(render_script(capsys), job_id, RAY_AUTH_TOKEN="somebody's")
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() != "0077", "the umask of the run is unchanged"
    assert (cluster / "modes").read_text().split() == ["600", "600"]
    tokens = (cluster / "tokens").read_text()
    assert len(tokens) == 128
    assert tokens[:64] != tokens[64:]
    environment = (cluster / "environment").read_text().splitlines()
    assert environment.count("RAY_AUTH_MODE=token") == 2
    assert not any(line.startswith("RAY_AUTH_TOKEN=") for line in environment)
    assert stat.S_IMODE((cluster / "home" / ".ray").stat().st_mode) == 0o700
    assert list((cluster / "home" / ".ray").iterdir()) == []


def test_the_exit_code_is_that_of_the_command_and_no_file_remains(capsys, cluster):
    for variant in ((), ("--share-nodes",)):
        with listen(99):
            done = run(render_script(capsys, *variant), 99, VERA_EXIT="3")
        assert done.returncode == 3, done.stderr
    assert not os.path.exists("/tmp/vera-99-0")
    assert list((cluster / "home" / ".ray").iterdir()) == []


@pytest.mark.parametrize("nodes", ["1", "2"])
def test_the_job_fails_if_ray_does_not_start(capsys, cluster, nodes):
    """`ray symmetric-run` then prints the reason and exits with 0."""
    done = run(render_script(capsys), 99, SLURM_JOB_NUM_NODES=nodes, RAY_FAILS="yes")
    assert done.returncode == 1
    rays_line, our_line = done.stderr.splitlines()
    assert rays_line == "Failed to start Ray"
    assert our_line.startswith("vera: ")
    assert read_calls(cluster, "vera") == []
    assert not os.path.exists("/tmp/vera-99-0")


def test_a_setup_line_may_use_unset_variables_but_may_not_fail(capsys, cluster):
    done = run(render_script(capsys, "--setup", 'echo "[$NEVER_SET]"', "--setup", "echo ready"), 99)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[]\nready\n")
    done = run(render_script(capsys, "--setup", "false"), 99)
    assert done.returncode == 1
    assert len(read_calls(cluster, "vera")) == 1, "only the first job ran it"


def test_on_shared_nodes_the_script_starts_and_ends_ray_itself(capsys, cluster):
    with listen(4711):
        done = run(render_script(capsys, "--share-nodes"), 4711)
    assert done.returncode == 0, done.stderr
    first, *_ = compute_ports(4711).values()
    started = [words for words in read_calls(cluster, "ray") if words[0] == "start"]
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
        for call in read_calls(cluster, "srun")
        if "start" in call
    ]
    assert sorted(places) == ["--exclude=node7", "--nodelist=node7"]
    assert not any("stop" in words or "symmetric-run" in words for words in read_calls(cluster, "ray"))
    assert read_calls(cluster, "vera") == [list(RUN)]


def test_an_existing_folder_ends_the_job(capsys, cluster):
    os.mkdir("/tmp/vera-77001-0")
    try:
        done = run(render_script(capsys), 77001)
        assert os.path.isdir("/tmp/vera-77001-0"), "it belongs to someone else"
    finally:
        os.rmdir("/tmp/vera-77001-0")
    assert done.returncode != 0
    assert read_calls(cluster, "vera") == []


def test_two_jobs_share_ports_only_if_their_ids_differ_by_a_multiple_of_2800():
    taken = [port for job_id in range(50_000_000, 50_002_800) for port in compute_ports(job_id).values()]
    assert len(set(taken)) == len(taken)
    assert min(taken) >= 10_240
    assert max(taken) < 32_768, "Linux assigns the ports above"
    assert compute_ports(5) == compute_ports(2_805)


def test_the_paths_of_sockets_are_short_enough(capsys):
    folder = re.search(r"^folder=(.*)$", render_script(capsys), re.MULTILINE)[1]
    longest = folder.replace("$SLURM_JOB_ID", "4294967295").replace("${SLURM_RESTART_COUNT:-0}", "99")
    assert len(f"{longest}/session_2026-01-01_00-00-00_123456_1234567/sockets/plasma_store_12") < 107


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["--time", "3h", "--", *RUN], ("--time", "HH:MM:SS", "'3h'")),
        (["--time", "00:00:00", "--", *RUN], ("--time", "'00:00:00'")),
        (["--sbatch=account=lab", "--", *RUN], ("--sbatch=--account=lab", "'account=lab'")),
        (["--sbatch=--account=lab\nrm x", "--", *RUN], ("--account=lab", "rm x")),
        (["--name", "My Job", "--", *RUN], ("--name", "'My Job'")),
        ([], ("after --", "vera launch slurm")),
        (["--", "status"], ("vera status",)),
        (["--", "run", "table2", "--profle", "paper"], ("vera run", "--profle", "--profile?")),
        (["--", "run", "table2", "--seeds", "0"], ("vera run", "--seeds", "at least 1")),
        (["--", "run", "--help"], ("after --",)),
        ([*SHARED, "--", *RUN, "--results-dir=/x"], ("--results-dir", "before", "after")),
        (["--time", "٣:00:00", "--", *RUN], ("--time", "'٣:00:00'")),
        (["--partition", "a b", "--", *RUN], ("--partition", "'a b'")),
        (["--partition", "gpu\nrm x", "--", *RUN], ("rm x",)),
        (["--token-dir", "$(rm x)", "--", *RUN], ("--token-dir", "$(rm x)")),
        (["--token-dir", 'a"; rm x', "--", *RUN], ("--token-dir", "rm x")),
        (["--output", "a\nb", "--", *RUN], ("a\\nb",)),
        (["--data-dir", "a\u2028b", "--", *RUN], ("a\\u2028b",)),
        (["--", *RUN, "--results-dir", "a\nb"], ("a\\nb",)),
        (["--output", "/no/such/folder/x", "--", *TOY], ("/no/such/folder/x", "No such file or directory")),
    ],
)
def test_a_mistake_is_refused_in_one_line(capsys, arguments, facts):
    assert_refused(capsys, facts, "slurm", *arguments)


def test_data_that_this_machine_lacks_are_a_warning(capsys, tmp_path):
    assert main(["launch", "slurm", "--data-dir", str(tmp_path), "--", *RUN]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("#!/bin/bash")
    assert [fact for fact in ("warning", "train-images-idx3-ubyte", str(tmp_path)) if fact not in err] == []
    assert err.count("\n") == 1


def test_the_script_can_be_saved_and_the_next_command_is_shown(capsys, tmp_path):
    file = tmp_path / "job.sh"
    printed = render_launch(capsys, "slurm", "--", *RUN)
    assert (
        render_launch(capsys, "slurm", "--output", file, "--", *RUN)
        == f"Wrote {file}; to start it: sbatch {file}\n"
    )
    assert file.read_text() == printed


def test_a_script_that_cannot_be_written_leaves_the_old_one(capsys, tmp_path, monkeypatch):
    file = tmp_path / "job.sh"
    file.write_text("old")

    def refuse(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    assert_refused(capsys, (str(file), os.strerror(errno.ENOSPC)), "slurm", "--output", str(file), "--", *TOY)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]

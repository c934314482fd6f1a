"""A Slurm batch script: a Ray cluster on the job's nodes while the command runs on the first node.

By default the job takes whole nodes and uses `ray symmetric-run`. Traps: it refuses to start if another Ray
runs on the node, and it ends with `ray stop`, which ends every Ray process of the user on the machine,
including those of other jobs. So on shared nodes the script starts Ray with `ray start --block` under srun,
and ends exactly what it started. If Ray does not start, `symmetric-run` prints the reason and exits with 0,
and Slurm would count the job as completed. So the command creates a file when it is done, and the script
checks it.

Ports and Ray's folder derive from the job id, so two jobs on one node do not collide, nor does a job with the
remains of a killed one. Ray's sockets lie in that folder, and their paths are limited to 107 characters, so
its name is short. The cluster's token is created for the job, in a file that only its owner can read and that
all nodes see; anyone with the token can run code as that user.

Before the time limit Slurm sends a signal to the script. The script ends the command, which saves its running
trials, and puts the job back into the queue, where it continues. A batch script handles a signal only between
two commands, so it waits for the command in the background.
"""

import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

from sweeps.errors import EngineError
from sweeps.launch.settings import ClusterSettings, check_name, parse_time

FIRST_PORT, PORTS_PER_JOB, BLOCKS = 10_240, 8, 2_800
"""Ports up to 32,639, below the ports that Linux assigns itself. Two jobs share a block only if their ids
differ by a multiple of 2,800."""
NOTICE = 300
"""Seconds before the time limit at which a job is stopped; at most a quarter of its time."""
TOKEN_DIR = re.compile(r"(?:[\w./~@+,: -]|\$\w+|\$\{\w+\})+", re.ASCII)
"""Stands between double quotes in the script: variables are allowed, commands are not."""


@dataclass(frozen=True)
class SlurmJob:
    """A batch job and its Slurm options."""

    command: tuple[str, ...]
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    time: str = "24:00:00"
    partition: str | None = None
    share_nodes: bool = False
    setup: tuple[str, ...] = ()
    """Shell lines that make `vera` and `ray` available, e.g. a module or a virtual environment; by default
    the programs of the Python that renders this are found first."""
    token_dir: str = "$HOME/.ray"
    """A folder that all nodes see."""
    sbatch: tuple[str, ...] = ()
    """Further Slurm options, e.g. --account=lab."""


def compute_ports(job_id: int) -> dict[str, int]:
    """The ports of a job, by the names of Ray's options; the script computes the same."""
    first = FIRST_PORT + PORTS_PER_JOB * (job_id % BLOCKS)
    return {
        "port": first,
        "dashboard-port": first + 1,
        "dashboard-agent-listen-port": first + 2,
        "ray-client-server-port": first + 3,
    }


def render(job: SlurmJob) -> str:
    check_name("--partition", job.partition)
    if not TOKEN_DIR.fullmatch(job.token_dir):
        raise EngineError(
            f"--token-dir takes a path, which may contain variables such as $HOME; got {job.token_dir!r}."
        )
    for line in job.sbatch:
        if not re.fullmatch(r"--\w.*", line):
            raise EngineError(
                f"--sbatch takes one line that starts with --, e.g. --sbatch=--account=lab; got {line!r}."
            )
    run = SHARED if job.share_nodes else WHOLE
    values = {
        "directives": "\n".join(f"#SBATCH --{name}" for name in list_directives(job)),
        "setup": "".join(f"{line}\n" for line in job.setup or [find_own_programs()]),
        "first": FIRST_PORT,
        "each": PORTS_PER_JOB,
        "blocks": BLOCKS,
        "token_dir": job.token_dir,
        "step": " ".join(_list_step_options(job.cluster)),
        "cpus": job.cluster.cpus_per_node,
        "gpus": job.cluster.gpus_per_node,
        "command": shlex.join(job.command),
    }
    return (PREPARE + run).format(**values)


def find_own_programs() -> str:
    """A shell line that puts the folder of this Python's programs first."""
    return f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"'


def list_directives(job: SlurmJob) -> list[str]:
    wanted = [
        f"job-name={job.cluster.name}",
        f"nodes={job.cluster.nodes}",
        "ntasks-per-node=1",
        f"cpus-per-task={job.cluster.cpus_per_node}",
        f"time={job.time}",
        f"output={job.cluster.name}-%j.log",
        "open-mode=append",
        "requeue",
        f"signal=B:USR1@{min(NOTICE, parse_time(job.time) // 4)}",
    ]
    wanted += [f"gpus-per-node={job.cluster.gpus_per_node}"] if job.cluster.gpus_per_node else []
    wanted += [f"partition={job.partition}"] if job.partition else []
    wanted += [] if job.share_nodes else ["exclusive", "mem=0"]
    return wanted + [line.removeprefix("--") for line in job.sbatch]


def _list_step_options(cluster: ClusterSettings) -> list[str]:
    """What a step must request again: srun does not inherit the CPUs per task from the job."""
    gpus = [f"--gpus-per-node={cluster.gpus_per_node}"] if cluster.gpus_per_node else []
    return [f"--cpus-per-task={cluster.cpus_per_node}", *gpus]


PREPARE = """#!/bin/bash
{directives}
set -eo pipefail
{setup}set -u  # not earlier: scripts that activate an environment may use unset variables

# Ports and Ray's folder derive from the job id. The folder's name is short because socket paths are limited.
port=$(({first} + {each} * (SLURM_JOB_ID % {blocks})))
folder=/tmp/vera-$SLURM_JOB_ID-${{SLURM_RESTART_COUNT:-0}}
ray_options=(
    --num-cpus={cpus} --num-gpus={gpus} --temp-dir="$folder" --min-worker-port=0 --max-worker-port=0
    --dashboard-port=$((port + 1)) --dashboard-agent-listen-port=$((port + 2))
)
# Only with grpc does Ray start a client server, whose default port is the same for all jobs.
if python3 -c 'import grpc' 2> /dev/null; then
    ray_options+=(--ray-client-server-port=$((port + 3)))
fi

# The token of this job's cluster, readable by its owner only; every node reads it here.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="{token_dir}/vera-$SLURM_JOB_ID.token"
unset RAY_AUTH_TOKEN
(
    umask 077
    mkdir -p "{token_dir}"
    rm -f "$RAY_AUTH_TOKEN_PATH"
    od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' > "$RAY_AUTH_TOKEN_PATH"
)

every_node=(srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1)
made=
leave() {{
    rm -f "$RAY_AUTH_TOKEN_PATH"
    if [ -n "$made" ]; then "${{every_node[@]}}" rm -rf "$folder" || true; fi
}}
trap leave EXIT
"${{every_node[@]}}" mkdir -m 700 "$folder"  # fails, and ends the job, if it exists already
made=yes

# sed, not head, which may break the pipe and so end the script
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
on_head=(srun --nodes=1 --ntasks=1 --nodelist="$head")
address=$("${{on_head[@]}}" hostname --all-ip-addresses | tr ' ' '\\n' |
    awk '/^[0-9.]+$/ && !found {{print; found = 1}}')
if [ -z "$address" ]; then
    echo "vera: the first node has no IPv4 address that the other nodes could use" >&2
    exit 1
fi
export RAY_ADDRESS="$address:$port" RAY_USAGE_STATS_ENABLED=0 PYTHONUNBUFFERED=1

# Slurm sends USR1 before the time limit: the command saves its trials, and the job is queued again.
stopping=
stop_command() {{
    stopping=yes
    kill -TERM "$(cat "$folder/pid")" 2> /dev/null || true
}}
trap stop_command USR1
wait_for() {{
    code=0
    wait "$1" || code=$?
    while kill -0 "$1" 2> /dev/null; do  # it was the signal that ended the waiting
        code=0
        wait "$1" || code=$?
    done
    if [ -n "$stopping" ]; then
        echo "vera: the time limit is near: the trials are saved, and the job is put back into the queue" >&2
        scontrol requeue "$SLURM_JOB_ID"
        exit 0
    fi
}}
"""

WHOLE = """
export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT=300
"${{every_node[@]}}" {step} \\
    ray symmetric-run --address="$RAY_ADDRESS" --min-nodes="$SLURM_JOB_NUM_NODES" "${{ray_options[@]}}" -- \\
    bash -c '"$@" & echo $! > "$0/pid"; wait $! && touch "$0/done"' "$folder" \\
    {command} &
wait_for $!
if [ "$code" -ne 0 ]; then exit "$code"; fi
if ! "${{on_head[@]}}" test -e "$folder/done"; then
    echo "vera: the command did not finish: Ray did not start or was interrupted; see its output above" >&2
    exit 1
fi
"""

SHARED = """
started=()
stop_ray() {{
    kill "${{started[@]}}" 2> /dev/null || true
    wait "${{started[@]}}" 2> /dev/null || true
    leave
}}
trap stop_ray EXIT
"${{on_head[@]}}" --overlap {step} \\
    ray start --head --block --node-ip-address="$address" --port="$port" "${{ray_options[@]}}" &
started+=($!)
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
    others=$((SLURM_JOB_NUM_NODES - 1))
    until (exec 3<> "/dev/tcp/$address/$port") 2> /dev/null; do
        kill -0 "${{started[0]}}"  # ends the job if the head has ended
        sleep 2
    done
    srun --nodes="$others" --ntasks="$others" --ntasks-per-node=1 --exclude="$head" --overlap {step} \\
        ray start --block --address="$RAY_ADDRESS" "${{ray_options[@]}}" &
    started+=($!)
fi
python3 - "$SLURM_JOB_NUM_NODES" << 'END'
import sys, time, ray

ray.init(log_to_driver=False)
until = time.monotonic() + 300
while sum(node["Alive"] for node in ray.nodes()) < int(sys.argv[1]):
    if time.monotonic() > until:
        sys.exit("vera: not all nodes joined the cluster within 300 s; see their output above")
    time.sleep(2)
END
{command} &
echo $! > "$folder/pid"
wait_for $!
exit "$code"
"""

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
"""

import re
import shlex
from dataclasses import dataclass, field

from sweeps.errors import EngineError
from sweeps.launch.settings import ClusterSettings, parse_time

FIRST_PORT, PORTS_PER_JOB, BLOCKS = 10_240, 8, 2_800
"""Ports up to 32,639, below the ports that Linux assigns itself. Two jobs share a block only if their ids
differ by a multiple of 2,800."""


@dataclass(frozen=True)
class SlurmJob:
    """A batch job and its Slurm options."""

    command: tuple[str, ...]
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    time: str = "24:00:00"
    partition: str | None = None
    share_nodes: bool = False
    setup: tuple[str, ...] = ()
    """Shell lines that make `vera` and `ray` available, e.g. a module or a virtual environment."""
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
    parse_time(job.time)
    for line in job.sbatch:
        if not re.fullmatch(r"--\w[^\r\n]*", line):
            raise EngineError(
                f"--sbatch takes one line that starts with --, e.g. --sbatch=--account=lab; got {line!r}."
            )
    run = SHARED if job.share_nodes else WHOLE
    values = {
        "directives": "\n".join(f"#SBATCH --{name}" for name in list_directives(job)),
        "setup": "".join(f"{line}\n" for line in job.setup),
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


def list_directives(job: SlurmJob) -> list[str]:
    wanted = [
        f"job-name={job.cluster.name}",
        f"nodes={job.cluster.nodes}",
        "ntasks-per-node=1",
        f"cpus-per-task={job.cluster.cpus_per_node}",
        f"time={job.time}",
        f"output={job.cluster.name}-%j.log",
    ]
    wanted += [f"gpus-per-node={job.cluster.gpus_per_node}"] if job.cluster.gpus_per_node else []
    wanted += [f"partition={job.partition}"] if job.partition else []
    wanted += [] if job.share_nodes else ["exclusive"]
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
"""

WHOLE = """
export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT=300
"${{every_node[@]}}" {step} \\
    ray symmetric-run --address="$RAY_ADDRESS" --min-nodes="$SLURM_JOB_NUM_NODES" "${{ray_options[@]}}" -- \\
    bash -c '"$@" && touch "$0"' "$folder/done" \\
    {command}
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
{command}
"""

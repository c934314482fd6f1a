"""A Slurm batch script: a Ray cluster on the job's nodes for as long as the command runs on the first of
them.

Whole nodes are the rule, and there `ray symmetric-run` does it all. The trap: it refuses to start beside
another Ray, and ends with `ray stop`, which ends every Ray process that it may on the machine, those of the
user's other jobs too. So for nodes that are shared the script starts Ray by `ray start --block` under srun,
and ends exactly what it started. Another: where Ray does not start, it says why and ends with 0, and on one
node Slurm would take the job for completed. So the command leaves a mark when it is done.

Ports and Ray's folder come from the job's id, so that two jobs on one node do not meet, nor a job what a
killed one left. Ray's sockets lie in that folder and their paths may have 107 characters, so it is short. The
token of the cluster is made for the job, in a file that only its owner can read and that all nodes see;
whoever has the token can run code as that user.
"""

import re
from dataclasses import dataclass, field

from sweeps.errors import EngineError
from sweeps.launch.settings import Nodes, seconds, shell

FIRST_PORT, PORTS_PER_JOB, BLOCKS = 10_240, 8, 2_800
"""Up to 32,639: below the ports that Linux hands out by itself. Jobs share a block only if their ids differ
by 2,800 times n."""


@dataclass(frozen=True)
class SlurmJob:
    """A batch job and what Slurm is asked for."""

    command: tuple[str, ...]
    nodes: Nodes = field(default_factory=Nodes)
    time: str = "24:00:00"
    partition: str | None = None
    share_nodes: bool = False
    setup: tuple[str, ...] = ()
    """Shell lines that make `vera` and `ray` known, e.g. a module or a virtual environment."""
    token_dir: str = "$HOME/.ray"
    """A folder that all nodes see."""
    sbatch: tuple[str, ...] = ()
    """More that Slurm is asked for, e.g. --account=lab."""


def ports(job_id: int) -> dict[str, int]:
    """The ports of a job, by what Ray calls them; the script does the same sum."""
    first = FIRST_PORT + PORTS_PER_JOB * (job_id % BLOCKS)
    return {
        "port": first,
        "dashboard-port": first + 1,
        "dashboard-agent-listen-port": first + 2,
        "ray-client-server-port": first + 3,
    }


def render(job: SlurmJob) -> str:
    seconds(job.time)
    for line in job.sbatch:
        if not re.fullmatch(r"--\w[^\r\n]*", line):
            raise EngineError(
                f"--sbatch takes one line that begins with --, e.g. --sbatch=--account=lab, got {line!r}."
            )
    run = SHARED if job.share_nodes else WHOLE
    values = {
        "directives": "\n".join(f"#SBATCH --{name}" for name in directives(job)),
        "setup": "".join(f"{line}\n" for line in job.setup),
        "first": FIRST_PORT, "each": PORTS_PER_JOB, "blocks": BLOCKS, "token_dir": job.token_dir,
        "step": " ".join(_step(job.nodes)), "cpus": job.nodes.cpus_per_node, "gpus": job.nodes.gpus_per_node,
        "command": shell(job.command),
    }  # fmt: skip
    return (PREPARE + run).format(**values)


def directives(job: SlurmJob) -> list[str]:
    wanted = [
        f"job-name={job.nodes.name}", f"nodes={job.nodes.nodes}", "ntasks-per-node=1", f"cpus-per-task={job.nodes.cpus_per_node}",
        f"time={job.time}", f"output={job.nodes.name}-%j.log",
    ]  # fmt: skip
    wanted += [f"gpus-per-node={job.nodes.gpus_per_node}"] if job.nodes.gpus_per_node else []
    wanted += [f"partition={job.partition}"] if job.partition else []
    wanted += [] if job.share_nodes else ["exclusive"]
    return wanted + [line.removeprefix("--") for line in job.sbatch]


def _step(nodes: Nodes) -> list[str]:
    """What a step must ask for again: srun does not take the CPUs of a task from the job."""
    gpus = [f"--gpus-per-node={nodes.gpus_per_node}"] if nodes.gpus_per_node else []
    return [f"--cpus-per-task={nodes.cpus_per_node}", *gpus]


PREPARE = """#!/bin/bash
{directives}
set -eo pipefail
{setup}set -u  # not before: what activates an environment may ask for variables that are not set

# Ports and Ray's folder of this job; the folder is short, because the paths of Ray's sockets must be.
port=$(({first} + {each} * (SLURM_JOB_ID % {blocks})))
folder=/tmp/vera-$SLURM_JOB_ID-${{SLURM_RESTART_COUNT:-0}}
ray_options=(
    --num-cpus={cpus} --num-gpus={gpus} --temp-dir="$folder" --min-worker-port=0 --max-worker-port=0
    --dashboard-port=$((port + 1)) --dashboard-agent-listen-port=$((port + 2))
)
if python3 -c 'import grpc' 2> /dev/null; then  # only then has Ray a client server, at a port that would be the same for all
    ray_options+=(--ray-client-server-port=$((port + 3)))
fi

# The token of this job's cluster, for its owner's eyes only; every node reads it here.
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
"${{every_node[@]}}" mkdir -m 700 "$folder"  # fails, and ends the job, where somebody else has it
made=yes

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)  # not head, which may end its writer, and the script with it
on_head=(srun --nodes=1 --ntasks=1 --nodelist="$head")
address=$("${{on_head[@]}}" hostname --all-ip-addresses | tr ' ' '\\n' | awk '/^[0-9.]+$/ && !found {{print; found = 1}}')
if [ -z "$address" ]; then
    echo "vera: the first node has no IPv4 address, so the others cannot find it" >&2
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
    echo "vera: the command has not run to its end: Ray did not start, or was interrupted; its output is above" >&2
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
        kill -0 "${{started[0]}}"  # ends the job if the head has gone
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
        sys.exit("vera: not all nodes joined the cluster within 300 s; their output is above")
    time.sleep(2)
END
{command}
"""

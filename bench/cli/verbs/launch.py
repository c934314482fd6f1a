"""`vera launch`: print or save a file that starts a cluster and runs a vera command on it.

    vera launch slurm --nodes 4 --gpus-per-node 4 --output job.sh -- run table2 --profile paper

The words after `--` are a vera command. It is parsed, and its sweep looked up, before anything is written.
"""

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from bench.cli.launch_command import build_inner_command
from bench.cli.parser import Subparsers, add_command, at_least
from sweeps.errors import EngineError
from sweeps.launch import job_submit, kuberay, ray_up, slurm
from sweeps.launch.settings import ClusterSettings, check_printable
from vera.atomic_write import write_atomically

Render = Callable[[argparse.Namespace, tuple[str, ...]], str]
EXAMPLES = {
    "slurm": "launch slurm --nodes 4 --gpus-per-node 4 --output job.sh -- run table2 --profile paper "
    "--gpus-per-trial 1",
    "ray-up": "launch ray-up --hosts 10.0.0.1,10.0.0.2 --nodes 2 --results-dir /shared/results -- run table2",
    "kuberay": "launch kuberay --image me/vera --results-claim results --results-dir /results -- run table2",
    "job": "launch job --address http://127.0.0.1:8265 -- run table2 --results-dir /shared/results",
}
NEXT = {"slurm": "sbatch {}", "ray-up": "ray up {} --yes", "kuberay": "kubectl apply -f {}", "job": "sh {}"}


def add_parser(verbs: Subparsers) -> None:
    text = "write the file that starts a run on a cluster: Slurm, ray up, KubeRay, ray job submit"
    launch = add_command(verbs, "launch", text, *EXAMPLES.values())
    systems = launch.add_subparsers(title="systems", metavar="SYSTEM", required=True)
    for add_system in (add_slurm, add_ray_up, add_kuberay, add_job):
        add_system(systems)


def write_launch_file(arguments: argparse.Namespace) -> int:
    for value in vars(arguments).values():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str):
                check_printable(word)
    command, missing = build_inner_command(arguments)
    text = arguments.render(arguments, command)
    if missing:
        print(f"vera: warning: this machine lacks data that the nodes must have. {missing}", file=sys.stderr)
    if arguments.output is None:
        print(text, end="")
        return 0
    try:
        with write_atomically(Path(arguments.output)) as file:
            file.write(text.encode())
    except OSError as error:
        raise EngineError(
            f"{arguments.output} cannot be written: {error.strerror}. Choose another --output."
        ) from error
    start = NEXT[arguments.system].format(shlex.quote(arguments.output))
    print(f"Wrote {arguments.output}; to start it: {start}")
    return 0


def add_slurm(systems: Subparsers) -> None:
    parser = _add_system(systems, "slurm", render_slurm, "a batch script for sbatch")
    _add_size(parser)
    _add_time(parser)
    parser.add_argument("--partition", metavar="NAME", help="Slurm partition")
    parser.add_argument(
        "--share-nodes", action="store_true", help="request parts of nodes (default: whole nodes)"
    )
    parser.add_argument(
        "--sbatch",
        metavar="LINE",
        action="append",
        default=[],
        help="another Slurm option, e.g. --sbatch=--account=lab; repeatable",
    )
    _add_setup(parser)
    parser.add_argument(
        "--token-dir",
        metavar="DIR",
        default="$HOME/.ray",
        help="directory of Ray's token that all nodes see (default: ~/.ray)",
    )


def add_ray_up(systems: Subparsers) -> None:
    text = "a cluster file for ray up: your own machines, or AWS"
    parser = _add_system(systems, "ray-up", render_ray_up, text)
    _add_size(parser)
    parser.add_argument(
        "--hosts", metavar="A,B,C", help="addresses of your own machines, the head first (default: AWS)"
    )
    parser.add_argument("--ssh-user", metavar="USER", default="ubuntu", help="SSH user (default: ubuntu)")
    parser.add_argument("--ssh-key", metavar="FILE", help="private SSH key (AWS: Ray creates one)")
    _add_setup(parser)
    _add_working_dir(parser, "a checkout of vera to copy to the nodes and install there")
    parser.add_argument("--image", metavar="IMAGE", help="container image (AWS: that of Ray)")
    parser.add_argument("--region", default="us-west-2", help="AWS region (default: us-west-2)")
    parser.add_argument(
        "--instance", metavar="TYPE", default="g5.4xlarge", help="AWS instance type (default: g5.4xlarge)"
    )
    parser.add_argument(
        "--instance-profile", metavar="NAME", help="AWS instance profile, e.g. for access to a bucket"
    )


def add_kuberay(systems: Subparsers) -> None:
    parser = _add_system(systems, "kuberay", render_kuberay, "a RayJob manifest for kubectl apply")
    _add_size(parser)
    _add_time(parser)
    parser.add_argument("--image", metavar="IMAGE", help="container image with vera, ray[default] and wget")
    parser.add_argument(
        "--memory-per-node", metavar="AMOUNT", default="16Gi", help="memory of a pod (default: 16Gi)"
    )
    parser.add_argument(
        "--results-claim", metavar="NAME", help="ReadWriteMany volume claim, mounted as results directory"
    )
    parser.add_argument("--data-claim", metavar="NAME", help="volume claim, mounted as data directory")
    parser.add_argument(
        "--secret",
        metavar="NAME",
        help="secret whose entries become environment variables of all pods, e.g. AWS_ACCESS_KEY_ID",
    )
    parser.add_argument(
        "--service-account", metavar="NAME", help="service account of all pods, e.g. for access to a bucket"
    )
    parser.add_argument("--namespace", metavar="NAME", help="Kubernetes namespace (default: the current one)")


def add_job(systems: Subparsers) -> None:
    parser = _add_system(systems, "job", render_job, "a ray job submit command for a running cluster")
    parser.add_argument(
        "--address",
        metavar="URL",
        help="dashboard of the cluster (default: RAY_API_SERVER_ADDRESS at run time)",
    )
    _add_working_dir(parser, "a checkout of vera to send along (default: vera is installed there)")
    parser.add_argument("--wait", action="store_true", help="show the output of the job until it ends")


def render_slurm(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    job = slurm.SlurmJob(
        command,
        _read_cluster(arguments),
        time=arguments.time,
        partition=arguments.partition,
        share_nodes=arguments.share_nodes,
        setup=tuple(arguments.setup),
        token_dir=arguments.token_dir,
        sbatch=tuple(arguments.sbatch),
    )
    return slurm.render(job)


def render_ray_up(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    size = _read_cluster(arguments)
    hosts = tuple(host.strip() for host in (arguments.hosts or "").split(",") if host.strip())
    if arguments.hosts is not None and not hosts:
        raise EngineError(
            "--hosts names no machine: write --hosts 10.0.0.1,10.0.0.2, the head first, or omit it for AWS."
        )
    cluster = ray_up.RayUpCluster(
        command,
        size,
        hosts=hosts,
        ssh_user=arguments.ssh_user,
        ssh_key=arguments.ssh_key,
        setup=tuple(arguments.setup),
        working_dir=arguments.working_dir,
        image=arguments.image or (None if hosts else size.image),
        region=arguments.region,
        instance=arguments.instance,
        file=arguments.output or "cluster.yaml",
        instance_profile=arguments.instance_profile,
    )
    return ray_up.render(cluster)


def render_kuberay(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    job = kuberay.RayJob(
        command,
        _read_cluster(arguments),
        time=arguments.time,
        image=arguments.image,
        memory_per_node=arguments.memory_per_node,
        results_claim=arguments.results_claim,
        data_claim=arguments.data_claim,
        namespace=arguments.namespace,
        file=arguments.output or "rayjob.yaml",
        secret=arguments.secret,
        service_account=arguments.service_account,
    )
    return kuberay.render(job)


def render_job(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    job = job_submit.SubmittedJob(
        command,
        address=arguments.address,
        name=arguments.name,
        working_dir=arguments.working_dir,
        wait=arguments.wait,
    )
    return job_submit.render(job)


def _add_system(systems: Subparsers, name: str, render: Render, text: str) -> argparse.ArgumentParser:
    parser = add_command(systems, name, text, EXAMPLES[name])
    parser.set_defaults(run=write_launch_file, render=render, system=name)
    default = None if name == "job" else "vera"  # a Ray cluster accepts a job id only once
    text = "name of the job or cluster"
    parser.add_argument("--name", default=default, help=f"{text} (default: {default})" if default else text)
    parser.add_argument("--output", metavar="FILE", help="file to write (default: print it)")
    parser.add_argument(
        "--results-dir", dest="shared_results", metavar="DIR", help="results directory that all nodes see"
    )
    parser.add_argument("--data-dir", dest="shared_data", metavar="DIR", help="data directory on the nodes")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="a vera command, e.g. -- run table2"
    )
    return parser


def _add_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nodes",
        type=at_least(1),
        default=1,
        metavar="N",
        help="number of machines, including the head (default: 1)",
    )
    parser.add_argument("--cpus-per-node", type=at_least(1), default=8, metavar="N", help="(default: 8)")
    parser.add_argument("--gpus-per-node", type=at_least(0), default=0, metavar="N", help="(default: 0)")


def _read_cluster(arguments: argparse.Namespace) -> ClusterSettings:
    return ClusterSettings(arguments.name, arguments.nodes, arguments.cpus_per_node, arguments.gpus_per_node)


def _add_time(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--time", metavar="D-HH:MM:SS", default="24:00:00", help="time limit (default: 24:00:00)"
    )


def _add_setup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--setup",
        metavar="LINE",
        action="append",
        default=[],
        help="shell line that makes vera available on a node; repeatable",
    )


def _add_working_dir(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--working-dir", metavar="DIR", help=text)

"""The verb `launch`: a file that starts a cluster and runs a vera command on it, printed or saved.

    vera launch slurm --nodes 4 --gpus-per-node 4 --output job.sh -- run table2 --profile paper --gpus-per-trial 1

What stands after `--` is a vera command of its own: it is parsed as one, and its sweep is looked up, before
anything is written. A queue is a bad place to find out about a misspelt flag or name.
"""

import argparse
import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from bench.cli.flag_values import at_least
from bench.cli.flags import Verbs, described
from sweeps.errors import EngineError
from sweeps.launch import job, kuberay, ray_up, slurm
from sweeps.launch.settings import Nodes, flag_of
from vera.errors import DataMissing, VeraError

Render = Callable[[argparse.Namespace, tuple[str, ...]], str]
EXAMPLES = {
    "slurm": "launch slurm --nodes 4 --gpus-per-node 4 --output job.sh -- run table2 --profile paper --gpus-per-trial 1",
    "ray-up": "launch ray-up --hosts 10.0.0.1,10.0.0.2 --nodes 2 --results-dir /shared/results -- run table2",
    "kuberay": "launch kuberay --image me/vera --results-claim results --results-dir /results -- run table2",
    "job": "launch job --address http://127.0.0.1:8265 -- run table2 --results-dir /shared/results",
}
EXAMPLE = "vera launch {system} -- run table2 --profile paper"


def add_launch(verbs: Verbs) -> None:
    text = "write what starts a run on a cluster: Slurm, ray up, KubeRay, ray job submit"
    launch = described(verbs, "launch", text, *EXAMPLES.values())
    systems = launch.add_subparsers(title="systems", metavar="SYSTEM", required=True)
    for add_system in (add_slurm, add_ray_up, add_kuberay, add_job):
        add_system(systems)


def add_slurm(systems: Verbs) -> None:
    parser = _system(systems, "slurm", render_slurm, "a batch script, for sbatch")
    _size(parser)
    _time(parser)
    parser.add_argument("--partition", metavar="NAME", help="where Slurm is to look for nodes")
    parser.add_argument(
        "--share-nodes", action="store_true", help="do with parts of nodes (default: whole nodes)"
    )
    parser.add_argument(
        "--sbatch",
        metavar="LINE",
        action="append",
        default=[],
        help="more for Slurm, e.g. --sbatch=--account=lab; repeatable",
    )
    _setup(parser)
    parser.add_argument(
        "--token-dir",
        metavar="DIR",
        default="$HOME/.ray",
        help="where all nodes see Ray's token (default: ~/.ray)",
    )


def add_ray_up(systems: Verbs) -> None:
    parser = _system(
        systems, "ray-up", render_ray_up, "a cluster file, for ray up: your own machines, or AWS"
    )
    _size(parser)
    parser.add_argument(
        "--hosts", metavar="A,B,C", help="addresses of your own machines, the head first (default: AWS)"
    )
    parser.add_argument(
        "--ssh-user", metavar="USER", default="ubuntu", help="who logs in there (default: ubuntu)"
    )
    parser.add_argument("--ssh-key", metavar="FILE", help="with this private key (AWS: Ray makes one)")
    _setup(parser)
    _working_dir(parser, "a checkout of vera to copy to the nodes and install there")
    parser.add_argument("--image", metavar="IMAGE", help="run in this container image (AWS: Ray's own)")
    parser.add_argument("--region", default="us-west-2", help="of AWS (default: us-west-2)")
    parser.add_argument(
        "--instance", metavar="TYPE", default="g5.4xlarge", help="of AWS (default: g5.4xlarge)"
    )
    parser.add_argument(
        "--instance-profile", metavar="NAME", help="of AWS, for all instances: lets them use a bucket"
    )


def add_kuberay(systems: Verbs) -> None:
    parser = _system(systems, "kuberay", render_kuberay, "a RayJob manifest, for kubectl apply")
    _size(parser)
    _time(parser)
    parser.add_argument(
        "--image", metavar="IMAGE", help="a container image that has vera, ray[default] and wget"
    )
    parser.add_argument(
        "--memory-per-node", metavar="AMOUNT", default="16Gi", help="of a pod (default: 16Gi)"
    )
    parser.add_argument(
        "--results-claim", metavar="NAME", help="the ReadWriteMany volume claim to mount as results directory"
    )
    parser.add_argument("--data-claim", metavar="NAME", help="the volume claim to mount as data directory")
    parser.add_argument(
        "--secret",
        metavar="NAME",
        help="whose entries are environment variables of all pods, e.g. AWS_ACCESS_KEY_ID",
    )
    parser.add_argument(
        "--service-account", metavar="NAME", help="of all pods, e.g. one that may use a bucket"
    )
    parser.add_argument("--namespace", metavar="NAME", help="of Kubernetes (default: the current one)")


def add_job(systems: Verbs) -> None:
    parser = _system(systems, "job", render_job, "a ray job submit command, for a cluster that is up")
    parser.add_argument(
        "--address", metavar="URL", help="of its dashboard (default: RAY_API_SERVER_ADDRESS when it is run)"
    )
    _working_dir(parser, "a checkout of vera to send along (default: vera is installed there)")
    parser.add_argument("--wait", action="store_true", help="show the job's output until it ends")


def render_slurm(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    return slurm.render(
        slurm.SlurmJob(
            command, _nodes(arguments), arguments.time, arguments.partition, arguments.share_nodes, tuple(arguments.setup),
            arguments.token_dir, tuple(arguments.sbatch),
        )
    )  # fmt: skip


def render_ray_up(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    nodes = _nodes(arguments)
    hosts = tuple(host.strip() for host in (arguments.hosts or "").split(",") if host.strip())
    if arguments.hosts is not None and not hosts:
        raise EngineError(
            "--hosts names no machine: write --hosts 10.0.0.1,10.0.0.2, the head first, or leave it out for AWS."
        )
    image = arguments.image or (None if hosts else nodes.image)
    return ray_up.render(
        ray_up.RayUp(
            command, nodes, hosts, arguments.ssh_user, arguments.ssh_key, tuple(arguments.setup), arguments.working_dir, image,
            arguments.region, arguments.instance, arguments.output or "cluster.yaml", arguments.instance_profile,
        )
    )  # fmt: skip


def render_kuberay(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    return kuberay.render(
        kuberay.RayJob(
            command, _nodes(arguments), arguments.time, arguments.image, arguments.memory_per_node, arguments.results_claim,
            arguments.data_claim, arguments.namespace, arguments.output or "rayjob.yaml", arguments.secret,
            arguments.service_account,
        )
    )  # fmt: skip


def render_job(arguments: argparse.Namespace, command: tuple[str, ...]) -> str:
    return job.render(
        job.SubmittedJob(command, arguments.address, arguments.name, arguments.working_dir, arguments.wait)
    )


NEXT = {"slurm": "sbatch {}", "ray-up": "ray up {} --yes", "kuberay": "kubectl apply -f {}", "job": "sh {}"}


def launch(arguments: argparse.Namespace) -> int:
    text = arguments.render(arguments, inner_command(arguments))
    if arguments.output is None:
        print(text, end="")
        return 0
    try:
        Path(arguments.output).write_text(text)
    except OSError as error:
        raise EngineError(
            f"{arguments.output} cannot be written: {error.strerror}. Choose another --output."
        ) from error
    print(f"Wrote {arguments.output}; to start it: {NEXT[arguments.system].format(arguments.output)}")
    return 0


def inner_command(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The command after `--` with the directories of this one, once vera's own parser has taken it."""
    words = tuple(arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command)
    if not words:
        raise EngineError(f"Say what to run after --, e.g. {EXAMPLE.format(system=arguments.system)}")
    if words[0] == "vera":
        raise EngineError(
            f"Leave out vera after --: vera launch {arguments.system} ... -- {' '.join(words[1:])}"
        )
    for flag, value in (("--results-dir", arguments.shared_results), ("--data-dir", arguments.shared_data)):
        if value is not None and flag_of(words, flag) is not None:
            raise EngineError(f"{flag} is given before -- and after it: give it once.")
        words += (flag, value) if value is not None else ()
    check_command(words)
    return ("vera", *words)


def check_command(words: tuple[str, ...]) -> None:
    """EngineError with the parser's own last line unless it is a vera command that runs trials."""
    from bench.cli.main import parser

    said = io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            parsed = parser().parse_args(words)
    except SystemExit:
        line = (said.getvalue().strip().splitlines() or ["it only prints a text"])[-1]
        raise EngineError(f"The command after -- cannot be run: {line}") from None
    if not hasattr(parsed, "max_concurrent"):
        raise EngineError(f"vera {words[0]} runs no trials, so it needs no cluster: call it here.")
    try:
        check_trials(parsed)
    except DataMissing:
        pass  # the nodes may have it
    except VeraError as error:
        raise EngineError(f"The command after -- cannot be run: {error}") from error


def check_trials(asked: argparse.Namespace) -> None:
    """VeraError unless there is something to run. Where only the nodes have a plug-in or a trial's file, they
    are to say."""
    from bench.cli.main import asked_data_dir, load_plugins
    from bench.cli.trial_selection import asked_trials, needs_none
    from bench.cli.verbs.search import asked_search

    if not all(Path(file).is_file() for file in asked.plugin):
        return
    load_plugins(asked.plugin)
    asked.data_dir = asked_data_dir(asked)
    if getattr(asked, "task", asked) is None:
        raise EngineError("it names no TASK, and so only lists them.")
    if hasattr(asked, "task"):
        asked_search(asked)
    elif needs_none(asked):
        raise EngineError(f"{asked.sweep} needs no trials. To see it: vera render {asked.sweep}")
    elif ":" not in asked.sweep:
        asked_trials(asked)


def _system(systems: Verbs, name: str, render: Render, text: str) -> argparse.ArgumentParser:
    parser = described(systems, name, text, EXAMPLES[name])
    parser.set_defaults(run=launch, render=render, system=name)
    usual = None if name == "job" else "vera"  # a cluster takes the id of a job once
    parser.add_argument(
        "--name", default=usual, help="of the job or cluster" + (f" (default: {usual})" if usual else "")
    )
    parser.add_argument("--output", metavar="FILE", help="save it there (default: print it)")
    parser.add_argument(
        "--results-dir", dest="shared_results", metavar="DIR", help="the command's; every node must see it"
    )
    parser.add_argument(
        "--data-dir", dest="shared_data", metavar="DIR", help="the command's; where the nodes find data files"
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="a vera command, e.g. -- run table2"
    )
    return parser


def _size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nodes", type=at_least(1), default=1, metavar="N", help="machines, the head among them (default: 1)"
    )
    parser.add_argument("--cpus-per-node", type=at_least(1), default=8, metavar="N", help="(default: 8)")
    parser.add_argument("--gpus-per-node", type=at_least(0), default=0, metavar="N", help="(default: 0)")


def _nodes(arguments: argparse.Namespace) -> Nodes:
    return Nodes(arguments.name, arguments.nodes, arguments.cpus_per_node, arguments.gpus_per_node)


def _time(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--time", metavar="D-HH:MM:SS", default="24:00:00", help="the longest it may take (default: 24:00:00)"
    )


def _setup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--setup",
        metavar="LINE",
        action="append",
        default=[],
        help="a shell line that makes vera known on a node; repeatable",
    )


def _working_dir(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--working-dir", metavar="DIR", help=text)

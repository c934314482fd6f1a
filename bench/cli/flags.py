"""Flags that several verbs share, and the engine that the execution flags describe."""

import argparse
import shlex
from os.path import expanduser  # type= needs it: the shell leaves the ~ of --data-dir=~/data alone
from typing import TYPE_CHECKING

from bench.cli.parser import (
    RecordFlag,
    Subparsers,
    add_command,
    at_least,
    parse_gpus,
    parse_positive,
    parse_positive_seconds,
    parse_seconds,
    parse_seeds,
)
from bench.locations import DEFAULT_PROFILE, LOCAL, PROFILES, PUBLISHED

if TYPE_CHECKING:
    from sweeps.cluster.engine import Engine

PROFILE, DATASET, SET, DATA_DIR, RESULTS_DIR, PLUGIN = (
    "--profile",
    "--dataset",
    "--set",
    "--data-dir",
    "--results-dir",
    "--plugin",
)
PROFILE_HELP = (
    "budget: smoke (seconds), laptop (minutes on two cores) or paper (the protocol of the paper, for GPUs). "
    "Default: laptop"
)
DEFAULTS = {PROFILE: DEFAULT_PROFILE, RESULTS_DIR: LOCAL}


def add_store_verb(verbs: Subparsers, name: str, text: str, *examples: str) -> argparse.ArgumentParser:
    """The parser of a verb that reads a store, with --results-dir and --plugin."""
    parser = add_command(verbs, name, text, *examples)
    add_results_dir(parser, "where results are stored")
    add_plugin(parser)
    return parser


def add_results_dir(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        RESULTS_DIR,
        metavar="DIR",
        type=expanduser,
        default=LOCAL,
        action=RecordFlag,
        help=f"{text}: a directory or s3://BUCKET/PREFIX (default: {LOCAL})",
    )
    parser.set_defaults(given=())


def add_plugin(parser: argparse.ArgumentParser) -> None:
    text = "Python file that registers methods, data or sweeps of your own; repeatable"
    parser.add_argument(PLUGIN, metavar="FILE", type=expanduser, action="append", default=[], help=text)


def add_data_dir(parser: "argparse._ActionsContainer") -> None:
    text = "directory of data files (default: VERA_DATA, else ~/.cache/vera)"
    parser.add_argument(DATA_DIR, metavar="DIR", type=expanduser, help=text)


def add_dataset(parser: "argparse._ActionsContainer") -> None:
    text = "use other data instead of the table's own, e.g. wine or csv:my.csv,label=species"
    parser.add_argument(DATASET, metavar="DATA", help=text)


def add_set(parser: "argparse._ActionsContainer", text: str) -> None:
    parser.add_argument(SET, metavar="PATH=VALUE", action="append", default=[], help=text)


def add_source(parser: argparse.ArgumentParser) -> None:
    text = "which trials: your own or the published ones (default: your own if there are any)"
    parser.add_argument("--from", dest="source", choices=("local", "published"), help=text)


def add_selection(verb: argparse.ArgumentParser) -> None:
    """Which trials a command is about."""
    verb.add_argument(
        "sweep",
        metavar="SWEEP",
        help="a table or figure such as table2, all of them (all), another sweep (see: vera list), trial:ID "
        "for a stored trial with other seeds, or spec:FILE for the trial in a file written by vera search",
    )
    parser = verb.add_argument_group("selection of trials")
    parser.add_argument(
        PROFILE, choices=PROFILES, default=DEFAULT_PROFILE, action=RecordFlag, help=PROFILE_HELP
    )
    verb.set_defaults(given=())
    parser.add_argument(
        "--only",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only matching trials, e.g. method=vera; repeatable, all must match. Keys: method, "
        "method.SETTING, dataset, label, seed, task, energy and other networks",
    )
    add_dataset(parser)
    add_set(
        parser,
        "change a setting of all trials that have it, e.g. method.k=5, steps=500 or "
        "networks.energy.hidden=[64,64]; repeatable. Variants have ids and labels of their own",
    )
    add_data_dir(parser)
    parser.add_argument(
        "--seeds", metavar="N", type=parse_seeds, help="seeds 0 to N-1 instead of those of the sweep"
    )
    parser.add_argument(
        "--reuse-published",
        action="store_true",
        help=f"copy trials from {PUBLISHED} instead of training them",
    )


def add_execution(verb: argparse.ArgumentParser) -> None:
    """How trials are run."""
    parser = verb.add_argument_group("execution")
    parser.add_argument("--dry-run", action="store_true", help="print what would be run, and stop")
    parser.add_argument(
        "--address", help="Ray cluster to join (default: RAY_ADDRESS, else a local cluster is started)"
    )
    parser.add_argument(
        "--cpus-per-trial",
        type=parse_positive,
        default=1.0,
        metavar="N",
        help="CPUs and threads per trial (default: 1)",
    )
    parser.add_argument(
        "--gpus-per-trial",
        type=parse_gpus,
        default=0.0,
        metavar="N",
        help="GPUs per trial, may be a fraction; auto: chosen by measured memory (default: 0)",
    )
    parser.add_argument(
        "--max-concurrent",
        type=at_least(1),
        metavar="N",
        help="maximum number of concurrent trials (default: limited by resources)",
    )
    parser.add_argument(
        "--time-limit",
        type=parse_positive_seconds,
        metavar="SECONDS",
        help="end a trial as a timeout after this time (default: no limit)",
    )
    parser.add_argument(
        "--budget-hours",
        type=parse_positive,
        metavar="HOURS",
        help="start no more trials once the trials of this run have taken this many hours together; running "
        "ones end, and the same command starts the rest (default: no limit)",
    )
    parser.add_argument(
        "--checkpoint-every",
        type=parse_seconds,
        default=30.0,
        metavar="SECONDS",
        help="time between checkpoints of a trial (default: 30)",
    )
    parser.add_argument(
        "--models",
        choices=("all", "none"),
        default="all",
        help="trained models to store (default: all; see: vera models)",
    )
    parser.add_argument(
        "--tensorboard", metavar="DIR", help="also write histories as TensorBoard event files"
    )
    parser.add_argument("--mlflow", metavar="URI", help="also write histories to this MLflow tracking store")
    parser.add_argument("--wandb", metavar="PROJECT", help="also write histories to this W&B project")
    parser.add_argument("--verbose", action="store_true", help="also show the tables of Ray Tune")


def build_engine(arguments: argparse.Namespace) -> "Engine":
    """The engine with the results directory, resources and exports of the flags."""
    from sweeps.cluster.engine import Engine
    from sweeps.cluster.exports import Exports
    from sweeps.run.budget import HOUR, TrialBudget
    from sweeps.run.conditions import Conditions
    from sweeps.store.location import join_location

    pack_gpus = arguments.gpus_per_trial == "auto"
    return Engine(
        store=join_location(arguments.results_dir, "trials"),
        checkpoints=join_location(arguments.results_dir, "checkpoints"),
        conditions=Conditions(
            data_dir=arguments.data_dir,
            device="auto",
            cpus=arguments.cpus_per_trial,
            gpus=1.0 if pack_gpus else arguments.gpus_per_trial,
            time_limit=arguments.time_limit,
            checkpoint_every=arguments.checkpoint_every,
            keep_model=arguments.models == "all",
        ),
        address=arguments.address,
        max_concurrent=arguments.max_concurrent,
        verbose=arguments.verbose,
        plugins=tuple(arguments.plugin),
        exports=Exports(arguments.tensorboard, arguments.mlflow, arguments.wandb),
        pack_gpus=pack_gpus,
        budget=None if arguments.budget_hours is None else TrialBudget(arguments.budget_hours * HOUR),
    )


def repeat_flags(arguments: argparse.Namespace, *flags: str) -> list[str]:
    """The flags that differ from their default, as words for another command."""
    words = []
    for flag in flags:
        value = getattr(arguments, flag.removeprefix("--").replace("-", "_"))
        if value not in (None, DEFAULTS.get(flag)) and not _is_implied(arguments, flag):
            values = value if isinstance(value, list) else [value]
            words += [word for each in values for word in (flag, str(each))]
    return words


def _is_implied(arguments: argparse.Namespace, flag: str) -> bool:
    """Whether another argument decides the value: a single trial its profile, a data file its directory."""
    if flag == PROFILE:
        return ":" in getattr(arguments, "sweep", "")
    return flag == DATA_DIR and ":" in (getattr(arguments, "dataset", None) or "")


def repeat_results_dir(arguments: argparse.Namespace) -> str:
    """The flag --results-dir for the end of a command that is offered; empty for the default directory."""
    return "".join(f" {shlex.quote(word)}" for word in repeat_flags(arguments, RESULTS_DIR))

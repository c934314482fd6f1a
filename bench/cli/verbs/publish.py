"""`vera publish`: copy finished trials into results/published."""

import argparse
from pathlib import Path
from typing import get_args

from bench.cli.flags import PROFILE
from bench.cli.parser import Subparsers, add_command
from bench.locations import PROFILES, PUBLISHED
from bench.publishing.publish import Arrays, publish_models, publish_trials, select_rows
from vera.wording import format_bytes, plural


def add_parser(verbs: Subparsers) -> None:
    text = f"copy finished trials into {PUBLISHED}, with thinned curves"
    parser = add_command(verbs, "publish", text, "publish results/local table10 --profile paper")
    parser.add_argument("location", metavar="RESULTS_DIR", help="results directory, e.g. results/local")
    parser.add_argument("sweeps", metavar="SWEEP", nargs="+", help="sweeps that ran the trials, e.g. table10")
    parser.add_argument(PROFILE, choices=PROFILES, default="paper", help="profile (default: paper)")
    parser.add_argument(
        "--arrays",
        choices=get_args(Arrays),
        default="first",
        help="seeds whose samples, density images and other arrays are kept (default: first; Figure 6 needs "
        "all)",
    )
    parser.add_argument(
        "--models",
        choices=get_args(Arrays),
        default="none",
        help="seeds whose models are copied, also of trials that are published already (default: none)",
    )
    parser.set_defaults(run=publish)


def publish(arguments: argparse.Namespace) -> int:
    from bench.judging.results import open_store

    source = open_store(arguments.location)
    rows = select_rows(arguments.location, source.read_rows(), arguments.sweeps, arguments.profile)
    target = Path(PUBLISHED, "trials")
    count, failed = publish_trials(source, rows, target, arguments.arrays)
    sizes = publish_models(source, rows, target, arguments.models)
    for row in failed:
        print(f"left out: {row.trial_id[:8]} {row.label} {row.dataset} seed {row.seed}, {row.outcome}")
    if arguments.models != "none":
        print(f"{plural(len(sizes), 'new model')}, {format_bytes(sum(sizes))}")
    print(
        f"{plural(count, 'new trial')} of {', '.join(arguments.sweeps)} at {arguments.profile} in "
        f"{PUBLISHED}; to render them: make figures"
    )
    return 0

"""`vera data`: list data sets, fetch their files and verify them."""

import argparse
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from typing import Any, get_args

from bench.cli.flags import add_data_dir, add_plugin
from bench.cli.parser import Run, Subparsers, add_command
from vera.errors import DataMissing

HERE, USER_FILE, NO_FILES = "here", "your own file", "needs no files"


def add_parser(verbs: Subparsers) -> None:
    """`vera data list | fetch NAME | check [NAME]`."""
    data = add_command(verbs, "data", "list, fetch and check data sets", "data list", "data fetch mnist")
    actions = data.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_action(actions, "list", list_data, "list every data set and whether its files are here", "data list")
    fetch = _add_action(
        actions,
        "fetch",
        fetch_data,
        "download and verify the files of a data set; existing files are kept",
        "data fetch mnist",
        "data fetch cifar10 --data-dir /shared/data",
    )
    fetch.add_argument(
        "name", metavar="NAME", help="mnist, hepmass, crop, human, cifar10, cifar100, svhn or celeba"
    )
    check = _add_action(
        actions,
        "check",
        check_data,
        "verify the files that are here; exit code 1 if one is corrupt or NAME is incomplete",
        "data check",
        "data check mnist",
    )
    check.add_argument(
        "name", metavar="NAME", nargs="?", help="a data set of vera data fetch, or mnist5k (default: all)"
    )


def _add_action(
    actions: Subparsers, name: str, run: Run, text: str, *examples: str
) -> argparse.ArgumentParser:
    """A parser with the flags of every data action."""
    action = add_command(actions, name, text, *examples)
    add_data_dir(action)
    add_plugin(action)
    action.set_defaults(run=run)
    return action


def list_data(arguments: argparse.Namespace) -> int:
    from sweeps.trial.identity import register_tables
    from vera.spec.registry import datasets, unseen_sets

    register_tables()
    rows = []
    for registry in (datasets, unseen_sets):
        loaded = set(registry)
        rows += [(name, *describe(registry.get(name), arguments.data_dir)) for name in sorted(loaded)]
        rows += [
            (name, "plug-in", "installed, loaded on use", "")
            for name in registry.names()
            if name not in loaded
        ]
    width = max(len(name) for name, *_ in rows)
    for name, files, what, _ in rows:
        print(f"{name:{width}}  {files:14}  {what}")
    for remedy in dict.fromkeys(remedy for *_, remedy in rows if remedy):
        print(f"\n{', '.join(name for name, *_, own in rows if own == remedy)}: {remedy}")
    return 0


def describe(factory: Callable[..., object], data_dir: str | None) -> tuple[str, str, str]:
    """(whether the files are here, first line of the docstring, what to do about missing files)."""
    from vera.spec.settings import settings_of

    what = (factory.__doc__ or "no description").strip().splitlines()[0]
    locate = getattr(factory, "locate", None)
    if locate is None:
        return USER_FILE if "file" in settings_of(factory) else NO_FILES, what, ""
    try:
        locate(data_dir)
    except DataMissing as error:
        return _find_available_source(factory, locate, data_dir) or "missing", what, str(error)
    return HERE, what, ""


def _find_available_source(
    factory: Callable[..., object], locate: Callable[..., object], data_dir: str | None
) -> str:
    """For a data set with several sources, the first whose files are here; empty if there is none."""
    from vera.spec.settings import settings_of

    if "source" not in signature(locate).parameters:
        return ""
    for source in get_args(settings_of(factory)["source"].annotation):
        with suppress(DataMissing):
            locate(data_dir, source=source)
            return f"{HERE} ({source})"
    return ""


def fetch_data(arguments: argparse.Namespace) -> int:
    from vera.data.files.fetch import fetch

    if why := explain_no_files(arguments.name, arguments.data_dir):
        print(f"{why}; nothing to fetch.")
        return 0
    fetch(arguments.name, arguments.data_dir)
    return 0


def check_data(arguments: argparse.Namespace) -> int:
    from vera.data.files.fetch import check, list_sources

    if arguments.name and (why := explain_no_files(arguments.name, arguments.data_dir)):
        print(f"{why}; nothing to check.")
        return 0
    names = [arguments.name] if arguments.name else list_sources()
    reports = [report for name in names for report in check(name, arguments.data_dir)]
    for report in reports:
        detail = "" if report.state == "missing" else report.detail
        print(f"{report.state:7}  {report.file:30}  {detail}".rstrip())
    if missing := [report for report in reports if report.state == "missing"]:
        print(f"\n{missing[0].detail}")
    failures = {"corrupt", "missing"} if arguments.name else {"corrupt"}
    return int(any(report.state in failures for report in reports))


def explain_no_files(name: str, data_dir: str | None) -> str:
    """Why a data set has no files to fetch; empty if it has, or if there is no such data set."""
    from sweeps.trial.identity import register_tables
    from vera.data.files.fetch import find_source
    from vera.spec.registry import datasets, unseen_sets

    register_tables()
    registries = (datasets, unseen_sets)
    factory: Any = next((registry.get(name) for registry in registries if name in set(registry)), None)
    if factory is None or find_source(name) is not None:
        return ""
    files, _, remedy = describe(factory, data_dir)
    if remedy:
        raise DataMissing(remedy)
    reasons = {HERE: "comes with vera", USER_FILE: "is your own file"}
    return f"{name} {reasons.get(files, files)}"

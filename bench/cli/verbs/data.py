"""The verb `vera data`: which data sets there are, whether their files are here, and how to get and verify
them."""

import argparse
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from typing import get_args

from bench.cli.flags import Run, Verbs, data_dir, described, plugin
from vera.errors import DataMissing


def add_data(verbs: Verbs) -> None:
    """`vera data list | fetch NAME | check [NAME]`."""
    data = described(verbs, "data", "list, fetch and check data sets", "data list", "data fetch mnist")
    actions = data.add_subparsers(title="actions", metavar="ACTION", required=True)
    add_action(
        actions, "list", data_list, "every data set, what it is, and whether its files are here", "data list"
    )
    text = "download the files of a data set, verified; does nothing where they are here"
    fetch = add_action(
        actions, "fetch", data_fetch, text, "data fetch mnist", "data fetch cifar10 --data-dir /shared/data"
    )
    fetch.add_argument(
        "name", metavar="NAME", help="mnist, hepmass, crop, human, cifar10, cifar100, svhn or celeba"
    )
    text = "verify the files that are here; exit code 1 if one is corrupt or NAME is incomplete"
    check = add_action(actions, "check", data_check, text, "data check", "data check mnist")
    check.add_argument("name", metavar="NAME", nargs="?", help="one of those, or mnist5k (default: all)")


def add_action(actions: Verbs, name: str, run: Run, text: str, *examples: str) -> argparse.ArgumentParser:
    """A parser with the flags that every data action takes."""
    action = described(actions, name, text, *examples)
    data_dir(action)
    plugin(action)
    action.set_defaults(run=run)
    return action


def data_list(arguments: argparse.Namespace) -> int:
    from sweeps.trial.identity import register_tables
    from vera.spec.registry import datasets, unseen_sets

    register_tables()
    rows = []
    for registry in (datasets, unseen_sets):
        known = set(registry)
        rows += [(name, *describe(registry.get(name), arguments.data_dir)) for name in sorted(known)]
        rows += [
            (name, "plug-in", "installed, loaded when it is asked for", "")
            for name in registry.names()
            if name not in known
        ]
    width = max(len(name) for name, *_ in rows)
    for name, files, what, _ in rows:
        print(f"{name:{width}}  {files:14}  {what}")
    for remedy in dict.fromkeys(remedy for *_, remedy in rows if remedy):
        print(f"\n{', '.join(name for name, *_, own in rows if own == remedy)}: {remedy}")
    return 0


def describe(factory: Callable[..., object], data_dir: str | None) -> tuple[str, str, str]:
    """Whether a data set's files are here, the first line of what it says about itself, and what to do if
    files are missing."""
    from vera.spec.settings import settings_of

    what = (factory.__doc__ or "no description").strip().splitlines()[0]
    locate = getattr(factory, "locate", None)
    if locate is None:
        return "your own file" if "file" in settings_of(factory) else "needs no files", what, ""
    try:
        locate(data_dir)
    except DataMissing as error:
        return _smaller(factory, locate, data_dir) or "missing", what, str(error)
    return "here", what, ""


def _smaller(factory: Callable[..., object], locate: Callable[..., object], data_dir: str | None) -> str:
    """What is here of a data set that can be made of several sources; nothing if none is."""
    from vera.spec.settings import settings_of

    for source in (
        get_args(settings_of(factory)["source"].annotation)
        if "source" in signature(locate).parameters
        else ()
    ):
        with suppress(DataMissing):
            locate(data_dir, source=source)
            return f"here ({source})"
    return ""


def data_fetch(arguments: argparse.Namespace) -> int:
    from vera.data.files.fetch import fetch

    if why := without_files(arguments):
        print(f"{why}; nothing to fetch.")
        return 0
    fetch(arguments.name, arguments.data_dir)
    return 0


def data_check(arguments: argparse.Namespace) -> int:
    from vera.data.files.fetch import check, sources

    if arguments.name and (why := without_files(arguments)):
        print(f"{why}; nothing to check.")
        return 0
    reports = [
        report
        for name in ([arguments.name] if arguments.name else sources())
        for report in check(name, arguments.data_dir)
    ]
    for report in reports:
        print(
            f"{report.state:7}  {report.file:30}  {report.detail if report.state != 'missing' else ''}".rstrip()
        )
    for report in [report for report in reports if report.state == "missing"][:1]:
        print(f"\n{report.detail}")
    failures = {"corrupt", "missing"} if arguments.name else {"corrupt"}
    return int(any(report.state in failures for report in reports))


def without_files(arguments: argparse.Namespace) -> str:
    """Where a data set comes from whose files nobody has to fetch; nothing for one that has such files, or is
    none."""
    from sweeps.trial.identity import register_tables
    from vera.data.files.fetch import source_of
    from vera.spec.registry import datasets, unseen_sets

    register_tables()
    factory = next(
        (
            registry.get(arguments.name)
            for registry in (datasets, unseen_sets)
            if arguments.name in set(registry)
        ),
        None,
    )
    if factory is None or source_of(arguments.name) is not None:
        return ""
    files, _, remedy = describe(factory, arguments.data_dir)
    if remedy:
        raise DataMissing(remedy)
    package = getattr(factory, "package", "a package that is installed")
    told = {"here": f"comes with {package}", "your own file": "is your own file"}
    return f"{arguments.name} {told.get(files, files)}"

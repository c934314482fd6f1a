"""The command after `--` of `vera launch`. It is checked here, because a mistake would show up hours later,
in a queue."""

import argparse
import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from bench.cli.flags import DATA_DIR, RESULTS_DIR
from sweeps.errors import EngineError
from sweeps.launch.settings import find_flag
from vera.errors import DataMissing, VeraError


def build_inner_command(arguments: argparse.Namespace) -> tuple[tuple[str, ...], str]:
    """The checked command with the directories of `vera launch`, and what its data lack on this machine."""
    words = tuple(arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command)
    if not words:
        example = f"vera launch {arguments.system} -- run table2 --profile paper"
        raise EngineError(f"The command to run is missing after --, e.g. {example}")
    if words[0] == "vera":
        raise EngineError(f"Omit vera after --: vera launch {arguments.system} ... -- {' '.join(words[1:])}")
    for flag, value in ((RESULTS_DIR, arguments.shared_results), (DATA_DIR, arguments.shared_data)):
        if value is not None and find_flag(words, flag) is not None:
            raise EngineError(f"{flag} is given before and after --: give it once.")
        words += (flag, value) if value is not None else ()
    missing = check_command(arguments.command_parser, words)
    return ("vera", *words), missing


def check_command(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> str:
    """Raise EngineError unless the words are a vera command that runs trials. Return which data they need
    that this machine does not have; the nodes may have them."""
    printed = io.StringIO()
    try:
        with redirect_stderr(printed), redirect_stdout(io.StringIO()):
            parsed = parser.parse_args(words)
    except SystemExit:
        line = (printed.getvalue().strip().splitlines() or ["it only prints text"])[-1]
        raise EngineError(f"The command after -- cannot be run: {line}") from None
    if not hasattr(parsed, "max_concurrent"):
        raise EngineError(f"vera {words[0]} runs no trials and needs no cluster: run it here.")
    try:
        check_trials(parsed)
    except DataMissing as error:
        return str(error)
    except VeraError as error:
        raise EngineError(f"The command after -- cannot be run: {error}") from error
    return ""


def check_trials(arguments: argparse.Namespace) -> None:
    """Raise VeraError if there is nothing to run. Plug-ins and spec files that only the nodes have are not
    checked."""
    from bench.cli.directories import find_data_dir
    from bench.cli.plugins import load_plugins
    from bench.cli.selection.trials import has_nothing_to_run, select_trials
    from bench.cli.verbs.search import select_search
    from sweeps.trial.identity import collect_datasets
    from vera.tasks.build import locate_files

    if not all(Path(file).is_file() for file in arguments.plugin):
        return
    load_plugins(arguments.plugin)
    arguments.data_dir = find_data_dir(arguments)
    if hasattr(arguments, "problem"):
        if arguments.problem is None:
            raise EngineError("it names no PROBLEM, so it only lists them.")
        select_search(arguments)
    elif has_nothing_to_run(arguments):
        raise EngineError(f"{arguments.sweep} needs no trials. To see it: vera render {arguments.sweep}")
    elif ":" not in arguments.sweep:
        for component in collect_datasets(select_trials(arguments)):
            locate_files(component, arguments.data_dir)

"""The command line: `vera VERB ...`.

Each verb is one file in `verbs/`, with a function that adds its parser; `VERBS` lists them. A verb imports
what it needs when it runs, so `vera --help` answers at once and rendering works without torch.

A `VeraError` is a mistake of the user: one line on stderr, exit code 2, no traceback. A full disk behind `>`
is reported in the same way. Any other exception is a bug and keeps its traceback.
"""

import argparse
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import vera
from bench.cli.directories import check_results_dir, check_working_dir, use_data_dir
from bench.cli.parser import Parser, Run, Subparsers
from bench.cli.plugins import load_plugins
from bench.cli.terminal_output import filter_output
from bench.cli.verbs import (
    data,
    docs,
    launch,
    perf,
    plan,
    publish,
    render,
    replay,
    report,
    run,
    search,
    show,
    status,
)
from bench.cli.verbs import list as list_verb
from bench.cli.verbs.models import compare, export, sample, score, stored, train
from sweeps.errors import Interrupted
from vera.errors import SettingError, VeraError
from vera.extras import explain_missing

EXAMPLES = """examples:
  vera run table2 --profile smoke      train all of Table 2 in a tiny size, to see that it runs
  vera run table2                      train it on two cores in ten minutes; again: only what is missing
  vera render table2                   write it as Markdown, LaTeX and CSV, and judge its claims
  vera run toy-demo --only method=vera --seeds 2

More: `vera VERB --help` and docs/README.md."""

SIGNAL_EXIT = 128
"""The exit code after a signal is this plus its number, as in shells: 130 after Ctrl-C."""
IMPOSSIBLE_PATH = (errno.ELOOP, errno.ENAMETOOLONG)
SHOWN_PATH = 100
"""Characters of an impossible path that its error shows."""
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

VERBS: tuple[Callable[[Subparsers], None], ...] = (
    list_verb.add_parser,
    plan.add_parser,
    run.add_parser,
    search.add_parser,
    status.add_parser,
    show.add_parser,
    run.add_retry_parser,
    replay.add_parser,
    train.add_parser,
    stored.add_parser,
    sample.add_parser,
    score.add_parser,
    export.add_parser,
    compare.add_parser,
    render.add_parser,
    report.add_parser,
    launch.add_parser,
    data.add_parser,
    publish.add_parser,
    docs.add_parser,
    perf.add_parser,
)


def main(argv: list[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    replace_unprintable()
    with filter_output():
        return _run_command(argv)


def _run_command(argv: list[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["help"]:  # `vera help run` means `vera run --help`
        words = [*words[1:], "--help"]
    try:
        check_words(words)
        arguments = build_parser().parse_args(words)
        with raise_on_sigterm(), explain_missing("This command"):
            check_working_dir()
            load_plugins(getattr(arguments, "plugin", []))
            use_data_dir(arguments)
            check_results_dir(arguments)
            run_verb: Run = arguments.run
            if argv is None:
                open_spec_cache()
            code = run_verb(arguments)
        save_spec_cache()
        sys.stdout.flush()  # a full disk shows up here, inside the try
        return code
    except VeraError as error:
        print(f"vera: {error}", file=sys.stderr)
        return SIGNAL_EXIT + error.signal if isinstance(error, Interrupted) else 2
    except BrokenPipeError:  # the reader closed the pipe, as in `vera data list | head`
        discard_output()
        return SIGNAL_EXIT + signal.SIGPIPE
    except OSError as error:
        if error.errno in IMPOSSIBLE_PATH and error.filename is not None:
            print(f"vera: {describe_impossible_path(error)}", file=sys.stderr)
            return 2
        if error.errno not in FULL_DISK or can_print():
            raise
        print(f"vera: Cannot write the output: {error.strerror}. Free some space.", file=sys.stderr)
        discard_output()
        return 2
    except KeyboardInterrupt as interrupt:
        print("vera: interrupted", file=sys.stderr)
        return SIGNAL_EXIT + Interrupted("", interrupt).signal


def check_words(words: Sequence[str]) -> None:
    """Raise SettingError for a word that is not text: paths are hashed, and stored in rows, as UTF-8."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise SettingError(
                f"The argument {os.fsencode(word)!r} is not UTF-8. Rename the file, or write it as text."
            ) from error


def describe_impossible_path(error: OSError) -> str:
    """What is wrong with a path that cannot exist."""
    path = str(error.filename)
    shown = path if len(path) <= SHOWN_PATH else f"{path[:SHOWN_PATH]}…"
    return f"The path {shown} cannot be used: {error.strerror}. Choose another path."


def open_spec_cache() -> None:
    """Use what earlier commands derived from specs."""
    from sweeps.trial.spec_cache import find_cache_folder, spec_cache

    spec_cache.open(find_cache_folder())


def save_spec_cache() -> None:
    """Keep what the verb derived from specs for later commands."""
    from sweeps.trial.spec_cache import spec_cache

    spec_cache.save()


@contextmanager
def raise_on_sigterm() -> Iterator[None]:
    """SIGTERM, which schedulers send, is an interrupt like Ctrl-C while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def build_parser() -> argparse.ArgumentParser:
    top: argparse.ArgumentParser = Parser(
        prog="vera",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Train energy-based models without MCMC and reproduce the paper's tables.",
        epilog=EXAMPLES,
    )
    top.add_argument("--version", action="version", version=f"vera {vera.__version__}")
    top.set_defaults(command_parser=top)  # `vera launch` parses the command after --
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add_parser in VERBS:
        add_parser(verbs)
    return top


def replace_unprintable() -> None:
    """Print a question mark for a character that the terminal cannot encode, such as `·`, instead of
    failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def can_print() -> bool:
    """Whether stdout can be written, so that the error was about some other file. Prints an empty line."""
    try:
        print(flush=True)
    except OSError:
        return False
    return True


def discard_output() -> None:
    """Send everything that is still printed to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

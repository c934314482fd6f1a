"""The command line: `vera VERB ...`.

A verb is one function that adds its parser and names the function that runs it; `VERBS` lists them. Whatever
a verb needs it imports when it runs, so that `vera --help` answers at once and rendering works where torch is
not installed.

A `VeraError` is the user's to mend: one line on stderr, exit code 2, no traceback. So is a full disk behind
`>`. Anything else is a bug and shows itself.
"""

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable

import vera
from bench.cli.flags import Parser, Run, Verbs
from bench.cli.verbs import data as data_verbs
from bench.cli.verbs import inspect as looking
from bench.cli.verbs import launch as launching
from bench.cli.verbs import render as rendering
from bench.cli.verbs import report as reporting
from bench.cli.verbs import run as engine
from bench.cli.verbs import search as searching
from sweeps.errors import Interrupted
from vera.errors import SettingError, VeraError

EXAMPLES = """examples:
  vera run table2 --profile smoke      train the whole of Table 2 in a tiny size, to see that it runs
  vera run table2                      train it on two cores in ten minutes; again: what is missing
  vera render table2                   write it as Markdown, LaTeX and CSV, and say what it decides
  vera run toy-demo --only method=vera --seeds 2

`vera VERB --help` says more; docs/README.md leads on."""

BY_SIGNAL = 128
"""The exit code of what a signal ended is this and its number, as shells have it: 130 after Ctrl-C."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
NO_PLACE = (errno.ELOOP, errno.ENAMETOOLONG)


def main(argv: list[str] | None = None) -> int:
    """Run one verb; its exit code."""
    print_what_can_be()
    arguments = parser().parse_args(help_asked(sys.argv[1:] if argv is None else argv))
    try:
        check_here()
        load_plugins(getattr(arguments, "plugin", []))
        settle_data_dir(arguments)
        check_results_dir(arguments)
        run: Run = arguments.run
        code = run(arguments)
        sys.stdout.flush()  # here, where a full disk is still told in one line
        return code
    except VeraError as error:
        print(f"vera: {error}", file=sys.stderr)
        return BY_SIGNAL + error.signal if isinstance(error, Interrupted) else 2
    except (
        BrokenPipeError
    ):  # the reader has seen enough, as in `vera data list | head`; whether all went well is not known
        drop_output()
        return BY_SIGNAL + signal.SIGPIPE
    except OSError as error:
        if error.errno not in FULL or can_be_printed():
            raise
        print(
            f"vera: Nothing more can be written: {error.strerror}. Make room, or send the output elsewhere.",
            file=sys.stderr,
        )
        drop_output()
        return 2
    except KeyboardInterrupt:
        print("vera: interrupted", file=sys.stderr)
        return BY_SIGNAL + signal.SIGINT


def print_what_can_be() -> None:
    """A mark that the terminal's encoding does not have becomes a question mark, and no error: a plain `·`
    would end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def can_be_printed() -> bool:
    """Whether it is not the output that cannot be written, but some file: an empty line tells."""
    try:
        print(flush=True)
    except OSError:
        return False
    return True


def drop_output() -> None:
    """What is printed from here on, and what is still held back, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_here() -> None:
    """Torch does not even load in a directory that was removed."""
    try:
        os.getcwd()
    except OSError as error:
        raise VeraError(
            "The working directory is no longer there. Go to one that is, and call it again: cd DIR"
        ) from error


def help_asked(words: list[str]) -> list[str]:
    """`vera help run` is `vera run --help`, as other programs have it."""
    return [*words[1:], "--help"] if words[:1] == ["help"] else words


def settle_data_dir(arguments: argparse.Namespace) -> None:
    """From here on one directory holds all data files, for the identity of trials depends on what is in
    it."""
    folder = asked_data_dir(arguments)
    if folder is not None:
        refuse_file("--data-dir", getattr(arguments, "data_dir", None) or folder)
        arguments.data_dir = os.environ["VERA_DATA"] = folder
    elif hasattr(arguments, "data_dir"):  # a verb that looks for data files
        refuse_file("VERA_DATA", os.environ.get("VERA_DATA", ""))


def refuse_file(asker: str, place: str) -> None:
    if os.path.isfile(os.path.expanduser(place)):
        raise SettingError(
            f"{asker} {place} is a file; it takes the directory in which data files lie, or shall lie."
        )


def asked_data_dir(arguments: argparse.Namespace) -> str | None:
    """That of --data-dir, else that of the file which --dataset names; none: VERA_DATA's, or the default."""
    folder = getattr(arguments, "data_dir", None)
    if getattr(arguments, "dataset", None):
        from bench.cli.dataset_flag import dataset_part

        own = dataset_part(arguments.dataset)[1]
        if own is not None and folder is not None and os.path.abspath(own) != os.path.abspath(folder):
            raise SettingError(
                f"--dataset names a file in {own}, --data-dir is {folder}: leave --data-dir out."
            )
        folder = folder if own is None else own
    return None if folder is None else os.path.abspath(folder)


def check_results_dir(arguments: argparse.Namespace) -> None:
    """A place that cannot hold results is named as it was typed, before it becomes a path in one."""
    folder = getattr(arguments, "results_dir", None)
    if folder is None:
        return
    from sweeps.store.address import check_place, is_url

    check_place(folder)
    if os.path.isfile(folder):
        raise SettingError(
            f"--results-dir {folder} is a file; it takes the directory in which results lie, or shall lie."
        )
    try:
        os.stat(folder)
    except OSError as error:
        if error.errno in NO_PLACE and not is_url(folder):  # what is not there yet can be made, these cannot
            raise SettingError(
                f"--results-dir {folder} cannot be used: {error.strerror}. Choose another directory."
            ) from error


def parser() -> argparse.ArgumentParser:
    top: argparse.ArgumentParser = Parser(
        prog="vera", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Train energy-based models without MCMC and reproduce the paper's tables.", epilog=EXAMPLES,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"vera {vera.__version__}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add_verb in VERBS:
        add_verb(verbs)
    return top


def load_plugins(files: list[str]) -> None:
    """Run the files; say what is odd about one and need not be a mistake."""
    if files:
        from sweeps.cluster.connection import settle_ray
        from vera.spec.registry import find_unregistered_classes, load_plugin

        settle_ray()
        for file in dict.fromkeys(files):
            load_plugin(file)
            for name in find_unregistered_classes(file):
                _note(
                    f'{file} does not register its method {name}: write @methods.register("NAME") above it.'
                )
        _note_defaults()


def _note_defaults() -> None:
    from sweeps.trial.identity import without_default
    from vera.spec.registry import joint_methods, methods

    for registry in (methods, joint_methods):
        for name in registry.plugin_names():
            if lacking := without_default(registry.get(name)):
                _note(
                    f"no table takes the {registry.kind} '{name}': it has no default for {' and '.join(lacking)}."
                )


def _note(text: str) -> None:
    print(f"vera: {text}", file=sys.stderr)


VERBS: tuple[Callable[[Verbs], None], ...] = (
    looking.add_list,
    engine.add_plan,
    engine.add_run,
    searching.add_search,
    looking.add_status,
    looking.add_show,
    engine.add_retry,
    looking.add_replay,
    rendering.add_render,
    reporting.add_report,
    launching.add_launch,
    data_verbs.add_data,
)


if __name__ == "__main__":
    sys.exit(main())

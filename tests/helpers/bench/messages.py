"""The golden file of everything that `vera` says to a user: the help of every verb, and the error of every
mistake.

`make golden` writes it again. Read the difference before you commit it.
"""

import argparse
import io
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from locations import ROOT
from mistakes import FILES, MISTAKES

from bench.catalogue import catalogue
from bench.cli.main import build_parser, main
from sweeps.trial.sweep import sweeps
from vera.spec.registry import datasets, methods

GOLDEN = ROOT / "tests" / "bench" / "cli" / "golden" / "messages.txt"
HEADER = "Written by .venv/bin/python tests/helpers/bench/messages.py\n"


def find_verbs(parser: argparse.ArgumentParser) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """(words, parser) of every verb and of the actions below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                yield (name,), verb
                yield from (((name, *words), inner) for words, inner in find_verbs(verb))


@contextmanager
def mistakes_folder(folder: Path) -> Iterator[None]:
    """A working directory with the files of the mistakes; what their plug-ins register is forgotten."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    registries = [(registry, dict(registry._entries)) for registry in (datasets, methods, sweeps)]
    registered, before = dict(catalogue._registered), os.getcwd()
    os.chdir(folder)
    try:
        with patch.dict(os.environ, {"COLUMNS": "100"}):
            yield
    finally:
        os.chdir(before)
        catalogue._registered = registered
        for registry, entries in registries:
            registry._known = entries


def run_vera(words: list[str]) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def collect_messages() -> str:
    """The whole golden file."""
    parts = [HEADER]
    verbs = [(), *(words for words, _ in find_verbs(build_parser()))]
    with tempfile.TemporaryDirectory() as folder:
        for words in verbs:
            with mistakes_folder(Path(folder)):
                parts.append(f"$ vera {shlex.join([*words, '--help'])}\n{run_vera([*words, '--help'])[1]}")
    for line in MISTAKES:
        with tempfile.TemporaryDirectory() as folder, mistakes_folder(Path(folder)):
            error = run_vera(line.split())[2].replace(os.path.realpath(folder), "DIR")
            parts.append(f"$ {f'vera {line}'.strip()}\n{error}")
    return "\n".join(parts)


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(collect_messages(), encoding="utf-8")
    print(f"written: {GOLDEN.relative_to(ROOT)}")

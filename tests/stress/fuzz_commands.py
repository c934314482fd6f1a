"""Fuzzer of the command line: generated command lines run in this process, and none may end in a traceback.

    .venv/bin/python tests/stress/fuzz_commands.py --lines 1000

The words come from the parser itself: every verb with its flags, with values that are right, wrong or
hostile, and then some words are dropped, doubled or replaced. Line number N is the same in every run of one
seed, and `--only N` runs it alone. Each line has a new folder with a small store, published results and the
files of the mistakes. Nothing reaches the network or a cluster, and no benchmark is measured. `make stress`
runs it.
"""

import argparse
import contextlib
import faulthandler
import io
import json
import os
import random
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from engine_helpers import row_of
from messages import find_verbs, mistakes_folder

from bench.cli.main import build_parser, main
from sweeps.errors import EngineError, StoreError
from sweeps.run.attempt import run_attempt
from sweeps.run.conditions import Conditions
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep

PATIENCE = 120
"""Seconds after which a line counts as a hang."""
LONG = "n" * 300
HOSTILE = (
    "",
    " ",
    "-",
    "--",
    "=",
    ",",
    ":",
    "/",
    ".",
    "..",
    "~",
    "*",
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "9" * 30,
    "9" * 5000,
    "٣",
    "None",
    "true",
    "é",
    "🙂",
    "\u2028",
    "a\nb",
    "a\x1b[31mb",
    "\x07",
    "\udcff.py",
    "b\udcff",
    LONG,
    f"{LONG}.py",
    f"{LONG}/x",
    "$(id)",
    "`id`",
    "; ls",
    "'\"",
    "%s%n",
    "{0}",
    "[1,2",
    "../../..",
    "/proc/self/mem",
    "/dev/null",
    "file",
    "file/x",
    "loop",
    "pipe",
    "private",
    "s3://",
    "s3://b/p?x=1",
    "s3:lab",
    "http://x",
    "file:///x",
    "a=b",
    "method=vera=1",
    "csv:",
    "csv:iris.csv",
    "spec:",
    "trial:",
    "spec:pipe",
    "csv:pipe,label=x",
    "NaN=1",
)
VALUES: dict[str, tuple[str, ...]] = {
    "sweep": (
        "toy-demo",
        "table2",
        "table6",
        "figure1",
        "table9",
        "all",
        "searches",
        "trial:ID",
        "spec:trial.json",
        "spec:odd.json",
        "spec:list.json",
        "spec:iris.csv",
        "table2-grid",
        "mine",
        "toy-dem",
    ),
    "names": ("table2", "table9", "all", "figure3", "searches", "toy-demo", "tabel2"),
    "sweeps": ("table2", "toy-demo", "table10", "nosuch"),
    "location": ("results/local", "results/published", "nowhere", "file"),
    "problem": ("moons", "circles", "rings", "flow", "labels", "moon"),
    "id": ("ID", "00", "zzzz", "MODEL", "iris.csv", "folder"),
    "ids": ("ID", "OTHER", "MODEL", "zzzz"),
    "data": ("iris.csv", "points.npy", "images.npz", "text.csv", "semicolon.csv", "none.csv", "file"),
    "directory": ("out", "folder", "file", "new/deep"),
    "output": ("out.png", "out.csv", "out.npz", "folder/x.pdf", "out.jpg", "out", "file/x.png", "folder"),
    "json": ("out.json", "folder", "file/x", "nowhere/x.json"),
    "keep": ("kept", "file", "results/published"),
    "label": ("species", "kind", "0", "y", "nosuch"),
    "method": ("vera", "ml", "nce", "nosuch"),
    "methods": ("vera", "ml", "nosuch"),
    "dataset": (
        "wine",
        "moons",
        "digits32",
        "human,labels_per_class=5",
        "csv:iris.csv,label=species",
        "csv:text.csv,label=kind",
        "csv:empty.csv,label=a",
        "csv:none.csv,label=a",
        "csv:iris.csv,label=species,test_share=2",
        "iris.csv",
        "nosuch",
    ),
    "set": (
        "method.k=5",
        "steps=500",
        "steps=x",
        "networks.energy.hidden=[4,4]",
        "method.lr=nan",
        "x",
        "seed=1",
        "a.b.c=1",
    ),
    "only": (
        "method=vera",
        "method.lr=.1",
        "seed=0",
        "label=VERA",
        "dataset=moons",
        "x=y",
        "method",
        "energy=nice",
    ),
    "grid": ("lr=1e-4,1e-3", "lr=a", "lr", "nosuch=1", "lr="),
    "plugin": (
        "one.py",
        "syntax.py",
        "name.py",
        "nowhere.py",
        "taken.py",
        "artifact.py",
        "idle.py",
        "file",
        ".",
    ),
    "results_dir": (
        "results/local",
        "results/published",
        "new",
        "file",
        "private",
        "locked",
        "no/such/place",
    ),
    "data_dir": ("data", "file", "folder", "nowhere"),
    "retry": ("error", "error,timeout", "nosuch", "ok", ","),
    "name": ("a", "mnist", "wine", "hepmass", "nosuch", "mnist5k"),
    "mlflow": (
        "sqlite:///runs.db",
        "sqlite:///file",
        "sqlite:///iris.csv",
        "mlruns",
        "http://127.0.0.1:9",
        "x:y",
    ),
    "tensorboard": ("events", "file", "file/x"),
    "wandb": ("project",),
    "address": ("auto", "127.0.0.1:1", "nohost:x", "ray://x:1", "local"),
    "hosts": ("10.0.0.1,10.0.0.2", ",", "a"),
    "time": ("01:00:00", "1-00:00:00", "0:0:0", "soon", "٣:00:00"),
    "source": ("local", "published"),
    "shared_results": ("/shared", "s3://b/p", "relative"),
    "shared_data": ("/data",),
    "image": ("me/vera:1", "a b", "x\ny"),
    "setup": ("module load x", "true"),
    "sbatch": ("--account=lab", "account=lab", "--x\n#SBATCH"),
    "working_dir": (".", "nowhere"),
    "budget_hours": ("1", "0.5"),
}
NUMBERS = ("1", "2", "3", "0", "-1", "1.5", "x", "")
SMALL = {"n": ("1", "3", "0", "x", "9" * 15), "refine": ("0", "2", "x"), "steps": ("1", "2", "0", "x")}
"""Numbers that decide how long a line takes."""


@dataclass
class Misbehaviour:
    """A line that did what no line may do."""

    number: int
    words: list[str]
    kind: str
    detail: str


class CommandGenerator:
    """Makes the words of line `number`, the same ones each time."""

    def __init__(self, seed: int, ids: dict[str, str]) -> None:
        self.seed, self.ids = seed, ids
        self.verbs = [
            (list(words), parser)
            for words, parser in find_verbs(build_parser())
            if not any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)
        ]

    def make(self, number: int) -> list[str]:
        """The words of one line."""
        rng = random.Random(f"{self.seed}/{number}")
        words = self._make_command(rng)
        for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2))):
            words = self._spoil(words, rng)
        return [*words, "--steps=2"] if words[:1] == ["train"] else words

    def _make_command(self, rng: random.Random, depth: int = 0) -> list[str]:
        words, parser = rng.choice(self.verbs)
        positional, optional = [], []
        for action in parser._actions:
            if action.option_strings:
                optional.append(action)
            elif action.nargs == argparse.REMAINDER:
                positional += [
                    "--",
                    *(self._make_command(rng, depth + 1) if depth == 0 else ["run", "table2"]),
                ]
            elif action.nargs not in ("?", "*") or rng.random() < 0.7:
                positional += [
                    self._choose(action, rng) for _ in range(rng.choice((1, 1, 2)) if action.nargs else 1)
                ]
        flags: list[str] = []
        for action in rng.sample(optional, min(len(optional), rng.choice((0, 1, 1, 2, 3, 5)))):
            flag = rng.choice(action.option_strings)
            if flag in ("-h", "--help") and rng.random() < 0.9:
                continue
            if action.nargs == 0:
                flags.append(flag)
            elif flag.startswith("--") and rng.random() < 0.5:
                flags.append(f"{flag}={self._choose(action, rng)}")
            else:
                flags += [flag, self._choose(action, rng)]
        return [*words, *flags, *positional] if "--" in positional else [*words, *positional, *flags]

    def _choose(self, action: argparse.Action, rng: random.Random) -> str:
        limited = SMALL.get(action.dest)
        if rng.random() < 0.15 and limited is None:
            return rng.choice(HOSTILE)
        if limited is not None:
            return rng.choice(limited)
        if action.choices is not None and rng.random() < 0.9:
            return str(rng.choice(list(action.choices)))
        known = VALUES.get(action.dest) or (NUMBERS if action.type is not None else VALUES["output"])
        chosen = known[0] if rng.random() < 0.5 else rng.choice(known)  # the first one is right
        for name, value in self.ids.items():
            chosen = chosen.replace(name, value)
        return chosen

    def _spoil(self, words: list[str], rng: random.Random) -> list[str]:
        """The words with one dropped, doubled, replaced, inserted or misspelt; the verb stays."""
        place = rng.randrange(1, len(words) + 1)
        before, after = words[:place], words[place:]
        limited = any(word.lstrip("-").partition("=")[0] in SMALL for word in words)
        strange = rng.choice(HOSTILE if not limited else HOSTILE[:10])
        kind = rng.choice(("drop", "double", "replace", "insert", "misspell"))
        if kind == "drop":
            return [*before, *after[1:]]
        if kind == "double":
            return [*before, *after[:1], *after]
        if kind == "replace":
            return [*before, strange, *after[1:]]
        if kind == "insert":
            return [*before, strange, *after]
        return [*before, *(word[:-1] + rng.choice("xyz=") for word in after[:1]), *after[1:]]


def make_template(folder: Path) -> dict[str, str]:
    """The files that every line finds; the ids that lines name."""
    (folder / "folder").mkdir()
    (folder / "folder" / "x").write_text("x")
    local = Store(folder / "results" / "local" / "trials")
    found = []
    for trial in find_sweep("toy-demo").trials("smoke", range(1)):
        attempt = run_attempt(trial, Conditions())
        local.write(attempt.record())
        local.models.write(trial.id, attempt.encode_model() or b"")
        found.append(trial.id)
    published = Store(folder / "results" / "published" / "trials")
    published.merge(folder / "results" / "local" / "trials", only=found[:1])
    for i, text in enumerate(("a\x1b[31mb", "\u2028\u202e", "x" * 5000, "{0} %s", "🙂\x07", "../../x")):
        with contextlib.suppress(StoreError):  # the store may refuse them
            local.write(Record(row_of(trial, i + 1, label=text, reason=text, sweep=text, log_tail=text)))
    import numpy as np

    np.save(folder / "points.npy", np.zeros((20, 2)))
    np.savez(folder / "images.npz", x=np.zeros((20, 1, 4, 4)), y=np.zeros(20, int))
    model = next((folder / "results" / "local" / "trials" / "models").glob("*.safetensors"))
    return {"ID": found[0][:8], "OTHER": found[1], "MODEL": str(model.relative_to(folder))}


@contextmanager
def enter_folder(template: Path) -> Iterator[None]:
    """A copy of the template as the working directory, and this process's environment as it was."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name, "work")
        shutil.copytree(template, folder)
        with (
            mistakes_folder(folder),
            patch.dict(os.environ, {"HOME": str(folder), "VERA_DATA": str(folder / "data")}),
        ):
            (folder / "loop").symlink_to(folder / "loop")
            os.mkfifo(folder / "pipe")
            yield


@contextmanager
def shut_off() -> Iterator[None]:
    """No network, no cluster and no benchmarks."""

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise EngineError("The fuzzer starts no cluster.")

    def stay_here(*arguments: Any, **options: Any) -> Any:
        raise OSError(101, "The fuzzer has no network")

    from bench.perf import engine, step
    from sweeps.cluster import engine as cluster_engine

    with ExitStack() as stack:
        enter: Callable[..., Any] = lambda *arguments: stack.enter_context(patch.object(*arguments))  # noqa: E731
        enter(cluster_engine, "connect", refuse)
        for module, names in (
            (engine, ("measure_engine", "measure_search")),
            (step, ("measure_steps", "measure_image_rivals", "measure_memory")),
        ):
            for name in names:
                enter(module, name, refuse)
        enter(socket.socket, "connect", stay_here)
        enter(socket.socket, "connect_ex", stay_here)
        enter(socket, "getaddrinfo", stay_here)
        stack.enter_context(
            patch.dict(
                os.environ, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true"}
            )
        )
        yield


def run_line(words: list[str]) -> tuple[Any, str, str, str]:
    """(exit code, stdout, stderr, traceback) of the line."""
    out, err = io.StringIO(), io.StringIO()

    def give_up(number: int, frame: Any) -> None:
        raise TimeoutError(f"longer than {PATIENCE} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True)
    stdin, sys.stdin = sys.stdin, io.StringIO("")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return main(words), out.getvalue(), err.getvalue(), ""
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue(), ""
    except TimeoutError:
        return "hang", out.getvalue(), err.getvalue(), traceback.format_exc()
    except BaseException:
        return "traceback", out.getvalue(), err.getvalue(), traceback.format_exc()
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        sys.stdin = stdin


def judge(number: int, words: list[str], ended: tuple[Any, str, str, str]) -> Misbehaviour | None:
    """What is wrong with the end of a line; None if nothing is."""
    code, out, err, trace = ended
    if code in ("hang", "traceback"):
        return Misbehaviour(number, words, str(code), trace)
    if "Traceback (most recent call last)" in out + err:
        return Misbehaviour(number, words, "traceback", out + err)
    if any(mark in out + err for mark in ("\x1b", "\x07")):
        return Misbehaviour(number, words, "escape sequence", repr((out + err)[-500:]))
    if code not in (0, 1, 2, 130):
        return Misbehaviour(number, words, "exit code", str(code))
    if code == 2 and not any(line.startswith("vera") for line in err.splitlines()):
        return Misbehaviour(number, words, "no message", err[-500:])
    return None


def main_of_fuzzer() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+", help="run these lines alone and print what they print")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    findings, codes, slowest = [], Counter[str](), (0.0, "")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, shut_off():
        template = Path(name)
        generator = CommandGenerator(arguments.seed, make_template(template))
        for number in arguments.only or range(arguments.lines):
            words = generator.make(number)
            began = time.monotonic()
            with enter_folder(template):
                ended = run_line(words)
            slowest = max(slowest, (time.monotonic() - began, shlex.join(words)))
            codes[str(ended[0])] += 1
            if number % 100 == 99:
                print(f"{number + 1} lines, {len(findings)} findings", flush=True)
            if arguments.only:
                print(f"$ vera {shlex.join(words)!r}\n{ended[1]}\n{ended[2]}\n{ended[3]}[{ended[0]}]")
            if finding := judge(number, words, ended):
                findings.append(finding)
                print(
                    f"line {number}, {finding.kind}: vera {shlex.join(words)!r}\n{finding.detail}", flush=True
                )
    kinds = Counter(finding.kind for finding in findings)
    counts = {"lines": sum(codes.values()), "tracebacks": kinds["traceback"], "hangs": kinds["hang"]}
    counts |= {
        "other findings": len(findings) - kinds["traceback"] - kinds["hang"],
        "exit codes": dict(codes),
    }
    print(f"slowest: {slowest[0]:.1f} s, vera {slowest[1][:200]!r}")
    print(f"fuzz commands: {json.dumps(counts)}")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main_of_fuzzer())

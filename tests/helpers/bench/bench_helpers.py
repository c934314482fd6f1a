"""Helpers of the tests of bench: stores of made-up rows, the golden artifacts, and other artifacts in the
catalogue.

`make golden` writes the golden store and its rendered files again. Read the difference before you commit it.
"""

import io
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from engine_helpers import ROOT, row_of

from bench.catalogue import catalogue
from bench.judging.results import Results
from bench.render.files import write_rendering
from bench.render.layout import make_file_stem
from bench.render.terminal import print_sheet
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store
from sweeps.trial.sweep import sweeps
from vera.spec.registry import load_plugin

GOLDEN = Path(__file__).with_name("golden")
PLUGIN = GOLDEN / "golden_plugin.py"
PROFILES = ("laptop", "paper")
ENDINGS = {
    "ML": [-187.25, -186.5, -188.125],
    "VERA λ=1": [-213.0, -214.5, -213.75],
    "VERA λ=0": [-230.0, -231.0],
    "PCD": [-402.5625, "diverged", "diverged"],
    "MEG": ["diverged", "diverged"],
    r"A_b & 50% #1 {x} <y> | $z$ ~ ^ \ * [é] --σ": [-17.0, "out_of_memory", None],
}
"""Label → the ending of each seed: a value, an outcome without a value, or None for ok without a value."""


def store_rows(folder, rows):
    """Write the rows to a store in the folder; the results of their profile."""
    store = Store(folder / "trials")
    for row in rows:
        store.write(Record(row))
    return Results(store, rows[0].profile if rows else "laptop")


@contextmanager
def use_golden_artifacts():
    """Only the artifacts of the golden plug-in, by name; the others return afterwards."""
    with use_artifacts({}):
        load_plugin(PLUGIN)
        yield catalogue._registered


@contextmanager
def use_artifacts(known):
    """Only these artifacts in the catalogue; the others return afterwards."""
    before, registered = dict(vars(catalogue)), dict(sweeps._entries)
    vars(catalogue).update(papers=[], _registered=dict(known), _loaded={})
    try:
        yield
    finally:
        vars(catalogue).clear()
        vars(catalogue).update(before)
        sweeps._known = registered


def make_golden_records(table):
    for profile in PROFILES:
        for trial in table.trials(profile):
            for seed, ending in enumerate(ENDINGS.get(trial.label, [])):
                value, outcome = (None, ending) if isinstance(ending, str) else (ending, "ok")
                row = row_of(trial, seed, value, outcome, git_dirty=trial.label == "PCD")
                curves = [CurvePoint(row.trial_id, "training", "loss", step, 1 / step) for step in (1, 2, 5)]
                yield Record(row, curves, {"samples": np.eye(2)}) if trial.label == "ML" else Record(row)


def print_to_text(sheet):
    """The table as it is printed in a terminal, without trailing spaces."""
    file = io.StringIO()
    print_sheet(sheet, file)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def regenerate():
    with use_golden_artifacts() as known:
        shutil.rmtree(GOLDEN / "trials", ignore_errors=True)
        store = Store(GOLDEN / "trials")
        for record in make_golden_records(known["golden-table"]):
            store.write(record)
        store.compact()
        for lock in store.folder.path.glob(".*lock"):
            lock.unlink()
        for profile in PROFILES:
            sheet = known["golden-table"].render(Results(store, profile))
            write_rendering(sheet, GOLDEN / profile)
            (GOLDEN / profile / "tables" / f"{make_file_stem(sheet)}.txt").write_text(
                print_to_text(sheet), encoding="utf-8"
            )


if __name__ == "__main__":
    regenerate()
    print(f"written: {GOLDEN.relative_to(ROOT)}")

"""The pages of the API reference: one per package, from the docstrings of its modules.

A package that says what is public (`__all__`) shows these names, any other one its modules.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.publishing.markdown import render_grid
from bench.site.docstrings import describe_module, describe_name

PACKAGES: Mapping[str, str] = {
    "vera": "The names that most programs need.",
    "vera.data": "Data sets, and reading of users' data.",
    "vera.models": "Energies, generators and classifiers.",
    "vera.methods": "Ways to train an energy.",
    "vera.joint": "Ways to train a classifier that is an energy model.",
    "vera.entropy": "Estimators of a generator's entropy gradient.",
    "vera.samplers": "MCMC samplers.",
    "vera.evaluation": "Metrics.",
    "vera.training": "What the Trainer consists of.",
    "vera.saved": "Trained models.",
    "vera.recipes": "`vera.train` and the files that it leaves.",
    "vera.spec": "Trials as plain data, validation of settings, registries.",
    "vera.tasks": "What a trial trains and measures.",
    "sweeps": "Grids from Python and notebooks.",
    "sweeps.trial": "Identity of trials, sweeps, filters, plans.",
    "sweeps.store": "The Parquet store.",
    "sweeps.run": "One attempt at a trial.",
    "sweeps.search": "Search for settings.",
    "bench.judging": "Cells, claims and verdicts.",
}
MODULES: Mapping[str, tuple[str, ...]] = {
    "vera": ("vera.errors", "vera.loggers", "vera.plot"),
    "bench.judging": ("bench.experiment", "bench.artifact"),
}
"""Modules outside of a package that are shown on its page."""


def list_reference_places() -> list[str]:
    """The places of the pages on the site, overview first."""
    return ["reference/index.md", *(f"reference/{package}.md" for package in PACKAGES)]


def write_reference(root: Path) -> Iterator[tuple[str, str]]:
    """(place on the site, Markdown) of every page."""
    overview, *places = list_reference_places()
    yield overview, _write_overview()
    for place, package in zip(places, PACKAGES, strict=True):
        yield place, "\n".join([f"# `{package}`\n\n{PACKAGES[package]}\n", *_describe_package(package, root)])


def _write_overview() -> str:
    lines = [(f"[`{package}`]({package}.md)", about) for package, about in PACKAGES.items()]
    return f"# API reference\n\nWritten from the docstrings.\n\n{render_grid(('package', 'contents'), lines)}"


def _describe_package(package: str, root: Path) -> Iterator[str]:
    folder = root.joinpath(*package.split("."))
    modules = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    rooms = {path.parent.name for path in folder.glob("*/__init__.py")}
    public = sorted(_read_public_names(folder / "__init__.py") - {*modules, *rooms})
    if public:
        yield from (describe_name(package, name, root) for name in public)
    else:
        yield from (describe_module(f"{package}.{module}", root) for module in modules)
    yield from (describe_module(module, root) for module in MODULES.get(package, ()))


def _read_public_names(file: Path) -> set[str]:
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return set(ast.literal_eval(statement.value))
    return set()

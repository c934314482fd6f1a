"""Which packages an installation of the core or of an extra has, computed from pyproject.toml and from the
metadata of installed packages."""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from locations import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN = {"bench", "sweeps", "vera"}


def list_requirements(extra: str | None = None) -> list[str]:
    """The packages that the core, or an extra, names."""
    texts = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    return [split_name(text) for text in texts]


def split_name(requirement: str) -> str:
    """The normalised name in a requirement: `ray` for "ray[tune]>=2.60"."""
    return normalise(re.split(r"[ <>=!~;\[(]", requirement, maxsplit=1)[0])


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(names: Iterable[str]) -> set[str]:
    """The packages that pip would install for these."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            waiting += [split_name(text) for text in requires(name) or [] if "extra ==" not in text]
        except PackageNotFoundError:  # for another system or Python
            continue
    return found


def list_unavailable(names: Iterable[str]) -> set[str]:
    """Every module that is installed here and would be missing in an environment with these packages only."""
    enough = resolve(names)
    owners = packages_distributions().items()
    return {module for module, packages in owners if not enough & set(map(normalise, packages))} - OWN

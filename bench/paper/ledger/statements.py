"""What the paper says that cannot be read off our declarations, and where each item is declared.

`statements.csv` has one item in each line, of one of these kinds:

- `values`: a source in values.csv, and the artifact that compares its values with ours; or, for a number that
  is a setting of the code, the file with the setting.
- `grid`: values that the paper tried. `declared` is a sweep or artifact, `line` the beginning of the labels
  of its trials, `setting` the path of a setting, `values` what the paper tried, or a number of different
  values (`>=3`) where the paper does not print them.
- `setting`: the same for a setting that the text states.
- `arm`: something that the paper trained or measured; `values` is the name of its metric, if it has one.
- `claim`: a claim as `artifact:key`. Its sentence and its place in the paper are in the code.

A declaration that is gone is a `VeraError`, so the page is not written without it.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.judging.claims import Claim
from bench.paper.artifacts import ARTIFACTS
from sweeps.trial.identity import Profile, Trial
from vera.errors import VeraError
from vera.spec.settings import by_number

Kind = Literal["values", "grid", "setting", "arm", "claim"]
FILE = Path(__file__).with_name("statements.csv")
OURS = ("ours", "not in the paper")
"""How the place of a claim begins that is not the paper's."""
AT_LEAST = ">="


@dataclass(frozen=True)
class Statement:
    """One item of the paper and its declaration."""

    kind: Kind
    where: str
    declared: str
    line: str
    setting: str
    values: str
    statement: str

    def list_trials(self, profile: Profile) -> list[Trial]:
        """The trials of a grid, a setting or an arm at a profile."""
        return [trial for trial in list_sweep_trials(self.declared, profile) if has_label(trial, self.line)]


def has_label(trial: Trial, line: str) -> bool:
    """Whether a trial is of this line: its label is that of the line, with settings that were varied, or
    without a line any label."""
    return not line or f"{trial.label} ".startswith(f"{line} ")


@cache
def list_sweep_trials(sweep: str, profile: Profile) -> tuple[Trial, ...]:
    return tuple(catalogue.sweep(sweep).trials(profile))


@cache
def read_statements(file: Path = FILE) -> tuple[Statement, ...]:
    """Every item; VeraError for a kind that there is not."""
    with file.open(newline="", encoding="utf-8") as lines:
        found = tuple(Statement(**line) for line in csv.DictReader(lines))  # type: ignore[arg-type]
    for each in found:
        if each.kind not in get_args(Kind):
            raise VeraError(
                f"{file.name} has an item of the kind '{each.kind}': {', '.join(get_args(Kind))}."
            )
    return found


def list_statements(*kinds: Kind) -> list[Statement]:
    return [each for each in read_statements() if each.kind in kinds]


def list_artifacts() -> list[Artifact]:
    """The paper's tables and figures, and ours about it, by name."""
    return [catalogue.artifact(name) for name in sorted(ARTIFACTS, key=by_number)]


def list_paper_claims() -> Iterator[tuple[Artifact, Claim]]:
    """The claims of the paper that are declared; VeraError if they are not those of the list."""
    declared = {
        f"{artifact.name}:{claim.key}": (artifact, claim)
        for artifact in list_artifacts()
        for claim in artifact.claims
        if not claim.where.startswith(OURS)
    }
    listed = [each.declared for each in list_statements("claim")]
    if missing := [name for name in listed if name not in declared]:
        raise VeraError(f"{FILE.name} lists claims that are not declared: {', '.join(missing)}.")
    if new := [name for name in declared if name not in listed]:
        raise VeraError(f"Claims of the paper that {FILE.name} does not list: {', '.join(new)}.")
    yield from declared.values()


def read_setting(trial: Trial, path: str) -> Any:
    """A setting of a trial by its path, such as method.lr; None if it has none."""
    found: Any = trial.spec.to_dict()
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def list_values(statement: Statement, profile: Profile) -> list[Any]:
    """The different values of the setting among its trials on one data set, that with the most values: data
    sets that differ in a setting are no grid."""
    found: dict[str, dict[str, Any]] = {}
    for trial in statement.list_trials(profile):
        value = read_setting(trial, statement.setting)
        if value is not None:
            found.setdefault(trial.data, {})[str(value)] = value
    return list(max(found.values(), key=len, default={}).values())


def check_declared(statement: Statement) -> None:
    """Raise VeraError unless a grid, setting or arm has its trials, with the paper's values, at `paper`."""
    about = f"{statement.where}, {statement.statement}"
    if not statement.list_trials("paper"):
        raise VeraError(f"{about}: {statement.declared} has no trial of '{statement.line}' at paper.")
    if statement.kind == "arm":
        return
    values = list_values(statement, "paper")
    if statement.values.startswith(AT_LEAST):
        if len(values) < int(statement.values.removeprefix(AT_LEAST)):
            raise VeraError(f"{about}: {statement.declared} has only {len(values)} {statement.setting}.")
        return
    missing = [text for text in statement.values.split("|") if not any(_equals(text, v) for v in values)]
    if missing:
        raise VeraError(
            f"{about}: no trial of '{statement.line}' in {statement.declared} at paper has "
            f"{statement.setting} {', '.join(missing)}."
        )


def _equals(text: str, value: Any) -> bool:
    try:
        return float(text) == value
    except ValueError:
        return text == str(value)

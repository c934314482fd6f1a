"""Ease of tuning: how far the settings that were tried lie below the best one, for each method.

The paper calls VERA easier to tune than methods with Markov chains, without a number. Here it is measured
over the tuning grids of the flow of Table 2 and of the tables of Table 6: the median and the spread of the
distances below the method's own best setting, and how many settings diverged. A setting counts with the mean
of its tuning seeds; one that diverged with any of them has no distance and is counted.

Trap: a grid that was placed around a good setting is easy by construction. At `laptop` that holds for the
flow, so nothing is claimed about it. The search of Table 6 has as many configurations for one line as for
another, with moves of the same size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, ClassVar

from bench.artifact import Artifact, Column, Sheet, Value
from bench.experiment import DataSetting, Experiment, Line
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.results import Results
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import TableSetting
from bench.render.caption import describe_origin
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

OURS = "VERA"
FLOW_OURS = "VERA λ=1"
FLOW_RIVALS = ("PCD", "CoopNet")
TABLE_RIVAL = "JEM"
PLACED = "its settings were placed around the best of each line, so their distances say nothing"


@dataclass(frozen=True)
class TunedExperiment:
    """An experiment with tuning grids, and the metric that chooses its settings; higher is better."""

    experiment: Experiment[Any]
    metric: str
    unit: str
    factor: float = 1.0


FLOW = TunedExperiment(NICE, "test_log_likelihood", "nats")
TABLES = TunedExperiment(TABULAR, "test_accuracy", "points", 100.0)


@dataclass(frozen=True)
class TriedSettingsOfLine:
    """What was tried for one line on one data set."""

    means: tuple[float, ...]
    """Of the settings that ended ok with every seed, the best first."""
    diverged: int
    """Settings that diverged with some seed."""

    @classmethod
    def read(
        cls, results: Results, tuned: TunedExperiment, line: Line, data: DataSetting
    ) -> "TriedSettingsOfLine":
        trials = tuned.experiment.grid_trials(line, results.profile, data)
        cells = [cell for trial in trials if (cell := results.cell(trial, tuned.metric)).total]
        means = [tuned.factor * cell.mean for cell in cells if cell.mean is not None and cell.n == cell.total]
        return cls(tuple(sorted(means, reverse=True)), sum(cell.diverged > 0 for cell in cells))

    @property
    def below(self) -> tuple[float, ...]:
        """The distances of the others below the best."""
        return tuple(self.means[0] - mean for mean in self.means[1:])

    @property
    def cell(self) -> Cell:
        """The distances as a cell: one value for each setting, and the divergences."""
        outcomes = ("ok",) * len(self.below) + ("diverged",) * self.diverged
        return Cell(self.below, outcomes, reason="" if self.below else "fewer than two settings ended ok")


def compare(results: Results, tuned: TunedExperiment, data: DataSetting, ours: str, rival: str) -> Finding:
    """Whether the settings of the rival lie further below its best than ours do below ours."""
    own, other = (
        TriedSettingsOfLine.read(results, tuned, tuned.experiment.line(label), data)
        for label in (ours, rival)
    )
    return check_above(
        f"{data.name}: distance below the best, {rival}", other.cell, ours, own.cell, better="lower"
    )


def check_flow(results: Results) -> Finding:
    data = NICE.data(results.profile)[0]
    return judge_settings([compare(results, FLOW, data, FLOW_OURS, rival) for rival in FLOW_RIVALS])


def check_tables(results: Results) -> Finding:
    """On every data set that was searched."""
    sets = [data for data in TABULAR.data(results.profile) if has_grid(data, results.profile)]
    if not sets:
        return Finding("not testable", f"no data set of the {results.profile} profile is searched")
    return judge_settings([compare(results, TABLES, data, OURS, TABLE_RIVAL) for data in sets])


def judge_settings(found: Sequence[Finding]) -> Finding:
    """All comparisons together. Their values are settings, so more seeds would add none."""
    finding = require_all(found)
    return Finding(finding.judgement, finding.evidence.replace("pairs of runs", "pairs of settings"))


def has_grid(data: TableSetting, profile: Profile) -> bool:
    return bool(TABULAR.grid_trials(TABULAR.line(OURS), profile, data))


class EaseOfTuning(Artifact):
    name = "ease-of-tuning"
    title = "Ease of tuning: how far the settings that were tried lie below the best"
    listed: ClassVar[bool] = False
    claims = (
        Claim(
            "easier-on-the-flow",
            "On the flow the settings of VERA lie less far below its best than those of PCD and CoopNet.",
            "text",
            check_flow,
            {"laptop": PLACED},
        ),
        Claim(
            "easier-on-tables",
            "On tables the settings of VERA lie less far below its best than those of JEM.",
            "text",
            check_tables,
        ),
    )
    columns = (
        Column("experiment", "experiment"),
        Column("dataset", "data"),
        Column("method", "method"),
        Column("settings", "settings", 0),
        Column("diverged", "of them diverged", 0),
        Column("best", "best", 1),
        Column("median", "median below it", 1),
        Column("spread", "quartiles' distance", 1),
        Column("worst", "worst below it", 1),
        Column("unit", "unit"),
    )

    @property
    def command(self) -> str:
        return "vera run table2-grid table6-grid"

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """None of its own: those of the grids are run by their own sweeps."""
        return iter(())

    def rows(self, results: Results) -> list[Row]:
        return results.find_all_rows(
            trial
            for tuned, data, line in list_grids(results.profile)
            for trial in tuned.experiment.grid_trials(line, results.profile, data)
        )

    def render(self, results: Results) -> Sheet:
        found = [
            (tuned, data, line, TriedSettingsOfLine.read(results, tuned, line, data))
            for tuned, data, line in list_grids(results.profile)
        ]
        lines = tuple(
            self.line(tuned, data, line, tried) for tuned, data, line, tried in found if tried.means
        )
        caption = (
            "Settings that were tried on the tuning seeds; a setting counts with its mean. "
            f"{describe_origin(self.rows(results))}"
        )
        note = "Higher is better. A setting that diverged with some seed has no distance."
        return Sheet(self.name, self.title, caption, self.columns, lines, results.profile, (note,))

    def line(
        self, tuned: TunedExperiment, data: DataSetting, line: Line, tried: TriedSettingsOfLine
    ) -> dict[str, Value]:
        below = tried.below
        quartiles = quantiles(below, n=4, method="inclusive") if len(below) > 1 else None
        return {
            "experiment": tuned.experiment.name,
            "dataset": data.name,
            "method": line.label,
            "settings": float(len(tried.means) + tried.diverged),
            "diverged": float(tried.diverged),
            "best": tried.means[0],
            "median": median(below) if below else None,
            "spread": quartiles[2] - quartiles[0] if quartiles else None,
            "worst": max(below, default=None),
            "unit": tuned.unit,
        }


def list_grids(profile: Profile) -> Iterator[tuple[TunedExperiment, DataSetting, Line]]:
    """Every line of both experiments that has a tuning grid on a data set."""
    for tuned in (FLOW, TABLES):
        for data in tuned.experiment.data(profile):
            for line in tuned.experiment.lines_for(profile, data):
                if tuned.experiment.grid_trials(line, profile, data):
                    yield tuned, data, line

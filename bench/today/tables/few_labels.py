"""Accuracy with ten labels a class, as Table 6, with HDGE and with averaged weights.

The accuracy is the last one. Averaged weights are measured in the same trial as the trained ones.
"""

from collections.abc import Iterator

from bench.artifact import Column, Sheet, Value, on_all
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.tabular_data import TableSetting
from bench.paper.tables.accuracy import ACCURACY, check_more_accurate, to_percent
from bench.paper.tables.table6 import describe_collapses
from bench.today.experiments.few_labels import AVERAGED, FEW_LABELS, HDGE, TRIED, VERA, search_hdge
from bench.today.plane_results import count_rows, read_seconds
from bench.today.tables.density import OURS
from bench.today.today_artifact import TodayArtifact
from bench.today.tuning import find_best, read_grid
from sweeps.trial.identity import Profile

EMA_ACCURACY = f"ema_{ACCURACY}"


def list_searched(profile: Profile) -> list[TableSetting]:
    """The data sets on which settings were searched: the sets of digits."""
    return [data for data in FEW_LABELS.data(profile) if data.name in TRIED]


def check_averaging_helps(results: Results, data: TableSetting) -> Finding:
    """Averaged against trained weights of the same trials."""
    trial = FEW_LABELS.trial(AVERAGED, results.profile, data)
    averaged, raw = (to_percent(results.cell(trial, metric)) for metric in (EMA_ACCURACY, ACCURACY))
    return check_above("averaged weights", averaged, "trained weights", raw)


class FewLabelsTable(TodayArtifact):
    experiment = FEW_LABELS
    name = "few-labels"
    title = "Accuracy with ten labels a class, HDGE and averaged weights included"
    claims = (
        Claim(
            "vera-beats-hdge",
            "VERA beats HDGE on both sets of digits.",
            OURS,
            on_all(check_more_accurate(FEW_LABELS, VERA, HDGE), list_searched),
        ),
        Claim(
            "averaging-helps-vera",
            "Averaged weights make VERA more accurate on both sets of digits.",
            OURS,
            on_all(check_averaging_helps, list_searched),
        ),
    )
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column(ACCURACY, "accuracy, %", 1),
        Column(EMA_ACCURACY, "with averaged weights, %", 1),
        Column("collapsed", "collapsed"),
        Column("seconds", "seconds", 0),
        Column("diverged_trials", "diverged trials"),
    )

    def render(self, results: Results) -> Sheet:
        lines = [line for data in self.data(results.profile) for line in self.block(results, data)]
        text = "Held-out accuracy at the end of training, higher is better"
        return self.sheet(results, text, self.columns, lines, tuple(self.notes(results)))

    def block(self, results: Results, data: TableSetting) -> Iterator[dict[str, Value]]:
        for trial in self.trials_on(results.profile, [data]):
            averaged = to_percent(results.cell(trial, EMA_ACCURACY))
            yield {
                "dataset": data.name,
                "method": trial.label,
                ACCURACY: to_percent(results.cell(trial, ACCURACY)),
                EMA_ACCURACY: averaged if averaged.values else "",
                "collapsed": describe_collapses(results, trial),
                "seconds": results.measure(trial, read_seconds),
                "diverged_trials": count_rows(
                    results.find_rows(trial), lambda row: row.outcome == "diverged"
                ),
            }

    def notes(self, results: Results) -> Iterator[str]:
        yield "The lines of Table 6 are its trials, with the settings chosen there."
        if results.profile != "laptop":
            return
        for data in list_searched(results.profile):
            search = search_hdge(data.name)
            stored, where = find_tuning_results(results, search)
            grid = read_grid(stored, search, FEW_LABELS.line(HDGE), lambda r, t: r.cell(t, ACCURACY))
            total, best = sum(each.total for each in grid), find_best(grid, "higher")
            yield (
                f"HDGE on {data.name}: {len(grid)} configurations (vera run today/few-labels-grid; {where} "
                f"has {total} of the trials)."
            )
            if best is not None and not best.is_chosen:
                yield f"HDGE on {data.name} does not have the best of what was tried, which is {best.label}."

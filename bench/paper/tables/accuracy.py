"""Accuracies of Tables 3 and 6, in percent."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.experiment import Experiment
from bench.judging.cell import Cell
from bench.judging.claims import Finding, check_above
from bench.judging.results import Results

ACCURACY, BEST = "test_accuracy", "best_test_accuracy"
Check = Callable[[Results, Any], Finding]
"""A claim about one data set."""


def to_percent(cell: Cell) -> Cell:
    return replace(cell, values=tuple(100 * value for value in cell.values))


def read_accuracy(results: Results, experiment: Experiment[Any], data: Any, label: str) -> Cell:
    """The accuracy of a line on a data set at the end of training."""
    return to_percent(results.cell(experiment.trial(label, results.profile, data), ACCURACY))


def check_more_accurate(experiment: Experiment[Any], high: str, low: str) -> Check:
    """A claim that one line is more accurate than another."""

    def check(results: Results, data: Any) -> Finding:
        cells = [read_accuracy(results, experiment, data, label) for label in (high, low)]
        return check_above(high, cells[0], low, cells[1])

    return check

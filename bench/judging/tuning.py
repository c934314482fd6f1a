"""The trials that chose the settings of an experiment's lines: where they are stored."""

from pathlib import Path
from typing import Any

from bench.experiment import Experiment
from bench.judging.results import Results, open_store
from bench.locations import PUBLISHED


def find_tuning_results(results: Results, experiment: Experiment[Any]) -> tuple[Results, str]:
    """The results that hold trials of the experiment's tuning grids, and their name: the user's own, or the
    published ones if the user has none."""
    own, profile = results.copy_without_notes(), results.profile
    grids = (
        experiment.grid_trials(line, profile, data)
        for data in experiment.data(profile)
        for line in experiment.lines_for(profile, data)
    )
    if any(own.find_all_rows(grid) for grid in grids) or not Path(PUBLISHED, "trials").is_dir():
        return own, "this store"
    return Results(open_store(PUBLISHED), profile, "published"), PUBLISHED

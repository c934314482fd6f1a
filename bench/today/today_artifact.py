"""What the tables and figures of `bench.today` share.

Some of their lines are trials of the paper's experiments, with the same ids. An artifact counts as run if at
least one of its rows comes from a sweep of this package; the rows of the paper alone would make a table
without a single new method. `vera run all` is the paper: it leaves these artifacts out.
"""

from bench.artifact import ExperimentArtifact
from bench.judging.results import Results

SWEEPS = "today/"
"""Begins the names of the sweeps of this package."""


class TodayArtifact(ExperimentArtifact):
    """A table or figure of methods newer than the paper."""

    optional = True

    def is_in(self, results: Results) -> bool:
        return any(row.sweep.startswith(SWEEPS) for row in self.rows(results))

"""The results of a grid: a table, the best configuration, the trained models, a plot.

A configuration is a combination of values without the seed. It is judged by the mean over its seeds. A seed
that diverged, failed or was not run counts as worst: a configuration with such a seed ranks below all
configurations with fewer of them, whatever its other seeds reached. The mean that is printed is over the
seeds that have a value.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from sweeps.errors import UnknownTrial
from sweeps.run.progress import find_headline
from sweeps.store.row import Row
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from sweeps.trial.variant import spell_change
from vera.errors import SettingError, UnknownName, VeraError
from vera.spec.settings import suggest_or_list
from vera.spec.trial_spec import to_plain
from vera.wording import plural

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from vera.saved.model import SavedModel

Better = Literal["higher", "lower"]
SEED = "seed"
NOT_RUN = "not run"


@dataclass(frozen=True)
class GridConfiguration:
    """The trials of one combination of values, with one metric."""

    settings: dict[str, Any]
    """The values of the axes, without the seed."""
    trials: list[Trial] = field(repr=False)
    """One for each seed."""
    values: dict[int, float]
    """The metric by seed, for the seeds that ended ok."""

    @property
    def failed(self) -> int:
        """Seeds without a value."""
        return len(self.trials) - len(self.values)

    @property
    def mean(self) -> float | None:
        """The mean over the seeds that have a value."""
        return fmean(self.values.values()) if self.values else None

    @property
    def label(self) -> str:
        return ", ".join(map(spell_change, self.settings.items())) or self.trials[0].name


@dataclass(frozen=True)
class BestConfiguration(GridConfiguration):
    """The best configuration of a grid."""

    better: Better
    results: "GridResults" = field(repr=False)

    def model(self, seed: int | None = None) -> "SavedModel":
        """The trained model of a seed; by default of the seed with the best value."""
        if seed is None:
            choose = max if self.better == "higher" else min
            seed = choose(self.values, key=lambda each: self.values[each])
        found = {trial.spec.seed: trial.id for trial in self.trials}
        if seed not in found:
            listed = ", ".join(map(str, found))
            raise SettingError(f"The best configuration has no seed {seed}; its seeds are {listed}.")
        return self.results.model(found[seed])


class GridResults:
    """The stored results of the trials of a grid, as they were when they were read."""

    def __init__(
        self, trials: Sequence[Trial], settings: Mapping[str, Mapping[str, Any]], store: Store
    ) -> None:
        """`settings` are the values of the axes by trial id."""
        self.trials, self.settings, self.store = list(trials), settings, store
        wanted = {trial.id for trial in trials}
        self.rows: dict[str, Row] = {row.trial_id: row for row in store.read_rows() if row.trial_id in wanted}

    def __repr__(self) -> str:
        counts = Counter(self._get_outcome(trial).replace("_", " ") for trial in self.trials)
        listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        return f"<{plural(len(self.trials), 'trial')} in {self.store.location}: {listed}>"

    def frame(self) -> "pd.DataFrame":
        """One row per trial: its id, the varied settings, the outcome, the seconds, the metrics."""
        import pandas as pd

        return pd.DataFrame([self._collect_facts(trial) for trial in self.trials])

    def _collect_facts(self, trial: Trial) -> dict[str, Any]:
        varied = {path: _to_cell(value) for path, value in self.settings[trial.id].items()}
        row = self.rows.get(trial.id)
        facts = {"id": trial.id, **varied, "outcome": self._get_outcome(trial)}
        return facts if row is None else {**facts, "seconds": row.seconds, **json.loads(row.metrics)}

    def _get_outcome(self, trial: Trial) -> str:
        return self.rows[trial.id].outcome if trial.id in self.rows else NOT_RUN

    def configurations(self, metric: str) -> list[GridConfiguration]:
        """All combinations of values with this metric, in the order of the trials."""
        groups: dict[str, list[Trial]] = {}
        for trial in self.trials:
            groups.setdefault(canonical_json(self._get_settings(trial)), []).append(trial)
        known = self._list_metrics()
        if known and metric not in known:
            raise UnknownName(f"No trial has the metric '{metric}'.{suggest_or_list(metric, sorted(known))}")
        return [
            GridConfiguration(self._get_settings(trials[0]), trials, self._read_values(trials, metric))
            for trials in groups.values()
        ]

    def _get_settings(self, trial: Trial) -> dict[str, Any]:
        return {path: to_plain(value) for path, value in self.settings[trial.id].items() if path != SEED}

    def _read_values(self, trials: Sequence[Trial], metric: str) -> dict[int, float]:
        done = [trial for trial in trials if self._get_outcome(trial) == "ok"]
        metrics = {trial.spec.seed: json.loads(self.rows[trial.id].metrics) for trial in done}
        return {seed: found[metric] for seed, found in metrics.items() if metric in found}

    def best(self, metric: str, better: Better = "higher") -> BestConfiguration:
        """The configuration with the best mean over its seeds; seeds without a value count as worst."""
        if better not in ("higher", "lower"):
            raise SettingError(f"best: better must be 'higher' or 'lower', got {better!r}.")
        found = [(each, each.mean) for each in self.configurations(metric)]
        sign = 1 if better == "higher" else -1
        ranked = [(-each.failed, sign * mean, each) for each, mean in found if mean is not None]
        if not ranked:
            raise VeraError(f"No trial ended ok with the metric '{metric}': {self!r}")
        chosen = max(ranked, key=lambda entry: entry[:2])[2]
        return BestConfiguration(chosen.settings, chosen.trials, chosen.values, better, self)

    def model(self, trial_id: str) -> "SavedModel":
        """The trained model of a trial, by its id or the beginning of it."""
        from vera.saved.load import decode_model

        found = sorted(trial.id for trial in self.trials if trial.id.startswith(trial_id))
        if len(found) != 1:
            some = f"{len(found)} trials of this grid begin" if found else "No trial of this grid begins"
            raise UnknownTrial(f"{some} with '{trial_id}'. All ids are in .frame()")
        return decode_model(self.store.models.read(found[0]), f"the model of trial {found[0]}")

    def plot(self, metric: str | None = None) -> "Figure":
        """A metric of every configuration, by default the main one, such as test_log_likelihood or
        test_accuracy: a dot for each seed, a stroke for their mean."""
        from sweeps.grids.grid_plot import plot_configurations

        shown = find_headline(self._list_metrics()) if metric is None else metric
        if shown is None:
            raise VeraError(f"There is no main metric to plot; name one. {self!r}")
        return plot_configurations(self.configurations(shown), shown)

    def _list_metrics(self) -> set[str]:
        return {name for row in self.rows.values() for name in json.loads(row.metrics)}


def _to_cell(value: Any) -> Any:
    """The value as an entry of a table: lists and mappings as JSON text, which pandas can group by."""
    plain = to_plain(value)
    return canonical_json(plain) if isinstance(plain, list | dict) else plain

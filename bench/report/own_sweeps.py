"""The user's own sweeps: trials that belong to no table or figure, by sweep. Each has a table of its
configurations, pictures of the best ones, and its failures.

A configuration is everything but the seed. Its row shows the settings that differ within the sweep and the
means over its seeds.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.judging.cell import Cell, make_cell
from bench.render.numbers import NOT_MEASURED, format_significant
from bench.report.array_images import EmbeddedImage, draw_arrays
from bench.report.curve_drawing import CurveDrawing, draw_curve
from bench.report.trial_detail import flatten_settings
from bench.report.trial_list import StoredTrial, choose_headlines
from sweeps.run.progress import find_headline
from sweeps.trial.identity import Profile
from vera.wording import plural

LINE_LIMIT, CARD_LIMIT, FAILURE_LIMIT = 25, 6, 8
SETTING_LIMIT, METRIC_LIMIT, IMAGES_PER_CARD = 5, 3, 3
REASON_LENGTH = 200
INTERVAL_DIGITS = 2
NO_DIRECTION = "loss"
"""A metric that does not order configurations: losses of different methods have different meanings."""


@dataclass(frozen=True)
class SweepCard:
    """What one trained configuration looks like: its first seed that ended ok."""

    title: str
    trial_id: str
    images: Sequence[EmbeddedImage]
    curve: CurveDrawing | None


@dataclass(frozen=True)
class SweepFailure:
    """Trials that ended for the same reason."""

    outcome: str
    reason: str
    count: int
    trial_id: str
    """One of them."""


@dataclass(frozen=True)
class OwnSweep:
    profile: Profile
    name: str
    summary: str
    headers: Sequence[str]
    lines: Sequence[Sequence[str]]
    first_number: int
    """The first column of numbers."""
    omitted: int
    """Configurations that are not in the table."""
    cards: Sequence[SweepCard]
    failures: Sequence[SweepFailure]
    finished: str
    """When its last trial ended."""


@dataclass
class SweepConfiguration:
    """The trials that differ in their seed only."""

    label: str
    data: str
    settings: Mapping[str, str]
    trials: list[StoredTrial] = field(default_factory=list)

    def measure(self, metric: str) -> Cell:
        return make_cell((trial.row.outcome, trial.metrics.get(metric)) for trial in self.trials)

    @property
    def shown(self) -> StoredTrial | None:
        """Its first seed that ended ok."""
        return next((trial for trial in self.trials if trial.row.outcome == "ok"), None)


def find_own_sweeps(
    trials: Iterable[StoredTrial], profile: Profile, others: Collection[str], grids: Collection[str]
) -> list[OwnSweep]:
    """The sweeps of trials that are neither among `others` (ids of those in tables and figures) nor of a
    declared tuning grid, the one that finished last first."""
    groups: dict[str, list[StoredTrial]] = {}
    for trial in trials:
        if trial.row.trial_id not in others and trial.row.sweep not in grids:
            groups.setdefault(trial.row.sweep, []).append(trial)
    found = [_describe_sweep(name, profile, group) for name, group in groups.items()]
    return sorted(found, key=lambda sweep: sweep.finished, reverse=True)


def _describe_sweep(name: str, profile: Profile, trials: Sequence[StoredTrial]) -> OwnSweep:
    configurations = _group_configurations(trials)
    metrics = _choose_metrics(trials)
    if metrics and metrics[0] != NO_DIRECTION:
        configurations.sort(key=lambda each: _rank(each.measure(metrics[0])))
    settings = _choose_settings(configurations)
    counts = Counter(trial.row.outcome.replace("_", " ") for trial in trials)
    listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    shown = configurations[:LINE_LIMIT]
    ends = [trial.row.finished_at for trial in trials]
    hours = sum(trial.row.seconds for trial in trials) / 3600
    return OwnSweep(
        profile,
        name or "(no sweep)",
        f"{plural(len(configurations), 'configuration')}, {plural(len(trials), 'trial')}: {listed}; "
        f"{hours:,.2f} hours of training, the last ended {max(ends)[:16].replace('T', ' ')} UTC",
        ["label", "data set", *(name.removeprefix("networks.") for name in settings), "seeds", "not ok"]
        + [name.replace("_", " ") for name in metrics],
        [list(_write_line(each, settings, metrics)) for each in shown],
        2 + len(settings),
        len(configurations) - len(shown),
        list(_make_cards(configurations, settings, metrics)),
        _group_failures(trials),
        max(ends),
    )


def _group_configurations(trials: Iterable[StoredTrial]) -> list[SweepConfiguration]:
    found: dict[tuple[str, str, str], SweepConfiguration] = {}
    for trial in trials:
        facts = json.loads(trial.row.spec)
        facts.pop("seed", None)
        key = (trial.row.label, trial.row.data, json.dumps(facts, sort_keys=True))
        if key not in found:
            settings = {name: str(value) for name, value in flatten_settings(facts)}
            found[key] = SweepConfiguration(trial.row.label, trial.row.data, settings)
        found[key].trials.append(trial)
    return list(found.values())


def _choose_metrics(trials: Sequence[StoredTrial]) -> list[str]:
    """The main metric first, then the most frequent others."""
    names = choose_headlines(trials)[:METRIC_LIMIT]
    measured = {name for trial in trials if trial.row.outcome == "ok" for name in trial.metrics}
    main = find_headline(measured)
    return list(dict.fromkeys([*([main] if main else []), *names]))[:METRIC_LIMIT]


def _rank(cell: Cell) -> tuple[bool, float]:
    """The highest mean first, and those without a value last."""
    return cell.mean is None, -(cell.mean or 0.0)


def _choose_settings(configurations: Sequence[SweepConfiguration]) -> list[str]:
    """The settings that differ, without those that say the same as the label, the data set or another
    setting."""
    known = {
        _number_values([each.label for each in configurations]),
        _number_values([each.data for each in configurations]),
    }
    shared = set.intersection(*(set(each.settings) for each in configurations))
    names = [name for name in configurations[0].settings if name in shared]
    found = []
    for name in names:
        pattern = _number_values([each.settings[name] for each in configurations])
        if len(set(pattern)) > 1 and pattern not in known:
            known.add(pattern)
            found.append(name)
    return found[:SETTING_LIMIT]


def _number_values(values: Sequence[str]) -> tuple[int, ...]:
    """Which values are equal: the same numbers for two settings that always change together."""
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)


def _write_line(each: SweepConfiguration, settings: Sequence[str], metrics: Sequence[str]) -> Iterator[str]:
    yield each.label
    yield each.data
    yield from (each.settings[name] for name in settings)
    yield str(len(each.trials))
    bad = sum(trial.row.outcome != "ok" for trial in each.trials)
    yield str(bad) if bad else ""
    for name in metrics:
        cell = each.measure(name)
        width = (
            "" if cell.half_width is None else f" ± {format_significant(cell.half_width, INTERVAL_DIGITS)}"
        )
        yield NOT_MEASURED if cell.mean is None else f"{format_significant(cell.mean)}{width}"


def _make_cards(
    configurations: Sequence[SweepConfiguration], settings: Sequence[str], metrics: Sequence[str]
) -> Iterator[SweepCard]:
    """The first configurations with something to show."""
    count = 0
    for each in configurations:
        trial = each.shown
        if trial is None or count == CARD_LIMIT:
            continue
        images = list(draw_arrays(trial.arrays))[:IMAGES_PER_CARD]
        curve = _draw_main_curve(trial, metrics)
        if images or curve:
            count += 1
            values = [f"{name.rpartition('.')[2]} {each.settings[name]}" for name in settings]
            yield SweepCard(
                ", ".join([f"{each.label} on {each.data}", *values]), trial.row.trial_id, images, curve
            )


def _draw_main_curve(trial: StoredTrial, metrics: Sequence[str]) -> CurveDrawing | None:
    for name in [(kind, metric) for metric in metrics for kind in ("evaluation", "training")]:
        if name in trial.histories:
            return draw_curve(name, trial.histories[name])
    return None


def _group_failures(trials: Iterable[StoredTrial]) -> list[SweepFailure]:
    groups: dict[tuple[str, str], list[str]] = {}
    for trial in trials:
        row = trial.row
        if row.outcome not in ("ok", "stopped_early"):
            reason = (row.reason.splitlines() or [""])[0][:REASON_LENGTH]
            groups.setdefault((row.outcome.replace("_", " "), reason), []).append(row.trial_id)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        SweepFailure(outcome, reason, len(ids), ids[0]) for (outcome, reason), ids in ordered[:FAILURE_LIMIT]
    ]

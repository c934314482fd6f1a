"""`vera compare`: what differs between trials: their settings, their metrics and their curves."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.cli.columns import format_columns
from bench.cli.flags import add_store_verb
from bench.cli.output_files import PLOTS, check_ending, write_figure
from bench.cli.parser import Subparsers
from bench.cli.selection.models import is_model_file
from bench.cli.selection.stores import CommandStore
from bench.cli.selection.trials import ID_HELP, find_stored_trial
from vera.errors import SettingError

if TYPE_CHECKING:
    from sweeps.store.row import CurvePoint

EXAMPLES = ("compare 91778e72 b13e2868", "compare 91778e72 b13e2868 -o curves.png")
ROW_ONLY = ("outcome", "data_fingerprint", "profile", "protocol")
"""Facts that a model file does not have."""
MAX_WIDTH = 60
"""Longest text of a setting that is printed whole."""


@dataclass(frozen=True)
class ComparedTrial:
    """A trial with its settings by dotted name, its metrics, and the values of its metrics by step."""

    name: str
    settings: Mapping[str, str]
    metrics: Mapping[str, float]
    history: Sequence[Mapping[str, float]] = field(default_factory=list)


def add_parser(verbs: Subparsers) -> None:
    text = "print the settings that differ between trials and their metrics; -o plots their curves"
    parser = add_store_verb(verbs, "compare", text, *EXAMPLES)
    parser.add_argument("ids", metavar="ID", nargs="+", help=f"{ID_HELP}; or a .safetensors file")
    parser.add_argument("-o", "--output", metavar="FILE", help="a plot of the curves: .png, .pdf or .svg")
    parser.set_defaults(run=compare_trials)


def compare_trials(arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        check_ending(arguments.output, PLOTS)
    if len(arguments.ids) < 2:
        raise SettingError("To compare, give two or more trials. All ids are listed by: vera report")
    own = CommandStore(arguments.results_dir)
    trials = [
        read_model_file(text) if is_model_file(text) else read_trial(text, arguments, own)
        for text in arguments.ids
    ]
    own.print_problems()
    print("\n".join(format_comparison(trials)))
    if arguments.output is not None:
        plot_histories(trials, arguments.output)
        print(f"Wrote the curves to {arguments.output}")
    return 0


def read_trial(text: str, arguments: argparse.Namespace, own: CommandStore) -> ComparedTrial:
    """A stored trial, of the user's own store or of the published one."""
    row, store = find_stored_trial(text, arguments, own)
    metrics = json.loads(row.metrics) | {"seconds": row.seconds}
    settings = flatten_settings({"label": row.label, "outcome": row.outcome, **json.loads(row.spec)})
    history = collect_history(store.read_curves(row.trial_id))
    return ComparedTrial(row.trial_id[:8], settings, metrics, history)


def read_model_file(path: str) -> ComparedTrial:
    """The facts of a model file. It has no curves."""
    from vera.saved.load import load_model

    facts = load_model(path).facts
    spec = facts.spec or {"method": facts.method, "networks": facts.networks, "seed": facts.seed}
    name = facts.trial_id[:8] or path
    return ComparedTrial(name, flatten_settings({"label": facts.label, **spec}), facts.metrics)


def flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings by dotted name, such as networks.energy.hidden, as text."""
    flat: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flatten_settings(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value if isinstance(value, str) else json.dumps(value)
    return flat


def collect_history(points: "Sequence[CurvePoint]") -> list[dict[str, float]]:
    """The values of all metrics by step, ordered; an evaluation replaces a training mean of the same name."""
    by_step: dict[int, dict[str, float]] = {}
    for point in sorted(points, key=lambda point: point.kind, reverse=True):
        by_step.setdefault(point.step, {"step": point.step})[point.metric] = point.value
    return [by_step[step] for step in sorted(by_step)]


def format_comparison(trials: Sequence[ComparedTrial]) -> list[str]:
    """Two tables: the settings that differ, and all metrics."""
    header = ["", *(trial.name for trial in trials)]
    names = dict.fromkeys(name for trial in trials for name in trial.settings)
    settings = [[name, *(_shorten(trial.settings.get(name, "-")) for trial in trials)] for name in names]
    differing = [line for line, name in zip(settings, names, strict=True) if _is_different(name, trials)]
    metrics = [
        [name, *(_format_metric(trial.metrics.get(name)) for trial in trials)]
        for name in sorted({name for trial in trials for name in trial.metrics})
    ]
    if not differing:
        return ["The settings are the same.", "", *format_columns([header, *metrics])]
    lines = format_columns([header, *differing, header, *metrics])
    return [*lines[: len(differing) + 1], "", *lines[len(differing) + 1 :]]


def plot_histories(trials: Sequence[ComparedTrial], file: str) -> None:
    """Plot the curves of all trials that have some, one panel per metric."""
    from vera.plot import plot_curves

    shown = [trial for trial in trials if trial.history]
    if not shown:
        raise SettingError("None of these trials has curves to plot.")
    labels = [f"{trial.name} {trial.settings.get('label', '')}".strip() for trial in shown]
    write_figure(file, plot_curves([list(trial.history) for trial in shown], labels=labels))


def _is_different(name: str, trials: Sequence[ComparedTrial]) -> bool:
    found = [trial.settings[name] for trial in trials if name in trial.settings]
    return len({*found}) > 1 or (len(found) < len(trials) and name not in ROW_ONLY)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else f"{text[: MAX_WIDTH - 1]}…"


def _format_metric(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"

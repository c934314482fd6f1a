"""The generated parts of the pages in docs/methods: settings, numbers and commands of each method.

Settings come from the signature of the class, numbers from the published tables. Loads torch, which the
method classes need.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.publishing.markdown_templates import render_template
from bench.publishing.published_tables import read_published_table
from bench.render.numbers import format_exact, format_interval
from vera.spec.registry import Registry, joint_methods, methods
from vera.spec.settings import Setting, settings_of


class QuotedTable(NamedTuple):
    """A published table and the column that a page quotes."""

    file: str
    title: str
    metric: str
    command: str
    """Runs its trials."""
    digits: int = 1
    compared: str = ""
    """The column to compare with the paper's values, if it is not that of `metric`."""

    @property
    def table(self) -> str:
        return self.file.removesuffix("-paper").removesuffix(CIFAR10)

    @property
    def is_paper(self) -> bool:
        return self.file.endswith("-paper")


TOYS = "test log-likelihood; the paper's values are the best of several means over 200 points"
CIFAR10 = "-cifar10-batches-1"
FIRST_FILE = "the sizes of laptop on the first file of CIFAR10"


def _quote_profiles(table: str, about: str, metric: str, **more: Any) -> tuple[QuotedTable, ...]:
    """The table at `laptop` and at `paper`."""
    run = f"vera run {table}"
    return (
        QuotedTable(table, about.format("laptop"), metric, run, **more),
        QuotedTable(f"{table}-paper", about.format("paper"), metric, f"{run} --profile paper", **more),
    )


def _quote_cifar10(table: str, about: str, metric: str, **more: Any) -> QuotedTable:
    return QuotedTable(
        f"{table}{CIFAR10}",
        f"{about}, {FIRST_FILE}",
        metric,
        f"vera run {table} --dataset cifar10,batches=1",
        **more,
    )


QUOTED_TABLES = (
    *_quote_profiles("table2", "Table 2, {}: test log-likelihood", "test_log_likelihood"),
    *_quote_profiles("table3", "Table 3, {}: accuracy, %", "test_accuracy"),
    _quote_cifar10("table3", "Table 3: accuracy after 300 steps, %", "test_accuracy"),
    *_quote_profiles("table4", "Table 4, {}: Fréchet distance of samples", "fid"),
    _quote_cifar10("table4", "Table 4: FID of samples after 300 steps", "fid"),
    *_quote_profiles("table5", "Table 5, {}: AUROC of f against unseen images", "f", digits=2),
    _quote_cifar10("table5", "Table 5: AUROC of f after 300 steps", "f", digits=2),
    QuotedTable(
        "table6", "Table 6, laptop: accuracy with ten labels a class, %", "test_accuracy", "vera run table6"
    ),
    QuotedTable(
        "table6-paper",
        "Table 6, paper: accuracy with ten labels a class, %; HUMAN with columns 266–561 recomputed",
        "test_accuracy",
        "vera run table6 --profile paper",
    ),
    *_quote_profiles(
        "table10", f"Table 10, {{}}: {TOYS}", "test_log_likelihood", digits=2, compared="best_of_either"
    ),
    *_quote_profiles("modes", "Modes of 1,000, {}", "modes"),
)
LINES: dict[str, dict[str, tuple[str, ...]]] = {
    "ml": {"table2": ("ML",), "table10": ("ML",)},
    "vera": {
        "table2": ("VERA λ=1", "VERA λ=0"),
        "table3": ("VERA α=1", "VERA α=100"),
        "table4": ("VERA α=1", "VERA α=100"),
        "table5": ("VERA α=1", "VERA α=100"),
        "table6": ("VERA",),
        "table10": ("VERA λ=1", "VERA λ=0.1", "VERA λ=0.01", "VERA λ=0"),
        "modes": ("VERA", "VERA λ=0"),
    },
    "vera-hmc": {
        "table2": ("VERA-HMC λ=1, prior-only force", "VERA-HMC λ=1, full force"),
        "modes": ("VERA-HMC, prior-only force", "VERA-HMC, full force"),
    },
    "meg": {"table2": ("MEG",), "table6": ("MEG",)},
    "pcd": {"table2": ("PCD",), "table10": ("PCD (best σ)",)},
    "coopnet": {"table2": ("CoopNet",)},
    "ssm": {"table2": ("SSM",)},
    "dsm": {"table2": ("DSM",)},
    "cp-sm": {"table2": ("CP-SM",)},
    "supervised": {"table3": ("Classifier",), "table6": ("Supervised", "Full-label")},
    "vat": {"table6": ("VAT",)},
    "jem": {"table3": ("JEM",), "table4": ("JEM",), "table5": ("JEM",), "table6": ("JEM",)},
    "hdge": {"table3": ("HDGE",), "table4": ("HDGE + log p(x)",), "table5": ("HDGE",)},
}
"""Method → table → labels of the method's lines in that table."""


def list_methods() -> list[str]:
    """The methods that need a page: all but those of plug-ins."""
    plugins = {*methods.plugin_names(), *joint_methods.plugin_names()}
    return sorted({*methods, *joint_methods} - plugins)


def render_knobs(name: str) -> str:
    """Every setting of the method. If a joint method has the same name, also its additional or different
    settings."""
    own = _list_settings(methods, name) or _list_settings(joint_methods, name)
    joint = None
    if name in methods and name in joint_methods:
        defaults = {setting.name: setting.default for setting in own}
        joint = [
            _describe_setting(setting)
            for setting in _list_settings(joint_methods, name)
            if defaults.get(setting.name, ...) != setting.default
        ]
    return render_template("knobs", knobs=[_describe_setting(setting) for setting in own], joint_knobs=joint)


def _list_settings(registry: Registry[Any], name: str) -> list[Setting]:
    if name not in registry:
        return []
    factory = registry.get(name)
    networks = factory.network_names()
    return [setting for setting in settings_of(factory).values() if setting.name not in networks]


def _describe_setting(setting: Setting) -> tuple[str, str, str]:
    return f"`{setting.name}`", _spell_default(setting.default), setting.help


def _spell_default(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple):
        return f"({', '.join(map(_spell_default, value))})"
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def render_numbers(name: str) -> str:
    """The lines of the method in the published tables, next to the paper's values."""
    tables = []
    for quoted in QUOTED_TABLES:
        labels = LINES[name].get(quoted.table, ())
        lines = _find_lines(quoted, labels)
        if labels and (lines or not quoted.is_paper):
            tables.append(_describe_table(quoted, lines))
    return render_template("numbers", tables=tables)


def _find_lines(quoted: QuotedTable, labels: Sequence[str]) -> list[dict[str, str]]:
    """The lines with trials."""
    trials = f"{quoted.metric}_trials"
    return [
        line
        for line in read_published_table(quoted.file)
        if line["method"] in labels and int(line[trials] or 0)
    ]


def _describe_table(quoted: QuotedTable, lines: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    keys = [key for key in ("dataset", "unseen", "method") if lines and key in lines[0]]
    compared = ["by nearly the paper's rule"] if quoted.compared else []
    return {
        "title": quoted.title,
        "command": quoted.command,
        "head": [*keys, "here", "n", *compared, "paper"],
        "lines": [[*(line[key] for key in keys), *_describe_values(line, quoted)] for line in lines],
    }


def _describe_values(line: Mapping[str, str], quoted: QuotedTable) -> list[str]:
    """Mean and interval or why there is none, seeds, the value to compare, the paper's value."""
    paper = line[f"{quoted.compared or quoted.metric}_paper"]
    return [
        _describe_mean(line, quoted.metric, quoted.digits),
        f"{line[f'{quoted.metric}_n']} of {line[f'{quoted.metric}_trials']}",
        *([_describe_mean(line, quoted.compared, quoted.digits)] if quoted.compared else []),
        format_exact(float(paper)) if paper else "",
    ]


def _describe_mean(line: Mapping[str, str], metric: str, digits: int) -> str:
    mean, half_width = line[metric], line[f"{metric}_half_width"]
    if not mean:
        return line[f"{metric}_reason"]
    return format_interval(float(mean), float(half_width) if half_width else None, digits)


def render_command(name: str) -> str:
    """The commands that train the method and render every table that has it."""
    return render_template("command", method=name, tables=list(LINES[name]))

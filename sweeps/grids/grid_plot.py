"""A plot of one metric over the configurations of a grid. matplotlib is imported when it is asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vera.extras import explain_missing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sweeps.grids.grid_results import GridConfiguration

WIDTH, HEIGHT = 6.0, 0.35
"""Inches of the panel, and of each configuration in it."""


def plot_configurations(configurations: "Sequence[GridConfiguration]", metric: str) -> "Figure":
    """One line per configuration: every seed as a dot, their mean as a stroke, seeds without a value
    counted."""
    with explain_missing("A plot of a grid"):
        import matplotlib.pyplot as plt

    height = 1.0 + HEIGHT * len(configurations)
    figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
    for place, each in enumerate(configurations):
        values = list(each.values.values())
        axes.plot(values, [place] * len(values), "o", color="C0", alpha=0.5)
        if each.mean is not None:
            axes.plot(each.mean, place, "|", color="C1", markersize=16, markeredgewidth=2)
    labels = [each.label + _describe_failures(each) for each in configurations]
    axes.set_yticks(range(len(configurations)), labels)
    axes.set(xlabel=metric, ylim=(len(configurations) - 0.5, -0.5))
    axes.grid(axis="y", alpha=0.3)
    return figure


def _describe_failures(configuration: "GridConfiguration") -> str:
    failed, total = configuration.failed, len(configuration.trials)
    return f"\n{failed} of {total} without a value" if failed else ""

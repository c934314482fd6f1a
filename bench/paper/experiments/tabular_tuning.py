"""A search for the settings of every line of Table 6 on each data set of `laptop`, and what it found.

On a data set every line has the same number of configurations, each trained on two tuning seeds (the sweep
`table6-grid`); the one with the highest mean accuracy is chosen; means within a tenth of a point count as
equal, and of equal ones the first is chosen. On the 8 × 8 digits they are a start, eight moves from it, and
three further ones; on MNIST, where trials take longest, the start, four moves and two further. Further ones
lie beyond the best of those before them or next to it, so that what is chosen lies at no edge. A move
changes up to two settings, because a line has up to eight.

Breast cancer and wine are not searched: ten labels a class are as good as all there, and so few points are
held out that two seeds do not tell settings apart. Every line has its start.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Settings = Mapping[str, Any]
"""Settings of a method, and two of its training: `length`, its steps as a factor of the data set's, and
`schedule`, when its learning rates decay."""

SCHEDULES: Mapping[str, tuple[float, ...]] = {
    "none": (),
    "late": (0.75, 0.875),
    "middle": (0.25, 0.375, 0.5, 0.75),
    "early": (0.05, 0.1),
}
"""Shares of training after which the learning rates decay: those of MNIST, HUMAN and HEPMASS in Table 9, and
none at all."""

COMMON = {"lr": 1e-3, "schedule": "late", "length": 1.0}
WEIGHTS = {"alpha": 10.0, "beta": 1.0, "gamma": 0.1}
GENERATOR = {**COMMON, **WEIGHTS, "generator_lr": 1e-3, "entropy_weight": 1e-4}
START: Mapping[str, Settings] = {
    "Supervised": {**COMMON, "length": 0.5},
    "VAT": {**COMMON, "alpha": 1.0, "beta": 1.0, "epsilon": 1.0},
    "MEG": GENERATOR,
    "JEM": {**COMMON, **WEIGHTS, "lr": 1e-4, "sampler_steps": 10, "length": 0.5},
    "VERA": {**GENERATOR, "chunks": 1},
    "Full-label": {**COMMON, "length": 0.5},
}
"""By line: all settings that are varied, where the search starts."""

_LABELS_MOVES: tuple[Settings, ...] = (
    {"lr": 3e-4},
    {"lr": 3e-3},
    {"length": 0.25},
    {"length": 1.0},
    {"lr": 1e-4, "length": 1.0},
    {"lr": 1e-2, "length": 0.25},
    {"schedule": "none"},
    {"schedule": "middle"},
)
_SLOW_AND_FAST: tuple[Settings, ...] = ({"lr": 3e-4, "length": 1.5}, {"lr": 3e-3, "length": 0.5})
_GENERATOR_MOVES: tuple[Settings, ...] = (
    *_SLOW_AND_FAST,
    {"alpha": 3.0, "gamma": 1.0},
    {"alpha": 30.0, "gamma": 0.01},
    {"generator_lr": 3e-4, "schedule": "none"},
    {"generator_lr": 3e-3, "schedule": "middle"},
    {"beta": 0.3, "entropy_weight": 1e-2},
    {"beta": 3.0, "entropy_weight": 1e-6},
)
MOVES: Mapping[str, tuple[Settings, ...]] = {
    "Supervised": _LABELS_MOVES,
    "VAT": (
        *_SLOW_AND_FAST,
        {"epsilon": 0.3},
        {"epsilon": 3.0},
        {"alpha": 0.3, "schedule": "none"},
        {"alpha": 3.0, "schedule": "middle"},
        {"beta": 0.3},
        {"beta": 3.0},
    ),
    "MEG": _GENERATOR_MOVES,
    "JEM": (
        {"lr": 3e-5, "length": 1.0},
        {"lr": 3e-4, "length": 0.25},
        {"sampler_steps": 5, "schedule": "none"},
        {"sampler_steps": 20, "schedule": "middle"},
        {"alpha": 3.0, "gamma": 1.0},
        {"alpha": 30.0, "gamma": 0.01},
        {"beta": 0.3},
        {"beta": 3.0},
    ),
    "VERA": _GENERATOR_MOVES,
    "Full-label": _LABELS_MOVES,
}
"""By line: what is changed of its start."""
MOVES_TRIED: Mapping[str, int] = {"digits 8 × 8": 8, "MNIST 5k, 14 × 14": 4}
"""By data set: how many of the moves are tried, the first ones. Other data sets are not searched."""

FURTHER: Mapping[str, Mapping[str, tuple[Settings, ...]]] = {
    "digits 8 × 8": {
        "Supervised": (
            {"lr": 3e-2, "length": 0.125},
            {"lr": 1e-2, "length": 0.5},
            {"lr": 2e-2, "length": 0.25},
        ),
        "VAT": ({"beta": 0.1}, {"beta": 0.3, "lr": 2e-3}, {"beta": 0.03}),
        "MEG": ({"lr": 1e-2, "length": 0.25}, {"lr": 3e-3}, {"lr": 5e-3}),
        "JEM": ({"beta": 10.0}, {"beta": 3.0, "lr": 2e-4}, {"beta": 5.0, "lr": 2e-4}),
        "VERA": ({"lr": 1e-2, "length": 0.25}, {"lr": 3e-3}, {"lr": 5e-3}),
        "Full-label": ({"lr": 1e-2}, {"lr": 2e-3}, {"lr": 5e-3}),
    },
    "MNIST 5k, 14 × 14": {
        "Supervised": ({"lr": 1e-2, "length": 0.25}, {"lr": 5e-3}),
        "VAT": ({"lr": 2e-3}, {"lr": 1.5e-3}),
        "MEG": ({"lr": 2e-3}, {"lr": 1.5e-3}),
        "JEM": ({"lr": 1e-3, "length": 0.125}, {"lr": 3e-3, "length": 0.0625}),
        "VERA": ({"lr": 2e-3}, {"lr": 1.5e-3}),
        "Full-label": ({"length": 2.0}, {"length": 4.0}),
    },
}
"""By data set and line: the configurations after the moves, as changes of the start."""

CHOSEN: Mapping[str, Mapping[str, Settings]] = {
    "digits 8 × 8": {
        "Supervised": {"lr": 1e-2, "length": 0.25},
        "VAT": {"beta": 0.1},
        "MEG": {"lr": 3e-3},
        "JEM": {"beta": 3.0, "lr": 2e-4},
        "VERA": {"lr": 5e-3},
        "Full-label": {"lr": 3e-3},
    },
    "MNIST 5k, 14 × 14": {
        "Supervised": {"lr": 5e-3},
        "VAT": {"lr": 1.5e-3},
        "MEG": {"lr": 2e-3},
        "JEM": {"lr": 1e-3, "length": 0.125},
        "VERA": {"lr": 1.5e-3},
        "Full-label": {"length": 2.0},
    },
}
"""By data set and line: the configuration with the highest mean accuracy, as changes of the start."""


def list_configurations(line: str, data: str) -> Iterator[Settings]:
    """What is tried for a line on a data set, as changes of its start; the first is the start itself. Nothing
    on a data set that is not searched."""
    if data not in MOVES_TRIED:
        return
    yield {}
    yield from MOVES[line][: MOVES_TRIED[data]]
    yield from FURTHER[data][line]


def choose_settings(line: str, data: str) -> Settings:
    """All varied settings of a line on a data set as chosen; the start's if none were."""
    return {**START[line], **CHOSEN.get(data, {}).get(line, {})}

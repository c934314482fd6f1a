"""What the paper tried on images beside the lines of Table 3: JEM with longer chains, VERA with noise on the
data, and VERA at every α and λ.

Their settings at `laptop` follow from those of Table 3's lines. They are not tuned themselves.
"""

from dataclasses import replace
from typing import Any

from bench.experiment import Line
from bench.paper.experiments.images import IMAGES, SCALES, ImageExperiment

DEFAULT_SAMPLER_STEPS = 20
"""Of JEM."""
LONG_JEM, NOISY_VERA = "JEM, 4 × steps", "VERA α=100, data noise"


def _change_line(base: str, label: str, **settings: Any) -> Line:
    """A line of Table 3 with other settings at every profile, without the paper's value and without a tuning
    grid at `laptop`."""
    line = IMAGES.line(base)
    return replace(
        line,
        label=label,
        method={**line.method, **settings},
        laptop={**line.laptop, **{name: value for name, value in settings.items() if name in line.laptop}},
        laptop_points=(),
        reference=None,
        copied=False,
    )


def _lengthen_chains(label: str, factor: int) -> Line:
    """JEM with more sampler steps, at every profile as many times those of its line."""
    line = IMAGES.line("JEM")
    usual = DEFAULT_SAMPLER_STEPS
    changed = _change_line("JEM", label, sampler_steps=factor * usual)
    own = {"sampler_steps": factor * line.laptop.get("sampler_steps", usual)}
    return replace(changed, laptop={**changed.laptop, **own}, gflop=factor * 35_000.0)


ARMS = ImageExperiment(
    "image-arms",
    (
        _lengthen_chains(LONG_JEM, 4),
        _change_line("VERA α=100", NOISY_VERA, data_noise=0.03),
    ),
    SCALES,
    registry=None,
)
"""What the paper says about stability, beside the lines of Table 3: late in training JEM needed four times as
many sampler steps; VERA needs no noise on the data, of which JEM has .03."""

WEIGHTS, SMALL_WEIGHTS = (1.0, 0.1, 0.01, 1e-3, 1e-4), (1.0, 0.01, 1e-4)
"""λ from 1 down by factors of 10, as in the paper, and those that are tried at `laptop`."""


def _make_weight_line(alpha: float) -> Line:
    """VERA with this α, tried at every λ. The rates are those of Table 3's line; for α = 10, of which the
    paper says nothing, those of α = 100."""
    base = "VERA α=1" if alpha == 1 else "VERA α=100"
    line = _change_line(base, f"VERA α={alpha:g}", alpha=alpha)
    points = [{"entropy_weight": weight} for weight in SMALL_WEIGHTS]
    return replace(line, grid={"entropy_weight": WEIGHTS}, laptop_grid=None, laptop_points=points)


WEIGHT_GRID = ImageExperiment(
    "image-weights", tuple(map(_make_weight_line, (1.0, 10.0, 30.0, 100.0))), SCALES
)

weights_grid = WEIGHT_GRID.grid_sweep(
    "image-weights-grid",
    "VERA on images at every α ∈ {1, 10, 30, 100} and λ from 1 down to 1e-4 (three of them at laptop)",
)

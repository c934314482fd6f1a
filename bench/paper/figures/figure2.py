"""Figure 2: samples of the flows of Table 2. Left exact samples of each flow, right the samples that it was
trained with.

Rows as in the paper: VERA with λ = 1 and 0, MEG, PCD, CoopNet, and SSM, which trains without samples. The
figure needs only trials of Table 2. Trap: the samples on the right may look good while the flow is poor;
only those on the left show what was learned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import ONE_SEED, Results, find_first_rows, find_first_seed
from bench.paper.experiments.nice import NICE
from bench.render.plotting import create_panels, draw_image, tile_images
from sweeps.trial.identity import Profile, Trial

ENTROPY, NO_ENTROPY = "VERA λ=1", "VERA λ=0"
SHOWN = (ENTROPY, NO_ENTROPY, "MEG", "PCD", "CoopNet", "SSM")
VARIETY = "generator_variance_share"
TILES = (4, 10)
"""Rows and columns of images in a panel."""


@dataclass(frozen=True)
class FlowSamples:
    """One row of the figure. If an image is None, `reason` says why."""

    label: str
    exact: NDArray[Any] | None
    training: NDArray[Any] | None
    reason: str

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "FlowSamples":
        """The samples of the first seed."""
        first = find_first_seed(results, trial)
        if not first.is_ok:
            return cls(trial.label, None, None, first.failure)
        names = ("exact_samples", "training_samples")
        exact, training = (tile(first.arrays[name]) if name in first.arrays else None for name in names)
        return cls(trial.label, exact, training, "trains without samples" if training is None else "")


def convert_to_pixels(samples: NDArray[Any]) -> NDArray[Any]:
    """From logit space to [0, 1]."""
    return 1 / (1 + np.exp(-samples.astype(np.float64)))


def tile(samples: NDArray[Any]) -> NDArray[Any]:
    """The first samples as square images on one sheet."""
    side = round(samples.shape[1] ** 0.5)
    return tile_images(convert_to_pixels(samples).reshape(-1, side, side), *TILES, white=1.0, gap=1)


def read_variety(results: Results, label: str) -> Cell:
    """The share of the data's variance in a generator's means. The noise is left out, because it would
    count as variety."""
    return results.cell(NICE.trial(label, results.profile), VARIETY)


def entropy_keeps_variety(results: Results) -> Finding:
    with_entropy, without = (read_variety(results, label) for label in (ENTROPY, NO_ENTROPY))
    found = check_above(ENTROPY, with_entropy, NO_ENTROPY, without)
    return replace(found, evidence=f"share of the data's variance, {found.evidence}")


def draw(shown: Sequence[FlowSamples]) -> Any:
    figure, axes = create_panels(len(shown), 2, 3.2, 1.35)
    axes[0, 0].set_title("exact samples of the flow")
    axes[0, 1].set_title("samples used in training")
    for (left, right), samples in zip(axes, shown, strict=True):
        left.set_ylabel(samples.label)
        draw_image(left, samples.exact, samples.reason)
        draw_image(right, samples.training, samples.reason)
    return figure


class Figure2(ExperimentArtifact):
    experiment = NICE
    name = "figure2"
    title = "Figure 2: exact samples of the flows of Table 2, and those they were trained with"
    seeds = ONE_SEED
    claims = (
        Claim(
            "entropy-keeps-variety",
            "With the entropy term a generator's samples vary more than without it (λ = 1 against 0).",
            "ours, about Figure 2",
            entropy_keeps_variety,
        ),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (NICE.trial(label, profile) for label in SHOWN)

    def render(self, results: Results) -> Drawing:
        trials = list(self.trials(results.profile))
        shown = [FlowSamples.read(results, trial) for trial in trials]
        text = (
            "Left: exact samples of the flow, without MCMC. Right: the samples that training contrasted with "
            f"data. All flows decode the same noise. First seed; {NICE.about(results.profile)}."
        )
        return self.drawing(results, text, find_first_rows(results, trials), partial(draw, shown))

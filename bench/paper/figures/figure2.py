"""Figure 2: the flows of Table 2, looked at: left exact samples of each, right the samples that it was
trained with.

Rows as in the paper: VERA with λ = 1 and 0, MEG, PCD, CoopNet, and SSM, which trains without samples. It
needs no trials but those of Table 2. Trap: the samples on the right may look good while the flow is poor;
only the left ones show what was learned.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Artifact, Drawing
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, compare
from bench.judging.results import Results
from bench.paper.experiments.nice import NICE
from bench.render.caption import caption_tail
from bench.render.plotting import mosaic, panels
from sweeps.trial.identity import Profile, Trial

ENTROPY, NO_ENTROPY = "VERA λ=1", "VERA λ=0"
SHOWN = (ENTROPY, NO_ENTROPY, "MEG", "PCD", "CoopNet", "SSM")
VARIETY = "generator_variance_share"
TILES = (4, 10)
"""Rows and columns of images in a panel."""


@dataclass(frozen=True)
class Pair:
    """One line of the figure; an image is None where there is none, and `reason` says why."""

    label: str
    exact: NDArray[Any] | None
    training: NDArray[Any] | None
    reason: str

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "Pair":
        """Of the first seed, whatever became of it."""
        rows = results.like(trial)
        if not rows:
            return cls(trial.label, None, None, "not run")
        if rows[0].outcome != "ok":
            return cls(
                trial.label,
                None,
                None,
                f"{rows[0].outcome.replace('_', ' ')} at step {rows[0].outcome_step:,}",
            )
        arrays = results.arrays(rows[0])
        exact, training = (
            tile(arrays[name]) if name in arrays else None for name in ("exact_samples", "training_samples")
        )
        return cls(trial.label, exact, training, "trains without samples" if training is None else "")


def pixels(samples: NDArray[Any]) -> NDArray[Any]:
    """From logit space to [0, 1]."""
    return 1 / (1 + np.exp(-samples.astype(np.float64)))


def tile(samples: NDArray[Any]) -> NDArray[Any]:
    """The first samples as square images on one sheet."""
    side = round(samples.shape[1] ** 0.5)
    return mosaic(pixels(samples).reshape(-1, side, side), *TILES, white=1.0, gap=1)


def variety(results: Results, label: str) -> Cell:
    """The share of the data's variance that a generator's means have, without their noise, which would pass
    for variety."""
    return results.cell(NICE.trial(label, results.profile), VARIETY)


def entropy_keeps_variety(results: Results) -> Finding:
    found = compare(ENTROPY, variety(results, ENTROPY), NO_ENTROPY, variety(results, NO_ENTROPY))
    return Finding(found.judgement, f"share of the data's variance, {found.evidence}")


def draw(pairs: Sequence[Pair]) -> Any:
    figure, axes = panels(len(pairs), 2, 3.2, 1.35)
    axes[0, 0].set_title("exact samples of the flow")
    axes[0, 1].set_title("samples used in training")
    for (left, right), pair in zip(axes, pairs, strict=True):
        left.set_ylabel(pair.label)
        draw_tile(left, pair.exact, pair.reason)
        draw_tile(right, pair.training, pair.reason)
    return figure


def draw_tile(axis: Any, image: NDArray[Any] | None, reason: str) -> None:
    axis.set(xticks=(), yticks=())
    axis.spines[:].set_visible(False)
    if image is None:
        axis.text(0.5, 0.5, reason, ha="center", va="center", transform=axis.transAxes)
    else:
        axis.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")


class Figure2(Artifact):
    name = "figure2"
    title = "Figure 2: exact samples of the flows of Table 2, and those they were trained with"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0,), "paper": (0,)}

    claims = (
        Claim("entropy-keeps-variety", "With the entropy term a generator's samples vary more than without it (λ = 1 against 0).",
              "ours, about Figure 2", entropy_keeps_variety),
    )  # fmt: skip

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (NICE.trial(label, profile) for label in SHOWN)

    def render(self, results: Results) -> Drawing:
        trials = list(self.trials(results.profile))
        drawing: Callable[[], Any] = partial(draw, [Pair.read(results, trial) for trial in trials])
        rows = [row for trial in trials for row in results.like(trial)[:1]]
        caption = (
            "Left: exact samples of the flow, without MCMC. Right: the samples that it was pitted against. "
            f"First seed; {NICE.scales[results.profile].about}. {caption_tail(rows)}"
        )
        return Drawing(self.name, self.title, caption, drawing, results.profile, tuple(results.notes))

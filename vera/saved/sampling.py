"""Samples of a trained model: exact, from its generator, or by MALA.

Samples are drawn in blocks whose size depends on the shape of a point only. So the first samples for a seed
are the same however many are drawn, and memory is bounded. The step size of MALA is tuned once for each
number of steps, with random numbers of its own.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from vera.errors import SettingError, VeraError
from vera.evaluation.samples import draw_exact_samples
from vera.models.classifier import Classifier
from vera.models.contract import Density
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.samplers import DataRefiner, LatentRefiner, Refiner
from vera.training.state.random_state import use_seed

BLOCK_ELEMENTS, SMALLEST_BLOCK, LARGEST_BLOCK = 2**16, 64, 1024
DRAWS_PER_SAMPLE, FEWEST_DRAWS = 20, 10_000
"""Samples of one class: at most 20 draws per class for each sample wanted, but always 10,000 draws."""


class ModelSampler:
    """Draws samples of an energy model, with its generator if it has one.

    Without a generator, MALA starts from Gaussian noise with this mean and deviation.
    """

    def __init__(
        self, energy: nn.Module, generator: Generator | None, mean: Tensor, deviation: Tensor
    ) -> None:
        self.energy, self.generator = energy, generator
        self.mean, self.deviation = mean, deviation
        self.block = max(SMALLEST_BLOCK, min(LARGEST_BLOCK, BLOCK_ELEMENTS // mean.numel()))
        self._refiners: dict[int, Refiner] = {}

    @property
    def has_direct_samples(self) -> bool:
        """Whether samples can be drawn without MALA."""
        return isinstance(self.energy, Density) or self.generator is not None

    @torch.no_grad()
    def draw(self, n: int, refine: int) -> Tensor:
        """Return n samples."""
        draw_block = self._choose_draw(refine)
        blocks = [draw_block() for _ in range(-(-n // self.block))]
        return torch.cat(blocks)[:n]

    @torch.no_grad()
    def draw_class(self, n: int, refine: int, label: int) -> Tensor:
        """Return n samples that the classifier assigns to the class.

        Raises `VeraError` if too few of a bounded number of samples are of that class.
        """
        assert isinstance(self.energy, Classifier)
        draw_block, kept, found, drawn = self._choose_draw(refine), [], 0, 0
        limit = max(FEWEST_DRAWS, DRAWS_PER_SAMPLE * self.energy.classes * n)
        while found < n and drawn < limit:
            block = draw_block()
            with evaluation_mode(self.energy):
                logits = self.energy.logits(block)
            kept.append(block[logits.isfinite().all(1) & (logits.argmax(1) == label)])
            found, drawn = found + len(kept[-1]), drawn + len(block)
        if found < n:
            raise VeraError(
                f"Only {found} of {drawn} samples are of class {label}; {n} are needed. "
                "Ask for fewer, or refine the samples with refine=100."
            )
        return torch.cat(kept)[:n]

    def _choose_draw(self, refine: int) -> Callable[[], Tensor]:
        if isinstance(self.energy, Density):
            return partial(draw_exact_samples, self.energy, self.block)
        if refine:
            return partial(self._draw_refined, self._get_refiner(refine), refine)
        if self.generator is None:
            raise SettingError(
                f"{type(self.energy).__name__} has no generator and is not normalised: "
                "sample it by MALA with refine=1000 (the number of steps)."
            )
        return partial(self.generator.sample, self.block, running_averages=True)

    def _draw_refined(self, refiner: Refiner, steps: int) -> Tensor:
        return refiner.decode(refiner.refine(refiner.start(self.block), steps)[0])

    def _get_refiner(self, steps: int) -> Refiner:
        """The refiner with a step size tuned for this number of steps."""
        if steps not in self._refiners:
            refiner: Refiner = (
                DataRefiner(self.energy, self.mean, self.deviation)
                if self.generator is None
                else LatentRefiner(self.energy, self.generator)
            )
            with use_seed(0):
                refiner.tune(length=steps)
            self._refiners[steps] = refiner
        return self._refiners[steps]

"""Samplers propose the points of a search and learn how they scored.

`GridSampler` enumerates the declared values. `RandomSampler` draws the same sequence for the same seed: a
resumed search proposes the same points again and finds them in the store. The learning sampler is in
`sweeps.search.tpe`; `sweeps.search.proposer.build_sampler` builds a sampler by name.
"""

import random
from abc import ABC, abstractmethod

from sweeps.search.objective import SearchScore
from sweeps.search.space import Point, Space

SAMPLERS = ("grid", "random", "tpe")


class Sampler(ABC):
    """Proposes points of a space."""

    def __init__(self, space: Space) -> None:
        self.space = space

    @abstractmethod
    def propose(self) -> Point | None:
        """The next point, or None if all points were proposed."""

    def learn(self, point: Point, score: SearchScore | None) -> None:  # noqa: B027 (only TPE learns)
        """Record the score of a point, whether proposed here or read from the store; None if it failed."""


class GridSampler(Sampler):
    """Every combination of the axes' grids, in order."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.left = list(space.iterate_grid())[::-1]  # a list, because Tune pickles the sampler

    def propose(self) -> Point | None:
        return self.left.pop() if self.left else None


class RandomSampler(Sampler):
    """Independent draws."""

    def __init__(self, space: Space, seed: int) -> None:
        super().__init__(space)
        self.rng = random.Random(seed)

    def propose(self) -> Point:
        return self.space.draw(self.rng)

"""Where the next point comes from. A sampler proposes points and is told what became of them.

`grid` takes every combination of the declared values; `random` draws from a seed, always the same sequence,
so that a search that is resumed proposes the same points again and finds them in the store. `tpe` learns (see
learners.py).
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence

from sweeps.search.objective import Result
from sweeps.search.space import Point, Space
from vera.errors import SettingError
from vera.spec.settings import nearest

SAMPLERS = ("grid", "random", "tpe")
SEEDS = 2**32
"""As many as numpy's generator takes, which TPE draws from."""


class Sampler(ABC):
    """Proposes points of a space."""

    def __init__(self, space: Space) -> None:
        self.space = space

    @abstractmethod
    def propose(self) -> Point | None:
        """The next point; None when there is none left."""

    def learn(self, point: Point, result: Result | None) -> None:  # noqa: B027 (grid and random have no use for it)
        """What became of a point, one of its own or one that the store has; None if it failed and says
        nothing."""


class Grid(Sampler):
    """Every combination, in order."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.left = list(space.grid())[::-1]  # no iterator: Tune pickles whatever searches

    def propose(self) -> Point | None:
        return self.left.pop() if self.left else None


class Random(Sampler):
    """Independent draws."""

    def __init__(self, space: Space, seed: int) -> None:
        super().__init__(space)
        self.rng = random.Random(seed)

    def propose(self) -> Point:
        return self.space.draw(self.rng)


def sampler_for(
    name: str, space: Space, objectives: int, seed: int, known: Sequence[tuple[Point, Result | None]]
) -> Sampler:
    """The sampler of this name, which has been told what is known."""
    if name not in SAMPLERS:
        raise SettingError(f"There is no sampler '{name}'.{nearest(name, list(SAMPLERS))}")
    if not 0 <= seed < SEEDS:
        raise SettingError(
            f"The seed of a sampler is a whole number from 0 to {SEEDS - 1}, got {seed}: choose another --sampler-seed."
        )
    if name == "grid":
        return Grid(space)
    if name == "random":
        return Random(space, seed)
    from sweeps.search.tpe import Learner

    sampler = Learner(space, objectives, (seed + len(known)) % SEEDS)
    for point, result in known:
        sampler.learn(point, result)
    return sampler

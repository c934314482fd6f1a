"""Build a sampler by name. Optuna is imported only when a TPE sampler is built."""

from collections.abc import Sequence

from sweeps.search.objective import SearchScore
from sweeps.search.samplers import GridSampler, RandomSampler, Sampler
from sweeps.search.space import Point, Space
from vera.errors import SettingError
from vera.spec.settings import suggest_or_list

SAMPLERS = ("grid", "random", "tpe")
SEEDS = 2**32
"""The number of seeds that NumPy's generator accepts; TPE draws from it."""


def build_sampler(
    name: str, space: Space, objectives: int, seed: int, known: Sequence[tuple[Point, SearchScore | None]]
) -> Sampler:
    """The sampler of this name, which has learned the known points."""
    if name not in SAMPLERS:
        raise SettingError(f"There is no sampler '{name}'.{suggest_or_list(name, list(SAMPLERS))}")
    if not 0 <= seed < SEEDS:
        raise SettingError(
            f"The sampler's seed must be an integer from 0 to {SEEDS - 1}, got {seed}: change --sampler-seed."
        )
    if name == "grid":
        return GridSampler(space)
    if name == "random":
        return RandomSampler(space, seed)
    from sweeps.search.tpe import TpeSampler

    sampler = TpeSampler(space, objectives, (seed + len(known)) % SEEDS)
    for point, score in known:
        sampler.learn(point, score)
    return sampler

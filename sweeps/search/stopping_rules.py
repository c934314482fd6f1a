"""When a trial of a search is not worth going on with: rules over scores at fixed steps, plain Python without
Ray.

A rule is asked at its milestones alone, at exactly those steps, so that trials are compared at equal
training. What the store holds of earlier trials is told to it first: a search that is resumed stops trials as
it would have.

`Halving` is asynchronous successive halving (ASHA): at every milestone a trial goes on if it is among the
best 1/η of all that came so far; the first to arrive goes on, and of equals the one that came before.
`Median` stops a trial whose score lies below the median of the others at that step, once there are enough of
them. Trap: a score is always finite here, and a trial that diverged counts as the worst. Under halving it has
its place at the next milestone alone: there it would have been stopped, so it makes no room at later ones. A
median is one of all that were begun, so there it has a place at each.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import median

from vera.errors import SettingError


class Rule(ABC):
    """Scores by milestone and trial."""

    def __init__(self, milestones: Sequence[int]) -> None:
        self.milestones = tuple(milestones)
        self.scores: dict[int, dict[str, float]] = {step: {} for step in self.milestones}

    def note(self, trial_id: str, step: int, score: float) -> None:
        """What a trial had at a milestone; other steps are not looked at."""
        if not math.isfinite(score):
            raise ValueError(f"a rule is told finite scores only, got {score}")
        if step in self.scores:
            self.scores[step][trial_id] = score

    def forget(self, trial_id: str) -> None:
        """Of a trial that was judged and is not one of those that others are compared with."""
        for known in self.scores.values():
            known.pop(trial_id, None)

    def note_end(self, trial_id: str, step: int, score: float) -> None:
        """Of a trial that ended at this step with this score, and will reach no further milestone."""
        for milestone in self.missed(step):
            self.scores[milestone][trial_id] = score

    def missed(self, step: int) -> Sequence[int]:
        """The milestones at which a trial that diverged at this step has a place all the same."""
        return [milestone for milestone in self.milestones if milestone > step]

    @abstractmethod
    def stops(self, trial_id: str, step: int) -> bool:
        """Whether a trial whose score at this step was noted is to be stopped there."""


class Never(Rule):
    """Every trial runs to its end."""

    def __init__(self) -> None:
        super().__init__(())

    def stops(self, trial_id: str, step: int) -> bool:
        return False


class Halving(Rule):
    """Asynchronous successive halving with factor η."""

    def __init__(self, milestones: Sequence[int], factor: int) -> None:
        super().__init__(milestones)
        self.factor = factor

    def missed(self, step: int) -> Sequence[int]:
        return super().missed(step)[:1]

    def stops(self, trial_id: str, step: int) -> bool:
        known = self.scores.get(step, {})
        if trial_id not in known:
            return False
        places = max(1, len(known) // self.factor)
        order = sorted(known, key=lambda other: -known[other])  # in the order of arrival where they are equal
        return order.index(trial_id) >= places


class Median(Rule):
    """Below the median of at least `needed` others."""

    def __init__(self, milestones: Sequence[int], needed: int = 4) -> None:
        super().__init__(milestones)
        self.needed = needed

    def stops(self, trial_id: str, step: int) -> bool:
        known = self.scores.get(step, {})
        others = [score for other, score in known.items() if other != trial_id]
        return trial_id in known and len(others) >= self.needed and known[trial_id] < median(others)


def milestones(steps: int, every: int, factor: int = 3) -> tuple[int, ...]:
    """A factor-th of all steps, a factor-th of that, and so on, each rounded to a step at which trials are
    evaluated."""
    if factor < 2:
        raise SettingError(f"Milestones need a factor of at least 2, got {factor}.")
    found: set[int] = set()
    step = steps / factor
    while step >= every / 2:
        found.add(max(every, round(step / every) * every))
        step /= factor
    return tuple(sorted(milestone for milestone in found if milestone < steps))


SCHEDULERS = ("none", "asha", "median")


def rule_for(scheduler: str, steps: int, every: int, factor: int = 3) -> Rule:
    """The rule of this name for trials of so many steps that are evaluated every so many."""
    if scheduler == "none":
        return Never()
    if scheduler == "asha":
        return Halving(milestones(steps, every, factor), factor)
    if scheduler == "median":
        return Median(range(every, steps, every))
    raise SettingError(f"There is no scheduler '{scheduler}': {', '.join(SCHEDULERS)}.")

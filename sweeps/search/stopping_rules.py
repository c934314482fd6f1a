"""Early stopping: rules over scores at fixed steps. Plain Python, no Ray.

A rule decides at its milestones only, at exactly those steps, so that trials are compared after equal
training. It first learns the stored scores of earlier trials, so a resumed search stops the same trials.

`HalvingStopping` is asynchronous successive halving (ASHA): at every milestone a trial continues if it is
among the best 1/η of all trials that reached it so far. The first to arrive continues; of equal scores the
earlier one does. `MedianStopping` stops a trial whose score is below the median of the others at that step,
once enough of them are there.

Trap: scores are always finite here, and a diverged trial counts as the worst. Under halving it has a place at
the next milestone only: it would have been stopped there, so it must not make room at later ones. A median is
taken over all started trials, so there it has a place at every later milestone.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import median

from vera.errors import SettingError


class StoppingRule(ABC):
    """Scores by milestone and trial."""

    def __init__(self, milestones: Sequence[int]) -> None:
        self.milestones = tuple(milestones)
        self.scores: dict[int, dict[str, float]] = {step: {} for step in self.milestones}

    def record_score(self, trial_id: str, step: int, score: float) -> None:
        """Record a trial's score at a milestone; other steps are ignored."""
        if not math.isfinite(score):
            raise ValueError(f"a stopping rule needs finite scores, got {score}")
        if step in self.scores:
            self.scores[step][trial_id] = score

    def forget(self, trial_id: str) -> None:
        """Remove a trial that was judged, but that others are not compared with."""
        for known in self.scores.values():
            known.pop(trial_id, None)

    def record_end(self, trial_id: str, step: int, score: float) -> None:
        """Record the score of a trial that ended at this step and reaches no further milestone."""
        for milestone in self.list_missed(step):
            self.scores[milestone][trial_id] = score

    def list_missed(self, step: int) -> Sequence[int]:
        """The later milestones at which a trial that diverged at this step still has a place."""
        return [milestone for milestone in self.milestones if milestone > step]

    @abstractmethod
    def should_stop(self, trial_id: str, step: int) -> bool:
        """Whether to stop a trial whose score at this step was recorded."""


class NeverStop(StoppingRule):
    """Every trial runs to its end."""

    def __init__(self) -> None:
        super().__init__(())

    def should_stop(self, trial_id: str, step: int) -> bool:
        return False


class HalvingStopping(StoppingRule):
    """Asynchronous successive halving with factor η."""

    def __init__(self, milestones: Sequence[int], factor: int) -> None:
        super().__init__(milestones)
        self.factor = factor

    def list_missed(self, step: int) -> Sequence[int]:
        return super().list_missed(step)[:1]

    def should_stop(self, trial_id: str, step: int) -> bool:
        known = self.scores.get(step, {})
        if trial_id not in known:
            return False
        places = max(1, len(known) // self.factor)
        order = sorted(known, key=lambda other: -known[other])  # stable: equal scores in order of arrival
        return order.index(trial_id) >= places


class MedianStopping(StoppingRule):
    """Stops below the median of at least `needed` others."""

    def __init__(self, milestones: Sequence[int], needed: int = 4) -> None:
        super().__init__(milestones)
        self.needed = needed

    def should_stop(self, trial_id: str, step: int) -> bool:
        known = self.scores.get(step, {})
        others = [score for other, score in known.items() if other != trial_id]
        return trial_id in known and len(others) >= self.needed and known[trial_id] < median(others)


def compute_milestones(steps: int, every: int, factor: int = 3) -> tuple[int, ...]:
    """steps / factor, steps / factor², …, each rounded to a multiple of `every`, the evaluation interval."""
    if factor < 2:
        raise SettingError(f"Milestones need a factor of at least 2, got {factor}.")
    found: set[int] = set()
    step = steps / factor
    while step >= every / 2:
        found.add(max(every, round(step / every) * every))
        step /= factor
    return tuple(sorted(milestone for milestone in found if milestone < steps))


SCHEDULERS = ("none", "asha", "median")


def build_rule(scheduler: str, steps: int, every: int, factor: int = 3) -> StoppingRule:
    """The rule of this name for trials of `steps` steps that are evaluated every `every` steps."""
    if scheduler == "none":
        return NeverStop()
    if scheduler == "asha":
        return HalvingStopping(compute_milestones(steps, every, factor), factor)
    if scheduler == "median":
        return MedianStopping(range(every, steps, every))
    raise SettingError(f"There is no scheduler '{scheduler}': choose one of {', '.join(SCHEDULERS)}.")

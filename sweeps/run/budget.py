"""The budget of a run: no trial is started once the trials of this run have taken this long, all together.
Those that run end as usual, and the next run starts the rest."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

HOUR = 3_600.0


@dataclass
class TrialBudget:
    """Counts the time of the trials of one run, from their start to their end on a worker."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    not_started: list[str] = field(default_factory=list)
    """Ids of the trials that were not started, as far as they are known."""
    _ended: float = 0.0
    _running: dict[str, float] = field(default_factory=dict)
    """Trial id → when it was started."""

    def start(self, trial_id: str) -> None:
        self._running.setdefault(trial_id, self.clock())

    def end(self, trial_id: str) -> None:
        if trial_id in self._running:
            self._ended += self.clock() - self._running.pop(trial_id)

    @property
    def spent(self) -> float:
        """Seconds of all trials until now."""
        now = self.clock()
        return self._ended + sum(now - began for began in self._running.values())

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.seconds

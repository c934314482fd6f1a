"""The sampler that learns, Optuna's TPE, for one objective or several. Its study lives in memory only.

Whatever the store has is added to the study before the first proposal, so a search needs no file of Optuna's
to be resumed. A point that was stopped early is a pruned trial with the score it had; one that failed is
none. While points are still being trained they count as poor ones, so that two workers do not try the same
place. Traps: Optuna takes lists for no category, hence choices go by their number; and it knows no pruned
trial where there are several objectives, hence those teach nothing there.
"""

import warnings
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from sweeps.search.objective import Result
from sweeps.search.samplers import Sampler
from sweeps.search.space import Axis, Point, Space, same
from sweeps.trial.canonical_json import canonical_json

STARTUP = 10
"""Points that are drawn at random before TPE begins to learn."""


class Learner(Sampler):
    """An Optuna study of the space."""

    def __init__(self, space: Space, objectives: int, seed: int) -> None:
        super().__init__(space)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.distributions = {axis.name: _distribution(axis) for axis in space.axes}
        self.study = optuna.create_study(directions=["maximize"] * objectives, sampler=_tpe(seed))
        self.asked: dict[str, list[int]] = {}
        """Points that were proposed and not yet told, with the study's numbers: one may come twice."""

    def propose(self) -> Point:
        trial = self.study.ask(self.distributions)
        point = self.space.settled(
            {axis.name: _value(axis, trial.params[axis.name]) for axis in self.space.axes}
        )
        self.asked.setdefault(canonical_json(point), []).append(trial.number)
        return point

    def learn(self, point: Point, result: Result | None) -> None:
        """Of a point that was proposed twice the second is told first: that it is no news."""
        if result is not None and result.stopped_at is not None and len(self.study.directions) > 1:
            result = None
        numbers = self.asked.get(canonical_json(point))
        number = numbers.pop() if numbers else None
        if number is None:
            self._add(point, result)
        elif result is None:
            self.study.tell(number, state=TrialState.FAIL)
        elif result.stopped_at is None:
            self.study.tell(number, list(result.scores))
        else:
            self._report(number, result)
            self.study.tell(number, state=TrialState.PRUNED)

    def _report(self, number: int, result: Result) -> None:
        trial = optuna.trial.Trial(self.study, self.study.trials[number]._trial_id)
        trial.report(result.scores[0], step=result.stopped_at or 0)

    def _add(self, point: Point, result: Result | None) -> None:
        """A point that this study did not propose; one that failed teaches nothing."""
        if result is None:
            return
        params = {axis.name: _code(axis, point[axis.name]) for axis in self.space.axes}
        facts: dict[str, Any] = {"params": params, "distributions": self.distributions}
        if result.stopped_at is None:
            self.study.add_trial(create_trial(values=list(result.scores), **facts))
        else:
            known = {result.stopped_at: result.scores[0]}
            self.study.add_trial(create_trial(state=TrialState.PRUNED, intermediate_values=known, **facts))


def _tpe(seed: int) -> optuna.samplers.BaseSampler:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its options are marked experimental
        return optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=STARTUP, multivariate=True, constant_liar=True
        )


def _distribution(axis: Axis) -> BaseDistribution:
    if axis.choices:
        return CategoricalDistribution(list(range(len(axis.choices))))
    assert axis.low is not None
    assert axis.high is not None
    if axis.whole:
        return IntDistribution(int(axis.low), int(axis.high), log=axis.log)
    return FloatDistribution(axis.low, axis.high, log=axis.log)


def _value(axis: Axis, code: Any) -> Any:
    return axis.choices[code] if axis.choices else code


def _code(axis: Axis, value: Any) -> Any:
    """As the study has it; a value that was rounded beyond a bound is the bound."""
    if axis.choices:
        return next(number for number, known in enumerate(axis.choices) if same(known, value))
    assert axis.low is not None
    assert axis.high is not None
    return min(max(value, axis.low), axis.high)

"""Optuna's TPE as a sampler, for one objective or several. The study lives in memory only.

Everything in the store is added to the study before the first proposal, so resuming needs no file of
Optuna's. A point that was stopped early becomes a pruned trial with its score; a failed point is not added.
Points in training count as poor ones (`constant_liar`), so that two workers do not try the same region.

Traps: Optuna's categories cannot be lists, so choices are stored by index. With several objectives Optuna has
no pruned trials, so points stopped early teach nothing there.
"""

import warnings
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from sweeps.search.objective import SearchScore
from sweeps.search.samplers import Sampler
from sweeps.search.space import Axis, Point, Space, is_same_value
from sweeps.trial.canonical_json import canonical_json

STARTUP = 10
"""Points drawn at random before TPE starts to learn."""


class TpeSampler(Sampler):
    """An Optuna study of the space."""

    def __init__(self, space: Space, objectives: int, seed: int) -> None:
        super().__init__(space)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.distributions = {axis.name: _build_distribution(axis) for axis in space.axes}
        self.study = optuna.create_study(directions=["maximize"] * objectives, sampler=_build_tpe(seed))
        self.pending: dict[str, list[int]] = {}
        """Trial numbers of proposed points without a score; a point can be proposed twice."""

    def propose(self) -> Point:
        trial = self.study.ask(self.distributions)
        point = self.space.round_point(
            {axis.name: _decode(axis, trial.params[axis.name]) for axis in self.space.axes}
        )
        self.pending.setdefault(canonical_json(point), []).append(trial.number)
        return point

    def learn(self, point: Point, score: SearchScore | None) -> None:
        """Record a score. Of a point that was proposed twice, the later proposal is answered first."""
        if score is not None and score.stopped_at is not None and len(self.study.directions) > 1:
            score = None
        numbers = self.pending.get(canonical_json(point))
        number = numbers.pop() if numbers else None
        if number is None:
            self._add(point, score)
        elif score is None:
            self.study.tell(number, state=TrialState.FAIL)
        elif score.stopped_at is None:
            self.study.tell(number, list(score.scores))
        else:
            self._report(number, score)
            self.study.tell(number, state=TrialState.PRUNED)

    def _report(self, number: int, score: SearchScore) -> None:
        trial = optuna.trial.Trial(self.study, self.study.trials[number]._trial_id)
        trial.report(score.scores[0], step=score.stopped_at or 0)

    def _add(self, point: Point, score: SearchScore | None) -> None:
        """Add a point that this study did not propose, unless it failed."""
        if score is None:
            return
        params = {axis.name: _encode(axis, point[axis.name]) for axis in self.space.axes}
        facts: dict[str, Any] = {"params": params, "distributions": self.distributions}
        if score.stopped_at is None:
            self.study.add_trial(create_trial(values=list(score.scores), **facts))
        else:
            known = {score.stopped_at: score.scores[0]}
            self.study.add_trial(create_trial(state=TrialState.PRUNED, intermediate_values=known, **facts))


def _build_tpe(seed: int) -> optuna.samplers.BaseSampler:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its options are marked experimental
        return optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=STARTUP, multivariate=True, constant_liar=True
        )


def _build_distribution(axis: Axis) -> BaseDistribution:
    if axis.choices:
        return CategoricalDistribution(list(range(len(axis.choices))))
    low, high = axis.bounds
    if axis.integer:
        return IntDistribution(int(low), int(high), log=axis.log)
    return FloatDistribution(low, high, log=axis.log)


def _decode(axis: Axis, code: Any) -> Any:
    return axis.choices[code] if axis.choices else code


def _encode(axis: Axis, value: Any) -> Any:
    """The value in the study: a choice by its index, a number clipped to the bounds after rounding."""
    if axis.choices:
        return next(number for number, known in enumerate(axis.choices) if is_same_value(known, value))
    low, high = axis.bounds
    return min(max(value, low), high)

"""VERA with one setting changed at a time, on the flow of Table 2: likelihood, σ at the end, and the
effective sample size of the proposal.

The difference from the base is paired by seed. A setting that diverged in some seeds has fewer pairs.

Trap: learning rates are those of the base throughout; a large k or latent may want others.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import fmean

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above, check_at_most, require_all
from bench.judging.results import Results
from bench.paper.tables.table2 import LIKELIHOOD, read_sigma
from bench.render.numbers import format_fixed
from bench.today.experiments.ablations import ABLATIONS, AXES, BASE_LABEL, PIXELS, AblationAxis, spell_value
from bench.today.plane_results import count_rows, read_seconds
from bench.today.tables.density import OURS
from bench.today.today_artifact import TodayArtifact
from sweeps.trial.identity import Trial

FEW_NATS = 3.0
"""Nats that count as no difference: about the spread of the base over seeds."""
BY_NAME = {axis.name: axis for axis in AXES}


def find_trial(results: Results, axis: AblationAxis, value: object) -> Trial:
    return ABLATIONS.trial(axis.label(value), results.profile)


def read_likelihood(results: Results, label: str) -> Cell:
    return results.cell(ABLATIONS.trial(label, results.profile), LIKELIHOOD)


def subtract_base(cell: Cell, base: Cell) -> Cell:
    """The differences from the base, for the seeds that both have."""
    known = dict(zip(base.seeds, base.values, strict=False))
    pairs = [
        (seed, value - known[seed])
        for seed, value in zip(cell.seeds, cell.values, strict=False)
        if seed in known
    ]
    values, seeds = tuple(value for _, value in pairs), tuple(seed for seed, _ in pairs)
    return replace(cell, values=values, seeds=seeds, reason=cell.reason or ("" if values else "no base"))


def claim_base_above(*others: str) -> Callable[[Results], Finding]:
    """A claim that the base is above each of these lines."""

    def check(results: Results) -> Finding:
        own = read_likelihood(results, BASE_LABEL)
        return require_all(
            [check_above(BASE_LABEL, own, label, read_likelihood(results, label)) for label in others]
        )

    return check


def check_small_effect(name: str) -> Callable[[Results], Finding]:
    """A claim that no other value of a setting gains more than a few nats over the base."""

    def check(results: Results) -> Finding:
        own, axis = read_likelihood(results, BASE_LABEL), BY_NAME[name]
        others = [axis.label(value) for value in axis.others]
        return require_all(
            [
                check_at_most(f"{label} − {BASE_LABEL}", read_likelihood(results, label), own, FEW_NATS)
                for label in others
            ]
        )

    return check


class Ablations(TodayArtifact):
    experiment = ABLATIONS
    name = "ablations"
    title = "VERA with one setting changed at a time, on the flow of Table 2"
    companions = ("ablation-panels",)
    claims = (
        Claim(
            "entropy-weight-of-one",
            "λ = 1 is better than every smaller λ.",
            "Sec. 5.1 of the VERA paper",
            claim_base_above(*(BY_NAME["λ"].label(value) for value in (0.0, 0.1, 0.3))),
        ),
        Claim(
            "large-latent-fails",
            "A latent of as many dimensions as the data, or of twice as many, is worse than one of 10.",
            "A.3 of the VERA paper",
            claim_base_above(*(BY_NAME["latent dimension"].label(value) for value in (PIXELS, 2 * PIXELS))),
        ),
        Claim(
            "more-samples-gain-little",
            f"No other number of importance samples gains more than {FEW_NATS:g} nats over 20.",
            OURS,
            check_small_effect("k"),
        ),
        Claim(
            "penalty-matters-little",
            f"No other gradient penalty gains more than {FEW_NATS:g} nats over half of γ = .1.",
            OURS,
            lambda results: require_all(
                [check_small_effect(name)(results) for name in ("γ, half", "penalty")]
            ),
        ),
        Claim(
            "sigma-bound-hurts",
            "σ of at most .3 is worse than σ without an effective bound.",
            OURS,
            claim_base_above(BY_NAME["σ max"].label(0.3)),
        ),
    )
    columns = (
        Column("setting", "setting"),
        Column("value", "value"),
        Column(LIKELIHOOD, "test log-likelihood", 1),
        Column("difference", "from the base", 1),
        Column("sigma", "σ", 2),
        Column("posterior_ess", "ESS of the proposal", 2),
        Column("seconds", "seconds", 0),
        Column("diverged_trials", "diverged trials"),
    )

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, BASE_LABEL, "", "")]
        for axis in AXES:
            lines += [
                self.line(results, axis.label(value), axis.name, spell_value(value)) for value in axis.others
            ]
        return self.sheet(results, "Nats, higher is better", self.columns, lines, tuple(self.notes(results)))

    def line(self, results: Results, label: str, setting: str, value: str) -> dict[str, Value]:
        trial = ABLATIONS.trial(label, results.profile)
        own, base = read_likelihood(results, label), read_likelihood(results, BASE_LABEL)
        ess = results.cell(trial, "posterior_ess")
        return {
            "setting": setting or BASE_LABEL,
            "value": value,
            LIKELIHOOD: own,
            "difference": "" if label == BASE_LABEL else subtract_base(own, base),
            "sigma": read_sigma(results, trial),
            "posterior_ess": ess if ess.values else "",
            "seconds": results.measure(trial, read_seconds),
            "diverged_trials": count_rows(results.find_rows(trial), lambda row: row.outcome == "diverged"),
        }

    def notes(self, results: Results) -> Iterator[str]:
        settings = ", ".join(f"{axis.name} {spell_value(axis.base)}" for axis in AXES)
        yield (
            f"Base: {settings}. From the base: the difference, paired by seed. The learning rates are those "
            "of the base throughout."
        )
        base = read_likelihood(results, BASE_LABEL)
        if base.values:
            spread, mean = max(base.values) - min(base.values), fmean(base.values)
            yield (
                f"The base's seeds spread over {format_fixed(spread, 1)} nats around {format_fixed(mean, 1)}."
            )

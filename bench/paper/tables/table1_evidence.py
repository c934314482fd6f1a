"""What was measured about each property of Table 1, for one method.

- fast: seconds of a training step on the flow of Table 2, in supervised steps of the same flow.
- stable training: trials that diverged, of all that ended, on the flow: those of the tuning grid and those of
  the table.
- high dimensions: nats between the method and maximum likelihood on the flow of Table 2, seed by seed.
- approximates likelihood: the same on the mixture of Table 10, as the mean over the three toys. Of a method
  with several lines there (PCD) the line with the best mean counts on each toy.
- no auxiliary model: trained networks besides the energy, counted in the specification.
- unrestricted architecture: whether the method accepts a ReLU network.

Trap: a gap of zero says that a method is as good as maximum likelihood, not that its objective is a
likelihood.
"""

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean

from bench.artifact import Value
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.families import (
    FLOW_FAMILIES,
    find_flow_trial,
    list_mixture_trials,
    make_cost_trial,
)
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.toy_judging import find_best
from bench.paper.experiments.toys import MIXTURE, TOYS
from sweeps.store.row import Row

LIKELIHOOD = "test_log_likelihood"
NO_MIXTURE = "cannot train a mixture"


def measure_step_cost(results: Results, label: str) -> Cell:
    return results.cell(make_cost_trial(label, results.profile), "ratio")


def count_diverged(results: Results, label: str) -> str:
    """For example "2 of 15"; the reason if no trial ended."""
    ended = [row for row in list_flow_rows(results, label) if row.outcome in ("ok", "diverged")]
    if not ended:
        return "not run"
    return f"{sum(row.outcome == 'diverged' for row in ended)} of {len(ended)}"


def list_flow_rows(results: Results, label: str) -> Iterator[Row]:
    """The rows of a line on the flow: its tuning grid, then the table's."""
    experiment = FLOW_FAMILIES if FLOW_FAMILIES.find_line(label) else NICE
    tuning, _ = find_tuning_results(results, experiment)
    seen = set()
    for found, trials in (
        (tuning, experiment.grid_trials(experiment.line(label), results.profile)),
        (results, [find_flow_trial(label, results.profile)]),
    ):
        for row in found.find_all_rows(trials):
            if row.trial_id not in seen:
                seen.add(row.trial_id)
                yield row


def measure_flow_gap(results: Results, label: str) -> Cell:
    """Test log-likelihood minus that of maximum likelihood, seed by seed."""
    own = results.cell(find_flow_trial(label, results.profile), LIKELIHOOD)
    return subtract_by_seed(own, results.cell(NICE.trial("ML", results.profile), LIKELIHOOD))


def measure_mixture_gap(results: Results, label: str) -> Cell:
    """The mean over the toys of the gap to maximum likelihood, seed by seed."""
    gaps = [measure_toy_gap(results, label, toy) for toy in range(len(TOYS))]
    if missing := next((gap for gap in gaps if gap.mean is None), None):
        return missing
    by_seed = [dict(zip(gap.seeds, gap.values, strict=True)) for gap in gaps]
    seeds = tuple(seed for seed in by_seed[0] if all(seed in own for own in by_seed))
    values = tuple(fmean(own[seed] for own in by_seed) for seed in seeds)
    outcomes = max((gap.outcomes for gap in gaps), key=lambda each: len(each) - each.count("ok"))
    return Cell(values, outcomes, reason="" if values else "no seed ended on all toys", seeds=seeds)


def measure_toy_gap(results: Results, label: str, toy: int) -> Cell:
    trials = list_mixture_trials(label, results.profile, toy)
    if not trials:
        return Cell(reason=NO_MIXTURE)
    cells = {trial.label: results.cell(trial, LIKELIHOOD) for trial in trials}
    best = find_best(cells)
    if best is None:
        return next(iter(cells.values()))
    reference = results.cell(MIXTURE.trial("ML", results.profile, TOYS[toy]), LIKELIHOOD)
    return subtract_by_seed(cells[best], reference)


def subtract_by_seed(own: Cell, reference: Cell) -> Cell:
    """The differences at the seeds that both have a value for, with the outcomes of the first."""
    if own.mean is None or reference.mean is None:
        return own if own.mean is None else Cell(reason=f"maximum likelihood {reference.reason}")
    known = dict(zip(reference.seeds, reference.values, strict=False))
    pairs = [(s, v) for s, v in zip(own.seeds, own.values, strict=False) if s in known]
    values = tuple(value - known[seed] for seed, value in pairs)
    reason = "" if values else "no seed in common with maximum likelihood"
    return Cell(values, own.outcomes, reason=reason, seeds=tuple(seed for seed, _ in pairs))


def count_networks(results: Results, label: str) -> str:
    """The networks besides the energy: "1 (generator)"."""
    others = [role for role in find_flow_trial(label, results.profile).spec.networks if role != "energy"]
    return f"{len(others)} ({', '.join(others)})" if others else "0"


def describe_relu(results: Results, label: str) -> str:
    accepts = results.cell(make_cost_trial(label, results.profile), "accepts_relu")
    if accepts.mean is None:
        return accepts.reason
    return "trains ReLU networks" if accepts.mean else "refuses ReLU networks"


EVIDENCE: Mapping[str, tuple[str, str, Callable[[Results, str], Value]]] = {
    "fast": ("fast", "training step ÷ supervised step, flow", measure_step_cost),
    "stable_training": ("stable training", "diverged, flow, tuning grid and table", count_diverged),
    "high_dimensions": ("high dimensions", "nats to maximum likelihood, flow", measure_flow_gap),
    "no_aux_model": ("no auxiliary model", "networks besides the energy", count_networks),
    "unrestricted_architecture": ("unrestricted architecture", "a network of ReLU units", describe_relu),
    "approximates_likelihood": (
        "approximates likelihood",
        "nats to maximum likelihood, mixture in 2-D",
        measure_mixture_gap,
    ),
}
"""By the property's name in the paper's values: as it is printed, what was measured, and how."""

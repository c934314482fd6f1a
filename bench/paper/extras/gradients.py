"""Sequential gradients in a training step: what HMC needs for the entropy term, and what importance sampling
needs.

Every method with a generator takes one gradient of it to train it. The others are the entropy term's: that of
the posterior's η with importance sampling, those of the leapfrog steps with HMC. There each needs the point
that the one before has reached. The paper counts 28 for its HMC, of two burn-in and two kept transitions with
five leapfrog steps each. The published code evaluates the force at both ends of each transition, 4 × 6 = 24
times, but without the generator's gradient. Ours passes the force at the end of a transition on to the next:
1 + 4 × 5 = 21.
"""

from dataclasses import replace

from bench.artifact import Column, ExperimentArtifact, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.gradients import GRADIENTS
from bench.paper.values import PAPER
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

HMC, IMPORTANCE = "VERA-HMC λ=1, full force", "VERA λ=1"
ENTROPY = "entropy_gradients"
FEW = 1
"""Sequential gradients of importance sampling."""


def read_entropy_gradients(results: Results, trial: Trial) -> Cell:
    """Gradients of the generator beyond the one that trains it."""
    return results.measure(trial, _subtract_update)


def _subtract_update(row: Row) -> float | None:
    found = read_metrics(row).get("generator_gradients")
    return None if found is None else found - 1


def read_paper_count() -> float:
    return PAPER.read_value(
        "Text Sec 4.1", metric="sequential_gradient_evaluations_per_iteration", dataset=""
    )


def check_hmc_count(results: Results) -> Finding:
    own = read_entropy_gradients(results, GRADIENTS.trial(HMC, results.profile)).mean
    if own is None:
        return Finding("undetermined", f"{HMC} not run")
    paper = read_paper_count()
    evidence = f"{HMC}: {own:g} gradients of the generator, in the paper {paper:g}"
    return Finding("supported" if own == paper else "refuted", evidence)


def check_importance_count(results: Results) -> Finding:
    labels = (IMPORTANCE, HMC)
    counts = [
        read_entropy_gradients(results, GRADIENTS.trial(label, results.profile)).mean for label in labels
    ]
    importance, hmc = counts
    if importance is None or hmc is None:
        return Finding("undetermined", "not run")
    evidence = f"{IMPORTANCE}: {importance:g}, {HMC}: {hmc:g}"
    return Finding("supported" if importance <= FEW < hmc else "refuted", evidence)


class Gradients(ExperimentArtifact):
    experiment = GRADIENTS
    name = "gradients"
    title = "Gradients of the networks in a training step"
    claims = (
        Claim(
            "hmc-count",
            "The HMC regulariser takes 28 sequential gradients in a training step.",
            "Sec. 4.1",
            check_hmc_count,
        ),
        Claim(
            "importance-count",
            "Importance sampling takes at most one gradient for the entropy term, HMC a chain of them.",
            "Sec. 4.1, 4.2",
            check_importance_count,
        ),
    )
    columns = (
        Column("method", "method"),
        Column("energy_gradients", "gradients of f", 0),
        Column("generator_passes", "passes through g", 0),
        Column("generator_gradients", "gradients of g", 0),
        Column(ENTROPY, "of them for the entropy", 0),
    )

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, trial) for trial in self.trials(results.profile)]
        text = "Counted by hooks in one training step on the flow of Table 2"
        return self.sheet(results, text, self.columns, lines)

    def line(self, results: Results, trial: Trial) -> dict[str, Value]:
        """Counts of one method; those of a generator only if it has one."""
        has_generator = "generator" in trial.spec.networks
        names = [
            column.key for column in self.columns[1:-1] if has_generator or column.key.startswith("energy")
        ]
        cells: dict[str, Value] = {name: results.cell(trial, name) for name in names}
        entropy = read_entropy_gradients(results, trial)
        if trial.label == HMC:
            entropy = replace(entropy, paper=read_paper_count(), exact_digits=0)
        return {
            "method": trial.label,
            **cells,
            ENTROPY: entropy if "vera" in trial.spec.method["name"] else "",
        }

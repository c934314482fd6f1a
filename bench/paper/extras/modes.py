"""Mode counting: how many of StackedMNIST's 1,000 triples of digits a generator makes (Sec. 5.2, B.5).

Trap: a count depends on the classifier and on the number of samples. The count on held-out data, with the
same number of images, is printed beside it.
"""

from collections.abc import Iterator

from bench.artifact import Column, ExperimentArtifact, Sheet, Value
from bench.experiment import TUNING_SEEDS, Line
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_at_most
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.modes import MODES, NO_ENTROPY, PUBLISHED_HMC, RATES
from bench.paper.values import PAPER
from sweeps.trial.identity import Trial

SOURCE = "Text Sec 5.2 (App. B.5)"
FEWER = 10.0
"""How many fewer modes still count as the same number."""


def describe_tuning(results: Results) -> Iterator[str]:
    """How many tuning trials there are, the learning rate with the most modes for each line, and lines that
    have another one. A rate that failed or diverged with a tuning seed is not chosen."""
    tuning, where = find_tuning_results(results, MODES)
    tried = [(line, read_grid(tuning, line)) for line in MODES.lines]
    stored = sum(found.total for _, pairs in tried for _, found in pairs)
    if not stored:
        yield "No other learning rate was tried in this store; to try some: vera run modes-grid."
        return
    total = sum(len(pairs) for _, pairs in tried) * len(TUNING_SEEDS)
    yield (
        f"Learning rates {', '.join(f'{rate:g}' for rate in RATES)} were tried with seeds "
        f"{' and '.join(map(str, TUNING_SEEDS))} (vera run modes-grid; {stored} of its {total} trials are in "
        f"{where})."
    )
    for line, pairs in tried:
        best, chosen = find_best_rate(pairs), line.settings(results.profile)["lr"]
        if best == chosen:
            yield f"{line.label} has the rate with the most modes, {chosen:g}."
        elif best is not None:
            yield f"{line.label} has {chosen:g}; the most modes had {best:g}."


def read_grid(results: Results, line: Line) -> list[tuple[float, Cell]]:
    """Every learning rate of the line's grid, with the modes that it found with the tuning seeds."""
    trials = MODES.grid_trials(line, results.profile)
    return [(trial.spec.method["lr"], results.cell(trial, "modes")) for trial in trials]


def find_best_rate(pairs: list[tuple[float, Cell]]) -> float | None:
    """The rate with the most modes on average; None unless every rate was tried with every tuning seed."""
    if any(found.total < len(TUNING_SEEDS) for _, found in pairs):
        return None
    complete = [
        (found.mean, rate) for rate, found in pairs if found.mean is not None and found.n == found.total
    ]
    return max(complete)[1] if complete else None


def read_cell(results: Results, label: str, metric: str) -> Cell:
    return results.cell(MODES.trial(label, results.profile), metric)


def check_nearly_all(results: Results) -> Finding:
    """Compared with the same number of held-out images, because the classifier errs and a sample is
    finite."""
    data, own = (read_cell(results, "VERA", metric) for metric in ("data_modes", "modes"))
    return check_at_most("modes of held-out data − modes of VERA", data, own, FEWER)


def check_as_many_as_hmc(results: Results) -> Finding:
    """The paper has 999 modes for both; its HMC has the prior-only force."""
    vera, hmc = (read_cell(results, label, "modes") for label in ("VERA", PUBLISHED_HMC))
    return check_at_most("VERA-HMC − VERA", hmc, vera, FEWER)


def check_as_many_without_entropy(results: Results) -> Finding:
    """The paper has 999 modes with the entropy term and 998 without."""
    vera, without = (read_cell(results, label, "modes") for label in ("VERA", NO_ENTROPY))
    return check_at_most(f"VERA − {NO_ENTROPY}", vera, without, FEWER)


class Modes(ExperimentArtifact):
    experiment = MODES
    name = "modes"
    title = "Mode counting: StackedMNIST's 1,000 modes"
    companions = ("mode-samples",)
    claims = (
        Claim(
            "nearly-all",
            f"VERA's generator finds all modes that held-out data show, to within {FEWER:.0f}.",
            "Sec. 5.2",
            check_nearly_all,
            {"laptop": "all modes need the paper's training; this one has a fraction of its steps"},
        ),
        Claim(
            "as-many-as-hmc",
            f"VERA finds as many modes as VERA-HMC, to within {FEWER:.0f}.",
            "Sec. 5.2",
            check_as_many_as_hmc,
        ),
        Claim(
            "as-many-without-entropy",
            f"VERA without entropy (λ = 0) finds as many modes as VERA, to within {FEWER:.0f}.",
            "Sec. 5.2",
            check_as_many_without_entropy,
        ),
    )
    columns = (
        Column("method", "method"),
        Column("modes", "modes", 1),
        Column("data_modes", "of held-out data", 0),
        Column("mode_divergence", "KL(q‖p)", 3),
        Column("data_mode_divergence", "KL of held-out data", 3),
        Column("classifier_accuracy", "accuracy of the classifier", 3),
    )

    def render(self, results: Results) -> Sheet:
        trials = list(self.trials(results.profile))
        samples = trials[0].spec.task_component["samples"]
        text = f"Triples of digits among {samples:,} samples of the generator, of 1,000, higher is better"
        notes = (
            "Of held-out data: as many images, by the same classifier. Of a perfect generator, KL(q‖p) is "
            "about 999 / 2n.",
            "The paper does not give λ for this experiment. Its VERA-HMC has the prior-only force.",
            *(describe_tuning(results) if results.profile == "laptop" else ()),
        )
        return self.sheet(results, text, self.columns, [self.make_row(results, t) for t in trials], notes)

    def make_row(self, results: Results, trial: Trial) -> dict[str, Value]:
        """The line of one trial."""
        data = MODES.data(results.profile)[0]
        paper = PAPER.find_for(SOURCE, MODES.find_line(trial.label), data, metric="modes_of_1000")
        cells: dict[str, Value] = {c.key: results.cell(trial, c.key) for c in self.columns[1:]}
        return {"method": trial.label, **cells, "modes": results.cell(trial, "modes", paper)}

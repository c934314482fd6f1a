"""Table 10: a mixture of 100 Gaussians on three toys, trained in ways that need no likelihood, judged by its
exact likelihood.

Rows: maximum likelihood, which is what all others try to reach; VERA with an entropy weight λ of 0, .01, .1
and 1; PCD at five σ, and again at the best of them, by the end and by the paper's rule. Metric: mean log p
over 100,000 fresh test points, in nats, higher is better.

Trap: the paper's values were measured otherwise: of one batch of 200 points every 10,000 steps, the best.
That flatters twice. The best of ten batches at the end shows what noise gives; how far it flatters shows
against the ceiling, the mean true log-density, which no model exceeds on many points: some of the paper's
values do. The best of ten looks along the way, each over many points, shows what a method gains that does not
stay at its best. The better of the two is as near to the paper's rule as rows come, so the paper's value
stands beside that, and is judged by it.

`paper` trains for 100,000 steps at a learning rate of .001. `laptop` can afford 2,000, and so takes a rate of
.005: at .001 they would end before PCD with a large σ diverges.

How tight the variational bound is shows as what VERA with λ = 1 loses against maximum likelihood: .26, .23
and .34 nats in the paper. Half a nat counts as tight enough: less than half of what PCD loses there (1.50,
1.07 and 1.30).
"""

from collections.abc import Iterator

from bench.artifact import Artifact, Column, Sheet
from bench.judging.cell import Cell
from bench.judging.claims import Claim
from bench.judging.results import Results
from bench.paper.experiments.mixtures import (
    BEST_LOOK,
    BEST_OF_EITHER,
    BEST_OF_TEN,
    BUDGETS,
    DATASETS,
    LIKELIHOOD,
    Block,
    bound_is_tight,
    entropy_helps,
    everywhere,
    excesses,
    ml_is_best,
    rises_with_weight,
    samples_look_right,
    trained,
    two_beyond_ceiling,
    vera_beats_pcd,
)
from bench.paper.experiments.toys import about, best_of_looks
from bench.render.caption import caption_tail
from sweeps.trial.identity import Profile, Trial


def bests(results: Results, dataset: str) -> tuple[dict[str, Cell], dict[str, Cell]]:
    """By label: the best of ten looks, and of those and ten batches at the end."""
    trials = trained(results.profile, dataset)
    return (
        {trial.label: best_of_looks(results, trial) for trial in trials},
        {trial.label: best_of_looks(results, trial, BEST_OF_TEN) for trial in trials},
    )


class Table10(Artifact):
    name = "table10"
    title = "Table 10: test log-likelihood of a mixture of 100 Gaussians on three toys"
    claims = (
        Claim(
            "vera-beats-pcd",
            "VERA with λ = 1 beats PCD on all three data sets.",
            "C.1",
            everywhere(vera_beats_pcd),
        ),
        Claim(
            "rises-with-weight",
            "VERA's likelihood rises with λ.",
            "Sec. 5.1, C.1",
            everywhere(rises_with_weight),
        ),
        Claim(
            "entropy-helps",
            "VERA with λ = 1 beats VERA without entropy (λ = 0).",
            "Sec. 5.1, C.1",
            everywhere(entropy_helps),
        ),
        Claim(
            "ml-is-best",
            "Maximum likelihood is the best way to train where it can be had.",
            "C.1",
            everywhere(ml_is_best),
        ),
        Claim(
            "bound-is-tight",
            "The variational bound is tight enough: VERA with λ = 1 comes within half a nat of maximum likelihood.",
            "Sec. 5.1, C.1",
            everywhere(bound_is_tight),
        ),
        Claim(
            "pcd-samples-look-right",
            "PCD's samples look right while its density is wrong, also for a normalised model.",
            "ours, after Figure 1",
            everywhere(samples_look_right),
        ),
        Claim(
            "two-beyond-ceiling",
            "Two of the paper's values lie above what any model can reach on many test points.",
            "ours, about Table 10",
            two_beyond_ceiling,
        ),
    )
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column(LIKELIHOOD, "test log-likelihood", 3),
        Column("ceiling", "ceiling", 3),
        Column(BEST_OF_TEN, "best of ten batches of 200", 3),
        Column(BEST_LOOK, "best of ten looks on the way", 3),
        Column(BEST_OF_EITHER, "the better of these two", 3),
        Column("remark", "remark"),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        for dataset in DATASETS:
            yield from trained(profile, dataset)

    def render(self, results: Results) -> Sheet:
        blocks = [Block.read(results, dataset) for dataset in DATASETS]
        lines = tuple(line for block in blocks for line in block.lines(*bests(results, block.dataset)))
        notes = (*table_notes(blocks), *results.notes)
        return Sheet(
            self.name, self.title, self.caption(results), self.columns, lines, results.profile, notes
        )

    def caption(self, results: Results) -> str:
        profile = results.profile
        return (
            "Mean log-likelihood of 100,000 fresh test points in nats, higher is better, at the end of training: "
            f"{about(BUDGETS, profile)}. {caption_tail(results.find_all_rows(self.trials(profile)))}"
        )


def table_notes(blocks: list[Block]) -> Iterator[str]:
    yield (
        "PCD (best σ) repeats the line with the highest mean, among those that lost no seed where there are such: chosen on test "
        "likelihood, as the paper's is. The looks on the way, and the better of the two, are of the σ that is best by the latter."
    )
    yield (
        "The paper's values are the best of several means over 200 points, taken along the training. That flatters by noise, as "
        "does the best of ten such means at the end, and by time, as does the best of ten looks on the way. They stand beside the "
        "better of these two, seed by seed, which is as near to that rule as our trials come."
    )
    yield (
        "Best of ten looks: after every tenth of the training, over the fresh batches of the hundredth before it (100 steps at "
        "least; in less than 1,000 steps there are fewer looks). Where it lies well above the end, the method does not stay at its "
        "best, and the paper's rule shows it at its best: a trial that diverged later keeps the looks that it had, and the remark "
        "counts such."
    )
    yield (
        "Ceiling: mean log-density of 100,000 test points under the true density. No model exceeds it on average; on these very "
        "points one that has learned the truth may, by chance and by little."
    )
    marked = excesses(blocks)
    if marked or any(block.flattered(label) for block in blocks for label in block.best_of_ten):
        yield "† lies above the ceiling, as only few test points make possible." + "".join(
            f" {text}." for text in marked
        )

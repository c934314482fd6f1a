"""Table 5: telling the data from unseen sets: AUROC of three scores on every unseen set; .5 is no
separation.

The paper scores by f(x) = log p(x) + const. The table adds the largest class probability and −‖∇f(x)‖,
which need the same network. The paper does not say which α its VERA has. All are shown, and the paper's
value is in the line of α = 100, the one that classifies.

Trap: an AUROC below .5 means that the unseen images look more like data than the data do, as the paper
finds on CelebA. It is not an error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench.artifact import Column, DataSets, Sheet, Value, on_first
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES, UNSEEN, ImageSetting
from bench.paper.image_artifact import FirstSetArtifact
from bench.paper.tables.sample_quality import SOURCE, cell_of_paper
from bench.paper.values import PAPER
from sweeps.trial.identity import Trial

SCORES = {"f": "f(x)", "confidence": "max p(y|x)", "gradient": "−‖∇f(x)‖"}
IN_PAPER = {"JEM": "JEM", "HDGE": "HDGE", "VERA α=100": "VERA"}
"""Line → its method in the paper's Table 5."""
GLOW, OURS, RIVAL, HDGE, FAILS_ON = "GLOW", "VERA α=100", "JEM", "HDGE", "celeba-test"
PERFECT = 0.999
"""An AUROC above which nothing is left to improve."""


def find_paper_auroc(data: ImageSetting, method: str, unseen: str) -> float | None:
    if data.reference is None or unseen not in UNSEEN:
        return None
    return PAPER.find("Table 5", method=method, dataset=f"{data.reference} vs {UNSEEN[unseen]}")


def check_separations(results: Results, data: ImageSetting) -> Mapping[str, Finding]:
    """For every unseen set, whether f of VERA separates it better than f of JEM."""
    return {key: check_separation(results, data, key, OURS, RIVAL) for key in data.unseen}


def check_separation(results: Results, data: ImageSetting, key: str, high: str, low: str) -> Finding:
    """Whether f of one line separates an unseen set better than f of another line."""
    trials = (IMAGES.trial(label, results.profile, data) for label in (high, low))
    best, other = (results.cell(trial, f"auroc_f_{key}") for trial in trials)
    return check_above(f"{data.unseen[key]}: {high}", best, low, other)


def check_three_of_four(results: Results, data: ImageSetting) -> Finding:
    """Better on three of the paper's sets and worse on CelebA. Undetermined on any other sets."""
    found = check_separations(results, data)
    if set(found) != set(UNSEEN):
        evidence = "; ".join(finding.evidence for finding in found.values())
        return Finding("undetermined", f"the profile has none of the paper's four sets together; {evidence}")
    fails = check_separation(results, data, FAILS_ON, RIVAL, OURS)
    return require_all([fails if key == FAILS_ON else finding for key, finding in found.items()])


def check_below_hdge(results: Results, data: ImageSetting) -> Finding:
    """On every unseen set. The evidence names the paper's own values that contradict the claim."""
    found = require_all([check_separation(results, data, key, HDGE, OURS) for key in data.unseen])
    pairs = {
        name: [find_paper_auroc(data, method, key) for method in ("HDGE", "VERA")]
        for key, name in data.unseen.items()
    }
    against = [
        f"{name} (HDGE {hdge:g}, VERA {vera:g})"
        for name, (hdge, vera) in pairs.items()
        if hdge is not None and vera is not None and vera > hdge
    ]
    remark = f"; the paper's own values contradict it on {', '.join(against)}" if against else ""
    return replace(found, evidence=found.evidence + remark)


def check_mostly_better(results: Results, data: ImageSetting) -> Finding:
    """Better on all unseen sets of the profile except at most one. Sets that JEM separates perfectly leave
    nothing to improve and are left out."""
    perfect = {key for key in data.unseen if is_separated(results, data, key)}
    found = [finding for key, finding in check_separations(results, data).items() if key not in perfect]
    names = ", ".join(data.unseen[key] for key in data.unseen if key in perfect)
    left_out = [f"left out, because {RIVAL} separates them perfectly: {names}"] * bool(perfect)
    if not found:
        return Finding("not testable", "; ".join(left_out))
    finding = require_all(found, exceptions=min(1, len(found) - 1))
    return replace(finding, evidence="; ".join([finding.evidence, *left_out]))


def is_separated(results: Results, data: ImageSetting, key: str) -> bool:
    """Whether f of JEM separates an unseen set so well that no other line can be better."""
    mean = results.cell(IMAGES.trial(RIVAL, results.profile, data), f"auroc_f_{key}").mean
    return mean is not None and mean > PERFECT


class Table5(FirstSetArtifact):
    name = "table5"
    title = "Table 5: AUROC of seen against unseen images"
    columns = (
        Column("dataset", "seen"),
        Column("unseen", "unseen"),
        Column("method", "method"),
        *(Column(key, f"AUROC of {name}", 3) for key, name in SCORES.items()),
    )

    def claims_on(self, data: DataSets[ImageSetting]) -> Iterator[Claim]:
        yield Claim(
            "three-of-four",
            "f of VERA separates better than JEM's on SVHN, CIFAR100 and CIFAR10-Interp, "
            "and fails on CelebA.",
            "Sec. 6",
            on_first(check_three_of_four, data),
            {"laptop": "the claim names four unseen sets that are not in the package"},
        )
        yield Claim(
            "below-hdge",
            "f of VERA separates worse than f of HDGE on every unseen set.",
            "Sec. 6",
            on_first(check_below_hdge, data),
        )
        yield Claim(
            "mostly-better",
            "f of VERA separates better than f of JEM on all unseen sets but at most one.",
            "Sec. 6, on the profile's sets",
            on_first(check_mostly_better, data),
        )

    def render(self, results: Results) -> Sheet:
        data = self.first_set(results.profile)
        lines = [line for key in data.unseen for line in self.block(results, data, key)]
        text = "Probability that a held-out image scores above an unseen one, higher is better"
        return self.sheet(results, text, self.columns, lines, tuple(self.notes(data)))

    def block(self, results: Results, data: ImageSetting, key: str) -> Iterator[dict[str, Value]]:
        """The lines of one unseen set."""
        sets: dict[str, Value] = {"dataset": data.name, "unseen": data.unseen[key]}
        for trial in self.trials(results.profile):
            yield {**sets, "method": trial.label, **self.scores(results, data, trial, key)}
        paper = find_paper_auroc(data, GLOW, key)
        if paper is not None:
            others = {"confidence": cell_of_paper(), "gradient": cell_of_paper()}
            yield {**sets, "method": GLOW, "f": cell_of_paper(paper), **others}

    def scores(self, results: Results, data: ImageSetting, trial: Trial, key: str) -> dict[str, Value]:
        found = {score: results.cell(trial, f"auroc_{score}_{key}") for score in SCORES}
        method, line = IN_PAPER.get(trial.label), IMAGES.find_line(trial.label)
        paper = None if method is None else find_paper_auroc(data, method, key)
        comparable = line is None or not line.copied
        return {**found, "f": replace(found["f"], paper=paper, comparable=comparable)}

    def notes(self, data: ImageSetting) -> Iterator[str]:
        yield "Not measured: the files of the unseen set were not there; it is left out, never replaced."
        if data.reference is not None:
            yield (
                f"JEM, HDGE, {GLOW}: {SOURCE} from other papers, no verdict. "
                "Which α the paper's VERA has is not said."
            )

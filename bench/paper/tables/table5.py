"""Table 5: telling the data from what is not: AUROC of three scores on every unseen set; .5 is no separation.

The paper scores by f(x) = log p(x) + const. Beside it stand the largest class probability and −‖∇f(x)‖, which
need the same network. Which α the paper's VERA has is not said: both are shown, and its value stands beside α
= 100, the one that classifies.

Trap: less than .5 means that the unseen images look more like data than the data do, as the paper finds on
CelebA; it is no error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, all_of, compare
from bench.judging.results import Results
from bench.paper.experiments.image_artifact import Sets, on_first
from bench.paper.experiments.images import COPIED, UNSEEN, Pictures, line, trial_of
from bench.paper.tables.image_tables import SOURCE, FirstPictures, printed, reference_cell
from sweeps.trial.identity import Trial

SCORES = {"f": "f(x)", "confidence": "max p(y|x)", "gradient": "−‖∇f(x)‖"}
IN_PAPER = {"JEM": "JEM", "HDGE": "HDGE", "VERA α=100": "VERA"}
GLOW, OURS, RIVAL, FAILS_ON = "GLOW", "VERA α=100", "JEM", "celeba-test"


def paper_auroc(pictures: Pictures, method: str, unseen: str) -> float | None:
    if pictures.reference is None or unseen not in UNSEEN:
        return None
    return printed("Table 5", method, "AUROC", f"{pictures.reference} vs {UNSEEN[unseen]}")


def separations(results: Results, pictures: Pictures) -> Mapping[str, Finding]:
    """On every unseen set, whether f of VERA separates better than f of JEM."""
    return {key: separates(results, pictures, key, OURS, RIVAL) for key in pictures.unseen or {}}


def separates(results: Results, pictures: Pictures, key: str, high: str, low: str) -> Finding:
    """Whether f of one separates better than f of the other from one of several unseen sets."""
    unseen = pictures.unseen or {}

    def auroc(label: str) -> Cell:
        return results.cell(trial_of(line(label), pictures, results.profile), f"auroc_f_{key}")

    return compare(f"{unseen[key]}: {high}", auroc(high), low, auroc(low), len(unseen))


def three_of_four(results: Results, pictures: Pictures) -> Finding:
    """Better on three sets and worse on CelebA. Without the paper's sets there is nothing to check."""
    found = separations(results, pictures)
    if set(found) != set(UNSEEN):
        evidence = "; ".join(finding.evidence for finding in found.values())
        return Finding("undetermined", f"the profile has none of the paper's four sets together; {evidence}")
    return all_of(
        [
            separates(results, pictures, key, RIVAL, OURS) if key == FAILS_ON else own
            for key, own in found.items()
        ]
    )


def mostly_better(results: Results, pictures: Pictures) -> Finding:
    """On all unseen sets but at most one, whatever they are."""
    found = list(separations(results, pictures).values())
    better, worse = (
        sum(finding.judgement == judgement for finding in found) for judgement in ("supported", "refuted")
    )
    evidence = "; ".join(finding.evidence for finding in found)
    return Finding(
        "supported" if better >= max(1, len(found) - 1) else "refuted" if worse > 1 else "undetermined",
        evidence,
    )


class Table5(FirstPictures):
    name = "table5"
    title = "Table 5: AUROC of seen against unseen images"
    columns = (
        Column("dataset", "seen"),
        Column("unseen", "unseen"),
        Column("method", "method"),
        *(Column(key, f"AUROC of {name}", 3) for key, name in SCORES.items()),
    )

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        yield Claim("three-of-four",
                    "f of VERA separates better than JEM's on SVHN, CIFAR100 and CIFAR10-Interp, and fails on CelebA.", "Sec. 6",
                    on_first(three_of_four, sets))  # fmt: skip
        yield Claim("mostly-better", "f of VERA separates better than f of JEM on all unseen sets but at most one.",
                    "Sec. 6, on the profile's sets", on_first(mostly_better, sets))  # fmt: skip

    def render(self, results: Results) -> Sheet:
        pictures = self.pictures(results.profile)
        blocks = [self.block(results, pictures, *entry) for entry in (pictures.unseen or {}).items()]
        text = "Probability that a held-out image scores above an unseen one, higher is better"
        return self.sheet(
            results,
            text,
            self.columns,
            [entry for block in blocks for entry in block],
            tuple(self.notes(pictures)),
        )

    def block(self, results: Results, pictures: Pictures, key: str, name: str) -> Iterator[dict[str, Value]]:
        place: dict[str, Value] = {"dataset": pictures.name, "unseen": name}
        for trial in self.trials(results.profile):
            yield place | {"method": trial.label} | self.scores(results, pictures, trial, key)
        known = paper_auroc(pictures, GLOW, key)
        if known is not None:
            yield place | {
                "method": GLOW,
                "f": reference_cell(known),
                "confidence": reference_cell(),
                "gradient": reference_cell(),
            }

    def scores(self, results: Results, pictures: Pictures, trial: Trial, key: str) -> dict[str, Value]:
        found = {score: results.cell(trial, f"auroc_{score}_{key}") for score in SCORES}
        method = IN_PAPER.get(trial.label)
        known = None if method is None else paper_auroc(pictures, method, key)
        return {**found, "f": replace(found["f"], paper=known, comparable=trial.label not in COPIED)}

    def notes(self, pictures: Pictures) -> Iterator[str]:
        yield "Not measured: the files of the unseen set were not there; it is left out, never replaced."
        if pictures.reference is not None:
            yield f"JEM, HDGE, {GLOW}: {SOURCE} from other papers, no verdict. Which α the paper's VERA has is not said."

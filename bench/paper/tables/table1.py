"""Table 1: six properties of four families of training methods: the paper's marks, and beside each mark what
was measured here.

The paper compares in words. The evidence comes from the trials of Table 2 (a flow on digits: 196 dimensions
at `laptop`, 784 at `paper`) and of Table 10 (a mixture in the plane), and from the trials declared in
`experiments/families.py`. A line is one method. The marks are the paper's, for the whole family.

Trap: the paper's noise-contrastive family learns its noise density. NCE here has a Gaussian noise density
that is fitted in closed form, which is no network.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import ClassVar

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.compared import ComparedValue
from bench.judging.results import Results
from bench.paper.experiments.families import (
    FAMILIES,
    FLOW_FAMILIES,
    MIXTURE_FAMILIES,
    NCE,
    Family,
    find_flow_trial,
    make_cost_trial,
)
from bench.paper.tables.table1_evidence import EVIDENCE, LIKELIHOOD, measure_step_cost
from bench.paper.values import PAPER
from bench.render.caption import describe_origin
from sweeps.trial.identity import Profile, Trial

OURS = "VERA λ=1"
COSTED = tuple(label for family in FAMILIES for label in family.flow)


def read_mark(family: str, feature: str) -> str:
    """The paper's mark: ✓ or ✗."""
    return "✓" if PAPER.read_value("Table 1", method=family, variant=feature) else "✗"


def check_faster(results: Results, label: str) -> Finding:
    cells = [measure_step_cost(results, each) for each in (label, OURS)]
    return check_above(f"step of {label}", cells[0], f"step of {OURS}", cells[1])


def check_high_dimensions(results: Results) -> Finding:
    """Whether the flow is worse off with NCE than with VERA."""
    ours, contrast = (
        results.cell(find_flow_trial(each, results.profile), LIKELIHOOD) for each in (OURS, NCE)
    )
    return check_above(OURS, ours, NCE, contrast)


def check_architectures(results: Results) -> Finding:
    """Every method of score matching refuses ReLU networks, and no other method does."""
    return require_all(
        [
            check_relu(label, results, is_refused=family.name == "Score matching")
            for family in FAMILIES
            for label in family.flow
        ]
    )


def check_relu(label: str, results: Results, is_refused: bool) -> Finding:
    accepts = results.cell(make_cost_trial(label, results.profile), "accepts_relu")
    if accepts.mean is None:
        return Finding("undetermined", f"{label} {accepts.reason}")
    holds = (accepts.mean == 0) == is_refused
    verb = "trains" if accepts.mean else "refuses"
    return Finding("supported" if holds else "refuted", f"{label} {verb} ReLU networks")


class Table1(Artifact):
    name = "table1"
    title = "Table 1: properties of families of training methods"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {
        "smoke": (0,),
        "laptop": (0, 1, 2),
        "paper": (0, 1, 2),
    }
    claims = (
        Claim(
            "vera-is-fast",
            "A step of VERA takes less time than a step of PCD.",
            "Table 1",
            partial(check_faster, label="PCD"),
        ),
        Claim(
            "noise-contrast-fails-in-high-dimension",
            "In high dimension noise contrast is further from maximum likelihood than VERA.",
            "Table 1",
            check_high_dimensions,
        ),
        Claim(
            "score-matching-restricts-the-architecture",
            "Score matching refuses ReLU networks, and no other family does.",
            "Table 1",
            check_architectures,
        ),
    )
    columns = (
        Column("property", "property"),
        Column("family", "family"),
        Column("paper", "paper"),
        Column("method", "method here"),
        Column("value", "measured"),
        Column("measure", "what was measured"),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        yield from MIXTURE_FAMILIES.trials(profile)
        yield from FLOW_FAMILIES.trials(profile)
        yield from (make_cost_trial(label, profile) for label in COSTED)

    def flop(self, trial: Trial) -> float | None:
        return FLOW_FAMILIES.flop(trial) if trial.spec.task_component["name"] == "density" else None

    def render(self, results: Results) -> Sheet:
        lines = [
            self.line(results, feature, family, label)
            for feature in EVIDENCE
            for family in FAMILIES
            for label in family.flow
        ]
        rows = self.rows(results)
        caption = f"The paper's marks for each family, and what was measured. {describe_origin(rows)}"
        notes = (*self.notes(), *results.notes)
        return Sheet(self.name, self.title, caption, self.columns, tuple(lines), results.profile, notes)

    def list_compared(self, results: Results) -> Iterator[ComparedValue]:
        """Each mark, with what was measured about the first method of its family."""
        for feature, (_, _, read) in EVIDENCE.items():
            for family in FAMILIES:
                label = family.flow[0]
                number = PAPER.find_number("Table 1", method=family.name, variant=feature)
                value = read(results, label)
                if isinstance(value, Cell):
                    yield ComparedValue(number, label, value)
                else:
                    yield ComparedValue(number, label, Cell(reason=str(value)), f"measured: {value}")

    def line(self, results: Results, feature: str, family: Family, label: str) -> dict[str, Value]:
        printed, measure, read = EVIDENCE[feature]
        value = read(results, label)
        if isinstance(value, Cell) and value.mean is None and value.reason == "not run":
            value = Cell(value.values, value.outcomes, reason="not run: vera run table1 table2 table10")
        return {
            "property": printed,
            "family": family.name,
            "paper": read_mark(family.name, feature),
            "method": label,
            "value": value,
            "measure": measure,
        }

    def notes(self) -> Iterator[str]:
        yield (
            "Flow: the experiment of Table 2. Mixture: that of Table 10, the mean over its three toys; PCD "
            "has the σ with the best mean on each. A method that is as good as maximum likelihood has 0 nats."
        )
        yield (
            "NCE is not in the paper's tables. Its noise density is a Gaussian fitted to the data, so it "
            "needs no second network; noise-contrastive methods with a learned noise density do."
        )

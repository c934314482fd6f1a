"""Table 1: the paper's marks, the evidence beside them, its claims, and the trials that it adds."""

import pytest
from bench_helpers import row_of, store_rows

from bench.judging.cell import Cell
from bench.paper.experiments.families import (
    FAMILIES,
    NCE,
    find_flow_trial,
    list_mixture_trials,
    make_cost_trial,
)
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.toys import MIXTURE, TOYS
from bench.paper.tables.table1 import Table1, read_mark
from bench.paper.tables.table1_evidence import EVIDENCE, subtract_by_seed
from sweeps.trial.canonical_json import canonical_json

LIKELIHOODS = {"ML": -260.0, NCE: -262.0, "VERA λ=1": -310.0, "PCD": -450.0}
RATIOS = {NCE: 9.0, "VERA λ=1": 5.0, "PCD": 20.0, "SSM": 4.0, "DSM": 2.0, "CP-SM": 4.0}


def make_rows():
    """Flow, mixture and timings of two seeds; one seed of PCD diverged on the flow."""
    rows = []
    for label, value in LIKELIHOODS.items():
        trial = find_flow_trial(label, "laptop")
        rows += [row_of(trial, seed, value - seed, metric="test_log_likelihood") for seed in (0, 1)]
    rows[-1] = row_of(find_flow_trial("PCD", "laptop"), 1, outcome="diverged")
    for label, ratio in RATIOS.items():
        metrics = canonical_json({"ratio": ratio, "accepts_relu": float(label not in ("SSM", "CP-SM"))})
        rows += [row_of(make_cost_trial(label, "laptop"), seed, metrics=metrics) for seed in (0, 1)]
    for number, toy in enumerate(TOYS):
        reference = MIXTURE.trial("ML", "laptop", toy)
        rows += [row_of(reference, seed, -2.0, metric="test_log_likelihood") for seed in (0, 1)]
        (contrast,) = list_mixture_trials(NCE, "laptop", number)
        rows += [row_of(contrast, seed, -2.1 - 0.1 * number, metric="test_log_likelihood") for seed in (0, 1)]
    return rows


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return store_rows(tmp_path, make_rows())


def find_line(sheet, feature, label):
    printed = EVIDENCE[feature][0]
    return next(line for line in sheet.lines if (line["property"], line["method"]) == (printed, label))


def test_every_mark_of_the_paper_stands_beside_a_measurement(results):
    sheet = Table1().render(results)
    marks = {(line["property"], line["family"]): line["paper"] for line in sheet.lines}
    assert len(marks) == 24
    assert [read_mark("VERA", feature) for feature in EVIDENCE] == ["✓", "✓", "✓", "✗", "✓", "✓"]
    assert all(line["value"] not in (None, "") for line in sheet.lines)


def test_values_are_read_from_the_rows(results):
    sheet = Table1().render(results)
    assert find_line(sheet, "fast", "PCD")["value"].mean == 20
    assert find_line(sheet, "stable_training", "PCD")["value"] == "1 of 2"
    assert find_line(sheet, "high_dimensions", NCE)["value"].values == (-2.0, -2.0)
    assert find_line(sheet, "high_dimensions", "PCD")["value"].n == 1
    assert find_line(sheet, "no_aux_model", "VERA λ=1")["value"] == "1 (generator)"
    assert find_line(sheet, "no_aux_model", NCE)["value"] == "0"
    assert find_line(sheet, "unrestricted_architecture", "SSM")["value"] == "refuses ReLU networks"
    assert find_line(sheet, "approximates_likelihood", NCE)["value"].mean == pytest.approx(-0.2)
    assert "mixture" in find_line(sheet, "approximates_likelihood", "CP-SM")["value"].reason
    assert "vera run" in find_line(sheet, "high_dimensions", "SSM")["value"].reason


def test_claims_are_judged_by_the_rows(results):
    judged = {claim.key: claim.judge(results) for claim in Table1.claims}
    assert judged["vera-is-fast"].judgement == "undetermined", "no spread"
    assert judged["noise-contrast-fails-in-high-dimension"].judgement == "refuted"
    architecture = judged["score-matching-restricts-the-architecture"]
    assert architecture.judgement == "refuted"
    assert "DSM trains ReLU networks" in architecture.evidence


def test_differences_pair_equal_seeds_only():
    own = Cell((1.0, 5.0), ("ok", "ok"), seeds=(0, 1))
    reference = Cell((2.0, 9.0), ("ok", "ok"), seeds=(1, 2))
    gap = subtract_by_seed(own, reference)
    assert (gap.values, gap.seeds) == ((3.0,), (1,))
    assert subtract_by_seed(own, Cell(reason="not run")).reason == "maximum likelihood not run"


@pytest.mark.parametrize("profile", ["smoke", "laptop", "paper"])
def test_its_trials_have_the_protocol_of_tables_2_and_10(profile):
    trials = list(Table1().trials(profile))
    assert len({trial.id for trial in trials}) == len(trials)
    pairs = [(find_flow_trial(NCE, profile), NICE.trial("ML", profile))]
    pairs += [(list_mixture_trials(NCE, profile, 0)[0], MIXTURE.trial("ML", profile))]
    for own, reference in pairs:
        kept = ("dataset", "steps", "batch_size", "evaluate_every", "task")
        assert all(getattr(own.spec, name) == getattr(reference.spec, name) for name in kept)
        assert own.spec.networks == {"energy": reference.spec.networks["energy"]}


def test_every_method_of_a_family_has_a_trial_on_the_flow():
    for family in FAMILIES:
        for label in family.flow:
            assert find_flow_trial(label, "laptop").label == label

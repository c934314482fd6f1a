"""Claims are judged by intervals of differences, with the evidence."""

import pytest

from bench.judging.cell import Cell, make_cell
from bench.judging.claims import Finding, check_above, check_at_most, require_all

LOW, HIGH = Cell((1.0, 1.1, 1.2), ("ok",) * 3), Cell((2.0, 2.1, 2.2), ("ok",) * 3)
WIDE = Cell((0.0, 3.0, 6.0), ("ok",) * 3)


@pytest.mark.parametrize(
    ("a", "b", "judgement"), [(HIGH, LOW, "supported"), (LOW, HIGH, "refuted"), (WIDE, LOW, "undetermined")]
)
def test_above_is_judged_by_the_interval_of_the_difference(a, b, judgement):
    assert check_above("A", a, "B", b).judgement == judgement


def test_equal_values_are_undetermined():
    same = Cell((1.0, 1.0), ("ok", "ok"))
    assert check_above("A", same, "B", same).judgement == "undetermined"


@pytest.mark.parametrize("judge", [check_above, lambda _, a, name, b: check_at_most(name, a, b, 0.5)])
def test_values_without_spread_are_undetermined(judge):
    high, low = Cell((0.9, 0.9), ("ok", "ok")), Cell((0.89, 0.89), ("ok", "ok"))
    for a, b in ((high, low), (low, high)):
        finding = judge("A", a, "B", b)
        assert finding.judgement == "undetermined"
        assert "equal in every seed" in finding.evidence
    assert check_above("A", HIGH, "B", low).judgement == "supported", (
        "the spread of one side is enough for an interval"
    )


def test_the_evidence_gives_difference_interval_and_counts():
    assert check_above("VERA-HMC", LOW, "B", HIGH).evidence == "VERA-HMC − B = −1 ± 0.23 (n=3 and 3)"


def test_the_evidence_counts_trials_without_a_value():
    partial = make_cell([("ok", 2.0), ("ok", 2.1), ("diverged", None)])
    assert check_above("B", LOW, "A", partial).evidence.endswith("(n=3 and 2 of 3); A diverged in 1 of 3")
    assert check_at_most("A − B", partial, LOW, 0.5).evidence.endswith("(n=2 of 3 and 3), tolerance 0.5")


def test_evidence_shared_by_several_findings_is_given_once():
    missing, other = (
        Finding("undetermined", "A has no value (not run)"),
        Finding("supported", "B − C = 1 ± 0.1 (n=2 and 2)"),
    )
    assert require_all([missing, other, missing]) == Finding(
        "undetermined", f"{missing.evidence}; {other.evidence}"
    )


def test_a_winner_that_diverged_in_some_seeds_is_undetermined():
    partial = make_cell([("ok", 2.0), ("ok", 2.1), ("diverged", None)])
    above = check_above("A", partial, "B", LOW)
    assert above == Finding("undetermined", "A − B = 0.95 ± 0.25 (n=2 of 3 and 3); A diverged in 1 of 3")
    level = check_at_most("B − A", LOW, partial, 0.5)
    assert level == Finding(
        "undetermined", "B − A = −0.95 ± 0.25 (n=3 and 2 of 3), tolerance 0.5; the latter diverged in 1 of 3"
    )
    assert check_above("B", LOW, "A", partial).judgement == "undetermined", (
        "nor is a claim refuted by the remaining seeds"
    )
    assert (
        check_above("A", make_cell([("ok", 1.0), ("ok", 1.1), ("diverged", None)]), "B", HIGH).judgement
        == "refuted"
    ), "no seed of B diverged"
    assert (
        check_above("A", HIGH, "B", make_cell([("ok", 1.0), ("ok", 1.1), ("diverged", None)])).judgement
        == "supported"
    )
    failed = make_cell([("ok", 2.0), ("ok", 2.1), ("error", None)])
    assert check_above("A", failed, "B", LOW).judgement == "supported", (
        "an error says nothing about the method"
    )


def test_if_lower_is_better_divergence_of_the_lower_side_counts():
    high, low = (make_cell([("ok", level), ("ok", level + 0.1), ("diverged", None)]) for level in (2.0, 1.0))
    assert check_above("FID of A", high, "B", LOW, better="lower").judgement == "supported", (
        "the divergence of A is in favour of B"
    )
    partial = check_above("FID of A", HIGH, "B", low, better="lower")
    assert partial == Finding(
        "undetermined", "FID of A − B = 1.05 ± 0.25 (n=3 and 2 of 3); B diverged in 1 of 3"
    )


@pytest.mark.parametrize(("a", "b"), [(Cell((-9.5,), ("ok",)), LOW), (LOW, Cell((-9.5,), ("ok",)))])
def test_a_single_value_is_undetermined_at_any_distance(a, b):
    finding = check_above("A", a, "B", b)
    assert finding.judgement == "undetermined"
    assert "−9.5 (n=1)" in finding.evidence
    assert "1.1 (n=3)" in finding.evidence


@pytest.mark.parametrize("sides", [("A", make_cell([]), "B", LOW), ("B", LOW, "A", make_cell([]))])
def test_a_side_without_values_is_undetermined_and_gives_the_reason(sides):
    assert check_above(*sides) == Finding("undetermined", "A has no value (not run)")


@pytest.mark.parametrize(
    ("judgements", "combined"),
    [
        (["supported", "supported"], "supported"),
        (["supported", "undetermined"], "undetermined"),
        (["undetermined", "refuted", "supported"], "refuted"),
        ([], "undetermined"),
    ],
)
def test_all_findings_must_be_supported(judgements, combined):
    finding = require_all([Finding(judgement, f"reason {i}") for i, judgement in enumerate(judgements)])
    assert finding.judgement == combined
    assert finding.evidence == "; ".join(f"reason {i}" for i in range(len(judgements)))


def test_a_claim_of_many_comparisons_is_not_refuted_by_chance():
    """A difference that refutes one comparison at 95 % does not refute one of twenty."""
    low, high = Cell((0.0, 0.1, 0.2), ("ok",) * 3), Cell((0.3, 0.4, 0.5), ("ok",) * 3)
    assert check_above("a", low, "b", high).judgement == "refuted"
    assert check_above("a", low, "b", high, comparisons=20).judgement == "undetermined"
    assert check_above("b", high, "a", low, comparisons=20).judgement == "supported", (
        "support needs no correction"
    )


@pytest.mark.parametrize(
    ("tolerance", "judgement"), [(1.0, "supported"), (0.3, "undetermined"), (0.01, "refuted")]
)
def test_at_most_is_judged_by_the_interval_and_the_tolerance(tolerance, judgement):
    low, high = Cell((0.0, 0.1, 0.2), ("ok",) * 3), Cell((0.3, 0.4, 0.5), ("ok",) * 3)
    assert check_at_most("high − low", high, low, tolerance).judgement == judgement
    assert check_at_most("high − low", high, Cell(), tolerance).judgement == "undetermined"

"""Claims are decided by intervals, and always say on what."""

import pytest

from bench.judging.cell import Cell, cell_of
from bench.judging.claims import Finding, all_of, at_most, compare

LOW, HIGH = Cell((1.0, 1.1, 1.2), ("ok",) * 3), Cell((2.0, 2.1, 2.2), ("ok",) * 3)
WIDE = Cell((0.0, 3.0, 6.0), ("ok",) * 3)


@pytest.mark.parametrize(
    ("a", "b", "judgement"), [(HIGH, LOW, "supported"), (LOW, HIGH, "refuted"), (WIDE, LOW, "undetermined")]
)
def test_a_comparison_is_decided_by_the_interval_of_the_difference(a, b, judgement):
    assert compare("A", a, "B", b).judgement == judgement


def test_equal_values_decide_nothing():
    same = Cell((1.0, 1.0), ("ok", "ok"))
    assert compare("A", same, "B", same).judgement == "undetermined"


@pytest.mark.parametrize("judge", [compare, lambda _, a, name, b: at_most(name, a, b, 0.5)])
def test_values_without_any_spread_prove_nothing(judge):
    high, low = Cell((0.9, 0.9), ("ok", "ok")), Cell((0.89, 0.89), ("ok", "ok"))
    for a, b in ((high, low), (low, high)):
        finding = judge("A", a, "B", b)
        assert finding.judgement == "undetermined"
        assert finding.evidence.endswith("equal in every seed, and without any spread there is no interval")
    assert compare("A", HIGH, "B", low).judgement == "supported", (
        "one side's spread is enough for an interval"
    )


def test_the_evidence_is_the_difference_with_its_interval_and_counts():
    assert compare("VERA-HMC", LOW, "B", HIGH).evidence == "VERA-HMC − B = −1 ± 0.23 (n=3 and 3)"


def test_lost_trials_stand_in_the_evidence():
    lossy = cell_of([("ok", 2.0), ("ok", 2.1), ("diverged", None)])
    assert compare("B", LOW, "A", lossy).evidence.endswith("(n=3 and 2 of 3); A diverged in 1 of 3")
    assert at_most("A − B", lossy, LOW, 0.5).evidence.endswith("(n=2 of 3 and 3), tolerance 0.5")


def test_what_several_findings_say_is_said_once():
    missing, other = (
        Finding("undetermined", "A has no value (not run)"),
        Finding("supported", "B − C = 1 ± 0.1 (n=2 and 2)"),
    )
    assert all_of([missing, other, missing]) == Finding(
        "undetermined", f"{missing.evidence}; {other.evidence}"
    )


def test_the_seeds_that_did_not_diverge_decide_nothing():
    lossy = cell_of([("ok", 2.0), ("ok", 2.1), ("diverged", None)])
    above = compare("A", lossy, "B", LOW)
    assert above == Finding("undetermined", "A − B = 0.95 ± 0.25 (n=2 of 3 and 3); A diverged in 1 of 3")
    level = at_most("B − A", LOW, lossy, 0.5)
    assert level == Finding(
        "undetermined", "B − A = −0.95 ± 0.25 (n=3 and 2 of 3), tolerance 0.5; the latter diverged in 1 of 3"
    )
    assert compare("B", LOW, "A", lossy).judgement == "undetermined", (
        "nor do they refute that another is better"
    )
    assert (
        compare("A", cell_of([("ok", 1.0), ("ok", 1.1), ("diverged", None)]), "B", HIGH).judgement
        == "refuted"
    ), "B lost none"
    assert (
        compare("A", HIGH, "B", cell_of([("ok", 1.0), ("ok", 1.1), ("diverged", None)])).judgement
        == "supported"
    )
    failed = cell_of([("ok", 2.0), ("ok", 2.1), ("error", None)])
    assert compare("A", failed, "B", LOW).judgement == "supported", "an error is no property of the method"


def test_where_lower_is_better_it_is_the_lower_side_whose_losses_count():
    high, low = (cell_of([("ok", level), ("ok", level + 0.1), ("diverged", None)]) for level in (2.0, 1.0))
    assert compare("FID of A", high, "B", LOW, better="lower").judgement == "supported", (
        "A's losses speak for B"
    )
    lossy = compare("FID of A", HIGH, "B", low, better="lower")
    assert lossy == Finding(
        "undetermined", "FID of A − B = 1.05 ± 0.25 (n=3 and 2 of 3); B diverged in 1 of 3"
    )


@pytest.mark.parametrize(("a", "b"), [(Cell((-9.5,), ("ok",)), LOW), (LOW, Cell((-9.5,), ("ok",)))])
def test_a_single_value_decides_nothing_however_far_it_lies(a, b):
    finding = compare("A", a, "B", b)
    assert finding.judgement == "undetermined"
    assert "−9.5 (n=1)" in finding.evidence
    assert "1.1 (n=3)" in finding.evidence


@pytest.mark.parametrize("sides", [("A", cell_of([]), "B", LOW), ("B", LOW, "A", cell_of([]))])
def test_a_side_without_values_decides_nothing_and_says_why(sides):
    assert compare(*sides) == Finding("undetermined", "A has no value (not run)")


@pytest.mark.parametrize(
    ("judgements", "together"),
    [
        (["supported", "supported"], "supported"),
        (["supported", "undetermined"], "undetermined"),
        (["undetermined", "refuted", "supported"], "refuted"),
        ([], "undetermined"),
    ],
)
def test_all_of_is_as_strong_as_its_weakest_part(judgements, together):
    finding = all_of([Finding(judgement, f"reason {i}") for i, judgement in enumerate(judgements)])
    assert finding.judgement == together
    assert finding.evidence == "; ".join(f"reason {i}" for i in range(len(judgements)))


def test_a_claim_of_many_parts_is_not_refuted_by_chance():
    """A difference that one comparison calls refuted at 95 % is not enough among twenty."""
    low, high = Cell((0.0, 0.1, 0.2), ("ok",) * 3), Cell((0.3, 0.4, 0.5), ("ok",) * 3)
    assert compare("a", low, "b", high).judgement == "refuted"
    assert compare("a", low, "b", high, comparisons=20).judgement == "undetermined"
    assert compare("b", high, "a", low, comparisons=20).judgement == "supported", (
        "for support no correction is needed"
    )


@pytest.mark.parametrize(
    ("tolerance", "judgement"), [(1.0, "supported"), (0.3, "undetermined"), (0.01, "refuted")]
)
def test_at_most_by_a_tolerance(tolerance, judgement):
    low, high = Cell((0.0, 0.1, 0.2), ("ok",) * 3), Cell((0.3, 0.4, 0.5), ("ok",) * 3)
    assert at_most("high − low", high, low, tolerance).judgement == judgement
    assert at_most("high − low", high, Cell(), tolerance).judgement == "undetermined"

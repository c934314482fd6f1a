"""Claims are judged by intervals of differences, with the evidence."""

import pytest
from scipy import stats
from toys_helpers import results_of

from bench.judging.cell import Cell, make_cell
from bench.judging.claims import (
    MAX_SEEDS,
    Claim,
    Finding,
    Outlook,
    check_above,
    check_at_most,
    check_mean_above,
    check_near,
    require_all,
    summarise_judgements,
)

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
    assert check_above("VERA-HMC", LOW, "B", HIGH).evidence == (
        "VERA-HMC − B = −1 ± 0.23 (n=3 and 3, Welch; larger in 0 of 9 pairs of runs)"
    )


def test_the_evidence_counts_trials_without_a_value():
    partial = make_cell([("ok", 2.0), ("ok", 2.1), ("diverged", None)])
    above = check_above("B", LOW, "A", partial).evidence
    assert "(n=3 and 2 of 3, " in above
    assert above.endswith("; A diverged in 1 of 3")
    assert "(n=2 of 3 and 3, " in check_at_most("A − B", partial, LOW, 0.5).evidence


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
    assert above.judgement == "undetermined"
    assert above.evidence.endswith("; A diverged in 1 of 3")
    level = check_at_most("B − A", LOW, partial, 0.5)
    assert level.judgement == "undetermined"
    assert level.evidence.endswith(", tolerance 0.5; the latter diverged in 1 of 3")
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
    assert partial.judgement == "undetermined"
    assert partial.evidence.endswith("; B diverged in 1 of 3")


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


def paired(*differences):
    """Two cells whose values differ by these, seed by seed, and vary much more from seed to seed."""
    seeds = tuple(range(len(differences)))
    base = [100.0 * seed for seed in seeds]
    a = tuple(low + difference for low, difference in zip(base, differences, strict=True))
    return [Cell(own, ("ok",) * len(own), seeds=seeds) for own in (a, tuple(base))]


def shift_unit_spread(t):
    """Three values with standard deviation 1 and this t statistic."""
    return [t / 3**0.5 + step for step in (-1, 0, 1)]


def compare(cells):
    return check_above("A", cells[0], "B", cells[1])


def test_lines_with_the_same_seeds_are_compared_seed_by_seed():
    a, b = paired(1.0, 1.2, 1.1)
    finding = check_above("A", a, "B", b)
    assert finding.judgement == "supported"
    assert (
        finding.evidence == "A − B = 1.1 ± 0.25 (n=3 and 3, paired by seed; larger in 6 of 9 pairs of runs)"
    )
    without = check_above("A", Cell(a.values, a.outcomes), "B", b)
    assert (without.judgement, ", Welch;" in without.evidence) == ("undetermined", True)


@pytest.mark.parametrize("mean", [0.3, -0.3])
def test_the_outlook_is_the_smallest_n_whose_paired_interval_leaves_zero_out(mean):
    """Differences m − 1, m, m + 1 have standard deviation 1, so t(.975; n − 1) / √n has to fall below |m|."""
    a, b = paired(mean - 1, mean, mean + 1)
    needed = next(n for n in range(3, 101) if stats.t.ppf(0.975, n - 1) / n**0.5 < abs(mean))
    finding = check_above("A", a, "B", b)
    assert finding.outlook == Outlook("supported" if mean > 0 else "refuted", needed)
    assert f"{needed} seeds would" in finding.explanation
    assert finding.outlook.seeds == 46


def test_the_outlook_of_welchs_difference_has_n_seeds_on_both_sides():
    """Both sides have variance 1 and differ by .5: t(.975; 2n − 2) √(2 / n) has to fall below .5."""
    a, b = Cell((-0.5, 0.5, 1.5), ("ok",) * 3), Cell((-1.0, 0.0, 1.0), ("ok",) * 3)
    needed = next(n for n in range(3, 101) if stats.t.ppf(0.975, 2 * n - 2) * (2 / n) ** 0.5 < 0.5)
    assert check_above("A", a, "B", b).outlook == Outlook("supported", needed)


def test_the_outlook_counts_up_to_a_hundred_seeds():
    finding = compare(paired(-0.99, 0.01, 1.01))
    assert finding.outlook == Outlook("supported", None)
    assert f"more than {MAX_SEEDS} seeds" in finding.explanation


def test_the_outlook_of_a_tolerance_is_the_distance_to_it():
    """The difference of 0 lies 1 below the tolerance, with standard deviation 1."""
    a, b = paired(-1.0, 0.0, 1.0)
    needed = next(n for n in range(3, 101) if stats.t.ppf(0.975, n - 1) / n**0.5 < 1)
    assert check_at_most("A − B", a, b, tolerance=1.0).outlook == Outlook("supported", needed)


def test_there_is_no_outlook_if_more_seeds_alone_would_not_decide():
    a, b = paired(-1.0, 0.0, 1.0)
    assert check_above("A", a, "B", b).outlook is None, "the means are equal"
    single = Cell((1.0,), ("ok",), seeds=(0,))
    assert check_above("A", single, "B", single).outlook is None, "one value has no spread"
    diverged = make_cell([("ok", 2.0), ("ok", 2.1), ("diverged", None)], seeds=(0, 1, 2))
    assert check_above("A", diverged, "B", LOW).outlook is None, "the winner diverged"
    assert check_above("A", HIGH, "B", LOW).outlook is None, "it is decided"


def test_the_outlook_of_several_comparisons_is_that_of_the_claim():
    """All must support it, so the last one counts; one refutes it, at the level of all."""
    slow, fast = paired(-0.5, 0.5, 1.5), paired(0.0, 1.0, 2.0)
    worse = paired(-2.0, -1.0, 0.0)
    found = [compare(slow), compare(fast)]
    assert require_all(found).outlook == found[0].outlook
    corrected = next(n for n in range(3, 101) if stats.t.ppf(1 - 0.025 / 3, n - 1) / n**0.5 < 1)
    against = require_all([*found, compare(worse)])
    assert against.outlook == Outlook("refuted", corrected)
    open_part = Finding("undetermined", "C was not run")
    assert require_all([*found, open_part]).outlook is None


def test_a_claim_is_corrected_once_for_all_its_comparisons():
    """p = .02 refutes one comparison or two, and not three, however they are put together."""
    t = stats.t.ppf(1 - 0.01, 2)
    against = compare(paired(*shift_unit_spread(-t)))
    for_it = compare(paired(3.0, 3.1, 3.2))
    assert [against.judgement, for_it.judgement] == ["refuted", "supported"]
    assert require_all([against, for_it]).judgement == "refuted"
    assert require_all([against, for_it, for_it]).judgement == "undetermined"
    nested = require_all([require_all([against]), require_all([for_it, for_it])])
    assert nested.judgement == "undetermined"
    assert "3 comparisons" in nested.explanation
    assert require_all([require_all([against]), require_all([for_it])]).judgement == "refuted", (
        "two comparisons in all: nesting corrects nothing twice"
    )


def test_support_of_several_comparisons_needs_no_correction():
    t = stats.t.ppf(1 - 0.02, 2)
    for_it = compare(paired(*shift_unit_spread(t)))
    assert require_all([for_it] * 50).judgement == "supported"


@pytest.mark.parametrize(
    ("p_values", "judgement"),
    [
        ((0.02, 0.02, -0.001), "supported"),
        ((0.02, 0.04, -0.001), "undetermined"),
        ((0.001, -0.02, -0.02), "refuted"),
        ((0.001, -0.02, -0.03), "undetermined"),
    ],
)
def test_with_an_exception_the_partial_conjunction_is_corrected(p_values, judgement):
    """Of three all but one must hold. Support needs the second largest p below .05 / 2, refutation the second
    smallest below .05 / 2. A negative number is a p-value against the claim."""
    found = []
    for p in p_values:
        t = stats.t.ppf(1 - abs(p) / 2, 2) * (1 if p > 0 else -1)
        found.append(compare(paired(*shift_unit_spread(t))))
    assert require_all(found, exceptions=1).judgement == judgement


@pytest.mark.parametrize(
    ("others", "judgement"),
    [(["supported"], "not testable"), (["undetermined"], "not testable"), (["refuted"], "refuted")],
)
def test_a_part_that_is_not_testable_leaves_only_refutation(others, judgement):
    parts = [Finding("not testable", "no such data"), *(Finding(other, "seen") for other in others)]
    assert require_all(parts).judgement == judgement
    assert require_all(parts).reasons == ["no such data"]


def test_a_claim_is_not_testable_where_its_experiment_could_not_support_it(tmp_path):
    reasons = {"laptop": "the training is too short"}
    claim = Claim("key", "Text.", "Sec. 1", lambda results: Finding("refuted", "0 of 3"), reasons)
    for profile, judgement in {"smoke": "not testable", "laptop": "not testable", "paper": "refuted"}.items():
        finding = claim.judge(results_of(tmp_path, [], profile))
        assert (finding.judgement, "0 of 3" in finding.explanation) == (judgement, True)
        assert (finding.evidence == reasons["laptop"]) == (profile == "laptop")
    assert Finding("not testable", "why").label == "– not testable"


def test_judgements_are_counted_in_a_fixed_order():
    assert summarise_judgements({"refuted": 2, "supported": 1}) == (
        "1 supported · 2 refuted · 0 undetermined · 0 not testable"
    )


@pytest.mark.parametrize(
    ("values", "judgement"),
    [
        ((1.1, 1.2), "undetermined"),
        ((1.1, 1.11), "supported"),
        ((0.9, 0.91), "refuted"),
        ((2.0,), "undetermined"),
    ],
)
def test_a_mean_lies_above_a_value_if_its_interval_does(values, judgement):
    assert check_mean_above("ratio", Cell(values, ("ok",) * len(values)), 1.0).judgement == judgement


@pytest.mark.parametrize(
    ("values", "judgement"),
    [
        ((1.0, 1.02), "undetermined"),
        ((1.0, 1.001), "supported"),
        ((2.0, 2.001), "refuted"),
        ((1.0,), "undetermined"),
        ((1.0, 1.0), "undetermined"),
        ((), "undetermined"),
    ],
)
def test_a_mean_is_near_a_value_if_its_whole_interval_is(values, judgement):
    finding = check_near("it", Cell(values, ("ok",) * len(values), reason="not run"), 1.0, tolerance=0.1)
    assert finding.judgement == judgement
    assert "it" in finding.evidence

"""Importance of axes and the best score so far, on invented scores."""

import random

import pytest
from store_helpers import make_row

from sweeps.search.analysis import compute_importance, rank_scores, trace_progress
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective, SearchScore
from sweeps.search.space import Space, choice, uniform
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec

SPACE = Space(
    (
        uniform("method.a", low=0, high=1),
        uniform("method.b", low=0, high=1),
        choice("method.c", values=("x", "y")),
    )
)


def base(profile):
    return Trial(TrialSpec({"name": "moons"}, {"energy": {"name": "mlp"}}, {"name": "ml"}, 10), profile)


SEARCH = Search("invented", "for these tests", base, SPACE, (Objective("value", worst=-100.0),), (100,))


def entry(point, value, number=0, outcome="ok", step=10):
    made = SEARCH.build_configuration(point, "smoke")
    metrics = f'{{"value": {value}}}'
    facts = {
        "seed": 100,
        "seconds": 2.0,
        "sweep": SEARCH.sweep,
        "finished_at": f"2026-01-01T00:00:{number:02}",
    }
    made.rows = {100: make_row(f"{number:04}", outcome=outcome, outcome_step=step, metrics=metrics, **facts)}
    return made


def entries(score, n=200):
    rng = random.Random(0)
    points = [SPACE.draw(rng) for _ in range(n)]
    return [entry(point, score(point), number % 60) for number, point in enumerate(points)]


def test_the_axis_that_decides_the_score_has_nearly_all_importance():
    found = compute_importance(entries(lambda point: 5 * point["method.a"]))
    assert found["method.a"] == pytest.approx(
        15 / 16, abs=0.02
    )  # a sixteenth of the variance lies within the quarters
    assert max(found["method.b"], found["method.c"]) < 0.05


def test_importance_is_shared_by_variance():
    found = compute_importance(entries(lambda point: point["method.a"] + (point["method.c"] == "y") / 3**0.5))
    assert found["method.a"] == pytest.approx(15 / 32, abs=0.08)
    assert found["method.c"] == pytest.approx(1 / 2, abs=0.08)


def test_the_share_of_chance_is_subtracted():
    rng = random.Random(1)
    shares = [compute_importance(entries(lambda _: rng.gauss(0, 1), 24))["method.a"] for _ in range(60)]
    assert sum(shares) / 60 < 0.08


def test_there_is_no_importance_with_few_or_equal_scores():
    assert compute_importance(entries(lambda point: point["method.a"], 7)) == dict.fromkeys(SPACE.names)
    assert compute_importance(entries(lambda _: 1.0)) == dict.fromkeys(SPACE.names)
    assert compute_importance([]) == {}


def test_a_configuration_that_was_stopped_early_ranks_below_the_others():
    """Its score belongs to fewer steps, is a hundred times lower here, and would dominate the variance."""
    made = entries(lambda point: 5 * point["method.a"], 60)
    made[0] = entry(made[0].point, -90.0, 0, "stopped_early", 1)
    assert compute_importance(made)["method.a"] > 0.75
    scores = [
        SearchScore((1.0,)),
        SearchScore((0.0,)),
        SearchScore((9.0,), 30),
        SearchScore((8.0,), 30),
        SearchScore((99.0,), 10),
        SearchScore((0.0,)),
    ]
    assert rank_scores(scores) == [6.0, 4.5, 3.0, 2.0, 1.0, 4.5]


def test_the_best_score_rises_and_stopped_configurations_count_as_cost():
    point = SPACE.draw(random.Random(0))
    made = [
        entry(point, 1.0, 1),
        entry(point, 9.0, 2, "stopped_early", 3),
        entry(point, 0.5, 3),
        entry(point, 2.0, 4),
    ]
    points = trace_progress(made[::-1])
    assert [(point.steps, point.seconds, point.score) for point in points] == [
        (10, 2.0, 1.0),
        (23, 6.0, 1.0),
        (33, 8.0, 2.0),
    ]

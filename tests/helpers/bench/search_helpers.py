"""Rows of a grid and of a TPE search of VERA on moons."""

from dataclasses import replace

from bench_helpers import row_of

from bench.searches.problems import find_search
from sweeps.trial.identity import reseed

METRIC = "test_log_likelihood"
PLAIN = find_search("moons", "vera")
BEST = {"method.lr": 2e-3, "method.generator_lr": 4e-3, "method.entropy_weight": 0.5}


def make_search(name, seeds=(100, 101)):
    return replace(PLAIN, run_name=name, seeds=seeds)


def make_rows(search, point, value, number, outcome="ok", profile="laptop", hour=0, **changes):
    """One row per seed. The second seed scores 0.01 less; a configuration that was stopped early has only its
    first seed."""
    entry = search.build_configuration(point, profile)
    finished = entry.trials[:1] if outcome == "stopped_early" else entry.trials
    for trial in finished:
        step = {"stopped_early": 100, "diverged": 50}.get(outcome, trial.spec.steps)
        facts = {"sweep": search.sweep, "outcome_step": step, "seconds": 2.0, "steps": trial.spec.steps}
        time = f"2026-01-01T{hour:02}:{number // 60:02}:{number % 60:02}+00:00"
        own = {"started_at": time, "finished_at": time} | facts | changes
        yield row_of(trial, trial.spec.seed, value - (trial.spec.seed - 100) / 100, outcome, METRIC, **own)


def make_grid_rows(value=-4.0, **changes):
    """Rows of the complete grid, an hour after those of the other searches, which could not know them."""
    search = make_search("grid")
    for number, point in enumerate(search.space.iterate_grid()):
        yield from make_rows(search, point, value - number / 100, number, **({"hour": 1} | changes))


def make_tpe_rows(value=-3.0, name="tpe", **changes):
    """The best configuration, ten worse ones, two that were stopped early and one that diverged."""
    search = make_search(name)
    yield from make_rows(search, BEST, value, 5, **changes)
    for number in range(13):
        outcome = "ok" if number < 10 else "stopped_early" if number < 12 else "diverged"
        point = BEST | {"method.lr": 1e-4 * (number + 1), "method.entropy_weight": 0.1 * number}
        yield from make_rows(
            search,
            search.space.round_point(point),
            value - 0.1 * (number + 1),
            10 + number,
            outcome,
            **changes,
        )


def make_fresh_rows(point, value, seeds=range(3), spread=0.01):
    """The same settings with seeds that no search uses."""
    (trial,) = make_search("any", (0,)).build_configuration(point, "laptop").trials
    for seed in seeds:
        own = {"sweep": "trial-0", "finished_at": f"2026-01-02T00:00:{seed:02}+00:00"}
        yield row_of(reseed(trial, seed), seed, value + spread * seed, metric=METRIC, **own)

"""What the tests of searches share: a store with a grid and a TPE search of VERA on moons, made up."""

from dataclasses import replace

from bench_helpers import row_of

from bench.searches.problems import find_search
from sweeps.trial.identity import reseed

METRIC = "test_log_likelihood"
PLAIN = find_search("moons", "vera")
BEST = {"method.lr": 2e-3, "method.generator_lr": 4e-3, "method.entropy_weight": 0.5}


def named(name, seeds=(100, 101)):
    return replace(PLAIN, run_name=name, seeds=seeds)


def rows_at(search, point, value, number, outcome="ok", profile="laptop", hour=0, **changes):
    """One row a seed; the second seed scores a hundredth less, a stopped configuration has its first seed
    alone."""
    entry = search.build_configuration(point, profile)
    kept = entry.trials[:1] if outcome == "stopped_early" else entry.trials
    for trial in kept:
        step = {"stopped_early": 100, "diverged": 50}.get(outcome, trial.spec.steps)
        facts = {"sweep": search.sweep, "outcome_step": step, "seconds": 2.0, "steps": trial.spec.steps}
        time = f"2026-01-01T{hour:02}:{number // 60:02}:{number % 60:02}+00:00"
        own = {"started_at": time, "finished_at": time} | facts | changes
        yield row_of(trial, trial.spec.seed, value - (trial.spec.seed - 100) / 100, outcome, METRIC, **own)


def grid_rows(value=-4.0, **changes):
    """An hour after the others, which so cannot have known them."""
    search = named("grid")
    for number, point in enumerate(search.space.iterate_grid()):
        yield from rows_at(search, point, value - number / 100, number, **({"hour": 1} | changes))


def tpe_rows(value=-3.0, name="tpe", **changes):
    """The best, ten that were worse, two that were stopped and one that diverged."""
    search = named(name)
    yield from rows_at(search, BEST, value, 5, **changes)
    for number in range(13):
        outcome = "ok" if number < 10 else "stopped_early" if number < 12 else "diverged"
        point = BEST | {"method.lr": 1e-4 * (number + 1), "method.entropy_weight": 0.1 * number}
        yield from rows_at(
            search, search.space.round_point(point), value - 0.1 * (number + 1), 10 + number, outcome, **changes
        )


def fresh_rows(point, value, seeds=range(3), spread=0.01):
    """The same settings with seeds that no search uses."""
    (trial,) = named("any", (0,)).build_configuration(point, "laptop").trials
    for seed in seeds:
        own = {"sweep": "trial-0", "finished_at": f"2026-01-02T00:00:{seed:02}+00:00"}
        yield row_of(reseed(trial, seed), seed, value + spread * seed, metric=METRIC, **own)

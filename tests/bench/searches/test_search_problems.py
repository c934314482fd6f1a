"""Search problems: each experiment family has one, and its searches run."""

from dataclasses import replace

import pytest
from cluster_helpers import run_here

from bench.paper.experiments.images import IMAGES
from bench.paper.experiments.modes import MODES
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.toys import MIXTURE
from bench.searches.problems import PROBLEMS, find_search
from sweeps.run.attempt import run_trial
from sweeps.search.declaration import find_best
from sweeps.search.proposer import Proposer
from sweeps.search.stopping_rules import NeverStop

UCI = ("human", "crop", "hepmass")


def test_every_experiment_family_has_a_search_problem():
    assert {problem.experiment.name for problem in PROBLEMS.values()} == {
        experiment.name for experiment in (MIXTURE, NICE, IMAGES, MODES, TABULAR)
    }


@pytest.mark.parametrize(("problem", "smoke", "paper"), [
    ("images", "mnist5k-images", "cifar10"),
    ("image-weights", "mnist5k-images", "cifar10"),
    ("modes", "stacked-mnist", "stacked-mnist"),
    ("mnist", "mnist5k-table", "mnist-table"),
    ("human", "human", "human"),
    ("crop", "crop", "crop"),
    ("hepmass", "hepmass", "hepmass"),
])  # fmt: skip
def test_problem_has_its_data_and_the_tables_settings(problem, smoke, paper):
    for search in PROBLEMS[problem].searches.values():
        small, full = search.base("smoke").spec, search.base("paper").spec
        assert (small.dataset["name"], full.dataset["name"]) == (smoke, paper)
        assert small.steps < 100 < full.steps
        assert min(search.seeds) >= 100


def test_axes_of_images_are_the_papers_alpha_and_lambda():
    axes = {axis.paths[0]: axis for axis in find_search("image-weights", "vera").space.axes}
    assert set(axes["method.alpha"].grid) == {1, 10, 30, 100}
    assert set(axes["method.entropy_weight"].grid) == {1, 0.1, 0.01, 1e-3, 1e-4}
    assert len(list(find_search("image-weights", "vera").space.iterate_grid())) == 20


@pytest.mark.parametrize("problem", UCI)
def test_without_its_file_a_table_names_the_command_that_fetches_it(problem, tmp_path):
    place = ("--results-dir", tmp_path / "results", "--data-dir", tmp_path / "data")
    code, _, err = run_here("search", problem, "--profile", "smoke", "--configurations", 1, *place)
    assert code == 2
    assert f"vera data fetch {problem}" in err


@pytest.mark.parametrize(("problem", "method"), [
    ("image-weights", "vera"), ("modes", "vera"), ("mnist", "vera"),
])  # fmt: skip
def test_a_tiny_search_runs(problem, method):
    """Without the cluster: what the sampler proposes is trained and scored."""
    search = replace(find_search(problem, method), seeds=(100,))
    proposer = Proposer(search, "smoke", sampler="random", rule=NeverStop(), configurations=1, rows=())
    rows = []
    while trial := proposer.next_trial():
        rows.append(run_trial(trial).row)
        proposer.record_row(rows[-1])
    assert [(row.outcome, row.sweep) for row in rows] == [("ok", search.sweep)]
    (best,) = find_best(proposer.owners.values())
    assert best.compute_score().scores[0] >= search.objectives[0].worst

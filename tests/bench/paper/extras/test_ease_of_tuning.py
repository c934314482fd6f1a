"""Ease of tuning: distances below the best setting, from made-up rows of the grids."""

import pytest
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.tabular import TABULAR
from bench.paper.extras.ease_of_tuning import FLOW, TriedSettingsOfLine

ARTIFACT = catalogue.artifact("ease-of-tuning")
DIGITS, MNIST = TABULAR.data("laptop")[-2:]


def records(experiment, line, data, metric, values, profile="laptop"):
    """Rows of both tuning seeds for the first settings of a grid; None is a divergence with the second."""
    trials = experiment.grid_trials(experiment.line(line), profile, data)
    for trial, value in zip(trials, values, strict=False):
        for seed in (100, 101):
            is_ok = value is not None or seed == 100
            found = {metric: (value or 0.0)} if is_ok else {}
            yield record_of(trial, seed, "ok" if is_ok else "diverged", **found)


def test_distances_are_those_below_the_best_and_divergences_are_counted(tmp_path):
    data = NICE.data("laptop")[0]
    made = records(NICE, "VERA λ=1", data, "test_log_likelihood", (-300.0, -310.0, None, -330.0))
    results = results_of(tmp_path, made)
    tried = TriedSettingsOfLine.read(results, FLOW, NICE.line("VERA λ=1"), data)
    assert (tried.means, tried.diverged) == ((-300.0, -310.0, -330.0), 1)
    assert tried.below == (10.0, 30.0)
    (line,) = ARTIFACT.render(results).lines
    shown = [line[key] for key in ("settings", "diverged", "best", "median", "spread", "worst")]
    assert shown == [4, 1, -300, 20, 10, 30]


@pytest.mark.parametrize(
    ("step", "judgement"), [(0.05, "supported"), (0.001, "refuted"), (0.0101, "undetermined")]
)
def test_claim_on_tables_follows_the_distances(tmp_path, step, judgement):
    """VERA loses a point with every setting, JEM `step`."""
    made = [
        record
        for data in (DIGITS, MNIST)
        for line, own in (("VERA", 0.01), ("JEM", step))
        for record in records(
            TABULAR, line, data, "test_accuracy", (0.9, *(0.9 - own - own * n / 10 for n in range(4)))
        )
    ]
    finding = check_claim(ARTIFACT, "easier-on-tables", results_of(tmp_path, made))
    assert finding.judgement == judgement
    assert finding.outlook is None
    assert "pairs of settings" in finding.evidence


def test_claim_on_the_flow_is_not_made_at_laptop(tmp_path):
    (claim,) = [claim for claim in ARTIFACT.claims if claim.key == "easier-on-the-flow"]
    assert claim.judge(results_of(tmp_path, [])).judgement == "not testable"


def test_it_reads_the_trials_of_the_grids_and_is_no_sweep_itself(tmp_path):
    assert ARTIFACT.name not in catalogue.sweep_names()
    assert not ARTIFACT.is_in(results_of(tmp_path, []))
    made = list(records(TABULAR, "VERA", DIGITS, "test_accuracy", (0.9, 0.8)))
    assert len(ARTIFACT.rows(results_of(tmp_path / "some", made))) == 4

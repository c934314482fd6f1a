"""Table 7: the paper's recommended settings beside those of the declared trials."""

import pytest
import torch

from bench.judging.results import Results
from bench.paper.tables.table7 import (
    HEADINGS,
    IMAGE_LINES,
    Declared,
    Table7,
    find_differences,
    read_recommended,
)
from bench.paper.values import PAPER
from sweeps.store.store import Store
from vera.joint import JointVERA
from vera.models import MLPClassifier, mlp_generator
from vera.training.adam_betas import PAPER_BETAS


@pytest.fixture
def results(tmp_path):
    return Results(Store(tmp_path / "trials", create=True), "paper")


def test_every_setting_of_the_paper_has_a_line(results):
    named = [entry["metric"] for entry in PAPER.entries if entry["artifact"] == "Table 7"]
    assert named == list(HEADINGS)
    sheet = Table7().render(results)
    assert len(sheet.lines) == len(named)
    assert all(line.keys() >= {"setting", "paper", *IMAGE_LINES, "Table 6"} for line in sheet.lines)


def test_rates_are_divided_by_alpha_and_beta_may_be_one_of_three():
    assert read_recommended("lr_energy", 1.0) == (1e-4,)
    assert read_recommended("lr_generator", 100.0) == (2e-6,)
    assert read_recommended("beta_classification_entropy", 10.0) == (1.0, 1.0, 10.0)
    assert read_recommended("alpha_classification_weight", 1.0) == (1.0, 10.0, 30.0, 100.0)


def test_only_learning_rates_with_a_large_alpha_differ(results):
    found = find_differences("paper")
    assert found[False] == []
    assert len(found[True]) == 6
    assert all("α=1," not in text for text in found[True])
    (claim,) = Table7.claims
    judged = claim.judge(results)
    assert judged.judgement == "supported"
    assert "1e−06" in judged.evidence


def test_another_setting_refutes_the_claim(results, monkeypatch):
    monkeypatch.setattr("bench.paper.tables.table7.PAPER_BETAS", (0.5, 0.9))
    judged = Table7.claims[0].judge(results)
    assert judged.judgement == "refuted"
    assert "Adam β₁: 0.5, in Table 7 0" in judged.evidence


def test_a_value_that_is_not_compared_never_differs():
    assert not Declared("place", 3.0, ()).differs
    assert Declared("place", 3.0, (1.0, 2.0)).differs


def test_the_optimisers_of_vera_have_the_betas_of_the_table():
    torch.manual_seed(0)
    method = JointVERA(MLPClassifier(2, classes=2, hidden=(4,)), mlp_generator(data_dim=2, hidden=(4,)))
    for optimiser in (method.energy_optimiser, method.generator_optimiser):
        assert optimiser.defaults["betas"] == PAPER_BETAS

"""The expected size of a model file agrees with the file; exported models are complete."""

import json

import pytest
from facts import raises_with

import vera
from bench.catalogue import catalogue
from sweeps.run.attempt import run_attempt
from sweeps.run.conditions import Conditions
from vera.errors import ModelFileError
from vera.saved.expected_size import DESCRIPTION_BYTES, estimate_model_size
from vera.saved.export import export_model


@pytest.mark.parametrize("label", ["ML", "VERA λ=1", "MEG"])
def test_the_estimate_is_the_size_of_the_file(label):
    trial = next(trial for trial in catalogue.sweep("table2").trials("smoke") if trial.label == label)
    content = run_attempt(trial, Conditions()).encode_model()
    assert abs(len(content) - estimate_model_size(trial.spec)) < DESCRIPTION_BYTES


@pytest.mark.parametrize("name", ["figure3", "figure5", "figure6", "speed"])
def test_studies_leave_no_model(name):
    trials = catalogue.sweep(name).trials("smoke")
    assert {estimate_model_size(trial.spec) for trial in trials} == {0}
    assert run_attempt(trials[0], Conditions()).encode_model() is None


def test_networks_of_the_paper_are_measured_without_memory():
    trials = catalogue.sweep("table3").trials("paper")
    assert 4e7 < estimate_model_size(trials[0].spec) < 4e8


def test_an_export_has_the_model_its_spec_and_its_card(tmp_path):
    trial = catalogue.sweep("toy-demo").trials("smoke")[0]
    attempt = run_attempt(trial, Conditions())
    model = vera.SavedModel.from_trainer(attempt.trainer, trial_id=trial.id)
    files = export_model(model, tmp_path / "deep" / "model")
    assert [file.name for file in files] == ["model.safetensors", "spec.json", "README.md"]
    assert json.loads(files[1].read_text()) == model.facts.spec
    assert files[2].read_text() == model.card()
    assert files[2].read_text().startswith("---\nlibrary_name: vera\n")
    assert vera.load_model(files[0]).facts == model.facts
    (tmp_path / "file").write_text("")
    with raises_with(ModelFileError, str(tmp_path / "file")):
        export_model(model, tmp_path / "file")

"""Models by the id of their trial: where they are looked up, and what the error names."""

import numpy as np
import pytest
import torch
from facts import raises_with
from saved_helpers import make_points, train_model

import vera
from vera.errors import ModelFileError, SettingError, UnknownName
from vera.saved import locate
from vera.saved.export import export_model
from vera.saved.load import decode_model

ID = "0123456789abcdef"


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return train_model("vera", "leaky_mlp")[1]


def save_in(results, trial_id, model):
    model.save(results / "trials" / "models" / f"{trial_id}.safetensors")


def test_an_id_is_found_in_the_users_results_before_the_published_ones(model, tmp_path):
    save_in(tmp_path / "results" / "published", ID, model)
    assert locate.locate_model(ID[:6]).parts[1] == "published"
    save_in(tmp_path / "results" / "local", ID, model)
    assert locate.locate_model(ID[:6].upper()).parts[1] == "local"
    loaded, x = vera.load_model(ID[:8]), make_points("leaky_mlp")
    assert torch.equal(loaded.score(x), model.score(x))


def test_another_results_directory_is_searched_alone(model, tmp_path):
    save_in(tmp_path / "results" / "local", ID, model)
    save_in(tmp_path / "elsewhere", "fedcba98", model)
    assert vera.load_model("fedcba98", results="elsewhere").metrics == model.metrics
    with raises_with(UnknownName, ID, "elsewhere/trials/models", "vera models"):
        vera.load_model(ID, results="elsewhere")
    with raises_with(SettingError, "s3://lab/runs", f"vera export {ID} DIR --results-dir s3://lab/runs"):
        vera.load_model(ID, results="s3://lab/runs")


def test_the_published_results_of_the_checkout_are_searched_last(model, tmp_path, monkeypatch):
    monkeypatch.setattr(locate, "__file__", str(tmp_path / "checkout" / "vera" / "saved" / "locate.py"))
    save_in(tmp_path / "checkout" / "results" / "published", ID, model)
    assert locate.locate_model(ID).is_relative_to(tmp_path / "checkout")


def test_the_beginning_of_several_ids_is_ambiguous(model, tmp_path):
    for end in ("0", "1"):
        save_in(tmp_path / "results" / "local", f"{ID[:8]}{end}", model)
    with raises_with(UnknownName, "2 models", f"{ID[:8]}0", f"{ID[:8]}1"):
        vera.load_model(ID[:8])


def test_a_file_may_be_named_like_an_id_and_other_names_are_paths(model, tmp_path):
    model.save(tmp_path / "abcdef")
    assert vera.load_model("abcdef").metrics == model.metrics
    with raises_with(ModelFileError, "nowhere.safetensors"):
        vera.load_model("nowhere.safetensors")
    with raises_with(UnknownName, "abc", "results/local"):
        vera.load_model("abc")
    with raises_with(ModelFileError, "my-model"):
        vera.load_model("my-model")


def test_an_exported_directory_takes_the_place_of_its_file(model, tmp_path):
    export_model(model, tmp_path / "my-model")
    assert vera.load_model("my-model").facts == model.facts
    (tmp_path / "empty").mkdir()
    with raises_with(ModelFileError, "empty/model.safetensors"):
        vera.load_model("empty")


def test_a_model_is_loaded_from_bytes_as_from_a_file(model):
    content = model.encode()
    x = make_points("leaky_mlp").numpy()
    np.testing.assert_array_equal(decode_model(content, "there").score(x), model.score(x))
    with raises_with(ModelFileError, "bucket/model", "truncated"):
        decode_model(content[:-1], "bucket/model")

"""`vera sample`, `score`, `export` and `compare` agree with the model that they use."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from locations import ROOT

import vera
from bench.cli.main import main
from bench.cli.output_files import format_csv


def read_columns(file):
    with open(file, newline="") as opened:
        header, *rows = csv.reader(opened)
    return header, np.array(rows)


def load(ids, label):
    return vera.load_model(ids[label])


def test_samples_are_those_of_the_model(ids):
    model = load(ids, "VERA")
    expected = model.sample(7, refine=3, seed=4).numpy()
    flags = ["-n", "7", "--refine", "3", "--seed", "4"]
    for file in ("s.npz", "s.npy", "s.csv"):
        assert main(["sample", ids["VERA"][:8], *flags, "-o", f"new/{file}"]) == 0
    np.testing.assert_array_equal(np.load("new/s.npz")["x"], expected)
    np.testing.assert_array_equal(np.load("new/s.npy"), expected)
    header, rows = read_columns("new/s.csv")
    assert header == ["x0", "x1"]
    np.testing.assert_array_equal(rows.astype(np.float32), expected)


@pytest.mark.parametrize("label", ["VERA", "wine"])
def test_samples_are_plotted(label, ids):
    assert main(["sample", ids[label][:8]]) == 0
    assert Path("samples.png").read_bytes().startswith(b"\x89PNG")


def test_samples_of_a_class_are_of_that_class(ids):
    model = load(ids, "wine")
    label = int(model.predict(model.sample(1, seed=0))[0])
    assert main(["sample", ids["wine"], "--class", str(label), "-n", "5", "-o", "some.npz"]) == 0
    assert model.predict(np.load("some.npz")["x"]).tolist() == [label] * 5


def test_a_file_takes_the_place_of_an_id(ids):
    model = load(ids, "ML")
    model.save("model.safetensors")
    assert main(["sample", "model.safetensors", "-n", "3", "-o", "s.npy"]) == 0
    np.testing.assert_array_equal(np.load("s.npy"), model.sample(3, seed=0).numpy())


def test_a_model_of_your_own_energy_is_sampled_by_mala(ids, capsys):
    energy = {"energy": {"name": "mlp", "hidden": [8]}}
    spec = vera.TrialSpec({"name": "moons"}, energy, {"name": "pcd"}, 2, 8)
    trainer = vera.build_trainer(spec, progress=False)
    trainer.run()
    vera.SavedModel.from_trainer(trainer).save("plain.safetensors")
    assert main(["sample", "plain.safetensors"]) == 2
    assert "--refine 1000" in capsys.readouterr().err
    assert main(["sample", "plain.safetensors", "--refine", "5"]) == 0


def test_mistakes_are_answered_before_a_model_is_loaded(ids, capsys):
    for words, facts in {
        ("sample", ids["VERA"], "-o", "x.jpg"): ("x.jpg", ".png", ".csv"),
        ("sample", ids["VERA"], "--class", "3"): ("not a classifier",),
        ("sample", ids["wine"], "--class", "7"): ("7", "0 to 2"),
        ("sample", "ffffff"): ("'ffffff'", "vera report"),
        ("sample", "nowhere.safetensors"): ("nowhere.safetensors",),
        ("score", ids["VERA"], "nowhere.csv"): ("nowhere.csv",),
        ("score", ids["VERA"], "x.csv", "-o", "x.png"): ("x.png", ".npz"),
        ("compare", ids["VERA"]): ("two", "vera report"),
        ("compare", ids["VERA"], ids["ML"], "-o", "x.csv"): ("x.csv", ".png"),
    }.items():
        assert main(list(words)) == 2
        err = capsys.readouterr().err
        assert all(fact in err for fact in facts), err
        assert err.count("\n") == 1


def test_scores_are_those_of_the_model(ids, capsys):
    model, x = load(ids, "VERA"), np.random.default_rng(0).normal(size=(5, 2))
    Path("points.csv").write_text(format_csv({"b": x[:, 0], "a": x[:, 1]}))
    np.savez("points.npz", x=x)
    expected = model.score(x)
    assert main(["score", ids["VERA"][:8], "points.csv"]) == 0
    header, *rows = capsys.readouterr().out.split()
    assert header == "score"
    np.testing.assert_array_equal(np.array(rows, float), expected)
    for file in ("points.csv", "points.npz"):
        assert main(["score", ids["VERA"][:8], file, "-o", "out.npz"]) == 0
        np.testing.assert_array_equal(np.load("out.npz")["score"], expected)


def test_columns_are_matched_by_name_and_classes_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng, names = np.random.default_rng(0), ["red", "blue"] * 20
    x = rng.normal(size=(40, 3)) + 5 * np.array([[name == "red"] for name in names])
    columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "colour": np.array(names)}
    Path("train.csv").write_text(format_csv(columns))
    Path("mixed.csv").write_text(format_csv({name: columns[name] for name in ("c", "a", "b")}))
    Path("lacking.csv").write_text(format_csv({name: columns[name] for name in ("c", "a")}))
    Path("more.csv").write_text(format_csv({"d": x[:, 0], **{name: columns[name] for name in "abc"}}))
    assert main(["train", "train.csv", "--label", "colour", "--steps", "20", "-o", "trained"]) == 0
    assert 'vera.load_model("trained/model.safetensors")' in capsys.readouterr().out
    model = vera.load_model("trained/model.safetensors")
    assert main(["score", "trained/model.safetensors", "mixed.csv", "-o", "out.csv"]) == 0
    header, rows = read_columns("out.csv")
    assert header == ["score", "class"]
    np.testing.assert_array_equal(rows[:, 0].astype(float), model.score(x))
    assert set(rows[:, 1]) <= {"red", "blue"}
    assert main(["score", "trained/model.safetensors", "train.csv", "--label", "colour", "-o", "o.csv"]) == 0
    np.testing.assert_array_equal(read_columns("o.csv")[1], rows)
    capsys.readouterr()
    facts = {
        "lacking.csv": ("'b'", "c, a"),
        "more.csv": ("'d'", "--label d"),
        "train.csv": ("--label colour",),
    }
    for file, expected in facts.items():
        assert main(["score", "trained/model.safetensors", file]) == 2
        err = capsys.readouterr().err
        assert all(fact in err for fact in expected), err


def test_training_writes_model_samples_and_plots_and_replaces_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=(50, 2))
    Path("mine.csv").write_text(format_csv({"left": x[:, 0], "right": x[:, 1]}))
    assert main(["train", "mine.csv", "--steps", "5", "--seed", "3"]) == 0
    folder = Path("results/local/models/mine")
    assert {"model.safetensors", "density.png", "samples.png", "samples.csv"} <= {
        p.name for p in folder.iterdir()
    }
    header, rows = read_columns(folder / "samples.csv")
    assert (header, rows.shape) == (["left", "right"], (1000, 2))
    model = vera.load_model(folder / "model.safetensors")
    assert (model.facts.step, model.facts.seed) == (5, 3)
    capsys.readouterr()
    assert main(["train", "mine.csv"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["train", "mine.csv", "--steps", "2", "--method", "pcd", "--force"]) == 0
    assert vera.load_model(folder / "model.safetensors").facts.method["name"] == "pcd"
    assert main(["train", "nowhere.csv"]) == 2
    assert "nowhere.csv" in capsys.readouterr().err


def test_an_export_is_written_into_an_empty_directory_only(ids, capsys):
    assert main(["export", ids["VERA"][:8], "hub"]) == 0
    assert 'vera.load_model("hub/model.safetensors")' in capsys.readouterr().out
    assert {path.name for path in Path("hub").iterdir()} == {"model.safetensors", "spec.json", "README.md"}
    stored = Path(f"results/local/trials/models/{ids['VERA']}.safetensors")
    assert Path("hub/model.safetensors").read_bytes() == stored.read_bytes()
    assert json.loads(Path("hub/spec.json").read_text())["method"]["name"] == "vera"
    assert main(["sample", "hub", "-n", "2", "-o", "s.npy"]) == 0
    assert main(["export", ids["ML"], "hub"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export", ids["ML"], "hub", "--force"]) == 0
    assert json.loads(Path("hub/spec.json").read_text())["method"]["name"] == "ml"


def test_a_comparison_has_differing_settings_all_metrics_and_curves(ids, capsys):
    assert main(["compare", ids["VERA"][:8], ids["ML"][:8], "-o", "curves.png"]) == 0
    settings, metrics = capsys.readouterr().out.split("\n\n")
    lines = {line.split()[0]: line.split()[1:] for line in settings.splitlines()[1:]}
    assert settings.splitlines()[0].split() == [ids["VERA"][:8], ids["ML"][:8]]
    assert lines["method.name"] == ["vera", "ml"]
    assert lines["method.k"] == ["20", "-"]
    assert "method.lr" not in lines, "it is the same"
    both = [load(ids, label).metrics["test_log_likelihood"] for label in ("VERA", "ML")]
    (line,) = [line for line in metrics.splitlines() if line.startswith("test_log_likelihood ")]
    assert line.split()[1:] == [f"{value:.6g}" for value in both]
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_trial_and_its_model_file_have_the_same_settings(ids, capsys):
    load(ids, "VERA").save("model.safetensors")
    assert main(["compare", ids["VERA"], "model.safetensors"]) == 0
    assert capsys.readouterr().out.startswith("The settings are the same.")


def test_the_example_of_the_page_runs(ids):
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    made = {}
    exec(script.replace("91778e72", ids["VERA"][:8]), made)
    assert made["x"].shape == (64, 2)

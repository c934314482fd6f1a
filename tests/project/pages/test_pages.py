"""The examples of docs/quickstart.md and docs/methods/README.md run, and every example of the pages is run by
some test."""

import os
import re
import subprocess
import sys

import pytest
import torch
from locations import ROOT

import vera
from vera.spec.registry import joint_methods, methods

MARK = "<!-- run by tests/project/pages/test_pages.py -->"
QUICKSTART, METHODS = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("quickstart.md", "methods/README.md")
)


def find_block(page):
    (block,) = re.findall(f"{MARK}\n```python\n(.*?)```", page, re.DOTALL)
    return block


def run(code, cwd):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd, env=one_thread
    )


def test_quickstart_trains_plots_and_keeps_a_model(tmp_path):
    check = """
assert (loaded.score(x) == scores).all()
assert samples.shape == (64, 2)
assert np.median(scores) > model.score(6 * np.random.default_rng(1).random((2_000, 2)) - 3).mean() + 1
"""
    block = find_block(QUICKSTART)
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
    done = run(f"{block}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"density.png", "mine.safetensors"}


def test_classifier_with_few_labels_prints_an_accuracy(tmp_path):
    done = run(find_block(METHODS), tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0.2 < float(done.stdout) <= 1


def list_lines(section):
    """The cells of the lines of the first table of a section."""
    table = re.search(rf"^## {section}\n.*?(^\|.*?)\n\n", METHODS, re.DOTALL | re.MULTILINE).group(1)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


ENERGIES, CLASSIFIERS = list_lines("Energies"), list_lines("Classifiers")


def name_method(line):
    return re.match(r"\[`(\S+)`]", line[0]).group(1)


@pytest.mark.parametrize(("registry", "lines"), [(methods, ENERGIES), (joint_methods, CLASSIFIERS)])
def test_tables_of_methods_are_complete(registry, lines):
    assert {name_method(line) for line in lines} == {*registry} - {*registry.plugin_names()}


@pytest.mark.parametrize("line", CLASSIFIERS, ids=name_method)
def test_class_of_a_classifier_is_the_registered_one(line):
    name, call = re.match(r"`(\w+)\((.*)\)`", line[1]).groups()
    registered = joint_methods.get(name_method(line))
    assert registered is getattr(vera.joint, name)
    assert set(call.split(", ")) == {"energy", *registered.network_names()}


@pytest.mark.parametrize("line", ENERGIES, ids=name_method)
def test_method_can_be_created_as_its_line_says(line):
    _, call, needs, _ = (cell.strip("`") for cell in line)
    made = {
        "vera": vera,
        "MLP": vera.models.MLP,
        "energy": vera.models.MLP(2),
        "data_dim": 2,
        "latent_dim": 3,
        "generator": vera.Generator(vera.models.MLPGenerator(latent_dim=3, data_dim=2)),
    }
    for what, energy in {"normalised": vera.models.GaussianMixture, "NICE": vera.models.NICE}.items():
        made |= {"energy": energy(2)} if what in needs else {}
    for energy in re.findall(r"`(MLP\(.*?\))", needs):
        made["energy"] = eval(energy.replace("...", "2"), made)
    for statistics in re.findall(r"(vera\.models\.\w+\(.*?\))", needs):
        made["statistics"] = eval(statistics, made)
    method = eval(f"vera.methods.{call}", made)
    assert method.label() == name_method(line)
    assert vera.Trainer(method, torch.randn(64, 2), steps=2, batch_size=32).run().outcome == "ok"


def test_error_is_the_one_that_is_raised(tmp_path):
    shown = re.search(r">>> (vera\.methods\.CPSM.*)\n(vera\.errors.*)\n", METHODS)
    done = run(f"import vera\n{shown.group(1)}", tmp_path)
    assert done.stderr.strip().splitlines()[-1] == shown.group(2)

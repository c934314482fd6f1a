"""The README: its Python blocks run, and its tables, plans and trials are those of the published results."""

import os
import re
import subprocess
import sys

import pytest
import torch
from locations import ROOT

import vera
from bench.catalogue import catalogue
from bench.cli.main import main
from bench.locations import PUBLISHED
from sweeps.run.progress import format_row, measure_widths
from sweeps.run.provenance import collect_provenance
from sweeps.store.store import Store
from vera.spec.registry import methods

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- run by tests/project/test_readme.py -->\n```python\n(.*?)```", README, re.DOTALL)
OWN_METHOD, SHORTEST, OWN_DATA, LIKELIHOOD, FEW_LABELS = BLOCKS


def run(code, cwd):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd, env=one_thread
    )


def test_shortest_example_trains_plots_and_keeps_a_model(tmp_path):
    check = """
assert (loaded.score(x) == scores).all()
assert samples.shape == (64, 2)
assert np.median(scores) > model.score(6 * np.random.default_rng(1).random((2_000, 2)) - 3).mean() + 1
"""
    assert len([line for line in SHORTEST.splitlines() if line.strip()]) <= 10
    done = run(f"{SHORTEST}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"density.png", "mine.safetensors"}


def test_own_data_example_trains_an_ebm_in_about_ten_lines(tmp_path):
    code = OWN_DATA
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    check = """
assert result.outcome == "ok"
assert samples.shape == (1_000, 2)
assert scores.shape == (5_000,)
anywhere = energy(6 * torch.rand(2_000, 2) - 3).detach()
assert scores.detach().median() > anywhere.mean() + 1
assert (samples.std(0) / x.std(0)).log().abs().max() < 0.7
import sys
assert "ray" not in sys.modules
"""
    done = run(f"{code}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_exact_likelihood_example_prints_a_likelihood(tmp_path):
    done = run(LIKELIHOOD, tmp_path)
    assert done.returncode == 0, done.stderr
    assert -10 < float(done.stdout) < -2.394


def test_few_labels_example_prints_an_accuracy(tmp_path):
    done = run(FEW_LABELS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0.2 < float(done.stdout) <= 1


def test_own_method_example_trains_as_a_plug_in(tmp_path):
    plugin = tmp_path / "my_method.py"
    plugin.write_text(OWN_METHOD)
    assert len([line for line in OWN_METHOD.splitlines() if line.strip()]) < 40
    code = f"""
import vera
vera.load_plugin({str(plugin)!r})
energy, method = {{"energy": {{"name": "mlp"}}}}, {{"name": "noise-contrast"}}
spec = vera.TrialSpec({{"name": "moons"}}, energy, method, steps=300, batch_size=200)
trainer = vera.build_trainer(spec)
result = trainer.run()
assert result.outcome == "ok"
assert trainer.history[-1]["loss"] < trainer.history[0]["loss"] < 0.7  # log 2 for a constant f
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "trials"), re.findall(r"^\| `make reproduce-([a-z0-9]+)` \| (\d+)[ |]", README, re.MULTILINE)
)
def test_numbers_of_trials_are_those_of_the_sweeps(name, trials):
    """Lines of artifacts that share the trials of another one name it instead."""
    assert len({trial.id for trial in catalogue.sweep(name).trials("laptop")}) == int(trials)


def test_table2_is_the_published_one():
    published = (ROOT / "results" / "published" / "tables" / "table2.md").read_text(encoding="utf-8")
    shown = README.partition("──\n")[2].partition("\n...\n")[0].splitlines()
    assert len(shown) == 12
    for line in shown:
        cells = re.split(r"  +", line.strip())
        row = next(row for row in published.splitlines() if row.startswith(f"| {cells[0]} "))
        assert [cell for cell in map(str.strip, row.strip("|").split("|")) if cell] == cells


@pytest.mark.parametrize("name", ["table2", "toy-demo"])
def test_plan_is_the_one_that_is_printed(name, tmp_path, monkeypatch, capsys):
    """On two cores, as the README says."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("bench.cli.verbs.plan.count_cores", lambda: 2)
    assert main(["plan", name, "--results-dir", str(tmp_path)]) == 0
    assert f"\n{capsys.readouterr().out.splitlines()[0]}\n" in README


def test_trials_of_table2_are_published():
    published = {row.trial_id[:8]: row for row in Store(f"{PUBLISHED}/trials").read_rows()}
    shown = [line for line in README.splitlines() if line.startswith(" ✓ ") and " mnist5k-logit " in line]
    assert len(shown) == 2
    assert shown == [
        format_row(published[line.split()[-1]], measure_widths(catalogue.sweep("table2").trials("laptop")))
        for line in shown
    ]


def test_replayed_trial_is_published_and_the_first_of_the_list(tmp_path, monkeypatch, capsys):
    """The result is identical with the processor and the versions of its row; others may round
    differently."""
    monkeypatch.chdir(ROOT)
    name = re.search(r"vera replay ([0-9a-f]{8})", README).group(1)
    assert re.search(r"^ ✓ (.*)$", README, re.MULTILINE).group(1).endswith(f" {name}")
    (row,) = [row for row in Store(f"{PUBLISHED}/trials").read_rows() if row.trial_id.startswith(name)]
    here = collect_provenance("cpu")
    same = all(here[column] == getattr(row, column) for column in ("processor", "versions"))
    same = same and torch.backends.cpu.get_cpu_capability() == "AVX512"  # "AMD EPYC" does not tell
    code = main(["replay", name, "--results-dir", str(tmp_path)])
    out = capsys.readouterr().out
    assert out.startswith("replayed ML seed 0 (from results/published) in ")
    assert ("identical to the stored row" in out, code) == (True, 0) or not same, out


def split_cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_accuracies_are_the_published_ones():
    """The table of accuracies with ten labels per class: three seeds at laptop, HUMAN at paper, and the
    paper's values."""
    tables = ROOT / "results" / "published" / "tables"
    found = {}
    for name in ("table6", "table6-paper"):
        for line in (tables / f"{name}.md").read_text(encoding="utf-8").splitlines():
            data, method, *values = [*split_cells(line), ""][:5]
            found[data, method] = values
    heading, _, *lines = (
        re.search(r"^\| \| digits 8 .*?(?=\n\n)", README, re.DOTALL | re.MULTILINE).group(0).splitlines()
    )
    assert [split_cells(line)[0] for line in lines] == ["VERA", "VAT", "MEG", "labels alone"]
    for line in lines:
        label, *shown = split_cells(line)
        method = {"labels alone": "Supervised"}.get(label, label)
        human, in_the_paper = found["HUMAN", method][:2]
        expected = [found[data, method][0] for data in split_cells(heading)[1:-2]]
        assert shown == [*expected, human, in_the_paper]


METHOD_LINES = [
    split_cells(line)
    for line in re.findall(r"^\| `[a-z-]+` \| `\w+\(energy.*$", README.partition("## A classifier")[0], re.M)
]


@pytest.mark.parametrize("line", METHOD_LINES, ids=[line[0] for line in METHOD_LINES])
def test_method_can_be_created_as_its_line_says(line):
    name, call, needs, _ = (cell.strip("`") for cell in line)
    made = {
        "vera": vera,
        "MLP": vera.models.MLP,
        "energy": vera.models.MLP(2),
        "data_dim": 2,
        "latent_dim": 3,
    }
    made["generator"] = vera.Generator(vera.models.MLPGenerator(latent_dim=3, data_dim=2))
    for what, energy in {"normalised": vera.models.GaussianMixture, "NICE": vera.models.NICE}.items():
        made |= {"energy": energy(2)} if what in needs else {}
    for energy in re.findall(r"`(MLP\(.*?\))", needs):
        made["energy"] = eval(energy.replace("...", "2"), made)
    for statistics in re.findall(r"(vera\.models\.\w+\(.*?\))", needs):
        made["statistics"] = eval(statistics, made)
    method = eval(f"vera.methods.{call}", made)
    assert method.label() == name
    assert vera.Trainer(method, torch.randn(64, 2), steps=2, batch_size=32).run().outcome == "ok"


def test_table_of_methods_is_complete():
    assert {line[0].strip("`") for line in METHOD_LINES} == {*methods} - {*methods.plugin_names()}


def test_error_is_the_one_that_is_raised(tmp_path):
    shown = re.search(r">>> (vera\.methods\.CPSM.*)\n(vera\.errors.*)\n", README)
    done = run(f"import vera\n{shown.group(1)}", tmp_path)
    assert done.stderr.strip().splitlines()[-1] == shown.group(2)

"""The pages under docs: examples run as they stand, what they quote is in the code and the published tables,
links lead on."""

import csv
import json
import os
import re
import textwrap

import pytest
import torch
from engine_helpers import vera
from locations import ROOT

from bench.cli.main import main
from bench.paper.experiments import nice
from bench.publishing import method_pages as pages
from sweeps.run.attempt import run_trial
from sweeps.trial.identity import Trial
from vera.spec.registry import joint_methods, load_plugin, methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task

DOCS = sorted((ROOT / "docs").rglob("*.md"))
METHODS = sorted((ROOT / "docs" / "methods").glob("*.md"))
EXAMPLES = ROOT / "docs" / "examples"
SHOWN = [
    (page, *found)
    for page in DOCS
    for found in re.findall(
        r"<!-- (docs/examples/\S+) -->\n```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def code_lines(text):
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(("page", "file", "text"), SHOWN, ids=[file for _, file, _ in SHOWN])
def test_an_example_that_is_shown_is_the_file_that_runs(page, file, text):
    assert text == (ROOT / file).read_text(encoding="utf-8")
    assert len(code_lines(text)) < 40


def test_both_walks_show_their_example():
    assert {file for _, file, _ in SHOWN} == {name_of(path) for path in EXAMPLES.glob("*.py")}


def test_the_readme_shows_the_same_method():
    assert (EXAMPLES / "noise_contrast.py").read_text(encoding="utf-8") in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )


def test_a_method_of_ones_own_has_its_row_in_table_2(tmp_path):
    plugin = ("--plugin", EXAMPLES / "noise_contrast.py", "--profile", "smoke", "--results-dir", tmp_path)
    code, out, err = vera("run", "table2", *plugin, "--only", "method=noise-contrast")
    assert (code, err) == (0, "")
    assert "1 of 1 trials are done" in out
    assert re.search(r"to see it: vera render table2 .*--plugin \S+noise_contrast\.py", out), (
        "or the row would not be there"
    )
    code, out, err = vera("render", "table2", *plugin)
    assert (code, err) == (0, "")
    with (tmp_path / "tables" / "table2-smoke.csv").open(newline="", encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    assert last["method"] == "noise-contrast"
    assert float(last["test_log_likelihood"]) < 0
    assert "noise-contrast" in out


@pytest.fixture
def noise_contrast(monkeypatch):
    """The method of the walk, forgotten again after the test."""
    monkeypatch.setattr(methods, "_known", dict(methods._entries))
    load_plugin(EXAMPLES / "noise_contrast.py")


def test_the_row_of_the_walk_is_not_that_of_maximum_likelihood(noise_contrast):
    trials = {trial.name: trial for trial in nice.trials("smoke")}
    own, ml = (
        json.loads(run_trial(trials[name]).row.metrics)["test_log_likelihood"]
        for name in ("noise-contrast", "ML")
    )
    assert abs(own - ml) > 100, "or a newcomer concludes that the plug-in was not used"


def test_the_method_of_the_walk_learns_a_density(noise_contrast):
    """Its least loss is at the density itself: a mixture trained by it comes near what no model can exceed,
    −2.395 on moons."""
    method = {"name": "noise-contrast", "lr": 0.01}
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, method, steps=400, batch_size=200)
    assert json.loads(run_trial(Trial(spec, "smoke")).row.metrics)["test_log_likelihood"] > -2.6


def test_a_classifier_method_of_ones_own_has_its_row_in_table_6(tmp_path):
    plugin = ("--plugin", EXAMPLES / "smooth_labels.py", "--profile", "smoke", "--results-dir", tmp_path)
    code, out, err = vera("run", "table6", *plugin, "--only", "method=smooth-labels")
    assert (code, err) == (0, "")
    assert "4 of 4 trials are done" in out
    code, out, err = vera("render", "table6", *plugin)
    assert (code, err) == (0, "")
    with (tmp_path / "tables" / "table6-smoke.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    last = {line["dataset"]: line for line in lines}  # the last of each data set, as the page says
    assert len(last) == 4
    assert all(
        line["method"] == "smooth-labels" and float(line["test_accuracy"]) > 0 for line in last.values()
    )


@pytest.mark.usefixtures("registries")
def test_the_classifier_method_of_the_walk_learns_classes_and_a_level_of_f():
    load_plugin(EXAMPLES / "smooth_labels.py")
    levels = {}
    for level in (0.0, 0.01):
        method = {"name": "smooth-labels", "level": level}
        networks = {"energy": {"name": "mlp-classifier", "hidden": [32]}}
        spec = TrialSpec(
            {"name": "wine", "labels_per_class": 10}, networks, method, steps=200, batch_size=64, task="joint"
        )
        trainer = build_task(spec).build(spec)
        result = trainer.run()
        assert (result.outcome, result.metrics["test_accuracy"] > 0.8) == ("ok", True)
        x = trainer.data.train
        f, logits = trainer.method.energy(x).detach(), trainer.method.energy.logits(x).detach()
        assert f.shape == (len(x),)
        assert torch.equal(f, logits.logsumexp(1))
        levels[level] = float(f.square().mean())
    assert levels[0.01] < 0.5 * levels[0.0]


def test_data_of_ones_own_are_a_sweep(tmp_path):
    where = ("--plugin", EXAMPLES / "spirals.py", "--results-dir", tmp_path)
    code, out, err = vera("run", "spirals", *where, "--profile", "smoke", "--seeds", 1)
    assert (code, err) == (0, "")
    assert out.count("test_log_likelihood") == 2
    code, out, _ = vera("status", *where)
    assert re.search(r"spirals +smoke +ok +2", out)


def test_labelled_points_of_ones_own_take_the_place_of_table_6s_data(tmp_path):
    flags = (
        "--plugin",
        EXAMPLES / "two_classes.py",
        "--dataset",
        "two-classes",
        "--profile",
        "smoke",
        "--results-dir",
        tmp_path,
    )
    for only in ("method=supervised", "label=VERA"):
        code, out, err = vera("run", "table6", *flags, "--only", only)
        assert (code, err) == (0, "")
    code, out, err = vera("render", "table6", *flags)
    assert (code, err) == (0, "")
    assert "on two-classes" in out


def test_the_script_that_tries_a_method_runs_as_it_stands(noise_contrast, monkeypatch):
    text = (ROOT / "docs" / "add-a-method.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^  ```python\n(.*?)^  ```", text, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(ROOT)
    made = {}
    exec(textwrap.dedent(script).replace("1_000", "10"), made)
    assert made["result"].outcome == "ok"


def test_the_line_that_makes_meg_trains_in_place_of_the_readmes():
    (line,) = re.findall(
        r"^method = .*$", (ROOT / "docs" / "methods" / "meg.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(import torch\nimport vera\n.*?)```", readme, re.DOTALL).group(1)
    script, changed = re.subn(r"^method = .*$", line, block, flags=re.MULTILINE)
    assert changed == 1
    made = {}
    exec(script.replace("steps=1_000", "steps=10"), made)
    assert (made["method"].label(), made["result"].outcome) == ("meg", "ok")


def test_a_csv_file_takes_the_place_of_table_6s_data(tmp_path):
    flags = (
        "--dataset",
        f"csv:{EXAMPLES / 'iris.csv'},label=species",
        "--profile",
        "smoke",
        "--results-dir",
        tmp_path,
    )
    code, out, err = vera("run", "table6", *flags, "--only", "method=supervised")
    assert (code, err) == (0, "")
    code, out, err = vera("render", "table6", *flags)
    assert (code, err) == (0, "")
    assert "on iris.csv" in out
    assert (tmp_path / "tables" / "table6-iris-csv-label-species-smoke.md").is_file()


def test_the_pages_are_those_of_the_code_and_the_published_tables(monkeypatch, capsys):
    """If the change is meant: python -m bench.publishing.method_pages."""
    monkeypatch.chdir(ROOT)
    assert pages.main(["--check"]) == 0, capsys.readouterr().err


def test_a_page_that_is_stale_or_missing_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs" / "methods").mkdir(parents=True)
    for path in METHODS[1:]:
        text = path.read_text(encoding="utf-8")
        (tmp_path / "docs" / "methods" / path.name).write_text(
            text.replace("| `k` | 20 |", "| `k` | 21 |"), encoding="utf-8"
        )
    os.symlink(ROOT / "results", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    assert pages.main(["--check"]) == 1
    named = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in named] == [f"docs/methods/{METHODS[0].name}", "docs/methods/vera.md"]
    assert pages.main([]) == 0
    assert (tmp_path / "docs" / "methods" / "vera.md").read_bytes() == (
        ROOT / "docs" / "methods" / "vera.md"
    ).read_bytes()


def test_every_method_has_its_page_and_every_page_its_method():
    assert {path.stem for path in METHODS} == set(pages.pages()) == set(pages.LINES)
    assert {"ml", "vera", "meg", "jem"} <= {*methods, *joint_methods}


def test_the_lines_that_pages_quote_are_lines_of_the_tables():
    from bench.paper.experiments.images import FOR_SAMPLES
    from bench.paper.experiments.images import LINES as OF_TABLE_3
    from bench.paper.experiments.nice import LINES as OF_TABLE_2
    from bench.paper.experiments.tabular import LINES as OF_TABLE_6

    labels = {"table2": OF_TABLE_2, "table3": OF_TABLE_3, "table6": OF_TABLE_6}
    for table, lines in labels.items():
        quoted = [label for of_page in pages.LINES.values() for label in of_page.get(table, ())]
        shown = [line.label for line in lines if line.label not in FOR_SAMPLES]
        assert sorted(quoted) == sorted(shown)


def test_the_toys_of_table_10_are_quoted_and_so_are_those_of_the_paper_once_they_are_there(
    tmp_path, monkeypatch
):
    from bench.paper.experiments.toys import MIXTURE
    from bench.paper.tables.table10_lines import BEST_PCD

    quoted = {label for of_page in pages.LINES.values() for label in of_page.get("table10", ())}
    assert quoted == {line.label for line in MIXTURE.lines if "σ" not in line.label} | {BEST_PCD}
    monkeypatch.chdir(ROOT)
    assert "| moons | VERA λ=1 | " in pages.numbers("vera")
    laptop = (pages.TABLES / "table10.csv").read_text(encoding="utf-8")
    (tmp_path / "table10-paper.csv").write_text(laptop, encoding="utf-8")
    monkeypatch.setattr(pages, "TABLES", tmp_path)
    assert "Table 10, paper" in pages.numbers("vera")


def test_the_commands_of_a_page_are_those_of_the_tables_that_have_the_method():
    text = (
        (ROOT / "docs" / "methods" / "supervised.md").read_text(encoding="utf-8").partition("## Command")[2]
    )
    assert re.findall(r"^vera run (\S+) --only method=supervised$", text, re.MULTILINE) == [
        "table3",
        "table6",
    ]


@pytest.mark.parametrize("path", METHODS, ids=lambda path: path.stem)
def test_a_page_has_all_its_parts(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "Equation", "Knobs", "Deviations from the paper", "Numbers", "Command"
    ]  # fmt: skip
    assert text.startswith(f"# `{path.stem}`: ")
    assert text.count("$$") % 2 == 0 < text.count("$$")


@pytest.mark.parametrize("path", METHODS, ids=lambda path: path.stem)
def test_the_deviations_that_a_page_names_exist(path):
    known = (ROOT / "DEVIATIONS.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^(?:\| )?(\d+)[.| ]", known, re.MULTILINE))
    part = (
        path.read_text(encoding="utf-8")
        .partition("## Deviations from the paper")[2]
        .partition("## Numbers")[0]
    )
    named = [
        number
        for group in re.findall(r"(?:^- |\. )((?:\d+, )*\d+): ", part, re.MULTILINE)
        for number in group.split(", ")
    ]
    assert named
    assert set(named) <= known


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "results" / "README.md", *DOCS], ids=name_of)
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_help_of_every_verb_reads_well(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    verbs = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert {"run", "render", "data", "report"} <= set(verbs)
    for verb in verbs:
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        out = capsys.readouterr().out
        options = re.findall(r"^  (--[a-z-]+(?: \S+)*?)(?:  +(\S.*))?$\n(?: {20,}(\S))?", out, re.MULTILINE)
        assert all(here or below for _, here, below in options), options

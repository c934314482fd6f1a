"""The pages under docs: their examples run, their links exist, and every verb has readable help."""

import csv
import json
import re

import pytest
import torch
from cluster_helpers import run_here
from locations import ROOT

from bench.cli.main import main
from bench.paper.experiments.nice import NICE
from sweeps.run.attempt import run_trial
from sweeps.trial.identity import Trial
from vera.spec.registry import load_plugin
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task

DOCS = sorted((ROOT / "docs").rglob("*.md"))
EXAMPLES = ROOT / "docs" / "examples"
MARK = "<!-- run by tests/project/test_docs.py -->"
ONE_WORKER = ("--max-concurrent", 1)  # each worker that is started loads torch
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
def test_shown_example_is_the_file_that_runs(page, file, text):
    assert text == (ROOT / file).read_text(encoding="utf-8")
    assert len(code_lines(text)) < 40


def test_every_example_is_shown():
    assert {file for _, file, _ in SHOWN} == {name_of(path) for path in EXAMPLES.glob("*.py")}


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_method_of_a_plugin_has_a_row_in_table2(tmp_path):
    plugin = ("--plugin", EXAMPLES / "noise_contrast.py", "--profile", "smoke", "--results-dir", tmp_path)
    code, out, err = run_here("run", "table2", *plugin, "--only", "method=noise-contrast", *ONE_WORKER)
    assert (code, err) == (0, "")
    assert "1 of 1 trials are done" in out
    assert re.search(r"to see it: vera render table2 .*--plugin \S+noise_contrast\.py", out), (
        "without the plug-in, the row would be missing"
    )
    code, out, err = run_here("render", "table2", *plugin)
    assert (code, err) == (0, "")
    with (tmp_path / "tables" / "table2-smoke.csv").open(newline="", encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    assert last["method"] == "noise-contrast"
    assert float(last["test_log_likelihood"]) < 0
    assert "noise-contrast" in out


@pytest.fixture
def noise_contrast():
    """The example method."""
    load_plugin(EXAMPLES / "noise_contrast.py")


def test_example_method_differs_from_maximum_likelihood(noise_contrast):
    trials = {trial.name: trial for trial in NICE.trials("smoke")}
    own, ml = (
        json.loads(run_trial(trials[name]).row.metrics)["test_log_likelihood"]
        for name in ("noise-contrast", "ML")
    )
    assert abs(own - ml) > 100, "otherwise the plug-in seems to be ignored"


def test_example_method_learns_a_density(noise_contrast):
    """Its loss is minimal at the true density: a mixture comes close to the best possible value, −2.395 on
    moons."""
    method = {"name": "noise-contrast", "lr": 0.01}
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, method, steps=400, batch_size=200)
    assert json.loads(run_trial(Trial(spec, "smoke")).row.metrics)["test_log_likelihood"] > -2.6


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_joint_method_of_a_plugin_has_a_row_in_table6(tmp_path):
    plugin = ("--plugin", EXAMPLES / "smooth_labels.py", "--profile", "smoke", "--results-dir", tmp_path)
    code, out, err = run_here("run", "table6", *plugin, "--only", "method=smooth-labels", *ONE_WORKER)
    assert (code, err) == (0, "")
    assert "4 of 4 trials are done" in out
    code, out, err = run_here("render", "table6", *plugin)
    assert (code, err) == (0, "")
    with (tmp_path / "tables" / "table6-smoke.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    last = {line["dataset"]: line for line in lines}  # the last of each data set, as the page says
    assert len(last) == 4
    assert all(
        line["method"] == "smooth-labels" and float(line["test_accuracy"]) > 0 for line in last.values()
    )


def test_example_joint_method_learns_classes_and_a_level_of_f():
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


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_data_of_a_plugin_can_be_swept(tmp_path):
    where = ("--plugin", EXAMPLES / "spirals.py", "--results-dir", tmp_path)
    code, out, err = run_here("run", "spirals", *where, "--profile", "smoke", "--seeds", 1, *ONE_WORKER)
    assert (code, err) == (0, "")
    assert out.count("test_log_likelihood") == 2
    code, out, _ = run_here("status", *where)
    assert re.search(r"spirals +smoke +ok +2", out)


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_labelled_data_of_a_plugin_replace_those_of_table6(tmp_path):
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
        code, out, err = run_here("run", "table6", *flags, "--only", only, *ONE_WORKER)
        assert (code, err) == (0, "")
    code, out, err = run_here("render", "table6", *flags)
    assert (code, err) == (0, "")
    assert "on two-classes" in out


def test_script_of_add_a_method_runs(noise_contrast, monkeypatch):
    text = (ROOT / "docs" / "add-a-method.md").read_text(encoding="utf-8")
    (script,) = re.findall(rf"{MARK}\n```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(ROOT)
    made = {}
    exec(script.replace("1_000", "10"), made)
    assert made["result"].outcome == "ok"


def test_line_that_creates_meg_works_in_the_example_of_the_trainer():
    page = (ROOT / "docs" / "methods" / "meg.md").read_text(encoding="utf-8")
    line = re.search(r"```python\n(method = .*?)\n```", page, re.DOTALL).group(1)
    trainer = (ROOT / "docs" / "trainer.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(import torch\nimport vera\n.*?)```", trainer, re.DOTALL).group(1)
    script, changed = re.subn(r"^method = .*$", lambda _: line, block, flags=re.MULTILINE)
    assert changed == 1
    made = {}
    exec(script.replace("steps=1_000", "steps=10"), made)
    assert (made["method"].label(), made["result"].outcome) == ("meg", "ok")


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_csv_file_replaces_the_data_of_table6(tmp_path):
    flags = (
        "--dataset",
        f"csv:{EXAMPLES / 'iris.csv'},label=species",
        "--profile",
        "smoke",
        "--results-dir",
        tmp_path,
    )
    code, out, err = run_here("run", "table6", *flags, "--only", "method=supervised", *ONE_WORKER)
    assert (code, err) == (0, "")
    code, out, err = run_here("render", "table6", *flags)
    assert (code, err) == (0, "")
    assert "on iris.csv" in out
    assert (tmp_path / "tables" / "table6-iris-csv-label-species-smoke.md").is_file()


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "results" / "README.md", *DOCS], ids=name_of)
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_no_page_holds_the_marks_of_a_merge_conflict():
    pages = [*ROOT.glob("*.md"), *(ROOT / "results").glob("*.md"), *DOCS]
    marked = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)
    assert [name_of(page) for page in pages if marked.search(page.read_text(encoding="utf-8"))] == []


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

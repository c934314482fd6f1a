"""`make figures`: its packages are enough, it writes the committed files, and profiles do not overwrite each
other's files."""

import re
import shutil
import subprocess
import sys

import pytest
from bare_process import block_imports
from bench_helpers import ROOT, row_of, store_rows
from installed_packages import list_requirements, list_unavailable

from bench.cli.main import main
from bench.paper.artifacts import ARTIFACTS, UNLISTED
from bench.paper.experiments.score_bias import IMPORTANCE, SCORE_BIAS

MAKEFILE = (ROOT / "Makefile").read_text()
COMMAND = (
    re.search(r"^figures:.*\n\t\$\(RENDER\)/bin/python -m bench\.cli (.*)$", MAKEFILE, re.MULTILINE)
    .group(1)
    .split()
)
UNAVAILABLE = list_unavailable(list_requirements("render"))
RUN = """
from bench.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """The published results of a fresh clone after `make figures`, and the finished process."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "results" / "published" / "trials", clone / "results" / "published" / "trials")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + block_imports(UNAVAILABLE) + RUN
    command = [sys.executable, "-P", "-W", "error", "-c", code, *COMMAND]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=600)
    return clone / "results" / "published", done


def test_the_packages_are_those_of_the_extra_and_the_large_ones_are_blocked():
    script = re.search(r"^LIST_RENDERERS := (.*)$", MAKEFILE, re.MULTILINE).group(1)
    command = [sys.executable, "-c", script]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [re.split("[<>=]", line)[0] for line in printed.stdout.splitlines()] == list_requirements("render")
    assert {"torch", "ray", "pandas", "sklearn", "tqdm", "safetensors"} <= UNAVAILABLE
    assert not {"numpy", "pyarrow", "matplotlib", "rich", "jinja2"} & UNAVAILABLE


@pytest.mark.long
def test_its_packages_are_enough(rendered):
    assert (rendered[1].returncode, rendered[1].stderr) == (0, "")


def test_the_committed_tables_follow_from_the_committed_rows(rendered):
    """If the change is intended, run make figures and read the diff."""
    made, committed = ({path.name: path.read_bytes() for path in (folder / "tables").iterdir()}
                       for folder in (rendered[0], ROOT / "results" / "published"))  # fmt: skip
    assert made == committed


def test_all_figures_are_committed_as_png_and_made_as_pdf_too(rendered):
    made, committed = (sorted(path.stem for path in (folder / "figures").glob("*.png"))
                       for folder in (rendered[0], ROOT / "results" / "published"))  # fmt: skip
    assert made == committed
    assert made == sorted(path.stem for path in (rendered[0] / "figures").glob("*.pdf"))
    assert "results/published/figures/*.pdf" in (ROOT / ".gitignore").read_text().splitlines()


def test_file_names_include_a_profile_other_than_the_default(rendered):
    of_paper = (rendered[0] / "tables" / "table6-paper.md").read_text(encoding="utf-8")
    assert "(paper profile)" in of_paper.splitlines()[0]
    assert (
        "(laptop profile)"
        in (rendered[0] / "tables" / "table6.md").read_text(encoding="utf-8").splitlines()[0]
    )
    assert r"\label{tab:table6-paper}" in (rendered[0] / "tables" / "table6-paper.tex").read_text(
        encoding="utf-8"
    )


def test_each_rendering_is_one_line(rendered):
    lines = rendered[1].stdout.splitlines()
    assert "table6 · paper profile: results/published/tables/table6-paper.md, .tex, .csv" in lines
    assert len(lines) == len(set(lines))
    (missing,) = (line for line in lines if line.startswith("no trials yet: "))
    names = missing.removeprefix("no trials yet: ").partition(". ")[0].split(", ")
    # Their sweeps have not been run yet; once they have, this becomes "no line is missing".
    assert set(names) == {"failing-settings", "table1"}, "every other artifact has published trials"


def test_artifacts_without_rows_are_named_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    trial = SCORE_BIAS.trial(IMPORTANCE, "paper")
    store_rows(tmp_path / "results" / "published", [row_of(trial, 0, 0.1, metric="signed_bias")])
    assert main(["render", "all", "--profile", "all", "--from", "published", "--quiet"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert {line.partition(" ")[0] for line in lines if "paper" in line} == {
        "figure3",
        "figure5",
        "figure6",
        "table7",
        "table9",
    }
    assert last.startswith("no trials yet: ")
    assert "table2" in last
    assert "figure5" not in last


def test_without_any_trial_the_error_names_the_command_to_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["render", "table2", "--profile", "all"]) == 2
    message = capsys.readouterr().err
    assert all(fact in message for fact in ("results/local", "results/published", "vera run table2"))


@pytest.mark.parametrize(
    ("target", "facts"),
    [
        ("figure2", ["figure2", "reproduce-figure2", "make help"]),
        ("reproduce-tabel2", ["reproduce-tabel2", "make help"]),
    ],
)
def test_an_unknown_target_is_answered_with_make_help(target, facts):
    asked = subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 2
    message = asked.stderr.splitlines()[0]
    assert [fact for fact in facts if fact not in message] == []


def test_make_lists_its_targets_in_two_columns():
    lines = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert all(line[22] == " " != line[23] and len(line) <= 132 for line in lines)
    words = " ".join(lines).split()
    assert {"table10", "speed"} <= {*words}
    assert "ease-of-tuning" not in words
    assert lines[-1].endswith("figure1 to figure27")


@pytest.mark.parametrize("full", [True, False], ids=["with the full environment", "without"])
def test_the_full_environment_is_used_if_it_exists(full, tmp_path):
    for name in ("Makefile", "bench/paper/artifacts.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("constraints.txt", "pyproject.toml", *([".venv/bin/vera"] if full else [])):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    printed = subprocess.run(
        ["make", "-n", "figures"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert ("pip install" in printed) != full
    assert f".venv{'' if full else '-render'}/bin/python -m bench.cli render all" in printed


def dry_run(*words):
    return subprocess.run(
        ["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_each_artifact_of_the_paper_has_a_target():
    listed = set(ARTIFACTS) - set(UNLISTED)
    done = dry_run(*(f"reproduce-{name}" for name in listed))
    assert done.returncode == 0, done.stderr
    assert [name for name in listed if f"vera run {name} " not in done.stdout] == []


def test_flags_in_both_reach_the_run_and_the_rendering():
    printed = dry_run("reproduce-table2", "BOTH=--results-dir /shared/results", "FLAGS=--address auto").stdout
    assert "vera run table2 --profile laptop --results-dir /shared/results --address auto" in printed
    assert "vera render table2 --profile laptop --results-dir /shared/results" in printed
    assert "render table2 --profile laptop --results-dir /shared/results --address" not in printed


@pytest.mark.parametrize("flag", ["--results-dir", "--results-dir=/shared", "--dataset", "--plugin"])
def test_a_flag_that_both_need_is_refused_in_flags(flag):
    done = dry_run("reproduce-table2", f"FLAGS={flag} x")
    assert done.returncode == 2
    assert flag in done.stderr
    assert "BOTH=" in done.stderr

"""`make figures`: what it installs is enough, what it writes is what is committed, and no profile overwrites
another's files."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from bench_helpers import ROOT, row_of, stored

from bench.cli.main import main
from bench.paper.experiments.score_bias import importance

MAKEFILE = (ROOT / "Makefile").read_text()
RENDERERS = re.search(r"^RENDERERS := (.*)$", MAKEFILE, re.MULTILINE).group(1).split()
COMMAND = (
    re.search(r"^figures:.*\n\t\$\(RENDER\)/bin/python -m bench\.cli (.*)$", MAKEFILE, re.MULTILINE)
    .group(1)
    .split()
)
BARE = """
import sys

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ImportError(f"{{name}} is not installed here")

sys.meta_path.insert(0, Refusal())
from bench.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def needed(names):
    """The distributions that pip would install for these, in lower case."""
    found, waiting = set(), [name.lower() for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            wanted = [text for text in requires(name) or [] if "extra ==" not in text]
        except PackageNotFoundError:  # for another system or Python
            continue
        waiting += [re.split(r"[ <>=!~;\[(]", text, maxsplit=1)[0].lower() for text in wanted]
    return found


def others():
    """Every installed module that `make figures` would be without."""
    enough = needed(RENDERERS)
    ours = {"bench", "sweeps", "vera"}
    return {
        module
        for module, owners in packages_distributions().items()
        if not enough & {o.lower() for o in owners}
    } - ours


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """A fresh clone's published Parquet after `make figures`, and what was printed."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "results" / "published" / "trials", clone / "results" / "published" / "trials")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + BARE.format(refused=others())
    command = [sys.executable, "-P", "-W", "error", "-c", code, *COMMAND]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=600)
    return clone / "results" / "published", done


def test_the_packages_that_are_refused_are_the_large_ones():
    assert {"torch", "ray", "pandas", "sklearn", "mlxtend", "tqdm"} <= others()
    assert not {"numpy", "pyarrow", "matplotlib", "rich"} & others()


def test_four_packages_are_enough(rendered):
    assert (rendered[1].returncode, rendered[1].stderr) == (0, "")


def test_the_committed_tables_are_those_of_the_committed_rows(rendered):
    """If the change is meant: make figures, and read the difference."""
    made, committed = ({path.name: path.read_bytes() for path in (folder / "tables").iterdir()}
                       for folder in (rendered[0], ROOT / "results" / "published"))  # fmt: skip
    assert made == committed


def test_the_committed_figures_are_all_there(rendered):
    made, committed = (sorted(path.name for path in (folder / "figures").iterdir())
                       for folder in (rendered[0], ROOT / "results" / "published"))  # fmt: skip
    assert made == committed


def test_a_profile_other_than_the_default_is_in_the_files_names(rendered):
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
    assert "no trials yet" not in rendered[1].stdout, "all that can be run ships with some trials"


def test_what_has_no_rows_is_named_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "results" / "published", [row_of(importance("paper"), 0, 0.1, metric="signed_bias")])
    assert main(["render", "all", "--profile", "all", "--from", "published", "--quiet"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert {line.partition(" ")[0] for line in lines if "paper" in line} == {
        "figure3",
        "figure5",
        "figure6",
        "table9",
    }
    assert last.startswith("no trials yet: ")
    assert "table2" in last
    assert "figure5" not in last


def test_without_a_trial_of_any_profile_the_way_on_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["render", "table2", "--profile", "all"]) == 2
    assert (
        "table2 has no trial of any profile in results/local or results/published. To make them: vera run table2"
        in (capsys.readouterr().err)
    )


@pytest.mark.parametrize(
    ("target", "way_on"),
    [
        ("figure2", "There is no target figure2. Did you mean reproduce-figure2? To see them: make help\n"),
        ("reproduce-tabel2", "There is no target reproduce-tabel2. To see them: make help\n"),
    ],
)
def test_a_target_that_is_none_is_answered_with_those_there_are(target, way_on):
    asked = subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 2
    assert asked.stderr.startswith(way_on)


def test_make_lists_its_targets_in_two_columns():
    lines = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert all(line[22] == " " != line[23] and len(line) <= 132 for line in lines)
    assert "table10" in lines[-2]
    assert lines[-1].endswith("figure1 to figure27")


@pytest.mark.parametrize("whole", [True, False], ids=["with the whole environment", "without"])
def test_the_whole_environment_is_used_where_it_is_there(whole, tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("constraints.txt", "pyproject.toml", *([".venv/bin/vera"] if whole else [])):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    printed = subprocess.run(
        ["make", "-n", "figures"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert ("pip install" in printed) != whole
    assert f".venv{'' if whole else '-render'}/bin/python -m bench.cli render all" in printed


def made(*words):
    return subprocess.run(
        ["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_what_was_run_is_what_is_rendered():
    printed = made("reproduce-table2", "BOTH=--results-dir /shared/results", "FLAGS=--address auto").stdout
    assert "vera run table2 --profile laptop --results-dir /shared/results --address auto" in printed
    assert "vera render table2 --profile laptop --results-dir /shared/results" in printed
    assert "render table2 --profile laptop --results-dir /shared/results --address" not in printed


@pytest.mark.parametrize("flag", ["--results-dir", "--results-dir=/shared", "--dataset", "--plugin"])
def test_what_both_must_know_is_refused_for_the_run_alone(flag):
    done = made("reproduce-table2", f"FLAGS={flag} x")
    assert done.returncode == 2
    assert f"FLAGS are for the run alone: give {flag} in BOTH='...'" in done.stderr

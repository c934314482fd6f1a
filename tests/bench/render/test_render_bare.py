"""Rendering needs neither torch nor ray: it works in a process where they cannot be imported."""

import shutil
import subprocess
import sys

import pytest
from bench_helpers import GOLDEN, PLUGIN, ROOT, row_of, stored

REFUSED = ("torch", "torchvision", "ray", "pandas", "optuna")
BARE = f"""
import sys

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {REFUSED}:
            raise ImportError(f"{{name}} is not installed here")

sys.meta_path.insert(0, Refusal())
"""
RENDER = """
from bench.catalogue import catalogue
from bench.render.files import write
from bench.render.terminal import print_sheet
from bench.judging.results import Results
from vera.spec.registry import load_plugin

plugin, folder = sys.argv[1:]
load_plugin(plugin)
results = Results.open(folder, "laptop")
for name in ("golden-table", "golden-figure"):
    write(catalogue.artifact(name).render(results), folder)
print_sheet(catalogue.artifact("golden-table").render(results))
"""
COMMAND = """
from bench.cli.main import main

plugin, folder = sys.argv[1:]
sys.exit(main(["render", "golden-table", "golden-figure", "--plugin", plugin, "--results-dir", folder]))
"""
ALL = """
from bench.cli.main import main

sys.exit(main(["render", "all", "--results-dir", sys.argv[1]]))
"""


def bare(script, *arguments):
    command = [sys.executable, "-W", "error", "-c", BARE + script, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("script", [RENDER, COMMAND], ids=["library", "command line"])
def test_tables_and_figures_are_made_without_torch_and_ray(script, tmp_path):
    shutil.copytree(GOLDEN / "trials", tmp_path / "trials")
    done = bare(script, PLUGIN, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "VERA λ=1" in done.stdout
    for ending in ("md", "tex", "csv"):
        made = tmp_path / "tables" / f"golden-table.{ending}"
        assert made.read_bytes() == (GOLDEN / "laptop" / "tables" / made.name).read_bytes()
    assert (tmp_path / "figures" / "golden-figure.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "golden-figure.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", REFUSED[:3])
def test_the_process_really_is_bare(name):
    assert f"{name} is not installed here" in bare(f"import {name}").stderr


def test_every_table_and_figure_of_the_paper_is_made_without_torch_and_ray(tmp_path):
    from bench.catalogue import catalogue

    declared = [trial for artifact in catalogue.artifacts() for trial in list(artifact.trials("laptop"))[:2]]
    stored(
        tmp_path,
        list(
            {
                row.trial_id: row
                for row in (row_of(trial, trial.spec.seed % 9, outcome="diverged") for trial in declared)
            }.values()
        ),
    )
    done = bare(ALL, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    shown = [
        name
        for name in catalogue.artifact_names()
        if f"{name} · laptop profile" in done.stdout or f"skipped: {name}" in done.stdout
    ]
    assert shown == catalogue.artifact_names()

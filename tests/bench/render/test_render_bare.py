"""Rendering works in a process that cannot import torch or ray."""

import shutil

import pytest
from bare_process import BLOCKED, run_bare
from bench_helpers import GOLDEN, PLUGIN, row_of, store_rows

from bench.catalogue import catalogue

LIBRARY = """
from bench.catalogue import catalogue
from bench.render.files import write_rendering
from bench.render.terminal import print_sheet
from bench.judging.results import Results, open_store
from vera.spec.registry import load_plugin

plugin, folder = sys.argv[1:]
load_plugin(plugin)
results = Results(open_store(folder), "laptop")
for name in ("golden-table", "golden-figure"):
    write_rendering(catalogue.artifact(name).render(results), folder)
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


@pytest.mark.parametrize("script", [LIBRARY, COMMAND], ids=["library", "command line"])
def test_tables_and_figures_are_rendered_without_torch_and_ray(script, tmp_path):
    shutil.copytree(GOLDEN / "trials", tmp_path / "trials")
    done = run_bare(script, PLUGIN, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "VERA λ=1" in done.stdout
    for suffix in ("md", "tex", "csv"):
        made = tmp_path / "tables" / f"golden-table.{suffix}"
        assert made.read_bytes() == (GOLDEN / "laptop" / "tables" / made.name).read_bytes()
    assert (tmp_path / "figures" / "golden-figure.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "golden-figure.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", BLOCKED[:3])
def test_the_process_cannot_import_them(name):
    assert f"No module named '{name}'" in run_bare(f"import {name}").stderr


def test_every_artifact_is_rendered_without_torch_and_ray(tmp_path):
    declared = [trial for artifact in catalogue.artifacts() for trial in list(artifact.trials("laptop"))[:2]]
    rows = [row_of(trial, trial.spec.seed % 9, outcome="diverged") for trial in declared]
    store_rows(tmp_path, list({row.trial_id: row for row in rows}.values()))
    done = run_bare(ALL, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    shown = [
        name
        for name in catalogue.artifact_names()
        if f"{name} · laptop profile" in done.stdout or f"skipped: {name}" in done.stdout
    ]
    optional = {artifact.name for artifact in catalogue.artifacts() if artifact.optional}
    assert set(catalogue.artifact_names()) - set(shown) == optional

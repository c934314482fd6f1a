"""The notebook docs/examples/quickstart.ipynb: its structure, its links, and that it runs to its end."""

import re
import time

import matplotlib
import pytest
from locations import ROOT
from notebook import read_notebook, run_notebook

NOTEBOOK = ROOT / "docs" / "examples" / "quickstart.ipynb"


@pytest.fixture
def drawn(monkeypatch):
    """Figures are drawn without a display and closed after the test."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt.get_fignums
    plt.close("all")


def test_notebook_is_small_and_holds_no_outputs():
    notebook = read_notebook(NOTEBOOK)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert NOTEBOOK.stat().st_size < 20_000
    assert len(code) < 15


def test_links_of_the_notebook_lead_to_files():
    text = NOTEBOOK.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    assert [target for target in targets if not (NOTEBOOK.parent / target).exists()] == []


def test_notebook_runs_and_ends_with_a_trained_model(tmp_path, monkeypatch, drawn):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    made = run_notebook(NOTEBOOK)
    assert made["samples"].shape == (64, 2)
    assert (made["loaded"].score(made["x"]) == made["model"].score(made["x"])).all()
    assert list(made["results"].frame()["outcome"]) == ["ok"] * 4
    assert made["best"].mean == max(
        each.mean for each in made["results"].configurations("test_log_likelihood")
    )
    assert len(drawn()) == 3
    start = time.monotonic()
    again = made["sweep"].run("quickstart-results")
    assert time.monotonic() - start < 5, "nothing is trained again"
    assert again.frame().equals(made["results"].frame())

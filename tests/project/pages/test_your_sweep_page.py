"""The Python of docs/your-sweep.md runs, in a smaller size."""

import re

import matplotlib
import pytest
from locations import ROOT

PAGE = (ROOT / "docs" / "your-sweep.md").read_text(encoding="utf-8")
SMALLER = {"steps=2_000": "steps=20", "range(5)": "range(2)", "[1e-3, 3e-4]": "[1e-3]"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory, figures without a display, no cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield tmp_path
    plt.close("all")


def test_grid_of_the_page_runs(folder):
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for full, small in SMALLER.items():
        assert full in script
        script = script.replace(full, small)
    made = {"__name__": "__main__"}
    exec(script, made)
    assert list(made["results"].frame()["outcome"]) == ["ok"] * 4
    assert made["best"].settings["method.entropy_weight"] in (0, 1)
    assert len(list((folder / "results" / "local" / "trials" / "models").glob("*.safetensors"))) == 4

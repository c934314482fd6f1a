"""Notebooks without Jupyter: their structure, and their code cells run in order in one namespace."""

import json
from pathlib import Path
from typing import Any

FIELDS = {"markdown": {"cell_type", "id", "metadata", "source"}}
FIELDS["code"] = {*FIELDS["markdown"], "execution_count", "outputs"}


def read_notebook(path: Path) -> dict[str, Any]:
    """The notebook; AssertionError unless it has the structure of nbformat 4.5."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    for cell in notebook["cells"]:
        assert set(cell) == FIELDS[cell["cell_type"]], cell
        assert isinstance(cell["metadata"], dict)
        assert all(isinstance(line, str) for line in cell["source"])
        assert all(line.endswith("\n") for line in cell["source"][:-1]), cell["source"]
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    return notebook


def run_notebook(path: Path) -> dict[str, Any]:
    """Run the code cells in the working directory; the names that they define."""
    made: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        exec(compile("".join(cell["source"]), f"{path.name}, code cell {number}", "exec"), made)
    return made

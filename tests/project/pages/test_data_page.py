"""The example of docs/add-your-data.md runs and leaves what the page says."""

import os
import subprocess
import sys

from locations import ROOT

import vera

EXAMPLE = ROOT / "docs" / "examples" / "own_data.py"


def test_the_example_trains_uses_and_tunes_a_model(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    first, shape, *_, last = done.stdout.splitlines()
    assert float(first) > 0.8
    assert float(last) > 0.8
    assert shape == "(150,)"
    assert (tmp_path / "iris.png").stat().st_size > 0
    assert vera.load_model(tmp_path / "iris.safetensors").facts.data["class_names"][0] == "setosa"

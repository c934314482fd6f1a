"""The example of docs/trainer.md runs and leaves what the page says."""

import os
import subprocess
import sys

from locations import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "follow_a_run.py"


def test_the_example_logs_extends_and_tunes(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    *rows, outcome = done.stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["100", "200", "300"]
    assert outcome == "ok"
    (file,) = (tmp_path / "runs" / "first").iterdir()
    for name in (b"training/loss", b"evaluation/f_on_data"):
        assert file.read_bytes().count(name) == 3

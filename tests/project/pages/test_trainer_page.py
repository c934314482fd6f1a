"""The examples of docs/trainer.md run and leave what the page says."""

import os
import re
import subprocess
import sys

from locations import ROOT

PAGE = (ROOT / "docs" / "trainer.md").read_text(encoding="utf-8")
EXPLICIT, LIKELIHOOD = re.findall(
    r"<!-- run by tests/project/pages/test_trainer_page.py -->\n```python\n(.*?)```", PAGE, re.DOTALL
)
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


def run(code, cwd):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd, env=one_thread
    )


def test_explicit_networks_train_an_ebm_in_about_ten_lines(tmp_path):
    check = """
assert result.outcome == "ok"
assert samples.shape == (1_000, 2)
assert scores.shape == (5_000,)
anywhere = energy(6 * torch.rand(2_000, 2) - 3).detach()
assert scores.detach().median() > anywhere.mean() + 1
assert (samples.std(0) / x.std(0)).log().abs().max() < 0.7
import sys
assert "ray" not in sys.modules
"""
    assert len([line for line in EXPLICIT.splitlines() if line.strip()]) <= 10
    done = run(f"{EXPLICIT}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_exact_likelihood_is_printed(tmp_path):
    done = run(LIKELIHOOD, tmp_path)
    assert done.returncode == 0, done.stderr
    assert -10 < float(done.stdout) < -2.394

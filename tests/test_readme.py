"""Every Python block of the README runs as it stands, in order, in one process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"<!-- run by tests/test_readme.py -->\n```python\n(.*?)```", README, re.DOTALL)


def run(code, cwd):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd, env=one_thread)


def test_the_readme_has_its_examples():
    assert len(BLOCKS) == 4


def test_own_data_example_trains_an_ebm_in_about_ten_lines(tmp_path):
    code = BLOCKS[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
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
    done = run(f"{code}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_exact_likelihood_example_prints_a_likelihood(tmp_path):
    done = run(BLOCKS[1], tmp_path)
    assert done.returncode == 0, done.stderr
    assert -10 < float(done.stdout) < -2.394


def test_few_labels_example_prints_an_accuracy(tmp_path):
    done = run(BLOCKS[2], tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0.2 < float(done.stdout) <= 1


def test_own_method_example_trains_as_a_plug_in(tmp_path):
    plugin = tmp_path / "my_method.py"
    plugin.write_text(BLOCKS[3])
    assert len([line for line in BLOCKS[3].splitlines() if line.strip()]) < 40
    code = f"""
import vera
vera.load_plugin({str(plugin)!r})
spec = vera.TrialSpec({{"name": "moons"}}, {{"energy": {{"name": "mlp"}}}}, {{"name": "noise-contrast"}}, steps=300, batch_size=200)
trainer = vera.build_trainer(spec)
result = trainer.run()
assert result.outcome == "ok"
assert trainer.history[-1]["loss"] < trainer.history[0]["loss"] < 1.4
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`?make ([a-z0-9-]+[a-z0-9])\b", README)) - {"reproduce"}))
def test_every_make_target_of_the_readme_exists(target):
    done = subprocess.run(["make", "-n", target], cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_error_shown_is_the_error_given(tmp_path):
    shown = re.search(r">>> (vera\.methods\.CPSM.*)\n(vera\.errors.*)\n", README)
    done = run(f"import vera\n{shown.group(1)}", tmp_path)
    assert done.stderr.strip().splitlines()[-1] == shown.group(2)

"""From a sweep to an exported model that loads where neither ray nor pyarrow is installed."""

import json
import subprocess
import sys

import numpy as np
import pytest
from bare_process import block_imports
from cluster_helpers import run_here
from locations import ROOT

from bench.cli.flags import build_engine
from bench.cli.main import build_parser, main

SCRIPT = """
import json
import sys
import numpy as np
import vera

model = vera.load_model(sys.argv[1])
x = np.load(sys.argv[2])["x"]
print(json.dumps({"score": model.score(x).tolist(), "sample": model.sample(2, seed=0).tolist()}))
"""


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_a_sweep_leaves_models_that_load_without_ray_and_pyarrow(tmp_path, capsys):
    place, one = ("--results-dir", str(tmp_path)), ("--max-concurrent", 1)
    code, _, err = run_here("run", "table2", "--profile", "smoke", "--only", "label=VERA λ=1", *one, *place)
    assert (code, err) == (0, "")
    assert main(["models", *place]) == 0
    trial_id = capsys.readouterr().out.splitlines()[1].split()[0]
    assert main(["sample", trial_id, "-n", "2", "-o", str(tmp_path / "samples.npz"), *place]) == 0
    capsys.readouterr()
    assert main(["score", trial_id, str(tmp_path / "samples.npz"), *place]) == 0
    scores = capsys.readouterr().out.split()[1:]
    assert main(["export", trial_id, str(tmp_path / "hub"), *place]) == 0
    code = block_imports(("ray", "pyarrow", "pandas", "optuna", "sweeps", "bench")) + SCRIPT
    arguments = [tmp_path / "hub" / "model.safetensors", tmp_path / "samples.npz"]
    loaded = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert loaded.returncode == 0, loaded.stderr
    result = json.loads(loaded.stdout)
    np.testing.assert_array_equal(np.float32(result["score"]), np.float32(scores))
    np.testing.assert_array_equal(np.float32(result["sample"]), np.load(tmp_path / "samples.npz")["x"])
    assert json.loads((tmp_path / "hub" / "spec.json").read_text())["method"]["name"] == "vera"


@pytest.mark.parametrize("verb", [["run", "table2"], ["retry", "table2"], ["search", "moons"]])
def test_models_are_kept_unless_none_are_wanted(verb):
    for flags, is_kept in (([], True), (["--models", "all"], True), (["--models", "none"], False)):
        engine = build_engine(build_parser().parse_args([*verb, *flags]))
        assert engine.conditions.keep_model is is_kept


def test_a_launched_command_takes_the_flag(capsys):
    assert (
        main(["launch", "job", "--", "run", "toy-demo", "--models", "none", "--results-dir", "/shared"]) == 0
    )
    assert "--models none" in capsys.readouterr().out


def test_a_plan_has_the_size_of_the_models(tmp_path, capsys):
    words = ["toy-demo", "--profile", "smoke", "--results-dir", str(tmp_path)]
    assert main(["plan", *words]) == 0
    assert "9 models, about " in capsys.readouterr().out.splitlines()[-1]
    assert main(["run", *words, "--dry-run", "--models", "none"]) == 0
    assert "models" not in capsys.readouterr().out
    assert main(["plan", "figure3", "--profile", "smoke", "--results-dir", str(tmp_path)]) == 0
    assert "models" not in capsys.readouterr().out

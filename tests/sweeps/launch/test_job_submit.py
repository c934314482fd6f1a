"""`ray job submit`: the command line, parsed by the shell and by Ray's own parser."""

import json
import shlex
import subprocess

from launch_helpers import RUN, SHARED, assert_refused, parse_command, render_launch
from ray.dashboard.modules.job.cli import submit
from ray.runtime_env import RuntimeEnv


def parse_submission(capsys, *arguments):
    """The parameters that Ray's parser reads."""
    script = render_launch(capsys, "job", *arguments, "--", *RUN)
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    words = shlex.split(script[script.index("exec ray") :].replace("\\\n", " "))
    assert words[:4] == ["exec", "ray", "job", "submit"]
    return submit.make_context("submit", words[4:]).params


def test_ray_accepts_the_command_line(capsys):
    found = parse_submission(capsys, *SHARED, "--address", "http://127.0.0.1:8265", "--name", "night")
    assert (found["address"], found["submission_id"], found["no_wait"]) == (
        "http://127.0.0.1:8265",
        "night",
        True,
    )
    command = parse_command(found["entrypoint"])
    assert (command.sweep, command.profile, command.only, command.results_dir) == (
        "table2", "paper", ["method=vera"], "/shared/results",
    )  # fmt: skip
    environment = RuntimeEnv(**json.loads(found["runtime_env_json"]))
    assert environment.env_vars() == {"PYTHONUNBUFFERED": "1"}


def test_without_options_ray_uses_its_environment_and_makes_an_id(capsys):
    found = parse_submission(capsys, *SHARED, "--wait")
    assert (found["address"], found["submission_id"], found["no_wait"]) == (None, None, False)


def test_a_checkout_is_sent_without_its_large_folders(capsys, tmp_path):
    found = parse_submission(capsys, *SHARED, "--working-dir", tmp_path)
    environment = json.loads(found["runtime_env_json"])
    assert environment["working_dir"] == str(tmp_path)
    assert {"/.venv", "/.git", "/results"} <= set(environment["excludes"])
    RuntimeEnv(**environment)
    assert found["entrypoint"][:3] == ("python", "-m", "bench.cli")
    assert parse_command(("vera", *found["entrypoint"][3:])).sweep == "table2"


def test_a_relative_results_directory_is_refused(capsys):
    assert_refused(capsys, ("'results/local'", "--results-dir"), "job", "--", *RUN)

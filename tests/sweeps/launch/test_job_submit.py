"""`ray job submit`: the command line as the shell and Ray's own parser read it."""

import json
import shlex
import subprocess

from launch_helpers import RUN, SHARED, error_of, parsed, text_of
from ray.dashboard.modules.job.cli import submit
from ray.runtime_env import RuntimeEnv


def submission(capsys, *arguments):
    """What Ray's parser makes of it."""
    script = text_of(capsys, "job", *arguments, "--", *RUN)
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    words = shlex.split(script[script.index("exec ray") :].replace("\\\n", " "))
    assert words[:4] == ["exec", "ray", "job", "submit"]
    return submit.make_context("submit", words[4:]).params


def test_ray_takes_the_command_line(capsys):
    found = submission(capsys, *SHARED, "--address", "http://127.0.0.1:8265", "--name", "night")
    assert (found["address"], found["submission_id"], found["no_wait"]) == (
        "http://127.0.0.1:8265",
        "night",
        True,
    )
    command = parsed(found["entrypoint"])
    assert (command.sweep, command.profile, command.only, command.results_dir) == (
        "table2", "paper", ["method=vera"], "/shared/results",
    )  # fmt: skip
    environment = RuntimeEnv(**json.loads(found["runtime_env_json"]))
    assert environment.env_vars() == {"PYTHONUNBUFFERED": "1"}


def test_without_more_ray_asks_its_environment_and_makes_up_an_id(capsys):
    found = submission(capsys, *SHARED, "--wait")
    assert (found["address"], found["submission_id"], found["no_wait"]) == (None, None, False)


def test_a_checkout_is_sent_along_without_what_is_large(capsys, tmp_path):
    found = submission(capsys, *SHARED, "--working-dir", tmp_path)
    environment = json.loads(found["runtime_env_json"])
    assert environment["working_dir"] == str(tmp_path)
    assert {"/.venv", "/.git", "/results"} <= set(environment["excludes"])
    RuntimeEnv(**environment)
    assert found["entrypoint"][:3] == ("python", "-m", "bench.cli.main")
    assert parsed(("vera", *found["entrypoint"][3:])).sweep == "table2"


def test_a_results_directory_in_rays_copy_is_refused(capsys):
    assert "it is an absolute path" in error_of(capsys, "job", "--", *RUN)

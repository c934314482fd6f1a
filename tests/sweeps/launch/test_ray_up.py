"""`ray up` files: valid by Ray's own schema, as Ray itself completes them; the command in the first lines is
vera's."""

import json
import re
import shlex
from importlib.resources import files

import pytest
import yaml
from launch_helpers import RUN, SHARED, error_of, parsed, text_of
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.scripts.scripts import start

OWN = (
    "--hosts",
    "10.0.0.1, 10.0.0.2,10.0.0.3",
    "--nodes",
    3,
    "--ssh-user",
    "me",
    "--ssh-key",
    "~/.ssh/id_ed25519",
)
AWS = (
    "--nodes",
    5,
    "--gpus-per-node",
    1,
    "--cpus-per-node",
    16,
    "--region",
    "eu-west-1",
    "--instance",
    "g5.4xlarge",
)
SCHEMA = json.loads(files("ray.autoscaler").joinpath("ray-schema.json").read_text())


def cluster_of(capsys, *arguments):
    text = text_of(capsys, "ray-up", *arguments, *SHARED, "--", *RUN)
    return text, yaml.safe_load(text)


@pytest.mark.parametrize(
    "arguments",
    [OWN, AWS, (), (*OWN, "--working-dir", ".", "--image", "me/vera:1"), (*AWS, "--setup", "a: 'b'")],
)
def test_ray_takes_the_file(capsys, arguments):
    _, cluster = cluster_of(capsys, *arguments)
    assert set(cluster) <= set(SCHEMA["properties"])
    complete = prepare_config(cluster)
    validate_config(complete)
    assert complete["head_node_type"] in complete["available_node_types"]


def test_own_machines_are_named(capsys):
    _, cluster = cluster_of(capsys, *OWN)
    assert cluster["provider"] == {
        "type": "local",
        "head_ip": "10.0.0.1",
        "worker_ips": ["10.0.0.2", "10.0.0.3"],
    }
    assert cluster["auth"] == {"ssh_user": "me", "ssh_private_key": "~/.ssh/id_ed25519"}
    assert "docker" not in cluster
    (only,) = prepare_config(cluster)["available_node_types"].values()
    assert (only["min_workers"], only["max_workers"]) == (2, 2)


def test_aws_lends_as_many_as_asked_for(capsys):
    _, cluster = cluster_of(capsys, *AWS)
    worker = cluster["available_node_types"]["worker"]
    assert (worker["min_workers"], worker["max_workers"], cluster["max_workers"]) == (4, 4, 4)
    assert worker["resources"] == {"CPU": 16, "GPU": 1}
    assert worker["node_config"] == {"InstanceType": "g5.4xlarge"}
    assert cluster["docker"]["image"].endswith("-py311-gpu")
    assert cluster["provider"]["region"] == "eu-west-1"


def test_on_aws_all_instances_may_do_what_the_profile_says(capsys):
    """Ray's own default is for the head alone."""
    _, cluster = cluster_of(capsys, *AWS, "--instance-profile", "vera-s3")
    for node in cluster["available_node_types"].values():
        assert node["node_config"] == {
            "InstanceType": "g5.4xlarge",
            "IamInstanceProfile": {"Name": "vera-s3"},
        }
    validate_config(prepare_config(cluster))


def test_every_node_gets_the_token_and_asks_for_it(capsys):
    _, cluster = cluster_of(capsys, *OWN, "--cpus-per-node", 4)
    assert cluster["file_mounts"]["~/.ray/auth_token"] == "~/.ray/auth_token"
    assert cluster["setup_commands"][0] == "chmod 700 ~/.ray && chmod 600 ~/.ray/auth_token"
    for kind, head in (("head_start_ray_commands", True), ("worker_start_ray_commands", False)):
        last = cluster[kind][-1]
        assert "RAY_AUTH_MODE=token" in last
        found = start.make_context("start", shlex.split(last.split("ray start ")[1])).params
        assert (found["head"], found["num_cpus"], found["num_gpus"]) == (head, 4, 0)


def test_a_checkout_is_copied_and_installed_after_the_users_own_lines(capsys):
    _, cluster = cluster_of(capsys, *OWN, "--working-dir", "/home/me/vera", "--setup", "module load python")
    assert cluster["file_mounts"]["~/vera"] == "/home/me/vera"
    assert {".venv", "results"} <= set(cluster["rsync_exclude"])
    assert cluster["setup_commands"][1] == "module load python"
    assert cluster["setup_commands"][2].startswith("pip install")


def test_the_first_lines_run_the_command_on_it(capsys):
    text, _ = cluster_of(capsys, *OWN)
    line = re.search(r"^# (ray exec .*)$", text, re.MULTILINE)[1]
    *call, command = shlex.split(line)
    assert call == ["ray", "exec", "cluster.yaml"]
    found = parsed(command)
    assert (found.sweep, found.profile, found.results_dir, found.address) == (
        "table2",
        "paper",
        "/shared/results",
        "auto",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hosts", "a,b", *SHARED, "--", *RUN], "--hosts names 2 machines and --nodes asks for 1"),
        (["--", *RUN], "it is an absolute path, got 'results/local'"),
        (["--", *RUN, "--results-dir=here"], "it is an absolute path, got 'here'"),
    ],
)
def test_a_mistake_is_one_line(capsys, arguments, words):
    assert words in error_of(capsys, "ray-up", *arguments)

"""`ray up` files: valid under Ray's own schema after Ray completes them; the first lines contain a vera
command."""

import json
import re
import shlex
from importlib.resources import files

import pytest
import yaml
from launch_helpers import RUN, SHARED, assert_refused, parse_command, render_launch
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


def render_cluster(capsys, *arguments):
    text = render_launch(capsys, "ray-up", *arguments, *SHARED, "--", *RUN)
    return text, yaml.safe_load(text)


@pytest.mark.parametrize(
    "arguments",
    [OWN, AWS, (), (*OWN, "--working-dir", ".", "--image", "me/vera:1"), (*AWS, "--setup", "a: 'b'")],
)
def test_ray_accepts_the_file(capsys, arguments):
    _, cluster = render_cluster(capsys, *arguments)
    assert set(cluster) <= set(SCHEMA["properties"])
    complete = prepare_config(cluster)
    validate_config(complete)
    assert complete["head_node_type"] in complete["available_node_types"]


def test_your_own_machines_are_named(capsys):
    _, cluster = render_cluster(capsys, *OWN)
    assert cluster["provider"] == {
        "type": "local",
        "head_ip": "10.0.0.1",
        "worker_ips": ["10.0.0.2", "10.0.0.3"],
    }
    assert cluster["auth"] == {"ssh_user": "me", "ssh_private_key": "~/.ssh/id_ed25519"}
    assert "docker" not in cluster
    (only,) = prepare_config(cluster)["available_node_types"].values()
    assert (only["min_workers"], only["max_workers"]) == (2, 2)


def test_aws_starts_the_requested_number_of_instances(capsys):
    _, cluster = render_cluster(capsys, *AWS)
    worker = cluster["available_node_types"]["worker"]
    assert (worker["min_workers"], worker["max_workers"], cluster["max_workers"]) == (4, 4, 4)
    assert worker["resources"] == {"CPU": 16, "GPU": 1}
    assert worker["node_config"] == {"InstanceType": "g5.4xlarge"}
    assert cluster["docker"]["image"].endswith("-py311-gpu")
    assert cluster["provider"]["region"] == "eu-west-1"


def test_on_aws_all_instances_have_the_profile(capsys):
    """By default Ray gives it to the head only."""
    _, cluster = render_cluster(capsys, *AWS, "--instance-profile", "vera-s3")
    for node in cluster["available_node_types"].values():
        assert node["node_config"] == {
            "InstanceType": "g5.4xlarge",
            "IamInstanceProfile": {"Name": "vera-s3"},
        }
    validate_config(prepare_config(cluster))


def test_every_node_gets_the_token_and_requires_it(capsys):
    _, cluster = render_cluster(capsys, *OWN, "--cpus-per-node", 4)
    assert cluster["file_mounts"]["~/.ray/auth_token"] == "~/.ray/auth_token"
    assert cluster["setup_commands"][0] == "chmod 700 ~/.ray && chmod 600 ~/.ray/auth_token"
    for kind, head in (("head_start_ray_commands", True), ("worker_start_ray_commands", False)):
        last = cluster[kind][-1]
        assert "RAY_AUTH_MODE=token" in last
        found = start.make_context("start", shlex.split(last.split("ray start ")[1])).params
        assert (found["head"], found["num_cpus"], found["num_gpus"]) == (head, 4, 0)


def test_a_checkout_is_installed_after_the_setup_lines(capsys):
    _, cluster = render_cluster(
        capsys, *OWN, "--working-dir", "/home/me/vera", "--setup", "module load python"
    )
    assert cluster["file_mounts"]["~/vera"] == "/home/me/vera"
    assert {".venv", "results"} <= set(cluster["rsync_exclude"])
    assert cluster["setup_commands"][1] == "module load python"
    words = shlex.split(cluster["setup_commands"][2])
    assert words[:2] == ["pip", "install"]
    assert "~/vera[all]" in words


def test_the_first_lines_run_the_command(capsys):
    text, _ = render_cluster(capsys, *OWN)
    line = re.search(r"^# (ray exec .*)$", text, re.MULTILINE)[1]
    *call, command = shlex.split(line)
    assert call == ["ray", "exec", "cluster.yaml"]
    found = parse_command(command)
    assert (found.sweep, found.profile, found.results_dir, found.address) == (
        "table2",
        "paper",
        "/shared/results",
        "auto",
    )


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["--hosts", "a,b", *SHARED, "--", *RUN], ("--hosts", "2 machines", "--nodes is 1")),
        (["--", *RUN], ("'results/local'", "--results-dir")),
        (["--", *RUN, "--results-dir=here"], ("'here'", "--results-dir")),
    ],
)
def test_a_mistake_is_refused_in_one_line(capsys, arguments, facts):
    assert_refused(capsys, facts, "ray-up", *arguments)

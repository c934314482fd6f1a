"""The RayJob manifest, validated against the part of the `ray.io/v1` schema that it uses. Kubernetes would
drop an unknown field silently."""

import re

import jsonschema
import pytest
import yaml
from launch_helpers import RUN, SHARED, assert_refused, parse_command, render_launch
from locations import ROOT

from sweeps.launch.settings import IMAGE as IMAGE_OF_RAY
from sweeps.launch.settings import RAY_VERSION


def describe_object(required=(), **properties):
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def describe_array(items, **limits):
    return {"type": "array", "items": items, **limits}


TEXT, PATH, COUNT = (
    {"type": "string", "minLength": 1},
    {"type": "string", "pattern": "^/"},
    {"type": "integer", "minimum": 0},
)
TEXTS = {"type": "object", "additionalProperties": TEXT}
AMOUNTS = {"type": "object", "additionalProperties": {"anyOf": [COUNT, TEXT]}}
CONTAINER = describe_object(
    ["name", "image"], name=TEXT, image=TEXT, resources=describe_object(requests=AMOUNTS, limits=AMOUNTS),
    envFrom=describe_array(describe_object(["secretRef"], secretRef=describe_object(["name"], name=TEXT))),
    volumeMounts=describe_array(describe_object(["name", "mountPath"], name=TEXT, mountPath=PATH)),
)  # fmt: skip
VOLUME = describe_object(
    ["name"], name=TEXT, persistentVolumeClaim=describe_object(["claimName"], claimName=TEXT)
)
POD = describe_object(
    ["spec"],
    spec=describe_object(
        ["containers"], containers=describe_array(CONTAINER, minItems=1), volumes=describe_array(VOLUME),
        serviceAccountName=TEXT,
    ),
)  # fmt: skip
HEAD = describe_object(["template"], rayStartParams=TEXTS, template=POD)
WORKERS = describe_object(
    ["groupName", "maxReplicas", "minReplicas", "template"],
    groupName=TEXT, replicas=COUNT, minReplicas=COUNT, maxReplicas=COUNT, rayStartParams=TEXTS, template=POD,
)  # fmt: skip
CLUSTER = describe_object(
    ["headGroupSpec"],
    rayVersion=TEXT, headGroupSpec=HEAD, workerGroupSpecs=describe_array(WORKERS),
    authOptions=describe_object(mode={"enum": ["disabled", "token"]}),
)  # fmt: skip
RAY_JOB = describe_object(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "ray.io/v1"}, kind={"const": "RayJob"},
    metadata=describe_object(["name"], name={"type": "string", "maxLength": 47}, namespace=TEXT),
    spec=describe_object(
        entrypoint=TEXT, runtimeEnvYAML=TEXT, activeDeadlineSeconds={"type": "integer", "minimum": 1},
        backoffLimit=COUNT, ttlSecondsAfterFinished=COUNT, shutdownAfterJobFinishes={"type": "boolean"},
        rayClusterSpec=CLUSTER,
    ),
)  # fmt: skip
IMAGE = ("--image", "me/vera:1")
CLAIM = ("--results-claim", "results-claim")


def render_job(capsys, *arguments):
    job = yaml.safe_load(render_launch(capsys, "kuberay", *IMAGE, *arguments, "--", *RUN))
    jsonschema.validate(job, RAY_JOB)
    return job


def test_all_pods_are_equal_and_share_the_results(capsys):
    job = render_job(
        capsys,
        *SHARED,
        *CLAIM,
        "--nodes",
        4,
        "--cpus-per-node",
        6,
        "--gpus-per-node",
        2,
        "--memory-per-node",
        "64Gi",
    )
    cluster = job["spec"]["rayClusterSpec"]
    (workers,) = cluster["workerGroupSpecs"]
    assert (workers["replicas"], workers["minReplicas"], workers["maxReplicas"]) == (3, 3, 3)
    for group in (cluster["headGroupSpec"], workers):
        (container,) = group["template"]["spec"]["containers"]
        assert container["resources"]["limits"] == {"cpu": 6, "memory": "64Gi", "nvidia.com/gpu": 2}
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert container["volumeMounts"] == [{"name": "results", "mountPath": "/shared/results"}]
        assert group["template"]["spec"]["volumes"] == [
            {"name": "results", "persistentVolumeClaim": {"claimName": "results-claim"}}
        ]


def test_the_cluster_has_a_token_and_is_deleted_after_the_job(capsys):
    spec = render_job(capsys, *SHARED, *CLAIM, "--time", "1-00:00:10")["spec"]
    assert spec["rayClusterSpec"]["authOptions"] == {"mode": "token"}
    assert spec["rayClusterSpec"]["rayVersion"] == RAY_VERSION
    assert spec["shutdownAfterJobFinishes"] is True
    assert spec["activeDeadlineSeconds"] == 86_410
    assert yaml.safe_load(spec["runtimeEnvYAML"]) == {"env_vars": {"PYTHONUNBUFFERED": "1"}}


def test_one_node_is_only_the_head_and_a_url_needs_no_volume(capsys):
    job = render_job(
        capsys, "--results-dir", "s3://bucket/results", "--namespace", "research", "--name", "night"
    )
    assert job["metadata"] == {"name": "night", "namespace": "research"}
    assert job["spec"]["rayClusterSpec"]["workerGroupSpecs"] == []
    assert job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["volumes"] == []


def test_the_log_command_names_the_namespace(capsys):
    bucket = ("--results-dir", "s3://bucket/results", "--name", "night")
    texts = [
        render_launch(capsys, "kuberay", *IMAGE, *bucket, *more, "--", *RUN)
        for more in ((), ("--namespace", "research"))
    ]
    assert [text.splitlines()[1] for text in texts] == [
        "# kubectl logs -f -l job-name=night",
        "# kubectl logs -f -l job-name=night -n research",
    ]


def list_pods(job):
    cluster = job["spec"]["rayClusterSpec"]
    return [group["template"]["spec"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]


def test_all_pods_have_the_secret_and_the_service_account(capsys):
    bucket = ("--results-dir", "s3://bucket/results", "--nodes", 3)
    pods = list_pods(render_job(capsys, *bucket, "--secret", "vera-s3", "--service-account", "trainer"))
    assert len(pods) == 2
    for pod in pods:
        assert pod["serviceAccountName"] == "trainer"
        assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "vera-s3"}}]
    for pod in list_pods(render_job(capsys, *bucket)):
        assert "serviceAccountName" not in pod
        assert "envFrom" not in pod["containers"][0]


def test_the_entrypoint_is_a_vera_command(capsys):
    command = parse_command(
        render_job(capsys, *SHARED, *CLAIM, "--data-dir", "/data", "--data-claim", "data-claim")["spec"][
            "entrypoint"
        ]
    )
    assert (command.sweep, command.only, command.results_dir, command.data_dir) == (
        "table2", ["method=vera"], "/shared/results", "/data",
    )  # fmt: skip


def test_the_images_have_the_installed_pinned_and_documented_release(capsys):
    import ray

    assert ray.__version__ == RAY_VERSION
    assert re.search(r"^ray==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1] == RAY_VERSION
    (base,) = re.findall(r"^ARG BASE=(.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert base == IMAGE_OF_RAY
    assert (
        base.split(":")[1].split("-")[0]
        == render_job(capsys, *SHARED, *CLAIM)["spec"]["rayClusterSpec"]["rayVersion"]
    )


def test_unusual_characters_of_a_path_reach_the_pods(capsys):
    job = render_job(capsys, "--results-dir", "/results/é 🙂", *CLAIM)
    (mount,) = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0][
        "volumeMounts"
    ]
    assert mount["mountPath"] == "/results/é 🙂"
    assert parse_command(job["spec"]["entrypoint"]).results_dir == "/results/é 🙂"


def test_of_repeated_flags_the_last_is_mounted(capsys):
    words = ("--results-dir", "/a", "--results-dir", "/b")
    job = yaml.safe_load(render_launch(capsys, "kuberay", *IMAGE, *CLAIM, "--", *RUN, *words))
    (mount,) = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0][
        "volumeMounts"
    ]
    assert mount["mountPath"] == "/b"


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ([*SHARED, *IMAGE, "--", *RUN], ("--results-claim",)),
        ([*SHARED, *CLAIM, "--", *RUN], ("--image",)),
        ([*SHARED, *CLAIM, *IMAGE, "--data-claim", "d", "--", *RUN], ("--data-claim", "--data-dir")),
        ([*IMAGE, *CLAIM, "--", *RUN], ("'results/local'", "--results-dir")),
        ([*IMAGE, "--results-dir", "runs/s3://bucket", "--", *RUN], ("'runs/s3://bucket'",)),
        ([*SHARED, *IMAGE, *CLAIM, "--namespace", "a\nb", "--", *RUN], ("a\\nb",)),
        ([*SHARED, *IMAGE, *CLAIM, "--namespace", "$(rm x)", "--", *RUN], ("--namespace", "$(rm x)")),
        ([*SHARED, *IMAGE, *CLAIM, "--time", "soon", "--", *RUN], ("--time", "HH:MM:SS", "'soon'")),
    ],
)
def test_a_mistake_is_refused_in_one_line(capsys, arguments, facts):
    assert_refused(capsys, facts, "kuberay", *arguments)

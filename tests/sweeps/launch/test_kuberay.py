"""The RayJob manifest, held to the part of the `ray.io/v1` definition that it uses; an unknown field would be
dropped unseen."""

import re

import jsonschema
import pytest
import yaml
from launch_helpers import RUN, SHARED, error_of, parsed, text_of
from locations import ROOT

from sweeps.launch.settings import IMAGE as IMAGE_OF_RAY
from sweeps.launch.settings import RAY_VERSION


def closed(required=(), **properties):
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT, PATH, COUNT = (
    {"type": "string", "minLength": 1},
    {"type": "string", "pattern": "^/"},
    {"type": "integer", "minimum": 0},
)
TEXTS = {"type": "object", "additionalProperties": TEXT}
AMOUNTS = {"type": "object", "additionalProperties": {"anyOf": [COUNT, TEXT]}}
CONTAINER = closed(
    ["name", "image"], name=TEXT, image=TEXT, resources=closed(requests=AMOUNTS, limits=AMOUNTS),
    envFrom={"type": "array", "items": closed(["secretRef"], secretRef=closed(["name"], name=TEXT))},
    volumeMounts={"type": "array", "items": closed(["name", "mountPath"], name=TEXT, mountPath=PATH)},
)  # fmt: skip
VOLUME = closed(["name"], name=TEXT, persistentVolumeClaim=closed(["claimName"], claimName=TEXT))
POD = closed(
    ["spec"],
    spec=closed(
        ["containers"], containers={"type": "array", "minItems": 1, "items": CONTAINER}, volumes={"type": "array", "items": VOLUME},
        serviceAccountName=TEXT,
    ),
)  # fmt: skip
HEAD = closed(["template"], rayStartParams=TEXTS, template=POD)
WORKERS = closed(
    ["groupName", "maxReplicas", "minReplicas", "template"],
    groupName=TEXT, replicas=COUNT, minReplicas=COUNT, maxReplicas=COUNT, rayStartParams=TEXTS, template=POD,
)  # fmt: skip
CLUSTER = closed(
    ["headGroupSpec"],
    rayVersion=TEXT, headGroupSpec=HEAD, workerGroupSpecs={"type": "array", "items": WORKERS},
    authOptions=closed(mode={"enum": ["disabled", "token"]}),
)  # fmt: skip
RAY_JOB = closed(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "ray.io/v1"}, kind={"const": "RayJob"},
    metadata=closed(["name"], name={"type": "string", "maxLength": 47}, namespace=TEXT),
    spec=closed(
        entrypoint=TEXT, runtimeEnvYAML=TEXT, activeDeadlineSeconds={"type": "integer", "minimum": 1}, backoffLimit=COUNT,
        ttlSecondsAfterFinished=COUNT, shutdownAfterJobFinishes={"type": "boolean"}, rayClusterSpec=CLUSTER,
    ),
)  # fmt: skip
IMAGE = ("--image", "me/vera:1")
CLAIM = ("--results-claim", "results-claim")


def job_of(capsys, *arguments):
    job = yaml.safe_load(text_of(capsys, "kuberay", *IMAGE, *arguments, "--", *RUN))
    jsonschema.validate(job, RAY_JOB)
    return job


def test_all_pods_are_alike_and_share_the_results(capsys):
    job = job_of(
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


def test_the_cluster_has_a_token_and_goes_when_the_job_is_done(capsys):
    spec = job_of(capsys, *SHARED, *CLAIM, "--time", "1-00:00:10")["spec"]
    assert spec["rayClusterSpec"]["authOptions"] == {"mode": "token"}
    assert spec["rayClusterSpec"]["rayVersion"] == RAY_VERSION
    assert spec["shutdownAfterJobFinishes"] is True
    assert spec["activeDeadlineSeconds"] == 86_410
    assert yaml.safe_load(spec["runtimeEnvYAML"]) == {"env_vars": {"PYTHONUNBUFFERED": "1"}}


def test_one_node_is_the_head_alone_and_a_url_needs_no_volume(capsys):
    job = job_of(capsys, "--results-dir", "s3://bucket/results", "--namespace", "research", "--name", "night")
    assert job["metadata"] == {"name": "night", "namespace": "research"}
    assert job["spec"]["rayClusterSpec"]["workerGroupSpecs"] == []
    assert job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["volumes"] == []


def test_the_log_is_looked_for_where_the_job_runs(capsys):
    bucket = ("--results-dir", "s3://bucket/results", "--name", "night")
    texts = [
        text_of(capsys, "kuberay", *IMAGE, *bucket, *more, "--", *RUN)
        for more in ((), ("--namespace", "research"))
    ]
    assert [text.splitlines()[1] for text in texts] == [
        "# kubectl logs -f -l job-name=night",
        "# kubectl logs -f -l job-name=night -n research",
    ]


def pods_of(job):
    cluster = job["spec"]["rayClusterSpec"]
    return [group["template"]["spec"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]


def test_all_pods_have_the_secret_and_the_service_account(capsys):
    bucket = ("--results-dir", "s3://bucket/results", "--nodes", 3)
    pods = pods_of(job_of(capsys, *bucket, "--secret", "vera-s3", "--service-account", "trainer"))
    assert len(pods) == 2
    for pod in pods:
        assert pod["serviceAccountName"] == "trainer"
        assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "vera-s3"}}]
    for pod in pods_of(job_of(capsys, *bucket)):
        assert "serviceAccountName" not in pod
        assert "envFrom" not in pod["containers"][0]


def test_the_entrypoint_is_a_vera_command(capsys):
    command = parsed(
        job_of(capsys, *SHARED, *CLAIM, "--data-dir", "/data", "--data-claim", "data-claim")["spec"][
            "entrypoint"
        ]
    )
    assert (command.sweep, command.only, command.results_dir, command.data_dir) == (
        "table2", ["method=vera"], "/shared/results", "/data",
    )  # fmt: skip


def test_the_images_are_of_the_release_that_is_installed_pinned_and_told_of(capsys):
    import ray

    root = ROOT
    assert ray.__version__ == RAY_VERSION
    assert re.search(r"^ray==(.*)$", (root / "constraints.txt").read_text(), re.MULTILINE)[1] == RAY_VERSION
    (base,) = re.findall(r"^FROM (.*)$", (root / "docs" / "cluster.md").read_text(), re.MULTILINE)
    assert base == IMAGE_OF_RAY
    assert (
        base.split(":")[1].split("-")[0]
        == job_of(capsys, *SHARED, *CLAIM)["spec"]["rayClusterSpec"]["rayVersion"]
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*SHARED, *IMAGE, "--", *RUN], "--results-claim"),
        ([*SHARED, *CLAIM, "--", *RUN], "--image"),
        (
            [*SHARED, *CLAIM, *IMAGE, "--data-claim", "d", "--", *RUN],
            "--data-claim is mounted at the data directory",
        ),
        ([*IMAGE, *CLAIM, "--", *RUN], "must share one results directory"),
        ([*IMAGE, "--results-dir", "runs/s3://bucket", "--", *RUN], "must share one results directory"),
        ([*SHARED, *IMAGE, *CLAIM, "--time", "soon", "--", *RUN], "--time is written"),
    ],
)
def test_a_mistake_is_one_line(capsys, arguments, words):
    assert words in error_of(capsys, "kuberay", *arguments)

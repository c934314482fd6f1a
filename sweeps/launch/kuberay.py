"""A KubeRay RayJob: Kubernetes creates a Ray cluster, runs the command on it and deletes it.

A pod loses its files when it ends. So the results directory is a volume that all pods mount (a ReadWriteMany
claim), or a URL whose credentials come from a secret or a service account. The manifest contains only their
names. The operator (1.5.1 or newer) creates a token for the cluster and passes it to the pods. The operator's
own submitter pod only submits the command; the command itself runs on the head. YAML is a superset of JSON,
so values are quoted as JSON.
"""

import shlex
from dataclasses import dataclass, field

from sweeps.errors import EngineError
from sweeps.launch.settings import (
    RAY_VERSION,
    ClusterSettings,
    check_name,
    check_shared_results,
    find_flag,
    parse_time,
    quote_yaml,
)
from sweeps.store.location import is_url

NAMED = ("image", "memory_per_node", "results_claim", "data_claim", "namespace", "secret", "service_account")
"""The fields of a job that are plain names or amounts."""


@dataclass(frozen=True)
class RayJob:
    """A job and its pods."""

    command: tuple[str, ...]
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    time: str = "24:00:00"
    image: str | None = None
    """An image with vera, `ray[default]` and wget; Ray's own image lacks vera."""
    memory_per_node: str = "16Gi"
    results_claim: str | None = None
    data_claim: str | None = None
    namespace: str | None = None
    file: str = "rayjob.yaml"
    """The file name in the commands of the first lines."""
    secret: str | None = None
    """A secret whose entries become environment variables of every pod."""
    service_account: str | None = None


def render(job: RayJob) -> str:
    check_shared_results(job.command)
    if job.image is None:
        raise EngineError("The pods need an image with vera installed: name it with --image.")
    for field_name in NAMED:
        check_name(f"--{field_name.replace('_', '-')}", getattr(job, field_name))
    mounts = list_volumes(job)
    values = {
        "file": shlex.quote(job.file), "plain_name": job.cluster.name, "name": quote_yaml(job.cluster.name),
        "namespace": f"\n  namespace: {quote_yaml(job.namespace)}" if job.namespace else "",
        "where": f" -n {shlex.quote(job.namespace)}" if job.namespace else "",
        "command": quote_yaml(shlex.join(job.command)), "seconds": parse_time(job.time),
        "ray": quote_yaml(RAY_VERSION),
        "head": _indent(_render_pod(job, "ray-head", mounts), 6), "workers": _render_workers(job, mounts),
    }  # fmt: skip
    return MANIFEST.format(**values)


def list_volumes(job: RayJob) -> dict[str, tuple[str, str]]:
    """Volume name → (claim, mount path)."""
    results, data = find_flag(job.command, "--results-dir"), find_flag(job.command, "--data-dir")
    if results is None or (not is_url(results) and job.results_claim is None):
        raise EngineError(
            f"Pods lose their files: name a ReadWriteMany volume claim for {results} with --results-claim, "
            "or use an s3:// URL as --results-dir."
        )
    if job.data_claim is not None and data is None:
        raise EngineError("--data-claim is mounted at the data directory: add --data-dir /path.")
    found = {"results": (job.results_claim, results), "data": (job.data_claim, data)}
    return {
        name: (claim, path) for name, (claim, path) in found.items() if claim is not None and path is not None
    }


def _render_workers(job: RayJob, mounts: dict[str, tuple[str, str]]) -> str:
    others = job.cluster.nodes - 1
    if not others:
        return " []"
    return (
        "\n"
        + _indent(
            WORKERS.format(others=others) + _indent(_render_pod(job, "ray-worker", mounts), 2), 6
        ).rstrip()
    )


def _render_pod(job: RayJob, container: str, mounts: dict[str, tuple[str, str]]) -> str:
    gpus = f"\n          nvidia.com/gpu: {job.cluster.gpus_per_node}" if job.cluster.gpus_per_node else ""
    memory = quote_yaml(job.memory_per_node)
    amount = f"\n          cpu: {job.cluster.cpus_per_node}\n          memory: {memory}{gpus}"
    mounted = "".join(
        f"\n        - name: {name}\n          mountPath: {quote_yaml(path)}"
        for name, (_, path) in mounts.items()
    )
    claimed = "".join(
        f"\n    - name: {name}\n      persistentVolumeClaim:\n        claimName: {quote_yaml(claim)}"
        for name, (claim, _) in mounts.items()
    )
    secret = (
        f"\n      envFrom:\n      - secretRef:\n          name: {quote_yaml(job.secret)}"
        if job.secret
        else ""
    )
    account = f"\n    serviceAccountName: {quote_yaml(job.service_account)}" if job.service_account else ""
    return POD.format(
        container=container, image=quote_yaml(job.image or ""), amount=amount, mounted=mounted or " []",
        claimed=claimed or " []", secret=secret, account=account,
    )  # fmt: skip


def _indent(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


POD = """template:
  spec:{account}
    containers:
    - name: {container}
      image: {image}{secret}
      resources:
        requests:{amount}
        limits:{amount}
      volumeMounts:{mounted}
    volumes:{claimed}"""

WORKERS = """- groupName: workers
  replicas: {others}
  minReplicas: {others}
  maxReplicas: {others}
  rayStartParams: {{}}
"""

MANIFEST = """# kubectl apply -f {file}
# kubectl logs -f -l job-name={plain_name}{where}
# kubectl delete -f {file}
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: {name}{namespace}
spec:
  entrypoint: {command}
  activeDeadlineSeconds: {seconds}
  backoffLimit: 0
  shutdownAfterJobFinishes: true
  ttlSecondsAfterFinished: 600
  runtimeEnvYAML: |
    env_vars:
      PYTHONUNBUFFERED: "1"
  rayClusterSpec:
    rayVersion: {ray}
    authOptions:
      mode: token
    headGroupSpec:
      rayStartParams: {{}}
{head}    workerGroupSpecs:{workers}
"""

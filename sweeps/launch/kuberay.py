"""A KubeRay RayJob: Kubernetes makes a Ray cluster, runs the command on it and takes it down again.

A pod keeps nothing when it ends, so the results directory is a volume that all pods mount (a ReadWriteMany
claim), or a URL, for which they have credentials from a secret or a service account: by name, so that the
manifest holds none. The operator (1.5.1 or newer) makes a token for the cluster and hands it to the pods. A
further pod, which only submits the command, is the operator's own: the command itself runs on the head. YAML
is a superset of JSON, so quoting a value as JSON is quoting it for YAML.
"""

import json
from dataclasses import dataclass, field

from sweeps.errors import EngineError
from sweeps.launch.settings import RAY_VERSION, Nodes, check_shared, flag_of, seconds, shell
from sweeps.store.address import is_url


@dataclass(frozen=True)
class RayJob:
    """A job and the pods that it runs on."""

    command: tuple[str, ...]
    nodes: Nodes = field(default_factory=Nodes)
    time: str = "24:00:00"
    image: str | None = None
    """One that has vera, `ray[default]` and wget; Ray's own lacks vera."""
    memory_per_node: str = "16Gi"
    results_claim: str | None = None
    data_claim: str | None = None
    namespace: str | None = None
    file: str = "rayjob.yaml"
    """What the text will be saved as, for the commands in its first lines."""
    secret: str | None = None
    """Whose entries are environment variables of every pod."""
    service_account: str | None = None


def render(job: RayJob) -> str:
    check_shared(job.command)
    if job.image is None:
        raise EngineError("The pods need an image in which vera is installed: name it with --image.")
    mounts = volumes(job)
    values = {
        "file": job.file, "plain_name": job.nodes.name, "name": _text(job.nodes.name),
        "namespace": f"\n  namespace: {_text(job.namespace)}" if job.namespace else "",
        "where": f" -n {shell((job.namespace,))}" if job.namespace else "",
        "command": _text(shell(job.command)), "seconds": seconds(job.time), "ray": _text(RAY_VERSION),
        "head": _indented(_pod(job, "ray-head", mounts), 6), "workers": _workers(job, mounts),
    }  # fmt: skip
    return MANIFEST.format(**values)


def volumes(job: RayJob) -> dict[str, tuple[str, str]]:
    """Name of a volume → (claim, where it is mounted)."""
    results, data = flag_of(job.command, "--results-dir"), flag_of(job.command, "--data-dir")
    if results is None or (not is_url(results) and job.results_claim is None):
        raise EngineError(
            f"A pod keeps nothing: name a ReadWriteMany volume claim for {results} with --results-claim, or give an s3:// URL."
        )
    if job.data_claim is not None and data is None:
        raise EngineError("--data-claim is mounted at the data directory: add --data-dir /where.")
    found = {"results": (job.results_claim, results), "data": (job.data_claim, data)}
    return {
        name: (claim, path) for name, (claim, path) in found.items() if claim is not None and path is not None
    }


def _workers(job: RayJob, mounts: dict[str, tuple[str, str]]) -> str:
    others = job.nodes.nodes - 1
    if not others:
        return " []"
    return (
        "\n"
        + _indented(WORKERS.format(others=others) + _indented(_pod(job, "ray-worker", mounts), 2), 6).rstrip()
    )


def _pod(job: RayJob, container: str, mounts: dict[str, tuple[str, str]]) -> str:
    gpus = f"\n          nvidia.com/gpu: {job.nodes.gpus_per_node}" if job.nodes.gpus_per_node else ""
    amount = (
        f"\n          cpu: {job.nodes.cpus_per_node}\n          memory: {_text(job.memory_per_node)}{gpus}"
    )
    mounted = "".join(
        f"\n        - name: {name}\n          mountPath: {_text(path)}" for name, (_, path) in mounts.items()
    )
    claimed = "".join(
        f"\n    - name: {name}\n      persistentVolumeClaim:\n        claimName: {_text(claim)}"
        for name, (claim, _) in mounts.items()
    )
    secret = (
        f"\n      envFrom:\n      - secretRef:\n          name: {_text(job.secret)}" if job.secret else ""
    )
    account = f"\n    serviceAccountName: {_text(job.service_account)}" if job.service_account else ""
    return POD.format(
        container=container, image=_text(job.image or ""), amount=amount, mounted=mounted or " []", claimed=claimed or " []",
        secret=secret, account=account,
    )  # fmt: skip


def _text(value: str) -> str:
    return json.dumps(value)


def _indented(text: str, by: int) -> str:
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

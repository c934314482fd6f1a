"""`ray up`: a cluster of your own machines (`local`) or of AWS instances, and the command to run on it.

The command is not part of the cluster file: `ray exec` runs it once the cluster is up, as the first lines of
the file show. The token of the machine that calls `ray up` is copied to the nodes; `ray up` alone would start
them without one. Credentials for a bucket are not copied: the nodes have them in their own files or, on AWS,
through an instance profile, which Ray by default gives to the head only.
"""

import shlex
from dataclasses import dataclass, field

from sweeps.errors import EngineError
from sweeps.launch.settings import RAY_VERSION, ClusterSettings, check_shared_results, quote_yaml

TOKEN = "~/.ray/auth_token"
PROTECT = "chmod 700 ~/.ray && chmod 600 ~/.ray/auth_token"
EXCLUDES = [".venv", ".git", "results", "__pycache__"]
INSTALL = f"pip install -q --constraint ~/vera/constraints.txt ~/vera'[all]' 'ray[default]=={RAY_VERSION}'"
START = "ray start {who} --object-manager-port=8076 --num-cpus={cpus} --num-gpus={gpus}"


@dataclass(frozen=True)
class RayUpCluster:
    """A cluster for `ray up`: these machines, or AWS instances of one type."""

    command: tuple[str, ...]
    size: ClusterSettings = field(default_factory=ClusterSettings)
    hosts: tuple[str, ...] = ()
    """Addresses of your own machines, the head first; none means AWS."""
    ssh_user: str = "ubuntu"
    ssh_key: str | None = None
    setup: tuple[str, ...] = ()
    """Shell lines that make `vera` and `ray` available on a node."""
    working_dir: str | None = None
    """A checkout to copy to the nodes and install there."""
    image: str | None = None
    region: str = "us-west-2"
    instance: str = "g5.4xlarge"
    file: str = "cluster.yaml"
    """The file name in the commands of the first lines."""
    instance_profile: str | None = None
    """AWS permissions of all instances, such as access to a bucket; the head also starts the others."""


def render(cluster: RayUpCluster) -> str:
    check_shared_results(cluster.command)
    if cluster.hosts and len(cluster.hosts) != cluster.size.nodes:
        raise EngineError(
            f"--hosts names {len(cluster.hosts)} machines, --nodes is {cluster.size.nodes}: make them agree."
        )
    inner = shlex.join((*cluster.command, "--address", "auto"))
    header = HEADER.format(
        file=shlex.quote(cluster.file), exec=shlex.join(("ray", "exec", cluster.file, inner))
    )
    head_options = "--head --port=6379 --autoscaling-config=~/ray_bootstrap_config.yaml"
    image = (
        f"docker:\n  image: {quote_yaml(cluster.image)}\n  container_name: vera\n" if cluster.image else ""
    )
    values = {
        "name": quote_yaml(cluster.size.name),
        "user": quote_yaml(cluster.ssh_user),
        "workers": cluster.size.nodes - 1,
        "token": TOKEN,
        "key": f"\n  ssh_private_key: {quote_yaml(cluster.ssh_key)}" if cluster.ssh_key else "",
        "image": image,
        "checkout": f"\n  ~/vera: {quote_yaml(cluster.working_dir)}" if cluster.working_dir else "",
        "excludes": quote_yaml(EXCLUDES),
        "setup": _render_list((PROTECT, *cluster.setup, *([INSTALL] if cluster.working_dir else []))),
        "head_start": _render_list(_list_start_commands(cluster, head_options)),
        "worker_start": _render_list(_list_start_commands(cluster, "--address=$RAY_HEAD_IP:6379")),
    }
    return (
        header + (_render_own(cluster) if cluster.hosts else _render_aws(cluster)) + COMMON.format(**values)
    )


def _render_own(cluster: RayUpCluster) -> str:
    return OWN.format(head=quote_yaml(cluster.hosts[0]), others=quote_yaml(list(cluster.hosts[1:])))


def _render_aws(cluster: RayUpCluster) -> str:
    profile = {"IamInstanceProfile": {"Name": cluster.instance_profile}} if cluster.instance_profile else {}
    values = {
        "region": quote_yaml(cluster.region), "workers": cluster.size.nodes - 1,
        "config": quote_yaml({"InstanceType": cluster.instance} | profile),
        "resources": quote_yaml({"CPU": cluster.size.cpus_per_node, "GPU": cluster.size.gpus_per_node}),
    }  # fmt: skip
    return AWS.format(**values)


def _list_start_commands(cluster: RayUpCluster, who: str) -> tuple[str, ...]:
    """`ray stop` first, as in Ray's own cluster files: these machines belong to this cluster alone."""
    start = START.format(who=who, cpus=cluster.size.cpus_per_node, gpus=cluster.size.gpus_per_node)
    return "ray stop", f"ulimit -n 65536; RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0 {start}"


def _render_list(lines: tuple[str, ...]) -> str:
    return "".join(f"\n- {quote_yaml(line)}" for line in lines)


HEADER = """# ray get-auth-token --generate && chmod 600 ~/.ray/auth_token   (once)
# ray up {file} --yes
# {exec}
# ray down {file} --yes
"""

OWN = """provider:
  type: local
  head_ip: {head}
  worker_ips: {others}
"""

AWS = """provider:
  type: aws
  region: {region}
  cache_stopped_nodes: false
available_node_types:
  head:
    resources: {resources}
    node_config: {config}
  worker:
    min_workers: {workers}
    max_workers: {workers}
    resources: {resources}
    node_config: {config}
head_node_type: head
"""

COMMON = """cluster_name: {name}
max_workers: {workers}
auth:
  ssh_user: {user}{key}
{image}file_mounts:
  {token}: {token}{checkout}
rsync_exclude: {excludes}
setup_commands:{setup}
head_start_ray_commands:{head_start}
worker_start_ray_commands:{worker_start}
"""

"""`ray up`: a cluster of machines that one has (`local`) or that AWS lends, and how to run the command on it.

The command is not part of the file: `ray exec` runs it once the cluster is up, as the file's first lines say.
The token is that of the machine which calls `ray up`, copied to the nodes: `ray up` itself would start them
without one. Credentials for a bucket are not copied: the nodes have them in files of their own or, on AWS, by
an instance profile, which Ray alone gives to the head only.
"""

import json
from dataclasses import dataclass, field

from sweeps.errors import EngineError
from sweeps.launch.settings import RAY_VERSION, Nodes, check_shared, shell

TOKEN = "~/.ray/auth_token"
PROTECT = "chmod 700 ~/.ray && chmod 600 ~/.ray/auth_token"
EXCLUDES = [".venv", ".git", "results", "__pycache__"]
INSTALL = f"pip install --quiet --constraint ~/vera/constraints.txt ~/vera 'ray[default]=={RAY_VERSION}'"
START = "ray start {who} --object-manager-port=8076 --num-cpus={cpus} --num-gpus={gpus}"


@dataclass(frozen=True)
class RayUp:
    """A cluster for `ray up`: of these machines, or of so many of this instance type."""

    command: tuple[str, ...]
    nodes: Nodes = field(default_factory=Nodes)
    hosts: tuple[str, ...] = ()
    """Addresses of one's own machines, the head's first; none means AWS."""
    ssh_user: str = "ubuntu"
    ssh_key: str | None = None
    setup: tuple[str, ...] = ()
    """Shell lines that make `vera` and `ray` known on a node."""
    working_dir: str | None = None
    """A checkout to copy to the nodes and install there."""
    image: str | None = None
    region: str = "us-west-2"
    instance: str = "g5.4xlarge"
    file: str = "cluster.yaml"
    """What the text will be saved as, for the commands in its first lines."""
    instance_profile: str | None = None
    """Of AWS: what the instances may do, such as use a bucket; the head must start the others by it too."""


def render(cluster: RayUp) -> str:
    check_shared(cluster.command)
    if cluster.hosts and len(cluster.hosts) != cluster.nodes.nodes:
        raise EngineError(
            f"--hosts names {len(cluster.hosts)} machines and --nodes asks for {cluster.nodes.nodes}: make them agree."
        )
    inner = shell((*cluster.command, "--address", "auto"))
    header = HEADER.format(file=cluster.file, exec=shell(("ray", "exec", cluster.file, inner)))
    values = {
        "name": _json(cluster.nodes.name), "user": _json(cluster.ssh_user), "workers": cluster.nodes.nodes - 1, "token": TOKEN,
        "key": f"\n  ssh_private_key: {_json(cluster.ssh_key)}" if cluster.ssh_key else "",
        "image": f"docker:\n  image: {_json(cluster.image)}\n  container_name: vera\n" if cluster.image else "",
        "checkout": f"\n  ~/vera: {_json(cluster.working_dir)}" if cluster.working_dir else "", "excludes": json.dumps(EXCLUDES),
        "setup": _list((PROTECT, *cluster.setup, *([INSTALL] if cluster.working_dir else []))),
        "head_start": _list(_start(cluster, "--head --port=6379 --autoscaling-config=~/ray_bootstrap_config.yaml")),
        "worker_start": _list(_start(cluster, "--address=$RAY_HEAD_IP:6379")),
    }  # fmt: skip
    return header + (_own(cluster) if cluster.hosts else _aws(cluster)) + COMMON.format(**values)


def _own(cluster: RayUp) -> str:
    return OWN.format(head=_json(cluster.hosts[0]), others=json.dumps(list(cluster.hosts[1:])))


def _aws(cluster: RayUp) -> str:
    profile = {"IamInstanceProfile": {"Name": cluster.instance_profile}} if cluster.instance_profile else {}
    values = {
        "region": _json(cluster.region), "workers": cluster.nodes.nodes - 1,
        "config": json.dumps({"InstanceType": cluster.instance} | profile),
        "resources": json.dumps({"CPU": cluster.nodes.cpus_per_node, "GPU": cluster.nodes.gpus_per_node}),
    }  # fmt: skip
    return AWS.format(**values)


def _start(cluster: RayUp, who: str) -> tuple[str, ...]:
    """`ray stop` first, as Ray's own files have it: these machines are the cluster's alone."""
    start = START.format(who=who, cpus=cluster.nodes.cpus_per_node, gpus=cluster.nodes.gpus_per_node)
    return "ray stop", f"ulimit -n 65536; RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0 {start}"


def _list(lines: tuple[str, ...]) -> str:
    return "".join(f"\n- {_json(line)}" for line in lines)


def _json(value: str) -> str:
    return json.dumps(value)


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

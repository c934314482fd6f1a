"""Preflight: before trials start on a joined cluster, every node is asked whether it can run them. One
message names what is wrong and on which nodes.

On a node that does not see the results directory a trial would train for hours and then fail to write its
row; on a node with another release it would produce numbers that cannot be compared. The check costs one tiny
task per node.

Traps: a directory of the same name may exist on every node. Only a file that the driver wrote and the node
can read shows that it is the same directory. A bucket has one address everywhere, but a node may lack
credentials, so each node also writes, reads and deletes an object there, as its trials will.

`check_reports` judges the reports, which are plain data; only collecting them needs Ray.
"""

import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sweeps.errors import EngineError, StoreError
from sweeps.run.provenance import collect_versions, read_git_state
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.folder import explain_os_errors
from sweeps.store.location import CREDENTIALS, Location, is_url, resolve_location
from sweeps.store.store import DELAY

PATIENCE = 120.0
"""Seconds in which a node must answer. Starting a worker that imports torch from a network disk is slow."""
COMPARED = ("python", "ray", "torch", "vera")


@dataclass(frozen=True)
class NodeRequirements:
    """What a node must see and use."""

    results: str
    marker: str
    """A file in the results directory, or an object in the bucket; its content is its name."""
    needed: tuple[str, ...] = ()
    """Other files and directories that trials read."""


@dataclass(frozen=True)
class NodeReport:
    """What a node found, or why it did not answer."""

    has_marker: bool = True
    is_writable: bool = True
    bucket_error: str = ""
    """Why the node cannot use the bucket."""
    missing: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    silence: str = ""
    """Why the node did not answer."""


def inspect_node(requirements: NodeRequirements) -> NodeReport:
    """The report of the machine that this runs on."""
    inspect = _inspect_bucket if is_url(requirements.results) else _inspect_directory
    return NodeReport(
        **inspect(requirements),
        missing=tuple(path for path in requirements.needed if not Path(path).exists()),
        versions=collect_versions(),
        commit=read_git_state()[0],
    )


def _inspect_directory(requirements: NodeRequirements) -> dict[str, Any]:
    has_marker = _wait_for_file(Path(requirements.results) / requirements.marker)
    return {"has_marker": has_marker, "is_writable": os.access(requirements.results, os.W_OK)}


def _inspect_bucket(requirements: NodeRequirements) -> dict[str, Any]:
    """Do everything a trial does there. S3 shows a new object at once, so nothing has to wait."""
    own = f"{requirements.marker}-{secrets.token_hex(8)}"
    try:
        with (
            _create_object(requirements.results, own) as folder,
            explain_os_errors("use", folder.location),
        ):
            return {
                "is_writable": _has_object(folder, own),
                "has_marker": _has_object(folder, requirements.marker),
            }
    except StoreError as error:
        return {"bucket_error": str(error)}


def check_reports(
    reports: Mapping[str, NodeReport], requirements: NodeRequirements, driver: NodeReport
) -> None:
    """Raise `EngineError` that names every problem and its nodes, if there is any."""
    nodes_by_problem: dict[str, list[str]] = {}
    for node, report in reports.items():
        for problem in list_problems(report, requirements, driver):
            nodes_by_problem.setdefault(problem, []).append(node)
    if nodes_by_problem:
        listed = "; ".join(f"{', '.join(nodes)}: {problem}" for problem, nodes in nodes_by_problem.items())
        raise EngineError(
            f"The cluster cannot run these trials. {listed}. Fix this, or omit --address to run locally."
        )


def list_problems(report: NodeReport, requirements: NodeRequirements, driver: NodeReport) -> Iterator[str]:
    """The problems of a node, compared with the driver's own report."""
    if report.silence:
        yield report.silence
        return
    yield from _list_result_problems(report, requirements.results)
    for path in report.missing:
        yield f"has no {path}"
    for name in COMPARED:
        theirs, ours = (_shorten_version(name, side.versions.get(name, "")) for side in (report, driver))
        if theirs != ours:
            yield f"has {name} {theirs or 'not installed'}, this machine {ours or 'not installed'}"
    if report.commit and driver.commit and report.commit != driver.commit:
        yield f"has the code at commit {report.commit[:8]}, this machine at {driver.commit[:8]}"


def _list_result_problems(report: NodeReport, results: str) -> Iterator[str]:
    if report.bucket_error:
        yield _describe_bucket_error(report.bucket_error)
    elif not report.has_marker and is_url(results):
        yield (
            f"does not see what this machine wrote to {results} (the address must lead all nodes to the same "
            "server)"
        )
    elif not report.has_marker:
        yield f"does not share the results directory {results} (give --results-dir on a shared disk)"
    elif not report.is_writable:
        yield f"may not write to the results directory {results}"


def _describe_bucket_error(error: str) -> str:
    """The error, with advice if credentials are missing on the node; those of this machine work."""
    advice = " of each node, see docs/cluster.md" if CREDENTIALS in error else ""
    return f"{error[0].lower()}{error[1:].rstrip('.')}{advice}"


def check_nodes(results: Location, needed: Sequence[str] = ()) -> None:
    """Ask every node of the joined cluster; raise `EngineError` if trials cannot run on one of them."""
    marker = f".preflight-{secrets.token_hex(16)}"  # nobody else can have written this name
    with _create_object(str(results), marker) if is_url(results) else _create_file(Path(results) / marker):
        requirements = NodeRequirements(resolve_location(results), marker, tuple(needed))
        check_reports(_collect_reports(requirements), requirements, inspect_node(requirements))


def _collect_reports(requirements: NodeRequirements) -> dict[str, NodeReport]:
    """Each node's report, by its name in a message: the beginning of its Ray id, and its address."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_cpus=0, max_retries=0)(inspect_node)
    pending: dict[Any, str] = {}
    for node in ray.nodes():
        if node["Alive"]:
            on_node = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"node {node['NodeID'][:8]} ({node['NodeManagerAddress']})"
            pending[task.options(scheduling_strategy=on_node).remote(requirements)] = name
    done, late = ray.wait(list(pending), num_returns=len(pending), timeout=PATIENCE)
    reports = {
        pending[reference]: NodeReport(silence=f"did not answer within {PATIENCE:g} s") for reference in late
    }
    return reports | {pending[reference]: _read_report(reference) for reference in done}


def _read_report(reference: Any) -> NodeReport:
    import ray

    try:
        report: NodeReport = ray.get(reference)
    except ray.exceptions.RayError as error:
        last = (str(error).strip().splitlines() or [repr(error)])[-1]
        return NodeReport(silence=f"no answer ({last.strip()[:200]}); vera must be installed there")
    return report


def _wait_for_file(file: Path) -> bool:
    """Whether the file appears within the delay of a network disk."""
    until = time.monotonic() + DELAY
    while not file.is_file():
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def _shorten_version(name: str, version: str) -> str:
    """The part that must agree: Python's minor release, and a package's release without its build
    (2.13.0+cpu is 2.13.0)."""
    return ".".join(version.split(".")[:2]) if name == "python" else version.split("+")[0]


@contextmanager
def _create_file(file: Path) -> Iterator[None]:
    """The file exists while the block runs."""
    try:
        file.touch()
    except OSError as error:
        raise StoreError(
            f"{file.parent} cannot be written: {error.strerror}. Choose another --results-dir."
        ) from error
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


@contextmanager
def _create_object(location: str, name: str) -> Iterator[BucketFolder]:
    """The object is in the bucket while the block runs; its content is its name."""
    folder = BucketFolder(location)
    content = name.encode()
    with explain_os_errors("write", location), folder.stage("", lambda file: file.write(content)) as commit:
        commit(name)
    try:
        yield folder
    finally:
        with explain_os_errors("delete from", location):
            folder.delete(name)


def _has_object(folder: BucketFolder, name: str) -> bool:
    try:
        with folder.open_file(name) as source:
            return bool(source.file.read() == name.encode())
    except FileNotFoundError:
        return False

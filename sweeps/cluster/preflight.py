"""Before trials start on a cluster that was joined: every node is asked whether it can run them, and one
message says which cannot.

A trial that starts on a node which does not see the results directory would train for hours and then have
nowhere to leave its row; one on a node with another release would leave numbers that cannot be compared.
Asking costs one tiny task a node.

The trap: a directory of the same name is there on every node. Only a file that the driver wrote and the node
can read shows that it is the same directory. Another: a bucket has one address everywhere, but a node may
have no credentials for it, so each node also writes, reads and deletes an object there, as its trials will.

`refuse` judges answers, which are plain data; asking is the only part that needs Ray.
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
from sweeps.run.provenance import git_state, versions
from sweeps.store.address import CREDENTIALS, Place, is_url, settled
from sweeps.store.bucket_folder import RemoteFolder
from sweeps.store.folder import explained
from sweeps.store.store import DELAY

PATIENCE = 120.0
"""Seconds in which a node must have answered; starting a worker that imports torch from a network disk takes
many."""
COMPARED = ("python", "ray", "torch", "vera")


@dataclass(frozen=True)
class Question:
    """What a node is asked, of places on its own disk or on a shared one."""

    results: str
    mark: str
    """A file in the results directory, or an object in the bucket; what it says is in its name."""
    needed: tuple[str, ...] = ()
    """Other files and directories that trials read."""


@dataclass(frozen=True)
class Answer:
    """What a node said, or why it said nothing."""

    shares: bool = True
    writes: bool = True
    refused: str = ""
    """Why a bucket cannot be used from there."""
    missing: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    silence: str = ""


def answer(question: Question) -> Answer:
    """Of the machine that this runs on."""
    return Answer(
        **(_of_bucket(question) if is_url(question.results) else _of_directory(question)),
        missing=tuple(place for place in question.needed if not Path(place).exists()),
        versions=versions(),
        commit=git_state()[0],
    )


def _of_directory(question: Question) -> dict[str, Any]:
    shares = _appears(Path(question.results) / question.mark)
    return {"shares": shares, "writes": os.access(question.results, os.W_OK)}


def _of_bucket(question: Question) -> dict[str, Any]:
    """All that a trial does there; S3 shows a new object at once, so nothing is waited for."""
    try:
        with (
            _left(question.results, f"{question.mark}-{secrets.token_hex(8)}") as (folder, own),
            explained("use", folder.place),
        ):
            return {"writes": _holds(folder, own), "shares": _holds(folder, question.mark)}
    except StoreError as error:
        return {"refused": str(error)}


def refuse(answers: Mapping[str, Answer], question: Question, mine: Answer) -> None:
    """EngineError that names what is wrong and on which nodes, if anything is."""
    found: dict[str, list[str]] = {}
    for node, given in answers.items():
        for complaint in complaints(given, question, mine):
            found.setdefault(complaint, []).append(node)
    if found:
        listed = "; ".join(f"{', '.join(nodes)}: {complaint}" for complaint, nodes in found.items())
        raise EngineError(
            f"The cluster cannot run these trials. {listed}. Mend that, or leave --address out to run on this machine."
        )


def complaints(given: Answer, question: Question, mine: Answer) -> Iterator[str]:
    if given.silence:
        yield given.silence
        return
    if given.refused:
        yield _of_refusal(given.refused)
    elif not given.shares and is_url(question.results):
        yield f"does not see in {question.results} what this machine wrote there (the address must lead all nodes to one server)"
    elif not given.shares:
        yield f"does not share the results directory {question.results} (give --results-dir on a disk that all nodes see)"
    elif not given.writes:
        yield f"may not write to the results directory {question.results}"
    for place in given.missing:
        yield f"has no {place}"
    for name in COMPARED:
        theirs, ours = (_release(name, side.versions.get(name, "")) for side in (given, mine))
        if theirs != ours:
            yield f"has {name} {theirs or 'not installed'}, this machine {ours or 'not installed'}"
    if given.commit and mine.commit and given.commit != mine.commit:
        yield f"has the code at commit {given.commit[:8]}, this machine at {mine.commit[:8]}"


def _of_refusal(refused: str) -> str:
    """With the way on, where it lies in the credentials: those of this machine are good, or nobody would have
    been asked."""
    way = " of each node: docs/cluster.md says how they get there" if CREDENTIALS in refused else ""
    return f"{refused[0].lower()}{refused[1:].rstrip('.')}{way}"


def check_nodes(results: Place, needed: Sequence[str] = ()) -> None:
    """Ask every node of the cluster that this process has joined; EngineError if trials cannot run on one."""
    mark = f".preflight-{secrets.token_hex(16)}"  # nobody else can have made it
    with _left(str(results), mark) if is_url(results) else _touched(Path(results) / mark):
        question = Question(settled(results), mark, tuple(needed))
        refuse(_ask(question), question, answer(question))


def _ask(question: Question) -> dict[str, Answer]:
    """Each node's answer, by the name it goes under in a message: the beginning of its Ray id, and its
    address."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_cpus=0, max_retries=0)(answer)
    pending: dict[Any, str] = {}
    for node in ray.nodes():
        if node["Alive"]:
            where = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"node {node['NodeID'][:8]} ({node['NodeManagerAddress']})"
            pending[task.options(scheduling_strategy=where).remote(question)] = name
    done, late = ray.wait(list(pending), num_returns=len(pending), timeout=PATIENCE)
    answers = {
        pending[reference]: Answer(silence=f"did not answer within {PATIENCE:g} s") for reference in late
    }
    return answers | {pending[reference]: _take(reference) for reference in done}


def _take(reference: Any) -> Answer:
    import ray

    try:
        given: Answer = ray.get(reference)
    except ray.exceptions.RayError as error:
        last = (str(error).strip().splitlines() or [repr(error)])[-1]
        return Answer(silence=f"could not be asked ({last.strip()[:200]}); vera must be installed there")
    return given


def _appears(file: Path) -> bool:
    until = time.monotonic() + DELAY
    while not file.is_file():
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def _release(name: str, version: str) -> str:
    """What must agree: the minor release of Python, and a package's release whatever it was built for
    (2.13.0+cpu is 2.13.0)."""
    return ".".join(version.split(".")[:2]) if name == "python" else version.split("+")[0]


@contextmanager
def _touched(file: Path) -> Iterator[None]:
    """The file is there for as long as the block runs."""
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
def _left(place: str, name: str) -> Iterator[tuple[RemoteFolder, str]]:
    """The object is in the bucket for as long as the block runs."""
    folder = RemoteFolder(place)
    with explained("write", place), folder.staged("", lambda file: file.write(name.encode())) as commit:
        commit(name)
    try:
        yield folder, name
    finally:
        with explained("delete from", place):
            folder.delete(name)


def _holds(folder: RemoteFolder, name: str) -> bool:
    try:
        with folder.opened(name) as source:
            return bool(source.file.read() == name.encode())
    except FileNotFoundError:
        return False

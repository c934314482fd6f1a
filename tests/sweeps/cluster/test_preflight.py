"""Before trials start on a cluster that was joined: what a node may lack, as data; and two real nodes,
asked."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from engine_helpers import PATIENCE, ROOT
from node_helpers import free_port
from pyarrow import fs
from store_helpers import CREDENTIALS

from sweeps.cluster import connection as cluster
from sweeps.cluster import preflight
from sweeps.cluster.connection import check_reachable, connected, joined_address
from sweeps.cluster.execute import Engine, Listener, close, job_for
from sweeps.cluster.preflight import Answer, Question, answer, complaints, refuse
from sweeps.errors import EngineError, StoreError
from sweeps.store.bucket_folder import RemoteFolder
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep

GOOD = Answer(
    versions={"python": "3.11.4", "ray": "2.60.0", "torch": "2.13.0+cpu", "vera": "0.1.0"}, commit="a" * 40
)
QUESTION = Question("/shared/results", ".mark", ("/data",))


def refusal(**nodes):
    with pytest.raises(EngineError) as caught:
        refuse(nodes, QUESTION, GOOD)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_nodes_that_are_as_this_one_are_not_refused():
    refuse({"a": GOOD, "b": GOOD}, QUESTION, GOOD)
    assert list(complaints(GOOD, QUESTION, GOOD)) == []


@pytest.mark.parametrize("name", ["python", "ray", "torch", "vera"])
def test_another_release_is_refused(name):
    other = replace(GOOD, versions={**GOOD.versions, name: "9.9.9"})
    shown = "9.9" if name == "python" else "9.9.9"
    assert f"second: has {name} {shown}, this machine " in refusal(first=GOOD, second=other)


def test_what_is_not_installed_is_refused():
    versions = {name: version for name, version in GOOD.versions.items() if name != "torch"}
    assert "second: has torch not installed, this machine 2.13.0." in refusal(
        second=replace(GOOD, versions=versions)
    )


def test_a_build_for_a_gpu_or_a_patch_of_python_is_the_same_release():
    other = replace(GOOD, versions={**GOOD.versions, "torch": "2.13.0+cu130", "python": "3.11.9"})
    assert other != GOOD
    assert list(complaints(other, QUESTION, GOOD)) == []


def test_other_code_is_refused_where_both_commits_are_known():
    assert "has the code at commit bbbbbbbb, this machine at aaaaaaaa" in refusal(
        a=replace(GOOD, commit="b" * 40)
    )
    refuse({"a": replace(GOOD, commit="")}, QUESTION, GOOD)


def test_a_results_directory_of_its_own_is_refused():
    said = refusal(one=replace(GOOD, shares=False, writes=False), two=GOOD)
    assert "one: does not share the results directory /shared/results (give --results-dir" in said
    assert "two" not in said
    assert "may not write" not in said
    assert "one: may not write to the results directory" in refusal(one=replace(GOOD, writes=False))


def test_nodes_with_one_trouble_are_named_together_and_the_way_on_is_said():
    missing = replace(GOOD, missing=("/data",))
    said = refusal(one=missing, two=missing, three=Answer(silence="did not answer within 120 s"))
    assert (
        "one, two: has no /data; three: did not answer within 120 s. Mend that, or leave --address out"
        in said
    )


def test_an_answer_tells_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "DELAY", 0.0)
    (tmp_path / ".mark").touch()
    given = answer(Question(str(tmp_path), ".mark", (str(tmp_path), str(tmp_path / "no"))))
    assert (given.shares, given.writes, given.missing) == (True, True, (str(tmp_path / "no"),))
    assert given.versions["torch"]
    assert not answer(Question(str(tmp_path), ".other")).shares
    assert not answer(Question(str(tmp_path / "no"), ".mark")).writes


def test_a_mark_that_cannot_be_left_is_an_error_with_a_way_on(tmp_path):
    with pytest.raises(
        StoreError, match=r"cannot be written: No such file or directory. Choose another --results-dir"
    ):
        preflight.check_nodes(tmp_path / "no")


# Results in a bucket.


class Denied(OSError):
    """As `sweeps.store.s3` words what a server refuses."""

    def __init__(self, *_):
        super().__init__(
            5,
            "access is denied. Credentials are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
        )


def deny(*_):
    raise Denied


def objects_in(bucket):
    folder = RemoteFolder(bucket)
    found = folder.objects.get_file_info(fs.FileSelector(folder.root, recursive=True, allow_not_found=True))
    return [info.base_name for info in found if info.is_file]


@pytest.fixture
def marked(bucket, tmp_path):
    """A question on a bucket in which the driver has left its mark."""
    (tmp_path / "mark").write_text(".mark")
    RemoteFolder(bucket).put(".mark", tmp_path / "mark")
    return Question(bucket, ".mark")


def test_a_bucket_is_written_read_and_cleared_by_whoever_is_asked(marked, monkeypatch):
    done = []
    for doing in ("put", "opened", "delete"):
        honest = getattr(RemoteFolder, doing)
        monkeypatch.setattr(
            RemoteFolder, doing, lambda *a, d=doing, h=honest: done.append((d, a[1])) or h(*a)
        )
    given = answer(marked)
    assert (given.shares, given.writes, given.refused) == (True, True, "")
    own = done[0][1]
    assert own.startswith(".mark-")
    assert done == [("put", own), ("opened", own), ("opened", ".mark"), ("delete", own)]
    assert objects_in(marked.results) == [".mark"]
    refuse({"a": given}, marked, answer(marked))


@pytest.mark.parametrize("doing", ["put", "opened", "delete"])
def test_a_bucket_that_cannot_be_used_is_refused_with_the_reason_and_the_way_on(doing, marked, monkeypatch):
    monkeypatch.setattr(RemoteFolder, doing, deny)
    given = answer(marked)
    assert given.refused.endswith(f"{marked.results}: {Denied().strerror}.")
    with pytest.raises(EngineError) as caught:
        refuse({"node 1": replace(GOOD, refused=given.refused)}, marked, GOOD)
    assert "node 1: cannot " in str(caught.value)
    assert "in the environment of each node: docs/cluster.md says how they get there. Mend that" in str(
        caught.value
    )


def test_a_server_that_a_node_does_not_reach_is_no_matter_of_credentials(marked):
    given = replace(
        GOOD,
        refused="Cannot use the results in s3://x: the server does not answer (timeout). Check the address.",
    )
    with pytest.raises(
        EngineError,
        match=r"node 1: cannot use the results in s3://x: the server .* Check the address\. Mend that",
    ):
        refuse({"node 1": given}, marked, GOOD)


def test_another_server_at_the_same_address_is_refused(marked):
    given = answer(replace(marked, mark=".never-left"))
    assert (given.shares, given.writes) == (False, True)
    with pytest.raises(EngineError, match=r"does not see in s3://.* what this machine wrote there"):
        refuse({"node 1": replace(GOOD, shares=False)}, marked, GOOD)


def test_a_driver_that_may_not_write_to_the_bucket_is_told_before_anybody_is_asked(bucket, monkeypatch):
    monkeypatch.setattr(preflight, "_ask", lambda _: pytest.fail("a node was asked"))
    monkeypatch.setattr(RemoteFolder, "put", deny)
    with pytest.raises(StoreError, match=r"Cannot write the results in s3://.*: access is denied"):
        preflight.check_nodes(bucket)


@pytest.fixture
def guarded_bucket(s3_endpoint, bucket):
    """The same bucket behind a door that asks for credentials, which the server itself does not."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    behind = DomainDispatcherApplication(create_backend_app)

    def door(request, respond):
        if CREDENTIALS["AWS_ACCESS_KEY_ID"] in request.get("HTTP_AUTHORIZATION", ""):
            return behind(request, respond)
        respond("403 Forbidden", [("Content-Length", "0")])
        return [b""]

    server = make_server("127.0.0.1", 0, door, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield bucket.replace(s3_endpoint, f"127.0.0.1:{server.port}")
    server.shutdown()
    server.server_close()


# Real nodes.


TWO_NODES = """
import os, pathlib, sys
from sweeps.cluster.connection import QUIET, connected, protect_token
os.environ.update(QUIET)
protect_token(pathlib.Path.home() / ".ray" / "auth_token")
from ray.cluster_utils import Cluster
from sweeps.errors import EngineError
from sweeps.cluster import preflight

results, bucket = pathlib.Path(sys.argv[1]), sys.argv[2]
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100_000_000})
keys = {name: os.environ.pop(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
poor = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
os.environ.update(keys)
cluster.wait_for_nodes()
with connected(cluster.address):
    preflight.check_nodes(results, [str(results)])
    print("good", sorted(results.iterdir()))
    try:
        preflight.check_nodes(results, ["/no/such/data"])
    except EngineError as error:
        print(error)
    print([given.shares for given in preflight._ask(preflight.Question(str(results), ".not-there")).values()])
    try:
        preflight.check_nodes(bucket)
    except EngineError as error:
        print(str(error).replace(poor.node_id[:8], "POOR"))
cluster.shutdown()
"""


def test_every_node_of_a_real_cluster_is_asked(tmp_path, guarded_bucket):
    """The second of which has no credentials for the bucket."""
    with tempfile.TemporaryDirectory(prefix="vr", dir="/tmp") as short:
        (Path(short) / "ray").mkdir()
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", TWO_NODES, str(tmp_path), guarded_bucket],
            cwd=ROOT, env=os.environ | CREDENTIALS | {"RAY_TMPDIR": short}, capture_output=True, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    good, refused, shares, denied = done.stdout.splitlines()
    assert good == "good []"
    assert refused.count("node ") == 2
    assert refused.count(": has no /no/such/data") == 1
    assert shares == "[False, False]"
    assert denied.startswith("The cluster cannot run these trials. node POOR (")
    assert denied.count("node ") == 1
    assert (
        f"cannot use the results in {guarded_bucket}: access is denied. Credentials are AWS_ACCESS_KEY_ID"
        in denied
    )
    assert objects_in(guarded_bucket) == []


def test_an_address_where_nothing_answers_is_refused_soon():
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(
        EngineError,
        match=rf"No Ray cluster answers at {address} \(Connection refused; tried for 0.3 s\): start one",
    ):
        check_reachable(address, patience=0.3)
    with pytest.raises(EngineError, match=r"No Ray cluster answers at no-such-host.invalid:1"):
        check_reachable("no-such-host.invalid:1", patience=0.3)


@pytest.mark.parametrize("address", ["head", "head:", ":6379", "head:many"])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(EngineError, match="A cluster's address is HOST:PORT or auto"):
        check_reachable(address)


def test_an_address_that_answers_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_reachable(f"127.0.0.1:{server.getsockname()[1]}")
        check_reachable(f"ray://127.0.0.1:{server.getsockname()[1]}")


def test_a_run_on_a_cluster_that_is_not_there_is_one_line(tmp_path, capsys, monkeypatch):
    from bench.cli.main import main

    monkeypatch.setattr(cluster.check_reachable, "__defaults__", (0.3,))
    code = main(
        [
            "run",
            "toy-demo",
            "--profile",
            "smoke",
            "--results-dir",
            str(tmp_path),
            "--address",
            f"127.0.0.1:{free_port()}",
        ]
    )
    assert code == 2
    assert capsys.readouterr().err.startswith("vera: No Ray cluster answers at 127.0.0.1:")


@pytest.fixture
def no_ray_runs(monkeypatch, tmp_path):
    """As on a machine of which nobody else's Ray is seen; the folder in which Ray notes the address of what
    it started."""
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", set)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(cluster.check_reachable, "__defaults__", (0.3,))
    (tmp_path / "ray").mkdir()
    return tmp_path / "ray"


def join(address):
    with connected(address):
        pass


def test_auto_says_so_where_the_last_cluster_is_gone(no_ray_runs):
    address = f"127.0.0.2:{free_port()}"
    (no_ray_runs / "ray_current_cluster").write_text(address)
    with (
        pytest.raises(
            EngineError,
            match=rf"No Ray cluster answers at {address} \(.*start one \(ray start --head\), or leave",
        ),
        connected("auto"),
    ):
        pass


def test_auto_says_so_where_there_was_none(no_ray_runs):
    with (
        pytest.raises(
            EngineError, match=r"No Ray cluster was found here to join: start one \(ray start --head\)"
        ),
        connected("auto"),
    ):
        pass


def test_a_cluster_is_joined_by_flag_or_environment(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert joined_address(None) is None
    assert joined_address("head:6379") == "head:6379"
    monkeypatch.setenv("RAY_ADDRESS", "other:6379")
    assert (joined_address(None), joined_address("head:1"), joined_address("local")) == (
        "other:6379",
        "head:1",
        None,
    )


def test_the_row_of_a_trial_that_a_later_node_kept_to_itself_says_so(tmp_path):
    """A node that joined when the others had been asked, with a directory of the same name."""
    (trial, *_), folder = (
        find_sweep("toy-demo").trials("smoke"),
        Engine(tmp_path / "trials", tmp_path / "checkpoints"),
    )
    told = SimpleNamespace(errors={}, last={trial.id: {"done": True, "trained_steps": 20, "metrics": {}}})
    close([(trial, job_for(trial, 1, 0.0))], folder, told, Listener(), Store(folder.store))
    (row,) = Store(folder.store).rows()
    assert (row.outcome, row.outcome_step) == ("error", 20)
    assert "on a node whose results directory is another one: run it again (vera retry)" in row.reason

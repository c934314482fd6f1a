"""Preflight: what a node reports, which reports are refused, and how a bucket is checked. The check of real
nodes is in test_two_nodes.py."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from facts import raises_with
from pyarrow import fs

from sweeps.cluster import preflight
from sweeps.cluster.engine import Engine, build_job
from sweeps.cluster.execute import ensure_rows
from sweeps.cluster.preflight import NodeReport, NodeRequirements, check_reports, inspect_node, list_problems
from sweeps.errors import EngineError, StoreError
from sweeps.run.progress import TrialListener
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.location import CREDENTIALS
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep

GOOD = NodeReport(
    versions={"python": "3.11.4", "ray": "2.60.0", "torch": "2.13.0+cpu", "vera": "0.1.0"}, commit="a" * 40
)
REQUIREMENTS = NodeRequirements("/shared/results", ".marker", ("/data",))


def explain(**reports):
    """The message about these nodes."""
    with pytest.raises(EngineError) as error:
        check_reports(reports, REQUIREMENTS, GOOD)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nodes_like_the_driver_pass():
    check_reports({"a": GOOD, "b": GOOD}, REQUIREMENTS, GOOD)
    assert list(list_problems(GOOD, REQUIREMENTS, GOOD)) == []


@pytest.mark.parametrize("name", ["python", "ray", "torch", "vera"])
def test_another_release_is_refused(name):
    other = replace(GOOD, versions={**GOOD.versions, name: "9.9.9"})
    shown = "9.9" if name == "python" else "9.9.9"
    message = explain(first=GOOD, second=other)
    assert f"second: has {name} {shown}," in message
    assert "first" not in message


def test_a_missing_package_is_refused():
    versions = {name: version for name, version in GOOD.versions.items() if name != "torch"}
    message = explain(second=replace(GOOD, versions=versions))
    assert "second: has torch not installed" in message
    assert "2.13.0" in message


def test_builds_of_torch_and_patches_of_python_count_as_the_same_release():
    other = replace(GOOD, versions={**GOOD.versions, "torch": "2.13.0+cu130", "python": "3.11.9"})
    assert other != GOOD
    assert list(list_problems(other, REQUIREMENTS, GOOD)) == []


def test_another_commit_is_refused_if_both_are_known():
    message = explain(a=replace(GOOD, commit="b" * 40))
    assert "bbbbbbbb" in message
    assert "aaaaaaaa" in message
    check_reports({"a": replace(GOOD, commit="")}, REQUIREMENTS, GOOD)


def test_a_results_directory_that_is_not_shared_is_refused():
    message = explain(one=replace(GOOD, has_marker=False, is_writable=False), two=GOOD)
    assert "one: does not share the results directory /shared/results" in message
    assert "--results-dir" in message
    assert "two" not in message
    assert "may not write" not in message
    assert "one: may not write" in explain(one=replace(GOOD, is_writable=False))


def test_nodes_with_the_same_problem_are_named_together():
    missing = replace(GOOD, missing=("/data",))
    message = explain(one=missing, two=missing, three=NodeReport(silence="did not answer within 120 s"))
    assert "one, two: has no /data; three: did not answer within 120 s." in message
    assert "omit --address" in message


def test_a_report_describes_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "DELAY", 0.0)
    (tmp_path / ".marker").touch()
    missing = str(tmp_path / "no")
    report = inspect_node(NodeRequirements(str(tmp_path), ".marker", (str(tmp_path), missing)))
    assert (report.has_marker, report.is_writable, report.missing) == (True, True, (missing,))
    assert report.versions["torch"]
    assert not inspect_node(NodeRequirements(str(tmp_path), ".other")).has_marker
    assert not inspect_node(NodeRequirements(missing, ".marker")).is_writable


def test_a_marker_that_cannot_be_written_is_an_error(tmp_path):
    with raises_with(StoreError, str(tmp_path / "no"), "No such file or directory", "--results-dir"):
        preflight.check_nodes(tmp_path / "no")


# Results in a bucket.


class Denied(OSError):
    """The error of `sweeps.store.s3` for a request that the server refuses."""

    def __init__(self, *_):
        super().__init__(5, f"access is denied. Credentials are {CREDENTIALS}")


def deny(*_):
    raise Denied


def list_objects(bucket):
    folder = BucketFolder(bucket)
    found = folder.objects.get_file_info(fs.FileSelector(folder.root, recursive=True, allow_not_found=True))
    return [info.base_name for info in found if info.is_file]


@pytest.fixture
def bucket_requirements(bucket, tmp_path):
    """A bucket that contains the driver's marker."""
    (tmp_path / "marker").write_text(".marker")
    BucketFolder(bucket).put(".marker", tmp_path / "marker")
    return NodeRequirements(bucket, ".marker")


def test_a_node_writes_reads_and_deletes_an_object_in_the_bucket(bucket_requirements, monkeypatch):
    calls = []
    for name in ("put", "open_file", "delete"):
        original = getattr(BucketFolder, name)
        monkeypatch.setattr(
            BucketFolder, name, lambda *a, n=name, o=original: calls.append((n, a[1])) or o(*a)
        )
    report = inspect_node(bucket_requirements)
    assert (report.has_marker, report.is_writable, report.bucket_error) == (True, True, "")
    own = calls[0][1]
    assert own.startswith(".marker-")
    assert calls == [("put", own), ("open_file", own), ("open_file", ".marker"), ("delete", own)]
    assert list_objects(bucket_requirements.results) == [".marker"]
    check_reports({"a": report}, bucket_requirements, inspect_node(bucket_requirements))


@pytest.mark.parametrize("name", ["put", "open_file", "delete"])
def test_a_bucket_that_a_node_cannot_use_is_refused_with_the_reason(name, bucket_requirements, monkeypatch):
    monkeypatch.setattr(BucketFolder, name, deny)
    report = inspect_node(bucket_requirements)
    assert bucket_requirements.results in report.bucket_error
    assert Denied().strerror in report.bucket_error
    with raises_with(EngineError, "node 1: ", "access is denied", CREDENTIALS, "docs/cluster.md"):
        check_reports({"node 1": replace(GOOD, bucket_error=report.bucket_error)}, bucket_requirements, GOOD)


def test_only_denied_access_leads_to_the_page_about_credentials(bucket_requirements):
    report = replace(GOOD, bucket_error="Cannot use s3://x: the server does not answer (timeout).")
    with pytest.raises(EngineError) as error:
        check_reports({"node 1": report}, bucket_requirements, GOOD)
    assert "node 1: cannot use s3://x: the server does not answer (timeout)" in str(error.value)
    assert "docs/cluster.md" not in str(error.value)


def test_another_server_at_the_same_address_is_refused(bucket_requirements):
    report = inspect_node(replace(bucket_requirements, marker=".never-written"))
    assert (report.has_marker, report.is_writable) == (False, True)
    with raises_with(EngineError, "node 1: ", bucket_requirements.results, "same server"):
        check_reports({"node 1": replace(GOOD, has_marker=False)}, bucket_requirements, GOOD)


def test_a_driver_that_cannot_write_to_the_bucket_fails_before_any_node_is_asked(bucket, monkeypatch):
    monkeypatch.setattr(preflight, "_collect_reports", lambda _: pytest.fail("a node was asked"))
    monkeypatch.setattr(BucketFolder, "put", deny)
    with raises_with(StoreError, bucket, "access is denied"):
        preflight.check_nodes(bucket)


def test_the_row_of_a_trial_that_finished_in_another_store_names_the_reason(tmp_path, monkeypatch):
    """The trial ran on a node that joined after the preflight check, with a directory of the same name."""
    monkeypatch.setattr("sweeps.cluster.execute.DELAY", 0.0)
    trial = find_sweep("toy-demo").trials("smoke")[0]
    engine = Engine(tmp_path / "trials", tmp_path / "checkpoints")
    report = {"done": True, "trained_steps": 20, "metrics": {}}
    callback = SimpleNamespace(errors={}, last_reports={trial.id: report}, model_errors={})
    ensure_rows([(trial, build_job(trial, 1, 0.0))], engine, callback, TrialListener(), Store(engine.store))
    (row,) = Store(engine.store).read_rows()
    assert (row.outcome, row.outcome_step) == ("error", 20)
    assert "results directory" in row.reason
    assert "vera retry" in row.reason

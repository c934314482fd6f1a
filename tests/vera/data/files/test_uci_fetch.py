"""Fetching from the UCI archive, on loopback: both addresses, broken connections and recorded checksums."""

import dataclasses
import gzip
import hashlib
import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler

import pytest
import torch
from facts import raises_with
from loopback import run_server
from uci_helpers import small_crop, small_hepmass, small_human, zip_members

from bench.cli.main import main
from vera.data import Crop, Hepmass, Human
from vera.data.files import download, uci_archive
from vera.data.files.checksums import (
    SUMS,
    compare_checksum,
    compute_sha256,
    find_recorded_checksum,
    record_checksum,
)
from vera.data.files.fetch import check, fetch
from vera.errors import DataCorrupt, VeraError

OTHER = "0" * 64


class ArchiveHandler(BaseHTTPRequestHandler):
    """Serves `files` with ranges; announces the whole length and sends at most `limit` bytes."""

    def do_GET(self):
        archive = self.server
        archive.requests.append((self.path, self.headers.get("Range")))
        content = archive.files.get(self.path)
        if content is None:
            return self.send_error(404)
        first = int(self.headers.get("Range", "bytes=0-")[6:-1]) if archive.ranges else 0
        if first >= len(content) > 0:
            return self.send_error(416)
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        return self.wfile.write(content[first : archive.limit])

    def log_message(self, *args):
        pass


@pytest.fixture
def archive(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("VERA_DATA", os.devnull)  # set by the command line; monkeypatch restores it
    with run_server(ArchiveHandler) as server:
        server.files, server.requests, server.limit, server.ranges = {}, [], None, True
        yield server


@pytest.fixture
def served(archive, monkeypatch):
    """Small files of the three sources, whose old and new addresses are on the empty loopback server."""
    small = {
        "human": small_human(monkeypatch),
        "hepmass": small_hepmass(monkeypatch),
        "crop": small_crop(monkeypatch),
    }
    for name, kind in {"human": Human, "hepmass": Hepmass, "crop": Crop}.items():
        urls = tuple(f"http://127.0.0.1:{archive.server_port}/{site}/{name}" for site in ("old", "new"))
        file = dataclasses.replace(kind.file, urls=urls)
        monkeypatch.setattr(kind, "file", file)
        monkeypatch.setitem(uci_archive.FILES, name, file)
    return small


def ignore(text):
    pass


def list_names(folder):
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_official_addresses():
    site = "https://archive.ics.uci.edu"
    assert uci_archive.HEPMASS.urls[0] == f"{site}/ml/machine-learning-databases/00347/1000_train.csv.gz"
    assert uci_archive.HUMAN.urls[0] == f"{site}/ml/machine-learning-databases/00240/UCI%20HAR%20Dataset.zip"
    assert uci_archive.CROP.urls[0] == f"{site}/ml/machine-learning-databases/00525/data.zip"
    assert [
        file.urls[1].split("/")[5] for file in (uci_archive.HEPMASS, uci_archive.CROP, uci_archive.HUMAN)
    ] == [
        "347",
        "525",
        "240",
    ]
    assert uci_archive.CROP.published == {
        "WinnipegDataset.txt": "f6d6b9f4577ad0ce7e3ea9baea9c6c5521a7970ff587f6d9faaaaf12c46dc0ad"
    }


@pytest.mark.parametrize("name", ["human", "hepmass", "crop"])
def test_fetch_moves_the_file_into_place_and_records_its_checksum(archive, served, tmp_path, name):
    file, said = served[name], []
    archive.files[f"/old/{name}"] = file.content
    fetch(name, tmp_path / "data", said.append)
    path = tmp_path / "data" / file.name
    assert path.read_bytes() == file.content
    assert list_names(path.parent) == sorted([SUMS, file.name])
    assert (path.parent / SUMS).read_text() == f"{hashlib.sha256(file.content).hexdigest()}  {file.name}\n"
    assert "complete and verified" in said[-1]
    assert [report.state for report in check(name, tmp_path / "data")] == ["ok"]
    fetch(name, tmp_path / "data", said.append)
    assert "nothing to fetch" in said[-1]
    assert len(archive.requests) == 1


@pytest.mark.parametrize("name", ["human", "hepmass", "crop"])
def test_the_new_address_is_the_fallback_and_gives_the_same_data(archive, served, tmp_path, name):
    file, said = served[name], []
    inner = "data.zip" if name == "crop" else file.name
    archive.files[f"/new/{name}"] = zip_members({"readme.txt": "x", f"folder/{inner}": file.content})
    fetch(name, tmp_path / "data", said.append)
    kind = {"human": Human, "hepmass": Hepmass, "crop": Crop}[name]
    file.write(tmp_path / "old")
    assert kind(tmp_path / "data").fingerprint == kind(tmp_path / "old").fingerprint
    assert torch.equal(kind(tmp_path / "data").split(0).train, kind(tmp_path / "old").split(0).train)
    assert any("404" in text for text in said)


def test_a_broken_download_is_resumed(archive, served, tmp_path):
    content = served["hepmass"].content
    archive.files["/old/hepmass"], archive.limit = content, 1000
    with raises_with(VeraError, f"1000 of {len(content)} bytes"):
        fetch("hepmass", tmp_path, ignore)
    assert [name for name in list_names(tmp_path) if not name.endswith(".part")] == []
    archive.limit = None
    fetch("hepmass", tmp_path, ignore)
    assert archive.requests[-1] == ("/old/hepmass", "bytes=1000-")
    assert (tmp_path / "1000_train.csv.gz").read_bytes() == content
    assert list_names(tmp_path) == ["1000_train.csv.gz", SUMS]


def test_a_server_without_ranges_sends_the_whole_file_again(archive, served, tmp_path):
    archive.files["/old/hepmass"], archive.limit, archive.ranges = served["hepmass"].content, 1000, False
    with raises_with(VeraError, "1000 of"):
        fetch("hepmass", tmp_path, ignore)
    archive.limit = None
    fetch("hepmass", tmp_path, ignore)
    assert (tmp_path / "1000_train.csv.gz").read_bytes() == served["hepmass"].content


def test_a_file_that_became_shorter_is_downloaded_from_its_beginning(archive, served, tmp_path):
    archive.files["/old/hepmass"], archive.limit = served["hepmass"].content + bytes(5000), 6000
    with pytest.raises(VeraError):
        fetch("hepmass", tmp_path, ignore)
    archive.files["/old/hepmass"], archive.limit = gzip.compress(b"# x\n1,2,3,4,5\n"), None
    fetch("hepmass", tmp_path, ignore)
    assert (tmp_path / "1000_train.csv.gz").read_bytes() == archive.files["/old/hepmass"]


def test_two_halves_of_different_files_are_not_kept(archive, served, tmp_path):
    content = served["hepmass"].content
    archive.files["/old/hepmass"], archive.limit = content, len(content) // 2
    with pytest.raises(VeraError):
        fetch("hepmass", tmp_path, ignore)
    archive.files["/old/hepmass"], archive.limit = bytes(reversed(content)), None
    with raises_with(VeraError, "1000_train.csv.gz", "cannot be read"):
        fetch("hepmass", tmp_path, ignore)
    assert list_names(tmp_path) == []


@pytest.mark.parametrize("name", ["human", "hepmass", "crop"])
def test_other_content_is_refused_and_leaves_no_files(archive, served, tmp_path, name):
    archive.files[f"/old/{name}"] = b"<html>The page has moved</html>"
    archive.files[f"/new/{name}"] = served[name].content[:-100]
    manual = f"save {uci_archive.FILES[name].urls[0]} as {tmp_path / served[name].name}"
    with raises_with(VeraError, manual, f"`vera data check {name} --data-dir {tmp_path}`"):
        fetch(name, tmp_path, ignore)
    assert list_names(tmp_path) == []


def test_a_crop_with_another_checksum_is_refused(archive, served, tmp_path):
    archive.files["/old/crop"] = zip_members({"WinnipegDataset.txt": "label,f1\n1,2\n"})
    with raises_with(VeraError, "WinnipegDataset.txt", "sha256"):
        fetch("crop", tmp_path, ignore)
    assert list_names(tmp_path) == []


def test_a_failed_fetch_leaves_the_old_file(archive, served, tmp_path):
    served["human"].write(tmp_path, b"half a file")
    with raises_with(VeraError, served["human"].name):
        fetch("human", tmp_path, ignore)
    assert (tmp_path / served["human"].name).read_bytes() == b"half a file"


@pytest.mark.usefixtures("served")
def test_a_silent_server_times_out(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    release = threading.Event()
    monkeypatch.setattr(ArchiveHandler, "do_GET", lambda self: release.wait(10))
    try:
        with raises_with(VeraError, "timed out"):
            fetch("human", tmp_path, ignore)
    finally:
        release.set()


def test_a_folder_that_cannot_be_written_is_named(archive, served, tmp_path):
    archive.files["/old/human"] = served["human"].content
    (tmp_path / "file").write_text("in the way")
    with raises_with(VeraError, str(tmp_path / "file"), "--data-dir"):
        fetch("human", tmp_path / "file", ignore)


def test_a_damaged_zip_gives_an_error_without_a_traceback(archive, served, tmp_path, capsys):
    """HEPMASS is served as a gzip inside a zip, which must be unpacked first."""
    whole = zip_members({f"folder/{served['hepmass'].name}": served["hepmass"].content})
    middle = len(whole) // 2
    archive.files["/old/hepmass"] = archive.files["/new/hepmass"] = (
        whole[:middle] + bytes(20) + whole[middle + 20 :]
    )
    assert main(["data", "fetch", "hepmass", "--data-dir", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "damaged" in err
    assert not [file for file in tmp_path.iterdir() if file.name == served["hepmass"].name]


def test_check_detects_a_changed_file_and_fetch_replaces_it(archive, served, tmp_path, capsys):
    archive.files["/old/human"] = served["human"].content
    fetch("human", tmp_path, ignore)
    path = tmp_path / served["human"].name
    path.write_bytes(
        zip_members({"UCI HAR Dataset/train/X_train.txt": "1", "UCI HAR Dataset/train/y_train.txt": "1"})
    )
    assert main(["data", "check", "human", "--data-dir", str(tmp_path)]) == 1
    assert "has changed" in capsys.readouterr().out
    fetch("human", tmp_path, ignore)
    assert path.read_bytes() == served["human"].content


def test_a_manually_downloaded_file_is_verified_and_recorded(served, tmp_path):
    path, said = served["human"].write(tmp_path), []
    assert [report.state for report in check("human", tmp_path)] == ["ok"]
    assert find_recorded_checksum(path) is None
    fetch("human", tmp_path, said.append)
    assert find_recorded_checksum(path) == compute_sha256(path)
    assert "recorded" in said[0]
    served["human"].write(tmp_path / "two", b"not a zip")
    assert [report.state for report in check("human", tmp_path / "two")] == ["corrupt"]


def test_a_changed_file_in_the_archive_is_reported(archive, served, tmp_path):
    said = []
    (tmp_path / SUMS).write_text(f"{OTHER}  {served['human'].name}\n")
    archive.files["/old/human"] = served["human"].content
    fetch("human", tmp_path, said.append)
    assert any("differs from the one recorded" in text for text in said)
    assert (
        find_recorded_checksum(tmp_path / served["human"].name)
        == hashlib.sha256(served["human"].content).hexdigest()
    )


@pytest.mark.parametrize("line", ["{}  x.zip", "{} *x.zip", "{}  ./x.zip"])
def test_recorded_checksums_are_read_in_the_format_of_sha256sum(tmp_path, line):
    (tmp_path / SUMS).write_text(f"# a note\n{'1' * 64}  other x.zip\n{line.format(OTHER)}\nrubbish\n")
    assert find_recorded_checksum(tmp_path / "x.zip") == OTHER
    assert find_recorded_checksum(tmp_path / "other x.zip") == "1" * 64
    assert find_recorded_checksum(tmp_path / "zip") is None


def test_recording_replaces_its_own_line_and_keeps_the_others(tmp_path):
    path = tmp_path / "a file.zip"
    path.write_bytes(b"abc")
    (tmp_path / SUMS).write_text(f"{OTHER}  ./a file.zip\n{'1' * 64}  ./sub/b\n")
    record_checksum(path)
    checksum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / SUMS).read_text() == f"{'1' * 64}  ./sub/b\n{checksum}  a file.zip\n"
    assert compare_checksum(path, "") == checksum
    path.write_bytes(b"abd")
    with raises_with(DataCorrupt, str(path), checksum, "Repair it."):
        compare_checksum(path, "Repair it.")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_accepts_the_recorded_checksums(tmp_path):
    (tmp_path / "a file.zip").write_bytes(b"abc")
    record_checksum(tmp_path / "a file.zip")
    run = subprocess.run(["sha256sum", "-c", SUMS], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "a file.zip: OK\n")

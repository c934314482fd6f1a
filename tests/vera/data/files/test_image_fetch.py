"""Fetching image sets: torchvision against a loopback server, and nothing half done is left behind."""

import hashlib
import io
import shutil
import socket
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from image_helpers import faces, write_celeba, write_cifar10, write_svhn

from vera.data.files.fetch import check, fetch
from vera.data.files.torchvision_import import load_torchvision
from vera.data.images import celeba
from vera.errors import UnknownName, VeraError


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is served on loopback, and its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cifar10_site(site, tmp_path, monkeypatch):
    """The archive of the python version, at torchvision's address."""
    folder, address = site
    files = write_cifar10(monkeypatch, tmp_path / "original", binary=False) / "cifar-10-batches-py"
    (files / "batches.meta").write_bytes(b"names")
    archive = folder / "cifar-10-python.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(files, "cifar-10-batches-py")
    kind = load_torchvision().datasets.CIFAR10
    monkeypatch.setattr(kind, "url", f"{address}/{archive.name}")
    monkeypatch.setattr(kind, "tgz_md5", hashlib.md5(archive.read_bytes()).hexdigest())
    return archive


def quiet(text):
    pass


def states(source, directory):
    return [report.state for report in check(source, directory)]


def files_under(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


@pytest.mark.filterwarnings("ignore:Python 3.14 will, by default, filter:DeprecationWarning")
def test_cifar10_is_fetched_and_then_there_is_nothing_to_do(cifar10_site, tmp_path):
    target, said = tmp_path / "data", []
    fetch("cifar10", target, said.append)
    names = ["batches.meta", *(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    assert files_under(target) == [f"cifar-10-batches-py/{name}" for name in names]
    assert states("cifar10", target) == ["ok"] * 6
    assert "complete and verified" in said[-1]
    cifar10_site.unlink()
    fetch("cifar10-test", target, said.append)
    assert "nothing to fetch" in said[-1]
    assert [path.name for path in target.iterdir()] == ["cifar-10-batches-py"]


@pytest.mark.filterwarnings("ignore:Python 3.14 will, by default, filter:DeprecationWarning")
def test_what_a_binary_copy_lacks_is_fetched(cifar10_site, tmp_path, monkeypatch):
    target = write_cifar10(monkeypatch, tmp_path / "data", binary=True, numbers=(0, 1))
    assert states("cifar10", target) == ["ok", "missing", "missing", "missing", "missing", "ok"]
    fetch("cifar10", target, quiet)
    assert states("cifar10", target) == ["ok"] * 6


def test_a_changed_archive_is_refused_and_leaves_what_was_there(cifar10_site, tmp_path):
    cifar10_site.write_bytes(cifar10_site.read_bytes()[:-7])
    target = tmp_path / "data"
    folder = target / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    (folder / "test_batch").write_bytes(b"old")
    with pytest.raises(VeraError) as caught:
        fetch("cifar10", target, quiet)
    message = str(caught.value)
    assert message.startswith("cifar10 could not be fetched (")
    assert (
        f"cifar-10-python.tar.gz and unpack it in {target}, then run `vera data check cifar10 --data-dir {target}`."
        in message
    )
    assert "\n" not in message
    assert files_under(target) == ["cifar-10-batches-py/test_batch"]
    assert socket.getdefaulttimeout() is None


def test_svhn_is_fetched(site, tmp_path, monkeypatch):
    folder, address = site
    write_svhn(monkeypatch, folder)
    kind = load_torchvision().datasets.SVHN
    for part in ("train", "test"):
        name = f"{part}_32x32.mat"
        md5 = hashlib.md5((folder / name).read_bytes()).hexdigest()
        monkeypatch.setitem(kind.split_list, part, [f"{address}/{name}", name, md5])
    fetch("svhn", tmp_path / "data", quiet)
    assert files_under(tmp_path / "data") == ["test_32x32.mat", "train_32x32.mat"]
    assert states("svhn", tmp_path / "data") == ["ok", "ok"]


def test_celeba_that_google_refuses_is_told_how_to_get_by_hand(tmp_path, monkeypatch):
    def refuse(*args):
        raise RuntimeError("The daily quota of the file\nimg_align_celeba.zip is exceeded")

    monkeypatch.setattr(load_torchvision().datasets.utils, "download_file_from_google_drive", refuse)
    with pytest.raises(VeraError) as caught:
        fetch("celeba", tmp_path / "data", quiet)
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "quota of the file img_align_celeba.zip",
        "list_eval_partition.txt",
        f"{tmp_path / 'data'}/celeba",
        f"vera data check celeba --data-dir {tmp_path / 'data'}`",
    ):
        assert part in message
    assert files_under(tmp_path / "data") == []


def test_celeba_that_google_gives_is_put_in_place(tmp_path, monkeypatch):
    original, asked = write_celeba(monkeypatch, tmp_path / "original", faces(), zipped=True), []

    def give(identity, root, filename, md5):
        asked.append(filename)
        root.mkdir(exist_ok=True)
        shutil.copy(original / "celeba" / filename, root / filename)

    monkeypatch.setattr(load_torchvision().datasets.utils, "download_file_from_google_drive", give)
    fetch("celeba", tmp_path / "data", quiet)
    assert asked == ["img_align_celeba.zip", "list_eval_partition.txt"]
    assert files_under(tmp_path / "data") == [f"celeba/{name}" for name in asked]
    assert celeba.read_faces("centre", tmp_path / "data").shape == (3, 3, 32, 32)


def test_a_folder_of_faces_counts_without_its_archive(tmp_path, monkeypatch):
    target = write_celeba(monkeypatch, tmp_path, faces(), zipped=False)
    assert states("celeba", target) == ["ok", "ok"]
    (target / celeba.FOLDER / "000003.jpg").unlink()
    assert states("celeba", target) == ["missing", "ok"]


def test_names_of_data_sets_lead_to_their_files(tmp_path):
    for name in ("stacked-mnist", "mnist-logit"):
        assert len(check(name, tmp_path)) == 4
    assert len(check("svhn-test", tmp_path)) == 2
    with pytest.raises(UnknownName, match="Did you mean cifar10"):
        check("cifar", tmp_path)


def test_an_archive_without_a_batch_is_refused(cifar10_site, tmp_path, monkeypatch):
    with tarfile.open(cifar10_site, "w:gz") as tar:
        info = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        tar.addfile(info, io.BytesIO(b""))
    kind = load_torchvision().datasets.CIFAR10
    monkeypatch.setattr(kind, "tgz_md5", hashlib.md5(cifar10_site.read_bytes()).hexdigest())
    with pytest.raises(VeraError, match="data_batch_1 is not here"):
        fetch("cifar10", tmp_path / "data", quiet)
    assert files_under(tmp_path / "data") == []

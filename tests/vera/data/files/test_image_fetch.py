"""Fetching image sets: torchvision with a loopback server; failures leave no partial files."""

import hashlib
import io
import shutil
import socket
import tarfile

import pytest
from facts import raises_with
from image_helpers import make_faces, write_celeba, write_cifar10, write_svhn
from loopback import serve_folder

from vera.data.files.fetch import check, fetch
from vera.data.files.image_fetch import load_torchvision
from vera.data.images import celeba
from vera.errors import UnknownName, VeraError


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is served on loopback, and its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serve_folder(folder) as address:
        yield folder, address


@pytest.fixture
def cifar10_site(site, tmp_path, monkeypatch):
    """The archive of the python version, at the address that torchvision uses."""
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


def ignore(text):
    pass


def list_states(source, directory):
    return [report.state for report in check(source, directory)]


def list_files(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


@pytest.mark.filterwarnings("ignore:Python 3.14 will, by default, filter:DeprecationWarning")
def test_a_second_fetch_of_cifar10_has_nothing_to_do(cifar10_site, tmp_path):
    target, said = tmp_path / "data", []
    fetch("cifar10", target, said.append)
    names = ["batches.meta", *(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    assert list_files(target) == [f"cifar-10-batches-py/{name}" for name in names]
    assert list_states("cifar10", target) == ["ok"] * 6
    assert "complete and verified" in said[-1]
    cifar10_site.unlink()
    fetch("cifar10-test", target, said.append)
    assert "nothing to fetch" in said[-1]
    assert [path.name for path in target.iterdir()] == ["cifar-10-batches-py"]


@pytest.mark.filterwarnings("ignore:Python 3.14 will, by default, filter:DeprecationWarning")
def test_batches_missing_in_a_binary_copy_are_fetched(cifar10_site, tmp_path, monkeypatch):
    target = write_cifar10(monkeypatch, tmp_path / "data", binary=True, numbers=(0, 1))
    assert list_states("cifar10", target) == ["ok", "missing", "missing", "missing", "missing", "ok"]
    fetch("cifar10", target, ignore)
    assert list_states("cifar10", target) == ["ok"] * 6


def test_a_changed_archive_is_refused_and_leaves_the_old_files(cifar10_site, tmp_path):
    cifar10_site.write_bytes(cifar10_site.read_bytes()[:-7])
    target = tmp_path / "data"
    folder = target / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    (folder / "test_batch").write_bytes(b"old")
    facts = (
        "cifar-10-python.tar.gz",
        f"unpack it in {target}",
        f"`vera data check cifar10 --data-dir {target}`",
    )
    with raises_with(VeraError, "cifar10 could not", *facts):
        fetch("cifar10", target, ignore)
    assert list_files(target) == ["cifar-10-batches-py/test_batch"]
    assert socket.getdefaulttimeout() is None


def test_svhn_is_fetched(site, tmp_path, monkeypatch):
    folder, address = site
    write_svhn(monkeypatch, folder)
    kind = load_torchvision().datasets.SVHN
    for subset in ("train", "test"):
        name = f"{subset}_32x32.mat"
        md5 = hashlib.md5((folder / name).read_bytes()).hexdigest()
        monkeypatch.setitem(kind.split_list, subset, [f"{address}/{name}", name, md5])
    fetch("svhn", tmp_path / "data", ignore)
    assert list_files(tmp_path / "data") == ["test_32x32.mat", "train_32x32.mat"]
    assert list_states("svhn", tmp_path / "data") == ["ok", "ok"]


def test_the_error_for_a_refused_celeba_explains_the_manual_download(tmp_path, monkeypatch):
    def refuse(*args):
        raise RuntimeError("The daily quota of the file\nimg_align_celeba.zip is exceeded")

    monkeypatch.setattr(load_torchvision().datasets.utils, "download_file_from_google_drive", refuse)
    facts = (
        "quota of the file img_align_celeba.zip",
        "list_eval_partition.txt",
        f"{tmp_path / 'data'}/celeba",
        f"vera data check celeba --data-dir {tmp_path / 'data'}`",
    )
    with raises_with(VeraError, *facts):
        fetch("celeba", tmp_path / "data", ignore)
    assert list_files(tmp_path / "data") == []


def test_a_downloaded_celeba_is_moved_into_place(tmp_path, monkeypatch):
    original, requested = write_celeba(monkeypatch, tmp_path / "original", make_faces(), zipped=True), []

    def copy_file(identity, root, filename, md5):
        requested.append(filename)
        root.mkdir(exist_ok=True)
        shutil.copy(original / "celeba" / filename, root / filename)

    monkeypatch.setattr(load_torchvision().datasets.utils, "download_file_from_google_drive", copy_file)
    fetch("celeba", tmp_path / "data", ignore)
    assert requested == ["img_align_celeba.zip", "list_eval_partition.txt"]
    assert list_files(tmp_path / "data") == [f"celeba/{name}" for name in requested]
    assert celeba.read_faces("centre", tmp_path / "data").shape == (3, 3, 32, 32)


def test_a_folder_of_faces_is_accepted_without_its_archive(tmp_path, monkeypatch):
    target = write_celeba(monkeypatch, tmp_path, make_faces(), zipped=False)
    assert list_states("celeba", target) == ["ok", "ok"]
    (target / celeba.FOLDER / "000003.jpg").unlink()
    assert list_states("celeba", target) == ["missing", "ok"]


def test_names_of_data_sets_are_mapped_to_their_sources(tmp_path):
    for name in ("stacked-mnist", "mnist-logit"):
        assert len(check(name, tmp_path)) == 4
    assert len(check("svhn-test", tmp_path)) == 2
    with raises_with(UnknownName, "'cifar'", "cifar10"):
        check("cifar", tmp_path)


def test_an_archive_without_a_batch_is_refused(cifar10_site, tmp_path, monkeypatch):
    with tarfile.open(cifar10_site, "w:gz") as tar:
        info = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        tar.addfile(info, io.BytesIO(b""))
    kind = load_torchvision().datasets.CIFAR10
    monkeypatch.setattr(kind, "tgz_md5", hashlib.md5(cifar10_site.read_bytes()).hexdigest())
    with raises_with(VeraError, "data_batch_1", "missing"):
        fetch("cifar10", tmp_path / "data", ignore)
    assert list_files(tmp_path / "data") == []

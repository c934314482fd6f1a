"""Data files: the data directory, errors for missing or damaged files, and the idx format."""

import gzip

import pytest
import torch
from facts import raises_with

from vera.data.digits import mnist_files
from vera.data.digits.mnist_files import encode_idx, parse_idx
from vera.data.files import locations
from vera.data.files.locations import resolve_data_dir
from vera.errors import DataCorrupt, DataMissing, SettingError


def test_the_argument_overrides_the_environment_and_the_environment_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("VERA_DATA", raising=False)
    assert resolve_data_dir() == tmp_path / ".cache" / "vera"
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "env"))
    assert resolve_data_dir() == tmp_path / "env"
    assert resolve_data_dir("~/mine") == tmp_path / "mine"
    with raises_with(SettingError, "data_dir", "got 5"):
        resolve_data_dir(5)


def test_the_error_for_a_missing_file_names_file_folder_and_command(tmp_path):
    facts = ("train-images-idx3-ubyte", str(tmp_path / "MNIST" / "raw"), "VERA_DATA")
    with raises_with(DataMissing, *facts, f"vera data fetch mnist --data-dir {tmp_path}"):
        mnist_files.find_digits(mnist_files.TRAIN_IMAGES, str(tmp_path))


@pytest.mark.parametrize("zipped", [True, False])
def test_both_forms_are_read(small_mnist, tmp_path, zipped):
    small_mnist.write(tmp_path, zipped=zipped)
    for name, expected in small_mnist.arrays.items():
        assert torch.equal(mnist_files.read_digits(name, tmp_path), torch.from_numpy(expected))


def damage_archive(content: bytes) -> dict[str, bytes]:
    zipped = gzip.compress(content)
    flipped = bytearray(zipped)
    flipped[len(zipped) // 2] ^= 0xFF
    return {
        "cut short": zipped[: len(zipped) // 2],
        "bit flipped": bytes(flipped),
        "not gzip": b"<html>404</html>",
        "empty": b"",
        "other content": gzip.compress(content[:-1] + bytes([content[-1] ^ 1])),
        "trailing rubbish": zipped + b"rubbish",
        "wrong magic": gzip.compress(b"\x00\x00\x0d\x03" + content[4:]),
    }


@pytest.mark.parametrize("damage", damage_archive(b"content"))
def test_a_damaged_archive_is_corrupt_and_named(small_mnist, tmp_path, damage):
    small_mnist.write(tmp_path)
    path = tmp_path / "MNIST" / "raw" / f"{mnist_files.TEST_IMAGES}.gz"
    path.write_bytes(damage_archive(small_mnist.contents[mnist_files.TEST_IMAGES])[damage])
    with raises_with(DataCorrupt, str(path), "vera data fetch mnist"):
        mnist_files.read_digits(mnist_files.TEST_IMAGES, tmp_path)


def test_the_error_for_a_wrong_extracted_file_names_both_checksums(small_mnist, tmp_path):
    small_mnist.write(tmp_path, zipped=False)
    (tmp_path / "MNIST" / "raw" / mnist_files.TEST_LABELS).write_bytes(b"abc")
    found = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with raises_with(DataCorrupt, found, mnist_files.SHA256[mnist_files.TEST_LABELS]):
        mnist_files.read_digits(mnist_files.TEST_LABELS, tmp_path)


def test_idx_by_hand():
    content = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255])
    expected = torch.tensor([[1, 2, 3], [4, 5, 255]], dtype=torch.uint8)
    assert torch.equal(parse_idx(content, "x"), expected)
    assert encode_idx(expected) == content


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"", ["nothing"]),
        (b"\x00\x00", ["0000"]),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x00", ["00000d01"]),
        (b"\x00\x00\x08\x03\x00\x00", ["header"]),
        (b"\x00\x00\x08\x01\x00\x00\x00\x05abc", ["5 values", "contains 3"]),
    ],
)
def test_content_that_is_not_idx_is_corrupt(content, facts):
    with raises_with(DataCorrupt, "some-file", *facts):
        parse_idx(content, "some-file")


def test_missing_and_damaged_embedded_digits_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(locations, "EMBEDDED", tmp_path)
    with raises_with(DataMissing, "mnist5k-labels-idx1-ubyte.gz", "package vera"):
        mnist_files.find_embedded()
    (tmp_path / mnist_files.EMBEDDED_IMAGES).write_bytes(gzip.compress(b"1,2,3"))
    with raises_with(DataCorrupt, "mnist5k-images-idx3-ubyte.gz", "package vera"):
        mnist_files.read_embedded()


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_that_unpacks_to_too_much_is_refused(small_mnist, tmp_path, monkeypatch, zipped):
    """Compressed zeros take a thousandth of their size, so the size after unpacking is limited."""
    small_mnist.write(tmp_path, zipped=zipped)
    monkeypatch.setattr(locations, "MAX_CONTENT", 1_000)
    with raises_with(DataCorrupt, mnist_files.TRAIN_IMAGES, "1.0 kB", "vera data fetch mnist"):
        mnist_files.read_digits(mnist_files.TRAIN_IMAGES, tmp_path)


def test_at_most_the_limit_is_unpacked(small_mnist, tmp_path, monkeypatch):
    small_mnist.write(tmp_path)
    read, sizes = gzip.GzipFile.read, []
    monkeypatch.setattr(gzip.GzipFile, "read", lambda file, size=-1: sizes.append(size) or read(file, size))
    mnist_files.read_digits(mnist_files.TRAIN_IMAGES, tmp_path)
    assert sizes == [locations.MAX_CONTENT + 1]

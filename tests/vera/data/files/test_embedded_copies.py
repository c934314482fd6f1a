"""The embedded data are the files of the packages from which they were copied."""

import hashlib
from pathlib import Path

import pytest
from embedded_copies import SKLEARN, encode_csv, encode_digits, find_original

from vera.data.digits import mnist_files
from vera.data.files.locations import EMBEDDED

LIMIT = 1_500_000
"""Bytes of all embedded files, because every installation has them."""


@pytest.mark.parametrize("name", SKLEARN)
def test_a_copy_equals_the_file_of_scikit_learn(name):
    assert (EMBEDDED / name).read_bytes() == find_original("sklearn", f"{SKLEARN[name]}/{name}").read_bytes()


def test_the_digits_are_those_of_the_csv_file_whose_checksum_is_in_fingerprints():
    csv = encode_csv(*mnist_files.read_embedded())
    assert {"mnist_5k.csv": hashlib.sha256(csv).hexdigest()} == mnist_files.EMBEDDED_SOURCE
    assert encode_digits(csv) == {
        name: (EMBEDDED / name).read_bytes() for name in mnist_files.EMBEDDED_SHA256
    }


def test_every_file_has_a_source_and_a_licence():
    notice = (EMBEDDED / "NOTICE.md").read_text(encoding="utf-8")
    files = {path.name for path in EMBEDDED.iterdir()} - {"NOTICE.md"}
    assert files == {*SKLEARN, *mnist_files.EMBEDDED_SHA256}
    rows = [line for line in notice.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in files if f"`{name}`" in row} == files
    assert all("CC BY" in row for row in rows)


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in Path(EMBEDDED).iterdir()) < LIMIT

"""Members of archives that unpack to too much are refused before they fill memory or disk."""

import gzip
import io
import zipfile

import pytest
from facts import raises_with

from vera.data.files import archives
from vera.errors import DataCorrupt

ZEROS = "0" * 100_000


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBER", 50_000)


def pack(members):
    """A zip whose members take a thousandth of their size."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


BOMBS = {
    "zip": ("a.zip", pack({"a.csv": ZEROS}), "a.csv"),
    "zip in a zip": ("a.zip", pack({"inner.zip": pack({"a.csv": ZEROS})}), "a.csv"),
    "inner zip": ("a.zip", pack({"inner.zip": pack({"b.txt": "1"}) + ZEROS.encode()}), "a.csv"),
    "gzip": ("a.csv.gz", gzip.compress(ZEROS.encode()), "a.csv.gz"),
    "gzip in a zip": ("a.zip", pack({"a.csv.gz": gzip.compress(ZEROS.encode())}), "a.csv.gz"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_member_that_is_too_large_is_refused(kind, tmp_path):
    name, content, member = BOMBS[kind]
    (tmp_path / name).write_bytes(content)
    with (
        raises_with(DataCorrupt, name, "50 kB", "Fetch it again."),
        archives.open_content(tmp_path / name, member, "Fetch it again.") as stream,
    ):
        while stream.read(10_000):
            pass


def test_a_member_that_is_too_large_is_not_extracted(tmp_path):
    (tmp_path / "a.zip").write_bytes(pack({"a.csv": ZEROS}))
    with raises_with(DataCorrupt, "a.zip", "50 kB"):
        archives.extract_member(tmp_path / "a.zip", "a.csv", tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


def test_a_member_within_the_limit_is_read_whole(tmp_path):
    text = b"1,2\n" * 10_000
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    with archives.open_content(tmp_path / "a.csv.gz", "a.csv.gz", "") as stream:
        assert stream.read() == text

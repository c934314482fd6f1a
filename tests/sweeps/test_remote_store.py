"""A store in a bucket: what it has in place of renames and locks, and what the user is told when the server refuses."""

import os
import re
import shutil
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from conftest import CREDENTIALS
from pyarrow import fs
from store_helpers import a_record, files, filled, finish, holds, parquet_files, python

from sweeps import remote_folder, s3
from sweeps.errors import StoreError
from sweeps.places import Address, is_url, settled, within
from sweeps.remote_folder import RemoteFolder
from sweeps.schema import KINDS
from sweeps.store import Store

# Places.


def test_a_name_goes_before_the_options_of_an_address():
    assert within("s3://lab/runs?region=eu-west-1", "trials") == "s3://lab/runs/trials?region=eu-west-1"
    assert within("s3://lab", "trials") == "s3://lab/trials"
    assert within("results/local", "trials") == os.path.join("results", "local", "trials")
    assert settled("s3://lab/runs") == "s3://lab/runs"
    assert settled("runs") == os.path.abspath("runs")
    assert [is_url(place) for place in ("s3://lab", "results", "/s3:/x")] == [True, False, False]


def test_an_address_is_taken_apart():
    address = Address.parse("s3://lab/a%20b/c/?region=eu-west-1&endpoint_override=127.0.0.1:9000&scheme=http")
    assert (address.bucket, address.prefix) == ("lab", "a b/c")
    assert dict(address.options) == {"region": "eu-west-1", "endpoint_override": "127.0.0.1:9000", "scheme": "http"}


@pytest.mark.parametrize(
    "text", ["s3://ann:hunter2@lab/x", "s3://ann@lab/hunter2", "s3://ann:hun/ter2@lab/x", "s3://lab/x?secret_key=hunter2"]
)
def test_an_address_with_a_key_in_it_is_refused_and_not_repeated(text):
    with pytest.raises(StoreError) as caught:
        Store(text)
    assert not re.search("hun|ter2|ann", str(caught.value))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gs://lab/x", "give a directory or s3://BUCKET/PREFIX"),
        ("s3:///x", "give a directory or s3://BUCKET/PREFIX"),
        ("s3://lab/x#y", "give a directory or s3://BUCKET/PREFIX"),
        ("s3:/lab/x", "is no address: write s3://BUCKET/PREFIX"),
        ("s3://lab/x?scheme=ftp", "must be http or https"),
        ("s3://lab/x?regoin=eu", "knows no 'regoin'"),
    ],
)
def test_what_is_no_address_is_refused(text, words):
    with pytest.raises(StoreError, match=re.escape(words)):
        Store(text)
    assert not os.path.exists("s3:")


# Refusals.


class Denies(BaseHTTPRequestHandler):
    """A server that knows nobody."""

    def do_HEAD(self):
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        text = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>no entry for nobody-id</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def denying():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Denies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def credentials(monkeypatch):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


def refusal(address, create=True):
    with pytest.raises(StoreError) as caught:
        Store(address, create).rows()
    assert len(str(caught.value).splitlines()) == 1
    assert address in str(caught.value)
    return str(caught.value)


def test_a_bucket_that_is_not_there_is_a_clear_error(s3_endpoint):
    for create in (True, False):
        assert "there is no such bucket" in refusal(f"s3://nowhere/x?endpoint_override={s3_endpoint}&scheme=http", create)


def test_a_bucket_whose_region_nobody_knows_is_not_there(monkeypatch, credentials):
    def unknown(name):
        raise FileNotFoundError(f"Bucket '{name}' not found")

    monkeypatch.setattr(s3.fs, "resolve_s3_region", unknown)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert "there is no such bucket" in refusal("s3://nowhere-at-all/x")


def test_access_that_is_denied_is_a_clear_error(denying, credentials):
    text = refusal(f"s3://results/x?endpoint_override={denying}&scheme=http&region=us-east-1")
    assert "access is denied. Credentials are AWS_ACCESS_KEY_ID" in text
    assert not [value for value in CREDENTIALS.values() if value.startswith("nobody") and value in text]


def test_a_server_that_is_down_is_a_clear_error(credentials):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{nobody.getsockname()[1]}"
    assert "the server does not answer" in refusal(f"s3://results/x?endpoint_override={endpoint}&scheme=http&region=us-east-1")


def test_a_server_that_is_silent_is_not_waited_for_without_end(credentials, monkeypatch):
    monkeypatch.setattr(s3, "ANSWER_SECONDS", 1)
    monkeypatch.setattr(s3, "TRIES", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"s3://results/x?endpoint_override=127.0.0.1:{silent.getsockname()[1]}&scheme=http&region=us-east-1"
        began = time.monotonic()
        assert "the server does not answer" in refusal(address)
    assert time.monotonic() - began < 60


def test_a_connection_that_breaks_is_not_taken_for_a_damaged_part(bucket, monkeypatch):
    """Neither of an object that is fetched whole nor of one that is read piece by piece."""
    store = filled(bucket, 2)

    class Broken:
        def __init__(self, file):
            self.file = file

        def read_buffer(self):
            raise OSError(
                "AWS Error NETWORK_CONNECTION during GetObject operation: curlCode: 56, Failure when receiving; Details: x"
            )

        def read(self, size):
            return self.read_buffer()

        def __getattr__(self, name):
            return getattr(self.file, name)

    class Objects:
        def __getattr__(self, name):
            return getattr(objects, name)

        def open_input_file(self, key):
            return Broken(objects.open_input_file(key))

    objects, store.folder.objects = store.folder.objects, Objects()
    for whole in (remote_folder.WHOLE, 0):
        monkeypatch.setattr(remote_folder, "WHOLE", whole)
        with pytest.raises(StoreError, match=r"Cannot read .* the server does not answer \(failure when receiving\)"):
            store.rows()
    assert store.problems == []
    assert len(Store(bucket).rows()) == 2


# What takes the place of renames and locks.


def test_a_row_is_never_overwritten_by_another_attempt(bucket):
    """Two writers may both find nothing and then write in either order; what the later one puts must not replace the other's."""
    store = Store(bucket)
    store.write(a_record(attempt=2))
    store.write(a_record(attempt=1))
    assert len(files(store)) == 2
    assert holds(store, a_record(attempt=2))
    assert [row.attempt for row in store.rows()] == [2]
    assert store.outcomes() == {"abc0": "ok"}


def test_a_reader_whose_objects_vanish_after_the_listing_reads_the_compacted_one(bucket, monkeypatch):
    store, other = filled(bucket), Store(bucket)
    before, names, listed = store.rows(), RemoteFolder.names, []

    def names_and_be_overtaken(self, kind):
        found = names(self, kind)
        if self is store.folder and not listed:
            listed.append(found)
            other.compact()
        return found

    monkeypatch.setattr(RemoteFolder, "names", names_and_be_overtaken)
    assert store.rows() == before
    assert len(listed[0]) == 5


@pytest.mark.parametrize("newcomer", [False, True])
def test_two_compactions_at_once_lose_nothing(bucket, monkeypatch, newcomer):
    """The second does all its work between the first one's writing and removing of rows: with the same records or one more."""
    store, other, remove, overtaken = filled(bucket, 3), Store(bucket), RemoteFolder.remove, []

    def remove_and_be_overtaken(self, read):
        if self is store.folder and any(name.startswith("rows/") for name in read):
            overtaken.append(read)
            if newcomer:
                other.write(a_record("t90"))
            other.compact()
        remove(self, read)

    monkeypatch.setattr(RemoteFolder, "remove", remove_and_be_overtaken)
    store.compact()
    monkeypatch.undo()
    assert overtaken
    assert len(store.rows()) == (4 if newcomer else 3)
    store.compact()
    assert all(holds(store, a_record(row.trial_id)) for row in store.rows())
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]


def test_nothing_is_missed_while_processes_write_and_compact(bucket):
    store = filled(bucket, 3)
    write = "store = Store(sys.argv[1])\nfor i in range(12): store.write(a_record(f't{i % 6:02}', attempt=1 + i // 6))"
    compact = "store = Store(sys.argv[1])\nfor _ in range(3): store.compact()"
    running = [python(write, bucket), python(compact, bucket), python(compact, bucket)]
    while any(process.poll() is None for process in running):
        assert {"t00", "t01", "t02"} <= set(store.outcomes())
    for process in running:
        finish(process)
    assert [row.attempt for row in store.rows()] == [2] * 6
    assert all(holds(store, a_record(row.trial_id, 2)) for row in store.rows())
    assert store.problems == []


def test_an_object_that_is_no_part_is_named_and_left(bucket, tmp_path):
    store = filled(bucket, 2)
    (tmp_path / "bad").write_text("no Parquet")
    store.folder.put("rows/t00-1-bad.parquet", tmp_path / "bad")
    for read in (Store.rows, Store.compact, Store.rows):
        read(store)
    assert len(store.rows()) == 2
    assert len(store.problems) == 1
    assert store.problems[0].startswith("rows/t00-1-bad.parquet is not readable (")
    assert store.problems[0].endswith("left where it is.")
    assert "t00-1-bad.parquet" in files(store)


def test_an_object_that_was_replaced_since_it_was_read_is_not_removed(bucket, tmp_path):
    store = Store(bucket)
    for text in ("one", "two"):
        (tmp_path / text).write_text(text)
    store.folder.put("rows/x.parquet", tmp_path / "one")
    with store.folder.opened("rows/x.parquet") as source:
        identity = source.identity
    store.folder.put("rows/x.parquet", tmp_path / "two")
    store.folder.remove({"rows/x.parquet": identity, "rows/gone.parquet": identity})
    assert files(store) == ["x.parquet"]


def test_a_large_object_is_read_piece_by_piece(bucket, monkeypatch, tmp_path):
    store = filled(bucket, 4)
    store.compact()
    monkeypatch.setattr(remote_folder, "WHOLE", 100)
    assert all(holds(store, a_record(row.trial_id)) for row in store.rows())
    assert next(parquet_files(store, "rows")).metadata.num_rows == 4
    (tmp_path / "large").write_bytes(np.random.default_rng(0).bytes(1234))
    store.folder.put("large", tmp_path / "large")
    assert store.folder.get("large", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "large").read_bytes()


# Between directories and buckets.


def test_a_store_is_copied_into_a_bucket_and_merged_back(bucket, tmp_path):
    local = filled(tmp_path / "a", 3)
    remote = Store(bucket)
    for path in local.folder.path.rglob("*.parquet"):
        remote.folder.put(str(path.relative_to(local.folder.path)), path)
    assert remote.rows() == local.rows()
    remote.write(a_record("t01", attempt=2))
    remote.write(a_record("t50"))
    assert Store(tmp_path / "a").merge(bucket) == 2
    shutil.rmtree(tmp_path / "a")
    assert Store(tmp_path / "b").merge(bucket) == 4
    assert all(holds(Store(tmp_path / "b"), a_record(row.trial_id, row.attempt)) for row in remote.rows())


def test_nothing_in_the_bucket_holds_a_credential(bucket):
    store = filled(bucket, 2)
    store.compact()
    keys = [
        info.path for info in store.folder.objects.get_file_info(fs.FileSelector(store.folder.root, recursive=True)) if info.is_file
    ]
    assert len(keys) == 3
    for key in keys:
        data = store.folder.objects.open_input_file(key).read()
        assert b"nobody" not in data
        assert bucket.partition("?")[2].encode() not in data

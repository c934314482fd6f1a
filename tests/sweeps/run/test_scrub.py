"""Scrubbed texts hold no private details and keep the rest."""

import getpass
import socket
from pathlib import Path

import pytest

from sweeps.run.scrub import scrub


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("no file /home/ann/data/x.csv here", ["/home", "ann"], ["x.csv", "here"]),
        ("no file '/home/John Smith/data/x.csv' here", ["John", "Smith"], ["x.csv", "here"]),
        (r"C:\Users\ann\x.csv", ["Users", "ann"], ["x.csv"]),
        ("could not reach https://user:hunter2@example.org", ["hunter2", "user"], ["example.org"]),
        ("GET /v1?token=hunter2&a=1 failed", ["hunter2"], ["a=1"]),
        (
            "cannot read s3://lab/x?endpoint_override=minio.lab:9000: denied",
            ["minio", "9000"],
            ["s3://lab/x", "denied"],
        ),
        ("password: hunter2, retrying", ["hunter2"], ["retrying"]),
        ("run --password hunter2 --steps 3", ["hunter2"], ["--steps 3"]),
        ("DB_PASSWORD=hunter2 was refused", ["hunter2"], ["was refused"]),
        ("PGPASSWORD=hunter2 was refused", ["hunter2"], ["was refused"]),
        ('{"passphrase": "hunter2", "a": 1}', ["hunter2"], ['"a": 1']),
        ("ssh-add --passphrase hunter2 --force", ["hunter2"], ["--force"]),
        ("npm_abcdefghijklmnop1234 or pypi-AgEIcHlwaS5vcmcC", ["npm_", "pypi-"], ["or"]),
        ("AIzaSyA1234567890abcdefgh was denied", ["AIza"], ["was denied"]),
        ("proxy sent Basic YW5uOmh1bnRlcg== back", ["YW5u"], ["back"]),
        ("Set-Cookie: session=abcdef123456; path=x\nnext", ["abcdef"], ["next"]),
        ('{"Authorization": "Bearer abc.def-123"} was refused', ["abc", "123"], ["Bearer", "refused"]),
        ("Authorization: Basic YW5uOmh1bnRlcg== failed", ["YW5u"], ["failed"]),
        ("cannot clone with ghp_abcdefghijklmnop1234 here", ["ghp_", "1234"], ["cannot clone", "here"]),
        ("hf_abcdefghijklmnop1234 and glpat-abcdefghijklmnop", ["hf_", "glpat"], ["and"]),
        ("key id AKIAABCDEFGHIJKL is unknown", ["AKIA"], ["is unknown"]),
        ("mail to ann.lee+x@cs.example.org failed", ["ann", "example"], ["mail to", "failed"]),
        ("worker at [2001:db8::1]:6379 died", ["2001", "db8"], ["6379", "died"]),
        ("worker at fe80::1%eth0 died", ["fe80", "eth0"], ["died"]),
        ("worker at 10.1.2.3:6379 died", ["10.1.2.3"], ["died"]),
        (
            "killed, low on memory. Top 10 memory users:\nPID MEM COMMAND\n1 2 psql --password=hunter2",
            ["psql", "PID"],
            ["low on memory"],
        ),
    ],
)
def test_private_details_are_removed(text, gone, kept):
    result = scrub(text)
    assert not [word for word in gone if word in result], result
    assert not [word for word in kept if word not in result], result


def test_names_and_secrets_of_this_machine_are_removed(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "c0ffee-c0ffee")
    text = scrub(f"{getpass.getuser()} at {socket.gethostname()} with c0ffee-c0ffee in {Path.home()}/x.py")
    assert "c0ffee" not in text
    assert socket.gethostname() not in text
    assert str(Path.home()) not in text
    assert "x.py" in text


@pytest.mark.parametrize(
    "text",
    [
        "loss is nan",
        "a/b is 3.5",
        "step 1.2 of 3",
        "at 12:30:59 a tokenizer",
        "the basic settings: monkey = 5",
        "x[::2] of std::vector",
        'File "…/x.py", line 3',
    ],
)
def test_ordinary_text_is_unchanged(text):
    assert scrub(text) == text

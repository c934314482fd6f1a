"""An S3 server as Arrow's file system: reached with a bounded wait, its refusals in words of our own.

Credentials come from where the AWS tools take them, the environment before all, and are never passed on: what
is passed on ends up in the pickles that Ray sends round.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pyarrow as pa
from pyarrow import fs

from sweeps.store.address import CREDENTIALS

CONNECT_SECONDS, ANSWER_SECONDS, TRIES = 5, 10, 3
"""A silent server is waited for as long as the last two multiplied; one that takes no connection, the first
and the last."""

NO_BUCKET = "there is no such bucket. Create it, or correct the address"
_DENIED = f"access is denied. Credentials are {CREDENTIALS}"
_REASONS = {
    "NO_SUCH_BUCKET": NO_BUCKET, "ACCESS_DENIED": _DENIED, "INVALID_ACCESS_KEY_ID": _DENIED, "SIGNATURE_DOES_NOT_MATCH": _DENIED,
    "MISSING_AUTHENTICATION_TOKEN": _DENIED, "EXPIRED_TOKEN": _DENIED, "INVALID_CLIENT_TOKEN_ID": _DENIED, "403": _DENIED,
}  # fmt: skip
_MISSING = ("NO_SUCH_KEY", "RESOURCE_NOT_FOUND")
"""The second is what there is to say of a missing object where the answer has no text, as to HEAD."""
_CODE = re.compile(r"AWS Error (\w+)(?: \(HTTP status (\d+)\))?")
_CURL = re.compile(r"curlCode: \d+, ([^;]+)")


@cache
def connected(bucket: str, options: tuple[tuple[str, str], ...]) -> fs.S3FileSystem:
    """The server's objects, once in a process; the first question to it finds out whether there is such a
    server and bucket."""
    asked: dict[str, Any] = dict(options)
    region = asked.pop("region", None) or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None and "endpoint_override" not in asked:
        region = _region_of(bucket)
    objects = fs.S3FileSystem(
        region=region or "us-east-1", connect_timeout=CONNECT_SECONDS, request_timeout=ANSWER_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES), allow_delayed_open=True, **asked,
    )  # fmt: skip
    if objects.get_file_info(bucket).type == fs.FileType.NotFound:
        raise OSError(errno.EIO, NO_BUCKET)
    return objects


def _region_of(bucket: str) -> str:
    try:
        return str(fs.resolve_s3_region(bucket))
    except FileNotFoundError:
        raise OSError(errno.EIO, NO_BUCKET) from None


@contextmanager
def numbered() -> Iterator[None]:
    """What the server refused, with a number and a reason of our words: its own may quote what is nobody's
    business."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        found = _CODE.search(str(error))
        code, status = found.groups() if found else ("", None)
        if code in _MISSING or status == "404":
            raise FileNotFoundError(errno.ENOENT, "no such object") from None
        if curl := _CURL.search(str(error)):
            raise OSError(
                errno.EIO,
                f"the server does not answer ({curl[1].lower()}). Check the address, and that it is up",
            ) from None
        reason = _REASONS.get(code) or _REASONS.get(status or "")
        raise OSError(
            errno.EIO, reason or f"the server refused ({code or 'for a reason it did not give'})"
        ) from None

"""An S3 server as an Arrow file system, with bounded waiting and our own error messages.

Credentials come from where the AWS tools take them, first of all the environment. They are never passed as
arguments: arguments end up in the pickles that Ray sends to workers.
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

from sweeps.store.location import CREDENTIALS

CONNECT_SECONDS, ANSWER_SECONDS, TRIES = 5, 10, 3
"""A server that does not answer is given up after ANSWER_SECONDS · TRIES, one that takes no connection after
CONNECT_SECONDS · TRIES."""

NO_BUCKET = "there is no such bucket. Create it, or correct the URL"
_DENIED = f"access is denied. Credentials are {CREDENTIALS}"
_REASONS = {"NO_SUCH_BUCKET": NO_BUCKET} | dict.fromkeys(
    (
        "ACCESS_DENIED",
        "INVALID_ACCESS_KEY_ID",
        "SIGNATURE_DOES_NOT_MATCH",
        "MISSING_AUTHENTICATION_TOKEN",
        "EXPIRED_TOKEN",
        "INVALID_CLIENT_TOKEN_ID",
        "403",
    ),
    _DENIED,
)
_MISSING = ("NO_SUCH_KEY", "RESOURCE_NOT_FOUND")
"""The second is reported for a missing object if the answer has no body, as for HEAD."""
_CODE = re.compile(r"AWS Error (\w+)(?: \(HTTP status (\d+)\))?")
_CURL = re.compile(r"curlCode: \d+, ([^;]+)")


@cache
def connect_s3(bucket: str, options: tuple[tuple[str, str], ...]) -> fs.S3FileSystem:
    """The server's file system, one per process; OSError if the server has no such bucket."""
    settings: dict[str, Any] = dict(options)
    region = settings.pop("region", None) or os.environ.get("AWS_REGION")
    region = region or os.environ.get("AWS_DEFAULT_REGION")
    if region is None and "endpoint_override" not in settings:
        region = _find_region(bucket)
    objects = fs.S3FileSystem(
        region=region or "us-east-1",
        connect_timeout=CONNECT_SECONDS,
        request_timeout=ANSWER_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
        allow_delayed_open=True,
        **settings,
    )
    if objects.get_file_info(bucket).type == fs.FileType.NotFound:
        raise OSError(errno.EIO, NO_BUCKET)
    return objects


def _find_region(bucket: str) -> str:
    try:
        return str(fs.resolve_s3_region(bucket))
    except FileNotFoundError:
        raise OSError(errno.EIO, NO_BUCKET) from None


@contextmanager
def translate_s3_errors() -> Iterator[None]:
    """Raise an OSError with an errno and our own text in place of Arrow's errors: the server's text may quote
    a credential. A missing object is a FileNotFoundError."""
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
            reason = (
                f"the server does not answer ({curl[1].lower()}). Check the URL, and that the server is up"
            )
            raise OSError(errno.EIO, reason) from None
        known = _REASONS.get(code) or _REASONS.get(status or "")
        reason = known or f"the server refused ({code or 'without a reason'})"
        raise OSError(errno.EIO, reason) from None

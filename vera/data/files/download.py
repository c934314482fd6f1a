"""Downloads that resume: the received bytes are kept in a file, and only the rest is requested.

Trap: a connection that ends early looks like the end of the file. A download is complete only if it has as
many bytes as the server announced. The caller must still verify a checksum, because the two halves may come
from different versions of the file.
"""

from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from vera.errors import VeraError

TIMEOUT = 30.0
"""Seconds without a byte before the connection is closed."""
BLOCK = 1 << 20
Say = Callable[[str], None]
"""Reports the progress of a download to the user."""


def download(url: str, file: Path) -> None:
    """Download the missing bytes of a file; after a failure, the received bytes are kept."""
    have = file.stat().st_size if file.exists() else 0
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urlopen(request, timeout=TIMEOUT) as answer:
            _receive(answer, file, have if answer.status == HTTPStatus.PARTIAL_CONTENT else 0)
    except HTTPError as error:
        error.close()
        if have and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            file.unlink()  # the file on the server has changed
            return download(url, file)
        raise VeraError(f"{url} answered {error.code} {error.reason}.") from error
    except (OSError, HTTPException) as error:
        raise VeraError(f"The download of {url} failed ({error}).") from error
    return None


def _receive(answer: Any, file: Path, have: int) -> None:
    length = answer.headers.get("Content-Length")
    total = None if length is None else have + int(length)
    bar = tqdm(
        desc=file.name, total=total, initial=have, unit="B", unit_scale=True, leave=False, disable=None
    )
    with bar, open(file, "ab" if have else "wb") as target:
        while block := answer.read(BLOCK):
            target.write(block)
            bar.update(len(block))
    size = file.stat().st_size
    if total not in (None, size):
        raise OSError(f"received {size} of {total} bytes; repeat the command to resume")

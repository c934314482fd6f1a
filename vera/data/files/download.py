"""Downloads that go on where they stopped: what has come lies in a file, and only the rest of it is asked
for.

Trap: a connection that ends early looks like the end of the file. A download counts as whole only if it has
as many bytes as the server announced, and even then only its own checksum says whether two halves belong
together: that is for the caller.
"""

from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from vera.errors import VeraError

TIMEOUT = 30.0
"""Seconds without a byte."""
BLOCK = 1 << 20


def download(url: str, file: Path) -> None:
    """Bring what is missing of a file; if that fails, what came is kept for the next time."""
    have = file.stat().st_size if file.exists() else 0
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urlopen(request, timeout=TIMEOUT) as answer:
            _receive(answer, file, have if answer.status == HTTPStatus.PARTIAL_CONTENT else 0)
    except HTTPError as error:
        error.close()
        if (
            have and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        ):  # the server's file is another one by now
            file.unlink()
            return download(url, file)
        raise VeraError(f"{url} answered {error.code} {error.reason}.") from error
    except (OSError, HTTPException) as error:
        raise VeraError(f"the download of {url} broke off ({error}).") from error
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
        raise OSError(f"{size} of {total} bytes came; the same command goes on from there")

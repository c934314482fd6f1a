"""What `vera` prints. A control character never reaches the terminal from a row, a file name or an argument:
an escape sequence could recolour it, rename its window or overwrite lines.

Both streams are filtered while a command runs. Text with sequences of its own, such as the live line of a
run, is written to `unfiltered()`, after the texts that it quotes were made printable.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from vera.wording import make_printable


class FilteredStream:
    """A text stream that replaces control characters."""

    def __init__(self, stream: TextIO, keeps_returns: bool) -> None:
        """`keeps_returns`: a write that begins with a carriage return keeps its carriage returns, as those of
        tqdm's bars. No message begins so."""
        self.stream, self.keeps_returns = stream, keeps_returns

    def write(self, text: str) -> int:
        parts = text.split("\r") if self.keeps_returns and text.startswith("\r") else [text]
        self.stream.write("\r".join(make_printable(part) for part in parts))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def filter_output() -> Iterator[None]:
    """stdout and stderr are filtered while the block runs."""
    before = sys.stdout, sys.stderr
    out, err = FilteredStream(sys.stdout, keeps_returns=False), FilteredStream(sys.stderr, keeps_returns=True)
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class UnfilteredOutput:
    """The stream behind stdout, whichever it is at the time. It holds no file, because Tune pickles the
    listener of a run."""

    def write(self, text: str) -> int:
        return _find_stream().write(text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_find_stream(), name)


def unfiltered() -> TextIO:
    """A stream that does not filter what is written to stdout."""
    return cast(TextIO, UnfilteredOutput())


def _find_stream() -> TextIO:
    return sys.stdout.stream if isinstance(sys.stdout, FilteredStream) else sys.stdout

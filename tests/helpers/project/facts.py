"""Errors asserted by their class and the facts in their message, not by their wording."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from vera.errors import VeraError


@contextmanager
def raises_with(kind: type[BaseException], *facts: str) -> Iterator[None]:
    """The block raises `kind`, and its message contains all these facts: names, values, commands.

    The message of an error for users has at most two lines. A fact has at least three characters, because
    shorter ones occur in almost any message.
    """
    short = [fact for fact in facts if len(fact) < 3]
    assert not short, f"facts under three characters: {short}"
    with pytest.raises(kind) as error:
        yield
    message = str(error.value)
    missing = [fact for fact in facts if fact not in message]
    assert not missing, f"{missing} not in: {message}"
    assert not isinstance(error.value, VeraError) or message.count("\n") <= 1, message

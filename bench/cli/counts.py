"""Counts in words, for the command line and the page alike."""


def counted(n: int, noun: str) -> str:
    """1 trial, 1,000 trials."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"

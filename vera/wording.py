"""Words for messages."""


def plural(count: int, noun: str) -> str:
    """The count with its noun: "1 trial", "1,000 trials"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

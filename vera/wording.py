"""Words for messages."""


def plural(count: int, noun: str) -> str:
    """The count with its noun: "1 trial", "1,000 trials"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_bytes(size: float) -> str:
    """A size with two or three digits: "820 bytes", "3.4 kB", "14 MB"."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.5:
            break
    return f"{size:.1f} {unit}" if size < 9.95 else f"{size:,.0f} {unit}"

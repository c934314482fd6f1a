"""Words for messages."""


def plural(count: int, noun: str) -> str:
    """The count with its noun: "1 trial", "1,000 trials"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_bytes(size: float) -> str:
    """A size with two or three digits: "820 bytes", "3.4 kB", "14 MB"."""
    if size < 1000:
        return f"{size:.0f} bytes"
    unit = "kB" if size < 999.5e3 else "MB" if size < 999.5e6 else "GB"
    value = size / {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"

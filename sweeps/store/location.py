"""Locations of results: the path of a directory, or a URL in a bucket, as text.

    s3://BUCKET/PREFIX?endpoint_override=HOST:PORT&scheme=http&region=REGION

The options after the question mark may be left out. Credentials come from the environment only. A location is
printed, copied into commands and sent to every worker, so a URL that holds a user or a key is refused, and
the error does not repeat it.

Trap: `Path("s3://lab/runs")` is `s3:/lab/runs`, a directory. A location stays text until it is known to be a
path.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from sweeps.errors import StoreError

Location = str | Path
OPTIONS = ("endpoint_override", "region", "scheme")
FORM = "s3://BUCKET/PREFIX"
CREDENTIALS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"


@dataclass(frozen=True)
class BucketLocation:
    """The parts of a bucket's URL."""

    bucket: str
    prefix: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "BucketLocation":
        """StoreError if the text is no URL of a bucket, holds a credential or has an unknown option."""
        parts = urlsplit(text)
        # The whole text: a secret may hold a slash, and then it is not part of the host.
        if "@" in text or ":" in parts.netloc:
            raise StoreError(
                f"The location of results must not hold a user or a key: write {FORM}, and put {CREDENTIALS}."
            )
        if parts.scheme != "s3" or not parts.netloc or parts.fragment:
            raise StoreError(f"'{text}' is not a location of results: give a directory or {FORM}.")
        options = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True)))
        unknown = [name for name, _ in options if name not in OPTIONS]
        if unknown:  # The value is not repeated: it may be a secret.
            raise StoreError(
                f"The location of results has no option '{unknown[0]}'. Known options: {', '.join(OPTIONS)}."
            )
        if dict(options).get("scheme", "https") not in ("http", "https"):
            raise StoreError(f"The scheme in {text} must be http or https.")
        return cls(parts.netloc, unquote(parts.path).strip("/"), options)


def is_url(location: Location) -> bool:
    """Whether the location is a URL, not the path of a directory."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", str(location)) is not None


def is_url_or_directory(location: Location) -> bool:
    """Whether results can be read there: a directory exists, or it is a URL, since a bucket has no empty
    folders."""
    return is_url(location) or Path(location).is_dir()


def join_location(location: Location, name: str) -> str:
    """The location `name` inside another one. The options of a URL stay at its end."""
    if not is_url(location):
        return str(Path(location) / name)
    url, mark, options = str(location).partition("?")
    return f"{url.rstrip('/')}/{name}{mark}{options}"


def resolve_location(location: Location) -> str:
    """The same location for a process in another working directory: an absolute path or the URL."""
    return str(location) if is_url(location) else str(Path(location).resolve())


def check_location(location: Location) -> None:
    """StoreError unless the location is a path or a valid URL."""
    if not str(location):
        raise StoreError("The location of results is empty: give a directory, such as . for the current one.")
    if is_url(location):
        BucketLocation.parse(str(location))
    if re.match(r"s3:(?!//)", str(location)):
        raise StoreError(
            f"'{location}' is not a URL: write {FORM}, or ./{location} for a directory of that name."
        )

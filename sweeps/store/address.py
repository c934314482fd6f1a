"""Where results lie: the path of a directory, or the address of a bucket, as text.

    s3://BUCKET/PREFIX?endpoint_override=HOST:PORT&scheme=http&region=REGION

All that stands after the question mark may be left out. Credentials are taken from the environment and from
nowhere else: an address is printed, copied into commands and sent to every worker, so one that holds a user
or a key is refused, and not repeated.

The trap: `Path("s3://lab/runs")` is `s3:/lab/runs`, a directory of that name. A place stays text until it is
known to be a path.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from sweeps.errors import StoreError
from sweeps.store.folder import Folder
from sweeps.store.local_folder import LocalFolder

Place = str | Path
OPTIONS = ("endpoint_override", "region", "scheme")
FORM = "s3://BUCKET/PREFIX"
CREDENTIALS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"


@dataclass(frozen=True)
class Address:
    """A place in a bucket."""

    bucket: str
    prefix: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Address":
        parts = urlsplit(text)
        if (
            "@" in text or ":" in parts.netloc
        ):  # a secret may have a slash, after which it no longer looks like one
            raise StoreError(
                f"The address of results must not hold a user or a key: write {FORM}, and put {CREDENTIALS}."
            )
        if parts.scheme != "s3" or not parts.netloc or parts.fragment:
            raise StoreError(f"'{text}' is not where results can lie: give a directory or {FORM}.")
        options = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True)))
        unknown = [name for name, _ in options if name not in OPTIONS]
        if unknown:  # by name only: who knows what the value is
            raise StoreError(
                f"The address of results knows no '{unknown[0]}'; after the question mark: {', '.join(OPTIONS)}."
            )
        if dict(options).get("scheme", "https") not in ("http", "https"):
            raise StoreError(f"The scheme in {text} must be http or https.")
        return cls(parts.netloc, unquote(parts.path).strip("/"), options)


def is_url(place: Place) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", str(place)) is not None


def within(place: Place, name: str) -> str:
    """The place of that name in another; the options of an address stay at its end."""
    if not is_url(place):
        return str(Path(place) / name)
    address, mark, options = str(place).partition("?")
    return f"{address.rstrip('/')}/{name}{mark}{options}"


def settled(place: Place) -> str:
    """The place as a process in another directory must call it."""
    return str(place) if is_url(place) else str(Path(place).resolve())


def may_exist(place: Place) -> bool:
    """Whether it is worth a look: a bucket's folders are there as soon as something is in them."""
    return is_url(place) or Path(place).is_dir()


def check_place(place: Place) -> None:
    """StoreError unless it is a path or an address."""
    if not str(place):
        raise StoreError("Results cannot lie in '': give a directory, such as . for this one.")
    if is_url(place):
        Address.parse(str(place))
    if re.match(r"s3:(?!//)", str(place)):
        raise StoreError(f"'{place}' is no address: write {FORM}, or ./{place} for a directory of that name.")


def folder_at(place: Place, create: bool = True, needed: bool = True) -> Folder:
    """The folder; StoreError if it cannot be used, or is a directory that is not there and shall not be made
    but is needed."""
    check_place(place)
    if is_url(place):
        from sweeps.store.bucket_folder import RemoteFolder

        return RemoteFolder(str(place))
    return LocalFolder(Path(place), create, needed)

"""A part of a page that is written from results: between two marks, the rest of the page by hand."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def written_block(
    argv: Sequence[str] | None, module: str, name: str, page: Path, lines: Callable[[], Iterable[str]]
) -> int:
    """What `python -m MODULE [--check]` does: write the block, or say whether it is what it would be (exit
    code 1: it is not)."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=f"Write the {name} in {page}.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if it is not what it would be"
    )
    check = parser.parse_args(argv).check
    begin, old = f"<!-- {name}: written by python -m {module} -->\n", page.read_text(encoding="utf-8")
    text = "".join(f"{line}\n" for line in lines())
    new, found = re.subn(
        f"{re.escape(begin)}.*?<!-- end -->",
        lambda _: f"{begin}{text}<!-- end -->",
        old,
        count=1,
        flags=re.DOTALL,
    )
    if not found:
        print(f"{page} has no place for it: {begin.strip()} and <!-- end -->", file=sys.stderr)
        return 1
    if not check:
        page.write_text(new, encoding="utf-8", newline="\n")
    elif new != old:
        print(f"{page} is not what the results say: python -m {module}", file=sys.stderr)
    return int(check and new != old)

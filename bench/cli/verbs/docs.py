"""`vera docs`: write or check the generated parts of README.md, results/README.md and pages in docs."""

import argparse
import sys

from bench.cli.parser import Subparsers, add_command
from bench.cli.selection.stores import require_published


def add_parser(verbs: Subparsers) -> None:
    text = "write the generated parts of README.md, results/README.md and docs from published results"
    parser = add_command(verbs, "docs", text, "docs", "docs --check")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 and a list if a page is out of date"
    )
    parser.set_defaults(run=write_docs)


def write_docs(arguments: argparse.Namespace) -> int:
    from bench.publishing.pages import list_pages, update_pages

    require_published("vera docs")
    problems = update_pages(list_pages(), write=not arguments.check)
    for problem in problems:
        print(f"vera: {problem}", file=sys.stderr)
    return int(bool(problems))

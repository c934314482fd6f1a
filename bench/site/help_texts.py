"""The page of all options: the help text of every verb."""

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator

from bench.cli.main import build_parser


def write_help() -> str:
    """The page in Markdown."""
    parts = [
        f"## `{parser.prog}`\n\n```text\n{parser.format_help()}```\n"
        for parser in _list_parsers(build_parser())
    ]
    return "\n".join(["# All options\n\nWhat `vera VERB --help` prints.\n", *parts])


def _list_parsers(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """The parsers of all verbs and of their parts."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for verb in dict.fromkeys(action.choices.values()):
                yield verb
                yield from _list_parsers(verb)

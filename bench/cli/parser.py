"""The argument parser of `vera`, with errors in one line and help that ends with examples, and the types of
flag values."""

import argparse
import math
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

EXAMPLES = "examples:"
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run = Callable[[argparse.Namespace], int]
"""Carries out a command and returns its exit code."""
SMALLEST = math.ulp(0.0)
"""The smallest number above 0."""
MAX_SEEDS = 10_000
"""A plan lists a trial for each seed; more than this is a typing error."""
WHOLE = re.compile(r"[+-]?\d{1,30}", re.ASCII)


class Parser(argparse.ArgumentParser):
    """Reports a mistake in one line, with the nearest valid choice and the help to read.

    Flags must be written in full: an abbreviation could become ambiguous when a flag is added.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"allow_abbrev": False} | options))
        self._words: list[str] = []

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown arguments here, so that the error names the help of the verb, not that of `vera`."""
        self._words = list(sys.argv[1:] if args is None else args)
        for word in self._words[: self._words.index("--")] if "--" in self._words else self._words:
            flag, _, value = word.partition("=")
            if value == "--" and flag in self._option_string_actions:  # argparse would store an empty list
                self.error(f"argument {flag}: '--' is no value")
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._describe_unknown(unknown))
        return found, unknown

    def _describe_unknown(self, unknown: list[str]) -> str:
        from vera.spec.settings import suggest

        flags = [text.partition("=")[0] for text in unknown if text.startswith("-")]
        if not flags:
            return f"unexpected argument '{unknown[0]}'"
        known = [name for name in self._option_string_actions if name.startswith("--")]
        offer = suggest(f"--{flags[0].lstrip('-').lower()}", known)
        return f"there is no {flags[0]}{f'.{offer}' if offer else ''}"

    def _find_misspelt(self) -> list[str]:
        """Arguments that look like flags and are not flags of this parser."""
        own = self._words[: self._words.index("--")] if "--" in self._words else self._words
        return [
            word
            for word in own
            if re.match(r"--?[A-Za-z]", word) and word.partition("=")[0] not in self._option_string_actions
        ]

    def error(self, message: str) -> NoReturn:
        if message.startswith("the following arguments are required") and (misspelt := self._find_misspelt()):
            message = self._describe_unknown(misspelt)  # a mistyped --help is the likelier mistake
        self.exit(2, f"{self.prog}: {_shorten_error(message)} See: {self.prog} --help\n")


def _shorten_error(message: str) -> str:
    """The message of argparse; a wrong choice is answered with the nearest valid one."""
    from vera.spec.settings import suggest_or_list

    wrong = re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message)
    if wrong is None:
        return message if message.endswith("?") else f"{message}."
    argument, given, choices = wrong.groups()
    return f"{argument} cannot be '{given}'.{suggest_or_list(given, re.findall('[a-z0-9-]+', choices))}"


class RecordFlag(argparse.Action):
    """Stores the value and adds the flag to `given`, to tell a value that was typed from the default."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        setattr(namespace, self.dest, values)
        namespace.given = (*namespace.given, self.dest)


class ExampleFormatter(argparse.HelpFormatter):
    """Leaves examples as they are typed and fills all other text."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)


def add_command(commands: Subparsers, name: str, text: str, *examples: str) -> argparse.ArgumentParser:
    """A parser with a description and with examples at the end of its help."""
    epilog = "\n".join([EXAMPLES, *(f"  vera {example}" for example in examples)]) if examples else None
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=epilog,
        formatter_class=ExampleFormatter,
    )
    return parser


def parse_positive(text: str) -> float:
    return _parse_number(text, "a number above 0", SMALLEST)


def parse_seconds(text: str) -> float:
    return _parse_number(text, "seconds, at least 0")


def parse_positive_seconds(text: str) -> float:
    return _parse_number(text, "seconds, above 0", SMALLEST)


def parse_gpus(text: str) -> float | str:
    return text if text == "auto" else _parse_number(text, "a number, at least 0, or auto")


def parse_whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be a whole number, got '{text}'")
    return int(text)


def at_least(least: int) -> Callable[[str], int]:
    """A parser of whole numbers from `least` on."""

    def parse_count(text: str) -> int:
        value = int(text) if WHOLE.fullmatch(text) else least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, at least {least}, got '{text}'")
        return value

    return parse_count


def parse_seeds(text: str) -> int:
    value = at_least(1)(text)
    if value > MAX_SEEDS:
        raise argparse.ArgumentTypeError(f"must be at most {MAX_SEEDS:,}, got '{text}'")
    return value


def _parse_number(text: str, rule: str, least: float = 0.0) -> float:
    """A finite number, at least `least`."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be {rule}, got '{text}'")
    return value

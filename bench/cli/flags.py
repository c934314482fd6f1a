"""Flags that verbs share, and what their values must be."""

import argparse
import re
import shlex
import sys
from collections.abc import Callable
from os.path import expanduser
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from bench.cli.flag_values import above_0, at_least, gpus, seconds, seeds, some_seconds
from bench.locations import DEFAULT_PROFILE, LOCAL, PROFILES, PUBLISHED, REMOTE

if TYPE_CHECKING:
    from bench.judging.results import Source

PLACE = "a directory or s3://BUCKET/PREFIX"
PROFILE, DATASET, DATA_DIR, RESULTS_DIR, PLUGIN = (
    "--profile",
    "--dataset",
    "--data-dir",
    "--results-dir",
    "--plugin",
)
PROFILE_HELP = "budgets: smoke (seconds), laptop (minutes on two cores) or paper (the paper's own; for GPUs). Default: laptop"
USUAL = {PROFILE: DEFAULT_PROFILE, RESULTS_DIR: LOCAL}
EXAMPLES = "examples:"
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run = Callable[[argparse.Namespace], int]
"""What a verb does; its exit code."""


class Parser(argparse.ArgumentParser):
    """A mistake is answered in one line that offers what is nearest and names the help, not with all that
    could have been said.

    A flag is written in full: the beginning of one may mean another tomorrow.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"allow_abbrev": False} | options))
        self._words: list[str] = []

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """What a verb does not know is refused by the verb, whose help is the one to read."""
        self._words = list(sys.argv[1:] if args is None else args)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._no_such(unknown))
        return found, unknown

    def _no_such(self, unknown: list[str]) -> str:
        from vera.spec.settings import suggest

        flags = [text.partition("=")[0] for text in unknown if text.startswith("-")]
        if not flags:
            return f"'{unknown[0]}' is one word too many"
        meant, known = (
            f"--{flags[0].lstrip('-').lower()}",
            [name for name in self._option_string_actions if name.startswith("--")],
        )
        offer = suggest(meant, known)
        return f"there is no {flags[0]}{f'.{offer}' if offer else ''}"

    def _misspelt(self) -> list[str]:
        """Words that look like a flag of this parser and are none."""
        own = self._words[: self._words.index("--")] if "--" in self._words else self._words
        return [
            word
            for word in own
            if re.match(r"--?[A-Za-z]", word) and word.partition("=")[0] not in self._option_string_actions
        ]

    def error(self, message: str) -> NoReturn:
        if message.startswith("the following arguments are required") and (misspelt := self._misspelt()):
            message = self._no_such(misspelt)  # who mistypes --help has left out the rest on purpose
        self.exit(2, f"{self.prog}: {_in_words(message)} See: {self.prog} --help\n")


def _in_words(message: str) -> str:
    """argparse's sentence; of a wrong choice the nearest right one."""
    from vera.spec.settings import suggest_or_list

    wrong = re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message)
    if wrong is None:
        return message if message.endswith("?") else f"{message}."
    argument, given, choices = wrong.groups()
    return f"{argument} cannot be '{given}'.{suggest_or_list(given, re.findall('[a-z-]+', choices))}"


class Given(argparse.Action):
    """A flag that is also noted as given: some things have a value of their own, which its default does not
    replace."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        setattr(namespace, self.dest, values)
        namespace.given = (*namespace.given, self.dest)


class Help(argparse.HelpFormatter):
    """Examples stand as they are typed; all other text is filled."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)


def described(verbs: Verbs, name: str, text: str, *examples: str) -> argparse.ArgumentParser:
    """A parser that says what it is for, and ends with commands as they are typed."""
    epilog = "\n".join([EXAMPLES, *(f"  vera {example}" for example in examples)]) if examples else None
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=epilog, formatter_class=Help
    )
    return parser


def verb(verbs: Verbs, name: str, text: str, *examples: str) -> argparse.ArgumentParser:
    """A verb that looks into a store."""
    parser = described(verbs, name, text, *examples)
    results_dir(parser, "where results lie")
    plugin(parser)
    return parser


def results_dir(parser: argparse.ArgumentParser, text: str) -> None:
    text = f"{text}: {PLACE} (default: {LOCAL})"
    parser.add_argument(
        "--results-dir", metavar="DIR", type=expanduser, default=LOCAL, action=Given, help=text
    )
    parser.set_defaults(given=())


def plugin(parser: argparse.ArgumentParser) -> None:
    text = "a Python file with methods, data or sweeps of your own; repeatable"
    parser.add_argument("--plugin", metavar="FILE", type=expanduser, action="append", default=[], help=text)


def data_dir(parser: "argparse._ActionsContainer") -> None:
    text = "where data files lie (default: VERA_DATA, else ~/.cache/vera)"
    parser.add_argument(
        "--data-dir", metavar="DIR", type=expanduser, help=text
    )  # for the ~ of --data-dir=~/data stays as it is


def shown_place(arguments: argparse.Namespace) -> str:
    """The flag that a command offered to the user must repeat."""
    return "".join(f" {shlex.quote(word)}" for word in kept(arguments, RESULTS_DIR))


def kept(arguments: argparse.Namespace, *flags: str) -> list[str]:
    """Those of the flags that were not left at their default, as another command must repeat them."""
    words = []
    for flag in flags:
        value = getattr(arguments, flag.removeprefix("--").replace("-", "_"))
        own = flag == PROFILE and ":" in getattr(
            arguments, "sweep", ""
        )  # a single trial brings its profile along
        own |= flag == DATA_DIR and ":" in (
            getattr(arguments, "dataset", None) or ""
        )  # and a file its directory
        if value not in (None, USUAL.get(flag)) and not own:
            words += [
                word for each in (value if isinstance(value, list) else [value]) for word in (flag, str(each))
            ]
    return words


def asked_sources(arguments: argparse.Namespace) -> "tuple[Source, ...]":
    """Whose trials, in the order in which they are looked for. Who names a place of their own is not shown
    another."""
    if arguments.source is not None:
        return (arguments.source,)
    return ("local", "published") if arguments.results_dir == LOCAL else ("local",)


def check_ships(arguments: argparse.Namespace) -> None:
    """Who asks for what ships must be where it does: no run makes it."""
    if arguments.source == "published":
        shipped_in("--from published")


def shipped_in(flag: str) -> None:
    """StoreError where the trials that the flag asks for are not."""
    if not Path(PUBLISHED, "trials").is_dir():
        from sweeps.errors import StoreError

        raise StoreError(
            f"{flag} takes trials from {PUBLISHED}, which is not here: run it where the repo was cloned."
        )


def ours_instead(arguments: argparse.Namespace) -> str:
    """How to see the trials that ship, where a place was named that has none."""
    return (
        "; those that ship: --from published"
        if arguments.source is None and arguments.results_dir != LOCAL
        else ""
    )


def output_folder(place: str) -> Path:
    """Where tables, figures and the report of these results are written: beside the store or, for one in a
    bucket, in a directory of the bucket's name and prefix, since people open them."""
    from sweeps.store.address import Address, is_url

    if not is_url(place):
        return Path(place)
    address = Address.parse(place)
    return Path(
        REMOTE, address.bucket, *(part for part in address.prefix.split("/") if part not in ("", ".", ".."))
    )


def selection(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "sweep",
        metavar="SWEEP",
        help="a table or figure such as table2, another sweep (see: vera list), trial:ID, a stored trial with other seeds, or "
        "spec:FILE, the trial of a file that vera search wrote",
    )
    parser = verb.add_argument_group("which trials")
    parser.add_argument(
        "--profile", choices=PROFILES, default=DEFAULT_PROFILE, action=Given, help=PROFILE_HELP
    )
    verb.set_defaults(given=())
    parser.add_argument(
        "--only",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only such trials, e.g. method=vera; repeated: those that fit all. Keys: method, method.SETTING, dataset, label, "
        "seed, task, energy and other networks",
    )
    dataset(parser)
    data_dir(parser)
    parser.add_argument("--seeds", metavar="N", type=seeds, help="seeds 0 to N-1 in place of the sweep's own")
    parser.add_argument(
        "--reuse-published",
        action="store_true",
        help=f"take the trials that ship in {PUBLISHED} in place of training them",
    )


def dataset(parser: "argparse._ActionsContainer") -> None:
    parser.add_argument(
        "--dataset",
        metavar="DATA",
        help="other data in place of the table's own, e.g. wine or csv:my.csv,label=species",
    )


def execution(verb: argparse.ArgumentParser) -> None:
    parser = verb.add_argument_group("how they are run")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run, and stop")
    parser.add_argument(
        "--address", help="join this Ray cluster (default: RAY_ADDRESS, else start a local one)"
    )
    parser.add_argument(
        "--cpus-per-trial",
        type=above_0,
        default=1.0,
        metavar="N",
        help="CPUs, and threads, of a trial (default: 1)",
    )
    parser.add_argument(
        "--gpus-per-trial",
        type=gpus,
        default=0.0,
        metavar="N",
        help="GPUs of a trial, a fraction of one, or auto: as it needs memory (default: 0)",
    )
    parser.add_argument(
        "--max-concurrent",
        type=at_least(1),
        metavar="N",
        help="at most so many trials at once (default: as there is room)",
    )
    parser.add_argument(
        "--time-limit",
        type=some_seconds,
        metavar="SECONDS",
        help="end a trial as a timeout after so long (default: never)",
    )
    parser.add_argument(
        "--checkpoint-every",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="how often a trial is saved (default: 30)",
    )
    parser.add_argument(
        "--tensorboard", metavar="DIR", help="copy the histories there as TensorBoard event files"
    )
    parser.add_argument("--mlflow", metavar="URI", help="copy the histories to this MLflow tracking store")
    parser.add_argument(
        "--wandb", metavar="PROJECT", help="copy the histories to this Weights & Biases project"
    )
    parser.add_argument("--verbose", action="store_true", help="show Ray Tune's own tables too")

"""The generated parts of docs/coverage.md: every table, figure, number, grid, arm and claim of the paper,
where it is declared, at which profile it has rows, and its judgement."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.judging.claims import Claim
from bench.judging.results import Results, read_metrics
from bench.paper.ledger.statements import (
    Statement,
    check_declared,
    list_paper_claims,
    list_statements,
    list_values,
)
from bench.paper.ledger.value_status import Standing, ValueStatus, describe_module, list_value_statuses
from bench.publishing.markdown import render_grid
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

TABLES, FIGURES = 10, 27
"""Of the paper. Its table without a number, in C.3, is `table-fid`."""
NAMES: Mapping[str, str] = {
    **{f"Table {number}": f"table{number}" for number in range(1, TABLES + 1)},
    "Table without a number, C.3": "table-fid",
    **{f"Figure {number}": f"figure{number}" for number in range(1, FIGURES + 1)},
}
"""By the paper's name: our artifact."""
RESULTS: Mapping[Standing, str] = {
    "agrees": "agree",
    "differs": "differ",
    "undecided": "no verdict",
    "laptop only": "laptop only",
    "not run": "not run",
    "quoted": "quoted only",
}
"""By the standing of a number: the heading of its count."""
AT_PAPER: tuple[Standing, ...] = ("agrees", "differs", "undecided")
NO_ROWS = "–"


class Coverage:
    """The ledger, read once from the published rows."""

    def __init__(self, laptop: Results, paper: Results) -> None:
        self.laptop, self.paper = laptop, paper
        self._counts: dict[tuple[Statement, Profile], tuple[int, int]] = {}

    @cached_property
    def values(self) -> list[ValueStatus]:
        return list_value_statuses(self.laptop, self.paper)

    def render_totals(self) -> str:
        """Counts of the numeric results, by their place in the paper and in all."""
        counted = [status for status in self.values if status.is_result]
        groups = {
            place: list(found) for place, found in groupby(counted, key=lambda each: each.entry["artifact"])
        }
        lines = [
            _count_standings("**all numeric results**", counted),
            *(_count_standings(place, found) for place, found in groups.items()),
        ]
        head = ("", "numbers", "measured at `paper`", *(f"{heading}" for heading in RESULTS.values()))
        return f"{render_grid(head, lines)}\n{self.describe_others()}\n"

    def describe_others(self) -> str:
        """The counts of everything else."""
        kinds = Counter(status.standing for status in self.values)
        claims = Counter(
            "paper" if at_paper else "laptop" if at_laptop else ""
            for _, _, at_laptop, at_paper in self.judged_claims
        )
        grids = [self.count_rows(each, self.paper)[0] > 0 for each in list_statements("grid")]
        arms = [self.count_rows(each, self.paper)[0] > 0 for each in list_statements("arm")]
        return (
            f"Besides these, the paper prints {kinds['setting']} settings, {kinds['mark']} marks (Table 1) "
            f"and {kinds['none']} cells without a value. Claims: {sum(claims.values())}; {claims['paper']} "
            f"have rows at `paper`, {claims['laptop']} at `laptop` only, {claims['']} none. "
            f"Grids: {len(grids)}, {sum(grids)} with rows at `paper`. "
            f"Arms and measurements: {len(arms)}, {sum(arms)} with rows at `paper`."
        )

    def render_artifacts(self) -> str:
        """A line for each table and figure of the paper."""
        head = (
            "in the paper",
            "declared",
            "trials at `paper`",
            "at `laptop`",
            "claims at `paper`",
            "at `laptop`",
        )
        return render_grid(head, (self._describe_artifact(place, name) for place, name in NAMES.items()))

    def _describe_artifact(self, place: str, name: str) -> list[str]:
        artifact = catalogue.artifact(name)
        judged = [
            (at_paper, at_laptop) for owner, _, at_laptop, at_paper in self.judged_claims if owner is artifact
        ]
        return [
            place,
            describe_module(name),
            *(_describe_trials(artifact, results) for results in (self.paper, self.laptop)),
            *(_count_judgements(pair[profile] for pair in judged) for profile in (0, 1)),
        ]

    def render_values(self) -> str:
        """A line for each number of the paper."""
        head = ("where", "of", "quantity", "paper", "here", "n", "status", "trials at `laptop`", "declared")
        return render_grid(head, map(_describe_value, self.values))

    def render_grids(self) -> str:
        """A line for each setting that the paper tried several values of, and each that its text states."""
        head = (
            "where",
            "what",
            "the paper",
            "here",
            "in",
            "rows at `paper`",
            "values at `laptop`",
            "rows",
            "status",
        )
        return render_grid(head, map(self._describe_grid, list_statements("grid", "setting")))

    def _describe_grid(self, statement: Statement) -> list[str]:
        check_declared(statement)
        wanted = statement.values.replace("|", ", ")
        tried, at_laptop = list_values(statement, "paper"), list_values(statement, "laptop")
        ended, declared = self.count_rows(statement, self.paper)
        small, _ = self.count_rows(statement, self.laptop)
        return [
            statement.where,
            statement.statement,
            wanted.replace(">=", "at least "),
            _list_briefly(tried),
            f"`{statement.declared}` {statement.line}".rstrip(),
            f"{ended} of {declared}",
            str(len(at_laptop)),
            str(small),
            describe_standing(ended, declared, small),
        ]

    def render_arms(self) -> str:
        """A line for each thing that the paper trained or measured besides its tables."""
        head = ("where", "what", "in", "rows at `paper`", "at `laptop`", "status")
        return render_grid(head, map(self._describe_arm, list_statements("arm")))

    def _describe_arm(self, statement: Statement) -> list[str]:
        check_declared(statement)
        ended, declared = self.count_rows(statement, self.paper)
        small, _ = self.count_rows(statement, self.laptop)
        metric = f", `{statement.values}`" if statement.values else ""
        place = f"`{statement.declared}` {statement.line}{metric}"
        standing = describe_standing(ended, declared, small)
        return [statement.where, statement.statement, place, f"{ended} of {declared}", str(small), standing]

    def render_claims(self) -> str:
        """A line for each claim of the paper."""
        head = ("claim", "where", "declared", "at `paper`", "at `laptop`")
        lines = (
            [
                claim.text,
                claim.where,
                f"`{artifact.name}:{claim.key}`",
                at_paper or "not run",
                at_laptop or "not run",
            ]
            for artifact, claim, at_laptop, at_paper in self.judged_claims
        )
        return render_grid(head, lines)

    def count_rows(self, statement: Statement, results: Results) -> tuple[int, int]:
        """The trials of a statement that have ended, with its metric if it names one, and all that are
        declared."""
        key = (statement, results.profile)
        if key not in self._counts:
            trials = statement.list_trials(results.profile)
            metric = statement.values if statement.kind == "arm" else ""
            rows = {row.trial_id: row for row in _find_rows(trials, results)}
            ended = [row for row in rows.values() if not metric or metric in read_metrics(row)]
            self._counts[key] = len(ended), len(trials)
        return self._counts[key]

    @cached_property
    def judged_claims(self) -> list[tuple[Artifact, Claim, str, str]]:
        """Every claim with its judgements at `laptop` and at `paper`; an empty text without rows."""
        return [
            (artifact, claim, _judge(artifact, claim, self.laptop), _judge(artifact, claim, self.paper))
            for artifact, claim in list_paper_claims()
        ]


def _judge(artifact: Artifact, claim: Claim, results: Results) -> str:
    own = results.copy_without_notes()
    return claim.judge(own).label if artifact.is_in(own) else ""


def _count_judgements(labels: Iterable[str]) -> str:
    """How many claims have each judgement: "2 refuted, 5 supported"."""
    counts = Counter(label.partition(" ")[2] for label in labels if label)
    return ", ".join(f"{count} {judgement}" for judgement, count in sorted(counts.items())) or NO_ROWS


def _count_standings(place: str, found: Sequence[ValueStatus]) -> list[str]:
    counts = Counter(status.standing for status in found)
    measured = sum(counts[standing] for standing in AT_PAPER)
    return [place, str(len(found)), str(measured), *(str(counts[standing]) for standing in RESULTS)]


def _describe_value(status: ValueStatus) -> list[str]:
    entry = status.entry
    subject = ", ".join(filter(None, (entry["dataset"], entry["method"], entry["variant"])))
    return [
        entry["artifact"],
        subject,
        entry["metric"].replace("_", " "),
        entry["value"].replace("-", "−") if entry["value"][1:2].isdigit() else entry["value"],
        status.ours,
        str(status.n) if status.n else "",
        status.judgement,
        str(status.at_laptop) if status.at_laptop else "",
        status.module,
    ]


def _describe_trials(artifact: Artifact, results: Results) -> str:
    """How many trials have ended with the artifact's seeds, of all that are declared."""
    trials, seeds = list(artifact.trials(results.profile)), artifact.seeds.get(results.profile, ())
    if not trials:
        return "needs none"
    ended = {row.trial_id for row in results.find_all_rows(trials) if row.seed in seeds}
    return f"{len(ended)} of {len(trials) * len(seeds)}"


def _find_rows(trials: Iterable[Trial], results: Results) -> Iterator[Row]:
    """The rows of these trials with their own seeds."""
    for trial in trials:
        yield from (row for row in results.find_rows(trial) if row.seed == trial.spec.seed)


def describe_standing(ended: int, declared: int, at_laptop: int) -> str:
    """Where something was run."""
    if ended:
        return "run at `paper`" if ended >= declared else "run in part at `paper`"
    return "laptop only" if at_laptop else "declared, not run"


def _list_briefly(values: Sequence[object]) -> str:
    """The values, or their number if they are sequences of steps."""
    if any(isinstance(value, list | tuple) for value in values):
        return f"{len(values)} different"
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)

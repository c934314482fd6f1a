"""Stability: how many of Table 3's trials diverged, and how often a trial was restarted. The paper
describes this in words, without numbers.

At `paper`, a trial of JEM that diverges is restarted from scratch with another seed, as its authors do, at
most twice. Every restart is counted. A trial that diverges after its last restart counts as diverged. Trap:
a few seeds without divergence do not show that none would diverge, even less with fewer steps than the
paper's.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial

from bench.artifact import Column, DataSets, Sheet, Value, on_first
from bench.experiment import Experiment
from bench.judging.claims import Claim, Finding, check_at_most
from bench.judging.results import Results
from bench.paper.experiments.image_arms import ARMS, LONG_JEM, NOISY_VERA
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.image_artifact import ImageArtifact
from bench.paper.tables.accuracy import read_accuracy
from bench.paper.tables.table3 import POINTS
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

QUIET_VERA = "VERA α=100"
VERA = ("VERA α=100", "VERA α=30", "VERA α=1")
SHORT = "that a short training of small networks ends says nothing about 150,000 steps of a Wide ResNet"


def count_restarts(row: Row) -> int:
    return len(json.loads(row.restarts))


def count_unstable(rows: Sequence[Row]) -> int:
    """Trials that diverged or were restarted."""
    return sum(row.outcome == "diverged" or count_restarts(row) > 0 for row in rows)


def find_ended(results: Results, data: Sequence[ImageSetting], *labels: str) -> list[Row]:
    """Rows that ended ok or diverged. A trial that failed otherwise says nothing about the method."""
    trials = (find_arm(label).trial(label, results.profile, each) for each in data for label in labels)
    return [row for row in results.find_all_rows(trials) if row.outcome in ("ok", "diverged")]


def find_arm(label: str) -> Experiment[ImageSetting]:
    """The experiment that has this line."""
    return IMAGES if IMAGES.find_line(label) else ARMS


def noise_is_not_needed(results: Results, data: ImageSetting) -> Finding:
    """Noise on the data makes VERA more accurate by at most the tolerance."""
    with_noise = read_accuracy(results, ARMS, data, NOISY_VERA)
    without = read_accuracy(results, IMAGES, data, QUIET_VERA)
    return check_at_most(f"{NOISY_VERA} − {QUIET_VERA}", with_noise, without, POINTS)


def long_chains_are_stable(data: DataSets[ImageSetting], results: Results) -> Finding:
    """JEM diverges with its own number of steps and not with four times as many. Not testable where it does
    not diverge."""
    sets = data(results.profile)
    short, long = find_ended(results, sets, "JEM"), find_ended(results, sets, LONG_JEM)
    evidence = (
        f"{count_unstable(short)} of {len(short)} trials of JEM diverged or were restarted, "
        f"{count_unstable(long)} of {len(long)} of {LONG_JEM}"
    )
    if min(len(short), len(long)) < 2:
        return Finding("undetermined", evidence)
    if not count_unstable(short):
        return Finding("not testable", "JEM is stable with its own number of steps", measured=evidence)
    return Finding("refuted" if count_unstable(long) else "supported", evidence)


def vera_is_stable(data: DataSets[ImageSetting], results: Results) -> Finding:
    """One divergence refutes it. Support needs the paper's number of steps and more than one seed on every
    data set."""
    sets = data(results.profile)
    rows = find_ended(results, sets, *VERA)
    if not rows:
        return Finding("undetermined", "VERA not run")
    evidence = f"{count_unstable(rows)} of {len(rows)} trials of VERA diverged or began again"
    if count_unstable(rows):
        return Finding("refuted", evidence)
    has_seeds = all(len(find_ended(results, [each], label)) > 1 for each in sets for label in VERA)
    is_enough = has_seeds and results.profile == "paper"
    return Finding("supported" if is_enough else "undetermined", evidence)


def is_unstable(label: str, data: DataSets[ImageSetting], results: Results) -> Finding:
    """One divergence supports it. Trials without divergence refute it at the paper's number of steps, and
    show nothing after fewer."""
    rows = find_ended(results, data(results.profile), label)
    evidence = f"{count_unstable(rows)} of {len(rows)} trials of {label} diverged or began again"
    if rows and count_unstable(rows):
        return Finding("supported", evidence)
    if rows and results.profile != "paper":
        return Finding("not testable", SHORT, measured=evidence)
    return Finding("refuted" if len(rows) > 1 else "undetermined", evidence)


class Stability(ImageArtifact):
    name = "stability"
    title = "Stability: trials of Table 3 that diverged"
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column("diverged", "diverged"),
        Column("fraction", "fraction", 2),
        Column("step", "at steps"),
        Column("restarts", "restarts", 0),
        Column("failed", "failed otherwise", 0),
    )

    def claims_on(self, data: DataSets[ImageSetting]) -> Iterator[Claim]:
        yield Claim(
            "vera-is-stable",
            "VERA trains to the end without diverging.",
            "Sec. 6",
            partial(vera_is_stable, data),
            {"laptop": SHORT},
        )
        yield Claim(
            "jem-is-not",
            "JEM diverges on the way and must be begun again.",
            "Sec. 6",
            partial(is_unstable, "JEM", data),
        )
        yield Claim(
            "long-chains-are-stable",
            "Four times as many sampler steps keep JEM stable.",
            "Sec. 6",
            partial(long_chains_are_stable, data),
        )
        yield Claim(
            "vera-needs-no-noise",
            f"Noise on the data makes VERA more accurate by at most {POINTS:g} points.",
            "Sec. 6",
            on_first(noise_is_not_needed, data),
        )
        yield Claim(
            "jem-needs-noise",
            "Without noise on the data JEM diverges.",
            "Sec. 6",
            partial(is_unstable, "JEM without data noise", data),
        )

    def trials_on(self, profile: Profile, data: Sequence[ImageSetting]) -> Iterator[Trial]:
        """Those of Table 3 and the arms. The table leaves out an arm that was not run."""
        yield from super().trials_on(profile, data)
        yield from ARMS.trials(profile, data)

    def flop(self, trial: Trial) -> float | None:
        return find_arm(trial.label).flop(trial)

    def render(self, results: Results) -> Sheet:
        profile = results.profile
        lines = [
            {"dataset": data.name, "method": trial.label, **self.counts(results, trial)}
            for data in self.data(profile)
            for trial in self.trials_on(profile, [data])
            if ARMS.find_line(trial.label) is None or results.find_rows(trial)
        ]
        text = "Trials that diverged, of all that were run, and how often one began again"
        return self.sheet(results, text, self.columns, lines)

    def counts(self, results: Results, trial: Trial) -> dict[str, Value]:
        rows = results.find_rows(trial)
        if not rows:
            return {"diverged": "not run"}
        diverged = [row for row in rows if row.outcome == "diverged"]
        return {
            "diverged": f"{len(diverged)} of {len(rows)}",
            "fraction": len(diverged) / len(rows),
            "step": ", ".join(f"{row.outcome_step:,}" for row in diverged),
            "restarts": float(sum(map(count_restarts, rows))),
            "failed": float(sum(row.outcome not in ("ok", "diverged") for row in rows)),
        }

"""Speed: a training step of VERA against one of JEM with its 20 Langevin steps, on one classifier, in one
run.

Both take turns on the same batches (see vera/tasks/studies/step_time.py), so what slows the machine slows
both. The paper says 2.8 times faster, for WRN-28-10 on hardware that it does not name; counted in operations
the ratio is about 2.3.

Trap: the ratio belongs to a pair of networks. The generator's k = 20 passes cost the same beside a small
classifier, whose Langevin steps are cheap: at `laptop` two classifiers show how it moves, and neither stands
for the paper's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from bench.artifact import Column, Sheet, Value
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from bench.paper.experiments.image_artifact import PictureArtifact, Sets
from bench.paper.experiments.images import SIZES, line
from bench.paper.values import paper_value
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component, TrialSpec

METRICS = {
    "vera_seconds": "VERA, s",
    "jem_seconds": "JEM, s",
    "ratio": "JEM / VERA",
    "spread": "quartiles' distance",
}
FASTER = "VERA α=100"


@dataclass(frozen=True)
class Pair:
    """A classifier, the generator beside it, and how often a step of each method is timed."""

    label: str
    depth: int
    width: int
    generator: Component
    batch_size: int
    rounds: int


def pairs(profile: Profile) -> tuple[Pair, ...]:
    size = SIZES[profile]
    own = Pair(f"WRN-{size.depth}-{size.width}", size.depth, size.width, size.generator, size.batch_size, 101)
    if profile == "paper":
        return (own,)
    if profile == "smoke":
        return (Pair(own.label, 10, 1, size.generator, size.batch_size, 3),)
    return (
        Pair(own.label, 10, 1, size.generator, size.batch_size, 21),
        Pair("WRN-28-2", 28, 2, size.generator, size.batch_size, 6),
    )


def trial_of(pair: Pair, dataset: Component, profile: Profile) -> Trial:
    """Dropout is JEM's, none: both methods train one network."""
    networks = {
        "energy": {"name": "wrn", "depth": pair.depth, "width": pair.width, "dropout": 0.0},
        "generator": pair.generator,
    }
    method = line(FASTER).settings(profile, 781)
    task = {"name": "step-time", "sampler_steps": 20}
    return Trial(
        TrialSpec(dataset, networks, method, pair.rounds, pair.batch_size, task=task),
        profile,
        label=pair.label,
    )


def faster(results: Results, trial: Trial) -> Finding:
    ratio = results.cell(trial, "ratio")
    if ratio.mean is None or ratio.half_width is None:
        return Finding("undetermined", f"{trial.label}: {ratio.reason or 'too few for an interval'}")
    evidence = f"JEM / VERA with {trial.label} = {ratio.mean:.3g} ± {ratio.half_width:.2g} (n={ratio.n})"
    if abs(ratio.mean - 1) <= ratio.half_width:
        return Finding("undetermined", evidence)
    return Finding("supported" if ratio.mean > 1 else "refuted", evidence)


class Speed(PictureArtifact):
    name = "speed"
    title = "Speed: a training step of VERA and one of JEM"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0, 1), "paper": (0, 1, 2)}
    columns = (
        Column("classifier", "classifier"),
        Column("batch", "batch", 0),
        *(Column(key, header, 3 if key.endswith("seconds") else 2) for key, header in METRICS.items()),
    )

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        """With the last pair of the profile, the one nearest to the paper's."""
        yield Claim("vera-is-faster", "A training step of VERA takes less time than one of JEM.", "Sec. 6",
                    lambda results: faster(results, list(self.trials(results.profile))[-1]))  # fmt: skip

    def trials(self, profile: Profile) -> Iterator[Trial]:
        dataset = self.sets(profile)[0].dataset
        return (trial_of(pair, dataset, profile) for pair in pairs(profile))

    def flop(self, trial: Trial) -> float | None:
        """Of both methods' steps, at the `paper` profile."""
        return 1e9 * (15_400.0 + 35_000.0) * trial.spec.steps if trial.profile == "paper" else None

    def render(self, results: Results) -> Sheet:
        known = paper_value("Text Sec 6", metric="training_speedup_factor")
        lines = [self.entry(results, trial, known) for trial in self.trials(results.profile)]
        text = "Median seconds of a step; both methods take turns on one classifier"
        notes = (
            "Quartiles' distance: of the ratio over the rounds of one run; the first round warms up and is not counted.",
        )
        return self.sheet(results, text, self.columns, lines, notes)

    def entry(self, results: Results, trial: Trial, known: float) -> dict[str, Value]:
        """The paper's 2.8 is shown beside every pair, which its column calls another setting at other
        profiles."""
        cells: dict[str, Value] = {
            key: results.cell(trial, key, known if key == "ratio" else None) for key in METRICS
        }
        return {"classifier": trial.label, "batch": str(trial.spec.batch_size), **cells}

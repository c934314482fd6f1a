"""Speed: a training step of VERA and a training step of JEM with its 20 Langevin steps, on one classifier,
in one run.

Both methods take turns on the same batches (see vera/tasks/studies/step_time.py), so a slow machine slows
both. The paper reports a factor of 2.8 for WRN-28-10 on hardware that it does not name; counted in
operations the ratio is about 2.3.

Trap: the ratio depends on the pair of networks. The generator's k = 20 passes cost the same for a small
classifier, whose Langevin steps are cheap. At `laptop` three pairs show how the ratio changes. In the last
one the generator is as large for its classifier as the paper's; it is the one to hold against the paper's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bench.artifact import Column, DataSets, Sheet, Value
from bench.experiment import Scale
from bench.judging.claims import Claim, Finding, check_mean_above
from bench.judging.compared import ComparedValue
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES, PAPER_IMAGES, ImageExperiment, ImageSetting
from bench.paper.image_artifact import ImageArtifact
from bench.paper.values import PAPER
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component, TrialSpec

METRICS = {
    "vera_seconds": "VERA, s",
    "jem_seconds": "JEM, s",
    "ratio": "JEM / VERA",
    "spread": "quartiles' distance",
}


@dataclass(frozen=True)
class TimedClassifier:
    """A Wide ResNet, the generator beside it, and how often a step of each method is timed."""

    depth: int
    width: int
    rounds: int
    maps: int | None = None
    """The width of the generator, if it is not the scale's."""

    @property
    def label(self) -> str:
        name = f"WRN-{self.depth}-{self.width}"
        return name if self.maps is None else f"{name}, generator of {self.maps} maps"


COLOUR_DIGITS = ImageSetting(
    "digits, 32 × 32 × 3", {"name": "digits32", "labels_per_class": None, "side": 32}
)
SMALL_DIGITS = ImageSetting("digits, 16 × 16 × 3", {**COLOUR_DIGITS.dataset, "side": 16})
SCALES: Mapping[Profile, Scale[ImageSetting]] = {
    "smoke": Scale(
        about="digits at 16 × 16 × 3, SNGAN generator of width 8, batches of 16",
        data=(SMALL_DIGITS,),
        networks={"generator": {"name": "sngan-generator", "width": 8, "latent_dim": 8}},
        steps=None,
        batch_size=16,
        seeds=(0,),
    ),
    "laptop": Scale(
        about="digits at 32 × 32 × 3, SNGAN generator of 16 maps, batches of 16",
        data=(COLOUR_DIGITS,),
        networks={"generator": {"name": "sngan-generator", "width": 16, "latent_dim": 32}},
        steps=None,
        batch_size=16,
        seeds=(0, 1),
    ),
    "paper": IMAGES.scales["paper"],
}
"""Colour images and Wide ResNets at all profiles: the ratio of small grey images says nothing about the
paper's."""
TIMING = ImageExperiment("speed", IMAGES.lines, SCALES, IMAGES.registry)
SMALL_RATES = {"lr": 3e-3, "generator_lr": 1e-3, "posterior_lr": 3e-3, "warmup": 0}
LIKE_PAPER = TimedClassifier(28, 2, rounds=6, maps=48)
"""A generator pass costs the same share of a classifier pass as with WRN-28-10 and 256 maps, a quarter."""
CLASSIFIERS: Mapping[Profile, tuple[TimedClassifier, ...]] = {
    "smoke": (TimedClassifier(10, 1, rounds=3),),
    "laptop": (TimedClassifier(10, 1, rounds=21), TimedClassifier(28, 2, rounds=6), LIKE_PAPER),
    "paper": (TimedClassifier(28, 10, rounds=101),),
}


def make_timing_trial(timed: TimedClassifier, dataset: Component, profile: Profile) -> Trial:
    """Both methods train one network, without dropout, as JEM does."""
    scale, line = TIMING.scales[profile], TIMING.line("VERA α=100")
    generator = scale.networks["generator"]
    networks = {
        "energy": {"name": "wrn", "depth": timed.depth, "width": timed.width, "dropout": 0.0},
        "generator": generator if timed.maps is None else {**generator, "width": timed.maps},
    }
    at_paper = line.settings("paper", PAPER_IMAGES[0].epoch)
    method = at_paper if profile == "paper" else {**line.method, **SMALL_RATES}
    task = {"name": "step-time", "sampler_steps": 20}
    spec = TrialSpec(dataset, networks, method, timed.rounds, scale.batch_size, task=task)
    return Trial(spec, profile, label=timed.label)


def is_faster(results: Results, trial: Trial) -> Finding:
    """Whether the interval of the ratio lies above 1."""
    return check_mean_above(f"JEM / VERA with {trial.label}", results.cell(trial, "ratio"), 1.0)


class Speed(ImageArtifact):
    experiment = TIMING
    name = "speed"
    title = "Speed: a training step of VERA and one of JEM"
    columns = (
        Column("classifier", "classifier"),
        Column("batch", "batch", 0),
        *(Column(key, header, 3 if key.endswith("seconds") else 2) for key, header in METRICS.items()),
    )

    def claims_on(self, data: DataSets[ImageSetting]) -> Iterator[Claim]:
        """Judged with the last classifier of the profile, which is nearest to the paper's."""
        yield Claim(
            "vera-is-faster",
            "A training step of VERA takes less time than one of JEM.",
            "Sec. 6",
            lambda results: is_faster(results, list(self.trials(results.profile))[-1]),
        )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        dataset = self.data(profile)[0].dataset
        return (make_timing_trial(timed, dataset, profile) for timed in CLASSIFIERS[profile])

    def flop(self, trial: Trial) -> float | None:
        """Operations of the steps of both methods at `paper`."""
        return 1e9 * (15_400.0 + 35_000.0) * trial.spec.steps if trial.profile == "paper" else None

    def list_compared(self, results: Results) -> Iterator[ComparedValue]:
        """Every profile times classifiers of its own."""
        yield from (replace(each, label="") for each in super().list_compared(results))

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, trial) for trial in self.trials(results.profile)]
        text = "Median seconds of a step; both methods take turns on one classifier"
        note = (
            "Quartiles' distance: of the ratio over the rounds of one run; "
            "the first round warms up and is not counted."
        )
        return self.sheet(results, text, self.columns, lines, (note,))

    def line(self, results: Results, trial: Trial) -> dict[str, Value]:
        """One classifier, with the paper's 2.8; at other profiles its column calls that another setting."""
        paper = {"ratio": PAPER.read_value("Text Sec 6", metric="training_speedup_factor")}
        cells: dict[str, Value] = {key: results.cell(trial, key, paper.get(key)) for key in METRICS}
        return {"classifier": trial.label, "batch": str(trial.spec.batch_size), **cells}

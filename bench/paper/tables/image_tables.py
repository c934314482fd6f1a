"""What the tables of images share: one data set, the paper's value of a line, and samples judged by a named
network.

A distance means something only beside the network it was taken with and the number of samples, so a column's
header has both. The paper's distances are Inception's on CIFAR10: beside any other network's, or any other
data's, none of them stands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bench.judging.cell import Cell
from bench.judging.claims import Finding, compare
from bench.judging.results import Results, metrics_of
from bench.paper.experiments.image_artifact import PictureArtifact
from bench.paper.experiments.images import COPIED, LINES, Pictures, trials
from bench.paper.values import paper_values
from sweeps.trial.identity import Profile, Trial

NETWORKS = {"inception": "Inception", "digits": "digit classifier"}
SOURCE = "copied in the paper"
"""Of a line that was not trained here: the paper has it from another paper."""
NO_SAMPLES = "draws no samples"
SAMPLES = "quality_samples_"
NO_PROBABILITIES = "the TorchScript network has no class probabilities"


class FirstPictures(PictureArtifact):
    """Of the profile's first data set alone, CIFAR10 in the paper, and without the plain classifier, which
    models no density."""

    def sets(self, profile: Profile) -> Sequence[Pictures]:
        return super().sets(profile)[:1]

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (trial for trial in super().trials(profile) if trial.label != "Classifier")

    def pictures(self, profile: Profile) -> Pictures:
        return self.sets(profile)[0]


class SampledPictures(FirstPictures):
    """Of the methods that draw samples."""

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return trials(profile, self.sets(profile), samples=True)


def printed(
    artifact: str, method: str, metric: str, dataset: str = "CIFAR10", variant: str = ""
) -> float | None:
    """What the paper prints; None where it has no such entry or prints N/A. A variant is known by how it
    begins."""
    wanted = {"artifact": artifact, "dataset": dataset, "method": method, "metric": metric}
    found = [
        row["value"]
        for row in paper_values()
        if wanted.items() <= row.items() and row["variant"].startswith(variant)
    ]
    values = [float(value) for value in found if value != "N/A"]
    return values[0] if len(values) == 1 else None


def referred(label: str) -> tuple[str, str]:
    """A line's method and variant as the paper has them; a plug-in's line has none."""
    known = next((line.reference or {} for line in LINES if line.label == label), {})
    return known.get("method", label), f"{known['variant']}," if "variant" in known else ""


@dataclass(frozen=True)
class Judge:
    """Samples of one data set as its feature network sees them."""

    results: Results
    pictures: Pictures

    @property
    def comparable(self) -> bool:
        """Whether the paper's distances are of this kind."""
        return self.pictures.features == "inception" and self.pictures.reference == "CIFAR10"

    def metric(self, name: str) -> str:
        return f"{name}_{self.pictures.features}"

    def cell(self, trial: Trial, name: str, paper: float | None = None) -> Cell:
        """A metric of a trial's samples, such as fid; the paper's value beside it where both are of one
        kind."""
        found = self.results.cell(trial, self.metric(name), paper if self.comparable else None)
        found = replace(found, comparable=trial.label not in COPIED)
        return found if found.values else replace(found, reason=self._blank(trial, name) or found.reason)

    @property
    def distance(self) -> str:
        """What its distance is called: FID is Inception's alone."""
        return "FID" if self.pictures.features == "inception" else "Fréchet distance"

    def numbers(self, asked: Sequence[Trial]) -> list[float]:
        """Of samples that these trials were judged by."""
        return sorted(
            {n for trial in asked for n in self.results.cell(trial, self.metric("quality_samples")).values}
        )

    def heading(self, name: str, asked: Sequence[Trial]) -> str:
        """With the network and, once it is known, the number of samples."""
        n = self.numbers(asked)
        count = f", n = {' or '.join(f'{v:,.0f}' for v in n)}" if n else ""
        return f"{name} ({NETWORKS[self.pictures.features]}{count})"

    def closer(self, better: Trial, worse: Trial) -> Finding:
        """Whether one's samples lie closer to the data: by FID at one n, else by KID, which does not shrink
        with n."""
        n = self.numbers([better, worse])
        metric, name = (
            ("fid", self.distance)
            if len(n) < 2
            else ("kid", f"KID (n = {' and '.join(f'{v:,.0f}' for v in n)})")
        )
        return compare(
            f"{name} of {worse.label}",
            self.cell(worse, metric),
            better.label,
            self.cell(better, metric),
            better="lower",
        )

    def _blank(self, trial: Trial, name: str) -> str:
        """Why a trial that ended ok lacks it: it has no samples, or its network no probabilities."""
        ended = [metrics_of(row) for row in self.results.like(trial) if row.outcome == "ok"]
        if not ended:
            return ""
        if not any(self.metric("quality_samples") in metrics for metrics in ended):
            others = {
                key.removeprefix(SAMPLES) for metrics in ended for key in metrics if key.startswith(SAMPLES)
            }
            return f"judged by another network ({', '.join(sorted(others))})" if others else NO_SAMPLES
        return NO_PROBABILITIES if name.endswith("score") else ""


def reference_cell(value: float | None = None) -> Cell:
    """What the paper says of a method that we do not have."""
    return Cell(paper=value, reason="not trained here", comparable=False)

"""Quality of samples, as Table 4 and the extended FID table show it: judged by the features of a named
network.

A distance depends on the network and on the number of samples, so a column's header names both. The paper's
distances are Inception's on CIFAR10. They are not shown for any other network or data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.judging.cell import Cell
from bench.judging.claims import Finding, check_above
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.values import PAPER
from sweeps.trial.identity import Trial

NETWORKS = {"inception": "Inception", "digits": "digit classifier", "none": "no network"}
SOURCE = "copied in the paper"
"""The source of a value that the paper has from another paper."""
NOT_TRAINED_HERE = "not trained here"
NO_SAMPLES = "draws no samples"
NO_NETWORK = "no network judges samples of these images"
NO_PROBABILITIES = "the TorchScript network has no class probabilities"


@dataclass(frozen=True)
class SampleQuality:
    """The quality of samples on one data set, by the feature network of that data set."""

    results: Results
    data: ImageSetting

    @property
    def is_comparable(self) -> bool:
        """Whether the paper's distances were measured in this way."""
        return self.data.features == "inception" and self.data.reference == "CIFAR10"

    @property
    def distance(self) -> str:
        """The name of the distance: only Inception's is called FID."""
        return "FID" if self.data.features == "inception" else "Fréchet distance"

    def metric(self, name: str) -> str:
        return f"{name}_{self.data.features}"

    def cell(self, trial: Trial, name: str, paper: float | None = None) -> Cell:
        """A metric of a trial's samples, such as fid, with the paper's value."""
        line = IMAGES.find_line(trial.label)
        found = self.results.cell(trial, self.metric(name), paper)
        found = replace(found, comparable=line is None or not line.copied)
        return found if found.values else replace(found, reason=self._explain(trial, name) or found.reason)

    def find_paper_value(self, artifact: str, trial: Trial, metric: str, samples: str) -> float | None:
        """The paper's value of a line; `samples` is how the paper calls them where a line has several
        kinds."""
        line = IMAGES.find_line(trial.label)
        if line is None or not self.is_comparable:
            return None
        variant = (line.reference or {}).get("variant")
        kind = {} if variant is None else {"variant": f"{variant}, {samples}"}
        return PAPER.find_for(artifact, line, self.data, metric=metric, **kind)

    def find_sample_counts(self, trials: Sequence[Trial]) -> list[float]:
        """The numbers of samples by which these trials were judged."""
        metric = self.metric("quality_samples")
        return sorted({n for trial in trials for n in self.results.cell(trial, metric).values})

    def make_heading(self, name: str, trials: Sequence[Trial]) -> str:
        """The header of a column, with the network and the number of samples if it is known."""
        n = self.find_sample_counts(trials)
        count = f", n = {' or '.join(f'{v:,.0f}' for v in n)}" if n else ""
        return f"{name} ({NETWORKS[self.data.features]}{count})"

    def check_closer(self, better: Trial, worse: Trial) -> Finding:
        """Whether the samples of one trial are closer to the data. By FID if both have the same number of
        samples, otherwise by KID, which is unbiased for any number."""
        n = self.find_sample_counts([better, worse])
        different = f"KID (n = {' and '.join(f'{v:,.0f}' for v in n)})"
        metric, name = ("fid", self.distance) if len(n) < 2 else ("kid", different)
        cells = [self.cell(trial, metric) for trial in (worse, better)]
        return check_above(f"{name} of {worse.label}", cells[0], better.label, cells[1], better="lower")

    def _explain(self, trial: Trial, name: str) -> str:
        """Why a trial that ended ok has no such value: no samples, or a network without probabilities."""
        if self.data.features == "none":
            return NO_NETWORK
        ended = [read_metrics(row) for row in self.results.find_rows(trial) if row.outcome == "ok"]
        if not ended:
            return ""
        if any(self.metric("quality_samples") in metrics for metrics in ended):
            return NO_PROBABILITIES if name.endswith("score") else ""
        prefix = "quality_samples_"
        names = {key for metrics in ended for key in metrics if key.startswith(prefix)}
        others = ", ".join(sorted(name.removeprefix(prefix) for name in names))
        return f"judged by another network ({others})" if others else NO_SAMPLES


def cell_of_paper(value: float | None = None) -> Cell:
    """The cell of a method that is not trained here, with the paper's value."""
    return Cell(paper=value, reason=NOT_TRAINED_HERE, comparable=False)

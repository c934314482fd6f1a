"""Bases of the tables and figures of images. Each of them can be made on other images, with `--dataset`."""

from collections.abc import Sequence

from bench.artifact import DataArtifact
from bench.experiment import Line
from bench.paper.experiments.images import FOR_SAMPLES, IMAGES, WITHOUT_SAMPLES, ImageSetting
from sweeps.trial.identity import Profile


class ImageArtifact(DataArtifact):
    """A table or figure of the image experiment."""

    experiment = IMAGES
    takes = "images"

    def data(self, profile: Profile) -> Sequence[ImageSetting]:
        return [each for each in super().data(profile) if not each.only_in_figures]

    def is_shown(self, line: Line) -> bool:
        return line.label not in FOR_SAMPLES


class FirstSetArtifact(ImageArtifact):
    """About the profile's first data set, CIFAR10 in the paper, without the plain classifier, which models no
    density."""

    def data(self, profile: Profile) -> Sequence[ImageSetting]:
        return super().data(profile)[:1]

    def first_set(self, profile: Profile) -> ImageSetting:
        return self.data(profile)[0]

    def is_shown(self, line: Line) -> bool:
        return super().is_shown(line) and line.label != "Classifier"


class SampleArtifact(FirstSetArtifact):
    """About the samples of the lines that draw any."""

    def is_shown(self, line: Line) -> bool:
        return line.label not in WITHOUT_SAMPLES

"""Two overlapping classes in eight dimensions: labelled points that are no file, for Table 6."""

import numpy as np
import torch

from vera.data import LabelledData, Split
from vera.data.contract import compute_fingerprint
from vera.data.labelled import choose_labelled_rows
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments


@datasets.register("two-classes")
class TwoClasses(LabelledData):
    """2,000 points of two Gaussian classes, a fifth of them held out."""

    name, data_dim, classes = "two-classes", 8, 2
    fingerprint = compute_fingerprint(form="two-classes", version=1)

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = 10):
        rng = np.random.default_rng(0)
        self.y = torch.from_numpy(rng.integers(2, size=2_000))
        self.x = torch.from_numpy(rng.normal(size=(2_000, 8)).astype("float32")) + self.y[:, None]
        self.labels_per_class = labels_per_class

    def split(self, seed):
        order = torch.from_numpy(np.random.default_rng(seed).permutation(2_000))
        train, held_out = order[:1_600], order[1_600:]
        labelled = choose_labelled_rows(self.y[train], self.labels_per_class, seed)
        return Split(self, (self.x[train], self.y[train]), (self.x[held_out], self.y[held_out]), labelled)

"""Figures of images: samples, chains, classes and histograms from stored arrays, and reasons for empty
panels."""

import numpy as np
import pytest
from toys_helpers import record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.images import IMAGES
from bench.paper.figures.image_figures import name_class
from bench.render.plotting import tile_colour_images

SIDE = 4


def make_images(level, *shape):
    return np.full((*shape, 1, SIDE, SIDE), level, np.uint8)


def make_arrays():
    """Arrays of a trial of VERA: class 0 has two samples, class 1 none, class 2 one."""
    samples = np.concatenate([make_images(10, 2), make_images(30, 1)])
    counts = {f"histogram_{name}": np.array([1.0, 3.0]) for name in ("seen", "interpolated")}
    return {
        "generated_samples": make_images(1, 12),
        "refined_samples": make_images(2, 12),
        "chain_images": make_images(3, 2, 5),
        "class_samples": samples,
        "class_labels": np.array([0, 0, 2]),
        "histogram_edges": np.array([0.0, 1.0, 2.0]),
        **counts,
    }


def drawn(tmp_path, name, classes=3.0):
    stored = {"arrays": make_arrays(), "classes": classes, "refinement_acceptance": 0.57}
    trials = [IMAGES.trial("VERA α=100", "laptop", data) for data in IMAGES.data("laptop")]
    results = results_of(tmp_path, [record_of(trial, **stored) for trial in trials])
    drawing = catalogue.artifact(name).render(results)
    return drawing, drawing.draw().get_axes()


def images(axes):
    return [None if not axis.get_images() else np.asarray(axis.get_images()[0].get_array()) for axis in axes]


def test_colour_mosaics_keep_channels_and_reading_order():
    coloured = np.arange(3 * 3, dtype=np.uint8).reshape(3, 3, 1, 1)
    sheet = tile_colour_images(coloured, 2, gap=1)
    assert sheet.shape == (3, 3, 3)
    assert (list(sheet[0, 2]), list(sheet[2, 0]), list(sheet[2, 2])) == ([3, 4, 5], [6, 7, 8], [255] * 3)
    assert tile_colour_images(coloured[:, :1], 3).shape == (1, 5, 3)


@pytest.mark.parametrize(
    ("name", "levels", "title"),
    [
        ("figure4", [2, 2], "MNIST 5k, 16 × 16"),
        ("figure7", [3, 3], "chain 1"),
        ("figure9", [1, 2], "generator"),
        ("figure10", [1, 2], "generator"),
        ("figure11", [10], "digit 0"),
        ("figure21", [10], "digits 8 × 8: digit 0"),
        ("figure22", [None], "digit 1"),
        ("classes", [10], "each class"),
    ],
)
def test_figures_draw_stored_arrays(tmp_path, name, levels, title):
    drawing, axes = drawn(tmp_path, name)
    assert [None if image is None else image[1, 1, 0] for image in images(axes)] == levels
    assert all(image[0, 0, 0] == 0 for image in images(axes) if image is not None)
    assert title in axes[0].get_title()
    assert "57 % were accepted" in drawing.caption


def test_chain_shows_every_step(tmp_path):
    _, axes = drawn(tmp_path, "figure7")
    (first, _) = images(axes)
    assert (first == 3).any(axis=(0, 2)).sum() == 5 * SIDE


def test_empty_class_gives_the_reason(tmp_path):
    _, axes = drawn(tmp_path, "figure22")
    assert "no sample was put into this class" in [text.get_text() for text in axes[0].texts]


@pytest.mark.parametrize("classes", [10, 14, 100])
def test_seven_figures_share_the_first_fourteen_classes(tmp_path, classes):
    titles = [
        axis.get_title()
        for number in range(21, 28)
        for axis in drawn(tmp_path / str(number), f"figure{number}", float(classes))[1]
    ]
    assert titles == [f"digits 8 × 8: digit {label}" for label in range(min(classes, 14))]


def test_class_without_samples_has_a_white_row(tmp_path):
    _, axes = drawn(tmp_path, "classes")
    (sheet,) = images(axes)
    rows = sheet[1 :: SIDE + 3, 1, 0]
    assert list(rows) == [10, 255, 30]


def test_classes_have_the_names_of_the_data_set():
    cifar10, cifar100, svhn = IMAGES.data("paper")
    assert (name_class(cifar10, 9), name_class(cifar100, 13), name_class(svhn, 3)) == (
        "truck",
        "bus",
        "class 3",
    )


def test_histograms_show_shares_of_each_set(tmp_path):
    _, axes = drawn(tmp_path, "outliers")
    found = {
        axis.get_title(): {patch.get_label(): list(patch.get_data().values) for patch in axis.patches}
        for axis in axes
    }
    assert found["VERA α=100"] == {"held-out images": [0.25, 0.75], "interpolated": [0.25, 0.75]}
    assert found["JEM"] == {}
    assert "not run" in [text.get_text() for axis in axes for text in axis.texts]

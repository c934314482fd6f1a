"""The figures of images draw what the rows hold: samples, chains, classes, histograms; and say why a place is
empty."""

import numpy as np
import pytest
from toys_helpers import record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.images import SETS, line, trial_of
from bench.paper.figures.image_figures import class_name
from bench.render.plotting import colour_mosaic

SIDE = 4


def picture(level, *shape):
    return np.full((*shape, 3, SIDE, SIDE), level, np.uint8)


def kept():
    """Arrays as VERA's trials leave them: class 0 has two samples, class 1 none, class 2 one."""
    samples = np.concatenate([picture(10, 2), picture(30, 1)])
    counts = {f"histogram_{name}": np.array([1.0, 3.0]) for name in ("seen", "interpolated")}
    return {
        "generated_samples": picture(1, 12), "refined_samples": picture(2, 12), "chain_images": picture(3, 2, 5),
        "class_samples": samples, "class_labels": np.array([0, 0, 2]), "histogram_edges": np.array([0.0, 1.0, 2.0]), **counts,
    }  # fmt: skip


def drawn(tmp_path, name, classes=3.0):
    trial = trial_of(line("VERA α=100"), SETS["laptop"][0], "laptop")
    results = results_of(
        tmp_path, [record_of(trial, arrays=kept(), classes=classes, refinement_acceptance=0.57)]
    )
    drawing = catalogue.artifact(name).render(results)
    return drawing, drawing.draw().get_axes()


def images(axes):
    return [None if not axis.get_images() else np.asarray(axis.get_images()[0].get_array()) for axis in axes]


def test_colour_mosaics_keep_channels_and_reading_order():
    coloured = np.arange(3 * 3, dtype=np.uint8).reshape(3, 3, 1, 1)
    sheet = colour_mosaic(coloured, 2, gap=1)
    assert sheet.shape == (3, 3, 3)
    assert (list(sheet[0, 2]), list(sheet[2, 0]), list(sheet[2, 2])) == ([3, 4, 5], [6, 7, 8], [255] * 3)
    assert colour_mosaic(coloured[:, :1], 3).shape == (1, 5, 3)


@pytest.mark.parametrize(("name", "levels", "title"), [
    ("figure4", [2], "digits, 32 × 32 × 3"), ("figure7", [3, 3], "chain 1"), ("figure9", [1, 2], "generator"),
    ("figure10", [1, 2], "generator"), ("figure11", [10], "digit 0"), ("figure21", [10, None], "digit 0"),
    ("classes", [10], "each class"),
])  # fmt: skip
def test_figures_draw_what_the_rows_hold(tmp_path, name, levels, title):
    drawing, axes = drawn(tmp_path, name)
    assert [None if image is None else image[0, 0, 0] for image in images(axes)] == levels
    assert title in axes[0].get_title()
    assert "57 % were accepted" in drawing.caption


def test_a_chain_shows_every_step(tmp_path):
    _, axes = drawn(tmp_path, "figure7")
    (first, _) = images(axes)
    assert (first == 3).all(axis=(0, 2)).sum() == 5 * SIDE


def test_an_empty_class_and_a_missing_one_differ(tmp_path):
    _, axes = drawn(tmp_path, "figure21")
    assert "no sample was put into this class" in [text.get_text() for text in axes[1].texts]
    _, axes = drawn(tmp_path, "figure27")
    assert {text.get_text() for axis in axes for text in axis.texts} == {
        "the data have 3 classes: none is left"
    }


def test_the_sheet_of_classes_keeps_a_white_row_for_a_class_without_samples(tmp_path):
    _, axes = drawn(tmp_path, "classes")
    (sheet,) = images(axes)
    rows = sheet[:: SIDE + 1, 0, 0]
    assert list(rows) == [10, 255, 30]


def test_classes_have_the_data_sets_names():
    cifar10, cifar100, svhn = SETS["paper"]
    assert (class_name(cifar10, 9), class_name(cifar100, 13), class_name(svhn, 3)) == (
        "truck",
        "bus",
        "class 3",
    )


def test_histograms_are_shares_of_each_set(tmp_path):
    _, axes = drawn(tmp_path, "outliers")
    found = {
        axis.get_title(): {patch.get_label(): list(patch.get_data().values) for patch in axis.patches}
        for axis in axes
    }
    assert found["VERA α=100"] == {"held-out images": [0.25, 0.75], "interpolated": [0.25, 0.75]}
    assert found["JEM"] == {}
    assert "not run" in [text.get_text() for axis in axes for text in axis.texts]

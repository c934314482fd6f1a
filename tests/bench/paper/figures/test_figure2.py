"""Figure 2: drawn from stored samples, and reasons where there are none."""

import numpy as np
import pytest
from toys_helpers import check_claim, record_of, results_of

from bench.paper.experiments.nice import NICE
from bench.paper.figures.figure2 import SHOWN, TILES, Figure2, convert_to_pixels, tile

FIGURE = Figure2()


def samples(value):
    return np.full((100, 196), value, np.float32)


def drawn(tmp_path, records):
    return FIGURE.render(results_of(tmp_path, records)).draw().axes


def test_logits_are_converted_to_pixels():
    assert np.allclose(convert_to_pixels(np.array([0.0, np.log(3.0), -np.log(3.0)])), [0.5, 0.75, 0.25])


def test_tile_shows_the_first_images_in_reading_order():
    logits = np.log(np.arange(1, 101)[:, None] / np.arange(100, 0, -1)[:, None]) * np.ones((1, 4))
    image = tile(logits)
    rows, columns = TILES
    assert image.shape == (rows * 3 - 1, columns * 3 - 1)
    assert np.allclose(image[0, 0], convert_to_pixels(logits)[0, 0])
    assert np.allclose(image[0, 3], convert_to_pixels(logits)[1, 0])
    assert np.allclose(image[3, 0], convert_to_pixels(logits)[columns, 0])
    assert (image[2] == 1).all(), "white between the rows"


def test_figure_draws_exact_and_training_samples(tmp_path):
    arrays = {"exact_samples": samples(0.0), "training_samples": samples(5.0)}
    axes = drawn(tmp_path, [record_of(NICE.trial("VERA λ=1", "laptop"), arrays=arrays)])
    left, right = (np.asarray(axis.images[0].get_array()) for axis in axes[:2])
    assert np.median(left) == 0.5
    assert np.median(right) > 0.99
    assert [axis.get_ylabel() for axis in axes[::2]] == list(SHOWN)


def test_empty_panel_gives_the_reason(tmp_path):
    ssm = record_of(NICE.trial("SSM", "laptop"), arrays={"exact_samples": samples(0.0)})
    pcd = record_of(NICE.trial("PCD", "laptop"), outcome="diverged", step=17)
    axes = drawn(tmp_path, [ssm, pcd])
    texts = {
        (label, side): [text.get_text() for text in axes[2 * row + side].texts]
        for row, label in enumerate(SHOWN)
        for side in (0, 1)
    }
    assert texts["SSM", 1] == ["trains without samples"]
    assert texts["SSM", 0] == []
    assert texts["PCD", 0] == texts["PCD", 1] == ["diverged at step 17"]
    assert texts["MEG", 0] == ["not run"]


@pytest.mark.parametrize(
    ("shares", "judgement"),
    [
        (((0.2, 0.22), (1e-4, 2e-4)), "supported"),
        (((1e-4, 2e-4), (0.2, 0.22)), "refuted"),
        (((0.2, 0.22), (0.21, 0.21)), "undetermined"),
    ],
)
def test_variety_claim_compares_shares_of_variance(tmp_path, shares, judgement):
    made = [
        record_of(NICE.trial(label, "laptop"), seed, generator_variance_share=share)
        for label, of_seeds in zip(("VERA λ=1", "VERA λ=0"), shares, strict=True)
        for seed, share in enumerate(of_seeds)
    ]
    finding = check_claim(FIGURE, "entropy-keeps-variety", results_of(tmp_path, made))
    assert finding.judgement == judgement
    assert finding.evidence.startswith("share of the data's variance, VERA λ=1 − VERA λ=0 =")

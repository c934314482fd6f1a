"""The reliability diagram: no panel for a data set on which every classifier has a single bin."""

import numpy as np

from bench.paper.extras.reliability import ReliabilityCurve, describe_single_bin, draw, has_shape


def make_curve(label, *points):
    confidence, accuracy = np.array(points).reshape(-1, 2).T
    return ReliabilityCurve(label, confidence, accuracy)


def test_a_single_bin_is_a_note_and_no_panel():
    several, single, none = (
        make_curve("A", (0.5, 0.4), (0.9, 0.8)),
        make_curve("B", (1.0, 0.9)),
        make_curve("C"),
    )
    assert [has_shape(curve) for curve in (several, single, none)] == [True, False, False]
    note = describe_single_bin("wine", [single, none])
    assert all(fact in note for fact in ("wine", "B 1.00 and 0.90"))
    assert "C" not in note.split(":")[1]


def test_the_legend_names_only_the_methods_that_are_drawn():
    figure = draw({"digits": [make_curve("A", (0.5, 0.4), (0.9, 0.8)), make_curve("B")]})
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["A"]

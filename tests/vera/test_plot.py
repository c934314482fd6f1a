"""Plots of densities, samples and curves."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from conformance import probe
from facts import raises_with
from locations import ROOT
from saved_helpers import train_model
from trainer_helpers import Bowl, make_scripted_trainer

from vera.errors import SettingError, VeraError
from vera.plot import plot_curves, plot_density, plot_samples

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def get_image(figure) -> np.ndarray:
    (image,) = figure.axes[0].images
    return np.asarray(image.get_array())


@pytest.mark.parametrize("f", [Bowl(), lambda x: -0.5 * (x**2).sum(1)], ids=["network", "function"])
def test_a_density_is_highest_at_its_mode(f):
    figure = plot_density(f, limits=(-1.0, 3.0, -2.0, 2.0), resolution=41)
    row, column = np.unravel_index(get_image(figure).argmax(), (41, 41))
    assert (row, column) == (20, 10)
    assert figure.axes[0].images[0].origin == "lower"


def test_a_density_can_be_drawn_into_a_panel():
    _, axes = plt.subplots()
    assert plot_density(Bowl(), axes=axes) is axes.get_figure()
    assert len(plt.get_fignums()) == 1


def test_a_function_that_is_not_a_density_is_refused():
    with raises_with(VeraError, "one finite number"):
        plot_density(lambda x: x)
    with raises_with(VeraError, "one finite number"):
        plot_density(lambda x: x.sum(1) * torch.nan)
    with raises_with(SettingError, "score", "SavedModel"):
        plot_density(train_model("vera", "leaky_mlp")[1])
    with raises_with(SettingError, "limits"):
        plot_density(Bowl(), limits=(1.0, 0.0, 0.0, 1.0))


def test_points_of_the_plane_are_scattered():
    x = torch.randn(30, 2)
    (points,) = plot_samples(x).axes[0].collections
    assert np.allclose(points.get_offsets(), x.numpy())


@pytest.mark.parametrize(("dimensions", "panels"), [(1, 1), (4, 4), (50, 9)])
def test_other_points_give_marginals(dimensions, panels):
    figure = plot_samples(np.random.default_rng(0).normal(size=(40, dimensions)), names=["first"])
    titles = [axes.get_title() for axes in figure.axes]
    assert len(titles) == panels
    assert titles[0] == "first"
    assert titles[1:] == [f"x{i}" for i in range(1, panels)]


def test_images_form_a_sheet_with_their_values():
    x = torch.linspace(-1, 1, 5)[:, None, None, None].expand(5, 3, 4, 4)
    sheet = get_image(plot_samples(x))
    assert sheet.shape == (2 * 4, 3 * 4, 3)
    assert np.allclose(sheet[0, ::4, 0], [0, 0.25, 0.5])
    assert np.allclose(sheet[4, ::4, 0], [0.75, 1, 1])  # an empty place is white
    flat = get_image(plot_samples(x[:, 0].flatten(1), side=4))
    assert np.allclose(flat, sheet[..., 0])
    wide = get_image(plot_samples(50 * torch.randn(4, 16), side=4))
    assert (wide.min(), wide.max()) == (0, 1)
    with raises_with(SettingError, "3 x 4 x 4"):
        plot_samples(torch.zeros(2, 16), side=4, channels=3)
    with raises_with(SettingError, "(3,)"):
        plot_samples(torch.zeros(3))


def test_curves_of_one_run_and_of_several():
    trainer = make_scripted_trainer(evaluate=probe, evaluate_every=5)
    trainer.run()
    figure = plot_curves(trainer)
    assert [axes.get_title() for axes in figure.axes] == ["loss", "noise", "probe"]
    (line,) = figure.axes[0].lines
    assert line.get_xydata().tolist() == [[4, 2.5], [8, 6.5], [10, 9.5]]
    both = plot_curves([trainer, trainer.history], ["loss"], labels=["one", "two"])
    assert [text.get_text() for text in both.axes[0].get_legend().get_texts()] == ["one", "two"]
    with raises_with(SettingError, "'accuracy'", "loss"):
        plot_curves(trainer, ["accuracy"])
    with raises_with(SettingError, "2 runs"):
        plot_curves([trainer, trainer], labels=["one"])
    with raises_with(SettingError, "empty"):
        plot_curves(make_scripted_trainer())
    with raises_with(SettingError, "step"):
        plot_curves([{"loss": 1.0}])


@pytest.mark.parametrize(
    ("method", "energy", "panels"), [("vera", "leaky_mlp", 2), ("pcd", "leaky_mlp", 2), ("ml", "nice_6d", 6)]
)
def test_a_model_is_plotted_by_the_shape_of_its_data(method, energy, panels):
    model = train_model(method, energy)[1]
    assert len(model.plot(100, refine=None if model.has_direct_samples else 2).axes) == panels


def test_matplotlib_is_loaded_only_to_plot():
    code = (
        "import sys, vera; vera.plot; vera.load_model; vera.SavedModel; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0

"""The files of a training run, and plots of models of every shape."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from recipe_helpers import IMAGES, POINTS, TABLE, train_briefly

import vera
from vera.recipes import outputs as outputs_module
from vera.recipes import write_outputs


@pytest.mark.parametrize(
    ("data", "method", "plots"),
    [
        (POINTS, "vera", {"density.png", "samples.png"}),
        (POINTS, "dsm", {"density.png", "samples.png"}),
        (TABLE, "vera", {"marginals.png"}),
        (IMAGES, "vera", {"samples.png"}),
    ],
    ids=["plane", "plane by MALA", "table", "images"],
)
def test_model_card_and_plots_are_written(data, method, plots, tmp_path):
    model = train_briefly(data, method=method)
    paths = write_outputs(model, tmp_path / "run")
    assert {path.name for path in paths} == {"model.safetensors", "spec.json", "README.md", *plots}
    assert all(path.stat().st_size > 0 for path in paths)
    assert np.array_equal(vera.load_model(paths[0]).score(data), model.score(data))
    assert "vera.load_model" in paths[2].read_text(encoding="utf-8")
    assert plt.get_fignums() == []


def test_without_matplotlib_there_are_no_plots(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs_module, "find_spec", lambda name: None)
    names = [path.name for path in write_outputs(train_briefly(POINTS), tmp_path)]
    assert names == ["model.safetensors", "spec.json", "README.md"]


def test_a_sheet_shows_black_and_white_of_the_data():
    images = np.zeros((40, 1, 8, 8), dtype=np.uint8)
    images[:, :, :4] = 255
    figure = train_briefly(images, steps=1).plot(n=4)
    (shown,) = figure.axes[0].get_images()
    assert 0.3 < float(np.mean(shown.get_array())) < 0.7
    plt.close(figure)

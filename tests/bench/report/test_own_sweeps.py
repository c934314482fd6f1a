"""The user's own sweeps come first: their configurations, images, curves and failures."""

from dataclasses import replace

import numpy as np
import pytest
from report_helpers import (
    ARTIFACTS,
    fill_store,
    make_own_record,
    open_results,
    parse_page,
)

from bench.report.array_images import draw_arrays
from bench.report.own_sweeps import LINE_LIMIT
from bench.report.page import render_page
from sweeps.store.store import Store


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    store = fill_store(folder)
    images = {"generated_samples": np.zeros((9, 1, 8, 8), np.uint8), "weights": np.zeros(3)}
    store.write(replace(make_own_record(0.1, 0, -50.0), arrays=images))
    store.write(make_own_record(0.1, 1, -52.0))
    store.write(make_own_record(0.2, 0, -40.0))
    for seed in (0, 1):
        store.write(make_own_record(0.3, seed, outcome="diverged", outcome_step=9, reason="loss is nan"))
    return parse_page(render_page(ARTIFACTS, open_results(folder)))


def lines(table):
    return [[cell.text for cell in row.children] for row in table.one("tbody").children]


def test_the_page_opens_with_the_sweeps_that_no_artifact_shows(html):
    sections = [section.attributes["id"] for section in html.all("section")]
    assert sections == ["sweeps", "laptop", "smoke"]
    (own,) = html.all(class_="own")
    assert own.one("h3").children[0].strip() == "my-sweep"
    assert "3 configurations, 5 trials: 3 ok, 2 diverged" in own.text


def test_configurations_are_ranked_by_their_mean(html):
    table = html.one(class_="own").one("table")
    heads = [th.text for th in table.one("thead").all("th")]
    assert heads == ["label", "data set", "method.lr", "seeds", "not ok", "test log likelihood", "loss"]
    assert lines(table) == [
        ["mine", "digits", "0.2", "1", "", "−40", "1.5"],
        ["mine", "digits", "0.1", "2", "", "−51 ± 13", "1.5 ± 0"],
        ["mine", "digits", "0.3", "2", "2", "—", "—"],
    ]


def test_the_best_configurations_have_images_and_a_curve(html):
    cards = list(html.one(class_="own").all("figure"))
    assert [card.one("a").attributes["href"] for card in cards] == ["#open=own020", "#open=own010"]
    assert [card.one("a").text for card in cards] == ["mine on digits, lr 0.2", "mine on digits, lr 0.1"]
    assert [[image.attributes["alt"] for image in card.all("img")] for card in cards] == [
        [],
        ["generated samples"],
    ]
    assert cards[0].one("svg").attributes["aria-label"].startswith("evaluation curve of test_log_likelihood")


def test_failures_are_grouped_by_their_reason(html):
    (failure,) = html.one("ul", class_="failures").all("li")
    assert failure.text.startswith("2 diverged: loss is nan")
    assert failure.one("a").attributes["href"] == "#open=own030"


def test_trials_of_declared_grids_and_of_artifacts_are_not_repeated(tmp_path):
    fill_store(tmp_path).write(make_own_record(0.1, 0, -50.0))
    page = render_page(ARTIFACTS, open_results(tmp_path), grids={"my-sweep"})
    assert not list(parse_page(page).all("section", id="sweeps"))


def test_a_long_sweep_names_the_number_of_omitted_configurations(tmp_path):
    store = Store(tmp_path / "trials")
    for i in range(LINE_LIMIT + 2):
        store.write(make_own_record(1.0 + i, 0, float(-i), points=1))
    html = parse_page(render_page((), open_results(tmp_path, "laptop")))
    assert len(lines(html.one(class_="own").one("table"))) == LINE_LIMIT
    assert "2 more configurations" in html.one(class_="own").text


def test_published_results_open_with_tables_and_figures(tmp_path):
    store = fill_store(tmp_path)
    store.write(make_own_record(0.1, 0, -50.0))
    results = open_results(tmp_path)
    for each in results:
        each.source = "published"
    html = parse_page(render_page(ARTIFACTS, results))
    assert [section.attributes["id"] for section in html.all("section")] == ["laptop", "smoke", "sweeps"]


def test_arrays_are_drawn_by_their_shape():
    points = np.random.default_rng(0).normal(size=(50, 2))
    drawn = draw_arrays(
        {
            "training_samples": points,
            "density_image": np.arange(100.0).reshape(10, 10),
            "flat_images": np.zeros((40, 64), np.float32),
            "colour_images": np.zeros((4, 3, 16, 16), np.uint8),
            "table_of_samples": np.zeros((40, 21)),
            "broken": np.full((10, 2), np.nan),
            "empty": np.zeros((0, 2)),
        }
    )
    assert [(image.label, image.width, image.height) for image in drawn] == [
        ("density", 132, 132),
        ("colour images", 33, 33),
        ("flat images", 53, 53),
        ("training samples", 132, 132),
    ]

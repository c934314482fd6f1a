"""The list of trials with details and curves; no text of a row becomes markup."""

import re
from dataclasses import replace

import numpy as np
import pytest
from jinja2 import UndefinedError
from report_helpers import (
    ARTIFACTS,
    fill_store,
    make_own_record,
    make_record,
    make_trial,
    open_results,
    parse_page,
    read_details,
    read_lines,
    read_list,
)

from bench.report.curve_drawing import POINT_LIMIT, draw_curve, group_points, thin_history
from bench.report.page import load_templates, render_page
from bench.report.trial_detail import flatten_settings
from bench.report.trial_list import HEADLINE_LIMIT, StoredTrial, choose_headlines
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)> & '<!--"


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fill_store(folder)
    return parse_page(render_page(ARTIFACTS, open_results(folder)))


def detail(html, name):
    return read_details(html, "laptop")[f"{name}laptop00000000"]


def facts(node):
    """All pairs of a trial's details."""
    return {
        dt.text: dd.text for dl in node.all("dl") for dt, dd in zip(dl.all("dt"), dl.all("dd"), strict=True)
    }


def test_a_trial_has_a_line_with_sort_values(html):
    assert read_lines(html, "laptop")["vera0laptop00000000"] == {
        "sweep": "table90",
        "label": "VERA λ=1",
        "dataset": "digits",
        "method": "vera",
        "seed": "0",
        "outcome": "ok",
        "steps": "400",
        "test_log_likelihood": "−1138",
        "loss": "1.5",
        "seconds": "200.0",
        "finished": "2026-02-03 04:05",
    }
    table = read_list(html, "laptop")
    values = {column["key"]: column["values"] for column in table["columns"]}
    assert values["test_log_likelihood"] == [-791.25, -793.75, None, None, -1138.5]
    assert values["label"] is None
    assert [column["key"] for column in table["columns"] if column["metric"]] == [
        "test_log_likelihood",
        "loss",
    ]


def test_a_trial_that_did_not_end_ok_lists_no_metrics(html):
    line = read_lines(html, "laptop")["pcd0laptop00000000"]
    assert [line[key] for key in ("outcome", "steps", "test_log_likelihood", "loss", "seconds")] == [
        "diverged", "7 of 400", "—", "—", "0.5"
    ]  # fmt: skip
    assert "Metrics (last finite values)" in detail(html, "pcd0").text
    assert facts(detail(html, "pcd0"))["loss"] == "1.5"


def test_details_hold_metrics_settings_and_provenance(html):
    shown = facts(detail(html, "vera0"))
    assert shown["test_log_likelihood"] == "−1138.5"
    assert shown["method.lr"] == "0.003"
    assert shown["networks.energy.blocks"] == "4"
    assert shown["evaluate_every"] == "null"
    assert shown["git_commit"] == "c0ffeec0ff (changed)"
    assert shown["versions.torch"] == "2.13.0"
    assert (shown["processor"], shown["device"]) == ("An Old Processor", "cpu")


def test_commands_load_the_model_that_is_stored_and_name_the_directory(tmp_path):
    store = fill_store(tmp_path)
    store.models.write("vera0laptop00000000", b"weights")
    html = parse_page(render_page(ARTIFACTS, open_results(tmp_path, "laptop")))
    commands = [code.text for code in detail(html, "vera0").one("dl", class_="commands").all("code")]
    assert commands[0] == f'model = vera.load_model("vera0lap", results="{tmp_path}")'
    assert [text.split(" --results-dir ")[0] for text in commands[1:]] == [
        "vera sample vera0lap -n 64 -o samples.png",
        "vera replay vera0lap",
        "vera compare vera0lap ID -o curves.png",
        "vera show vera0lap",
    ]
    assert all(f"--results-dir {tmp_path}" in text for text in commands[1:])
    others = detail(html, "ml0").one("dl", class_="commands").text
    assert "vera replay ml0lapto --keep-model" in others
    assert "load_model" not in others
    assert "--keep-model" not in detail(html, "pcd0").text, "it diverged"


def test_only_the_latest_trials_have_details_and_images(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.report.trial_list.DETAIL_LIMIT", 2)
    monkeypatch.setattr("bench.report.trial_list.IMAGE_LIMIT", 1)
    store = Store(tmp_path / "trials")
    samples = {"training_samples": np.zeros((9, 2), np.float32)}
    for seed in range(3):
        record = make_record(make_trial("ML", seed=seed), finished_at=f"2026-02-0{seed + 1}T00:00:00+00:00")
        store.write(replace(record, arrays=samples))
    html = parse_page(render_page(ARTIFACTS, open_results(tmp_path, "laptop")))
    details = read_details(html, "laptop")
    assert list(details) == ["ml1laptop00000000", "ml2laptop00000000"]
    assert [len(list(each.all("img"))) for each in details.values()] == [0, 1]
    assert len(read_lines(html, "laptop")) == 3
    assert "Details are here for the 2 trials" in html.one(class_="list").text


def test_details_give_the_reason_restarts_and_log(html):
    diverged, failed = detail(html, "pcd0"), detail(html, "pcd1")
    assert diverged.one(class_="why").text == "Diverged at step 7: loss is nan"
    assert [item.text for item in diverged.one("ol").all("li")] == [
        "seed 77: diverged at step 5, loss is inf"
    ]
    assert failed.one(class_="why").text == "Error at step 0: ValueError: no <such> thing"
    assert failed.one("pre").text == "Traceback\n  in <module>"
    assert not list(detail(html, "ml0").all(class_="why"))


def test_both_kinds_of_curves_are_drawn_and_thinning_is_mentioned(html):
    names = [drawing.attributes["aria-label"].split(":")[0] for drawing in detail(html, "vera0").all("svg")]
    assert names == ["evaluation curve of test_log_likelihood", "training curve of loss"]
    assert "Drawn from at most 200 points each" in detail(html, "vera0").text
    assert "Drawn from at most" not in detail(html, "ml0").text


def test_settings_are_flattened_and_lists_stay_one_value():
    assert dict(flatten_settings({"a": {"b": 1, "c": {"d": "x"}}, "e": [1, 2], "f": True, "g": None})) == {
        "a.b": 1,
        "a.c.d": "x",
        "e": "[1, 2]",
        "f": "true",
        "g": "null",
    }


def test_headlines_are_measured_metrics_then_the_loss():
    row = make_record(make_trial("ML"), -1.0).row
    curves = {
        ("training", "loss"): [(1, 1.0)],
        ("training", "gap"): [(1, 1.0)],
        ("evaluation", "accuracy"): [(1, 1.0)],
    }
    one = StoredTrial(
        row, {"loss": 1.0, "gap": 2.0, "accuracy": 3.0, "accuracy_se": 0.1, "zeta": 4.0}, curves
    )
    two = StoredTrial(row, {"zeta": 4.0}, {})
    three = StoredTrial(row, {"abc": 1.0}, {})
    diverged = StoredTrial(replace(row, outcome="diverged"), {"never": 1.0}, {})
    assert choose_headlines([one, two, three, diverged]) == ["zeta", "accuracy", "abc", "loss"]
    many = dict.fromkeys("abcdefghijklmnop", 1.0)
    assert choose_headlines([StoredTrial(row, many, {})]) == list(many)[:HEADLINE_LIMIT]


def test_a_long_curve_keeps_its_ends_and_its_extremes():
    curve = [(step, float(step % 7)) for step in range(1, 10_001)]
    curve[5_000] = (5_001, 1e9)
    curve[7_000] = (7_001, -1e9)
    kept = thin_history(curve)
    assert len(kept) <= POINT_LIMIT
    assert kept == sorted(kept)
    assert set(kept) <= set(curve)
    assert {curve[0], curve[5_000], curve[7_000], curve[-1]} <= set(kept)


@pytest.mark.parametrize("length", [POINT_LIMIT + 1, POINT_LIMIT + 2, 2 * POINT_LIMIT - 1, 12_345])
def test_no_curve_keeps_more_than_the_limit(length):
    kept = thin_history([(step, (-1.0) ** step) for step in range(length)])
    assert POINT_LIMIT // 2 < len(kept) <= POINT_LIMIT


def test_a_short_curve_is_not_thinned():
    curve = [(step, 1.0 / step) for step in range(1, POINT_LIMIT + 1)]
    assert thin_history(curve) == curve


def read_points(drawing):
    """The points of the line, from the path's relative coordinates."""
    start, *moves = [int(text) for text in re.findall(r"-?\d+", drawing.line)]
    x, y = start, moves.pop(0)
    found = [(x, y)]
    for dx, dy in zip(moves[::2], moves[1::2], strict=True):
        x, y = x + dx, y + dy
        found.append((x, y))
    return found


def test_a_drawing_is_to_scale_and_labels_its_axes():
    drawing = draw_curve(("training", "loss"), [(0, -2.0), (50, 8.0), (100, 3.0)])
    assert read_points(drawing) == [(0, 640), (1000, 0), (2000, 320)]
    assert [label.text for label in drawing.labels] == ["loss", "8", "−2", "0", "step (training)", "100"]
    assert drawing.description == (
        "training curve of loss: −2 at step 0, 3 at step 100, lowest −2, highest 8"
    )


def test_evaluations_are_marked_by_dots():
    assert draw_curve(("evaluation", "a"), [(0, 0.0), (1, 1.0)]).dots == "M0 640h0M2000 0h0"
    assert draw_curve(("training", "a"), [(0, 0.0), (1, 1.0)]).dots == ""


def test_the_page_draws_the_line_and_the_dots(html):
    evaluation, training = detail(html, "vera0").all("svg")
    assert [len(list(svg.all("path", class_="dots"))) for svg in (evaluation, training)] == [1, 0]
    assert all(
        svg.one("path", class_="line").attributes["d"].startswith("M0 ") for svg in (evaluation, training)
    )
    assert next(evaluation.all("text")).text == "test_log_likelihood"


@pytest.mark.parametrize(
    "curve", [[(3, 5.0)], [(0, 2.0), (9, 2.0)], [(0, -1.7e308), (1, 1.7e308)], [(0, 5e-324), (1, 0.0)]]
)
def test_unusual_curves_stay_within_the_frame(curve):
    assert all(
        0 <= x <= 2000 and 0 <= y <= 640 for x, y in read_points(draw_curve(("training", "loss"), curve))
    )


def test_curves_are_grouped_by_kind_and_ordered_by_step():
    points = [
        CurvePoint("x", kind, "loss", step, float(step))
        for kind in ("training", "evaluation")
        for step in (2, 1)
    ]
    assert group_points(points) == {
        ("evaluation", "loss"): [(1, 1.0), (2, 2.0)],
        ("training", "loss"): [(1, 1.0), (2, 2.0)],
    }


def test_no_text_of_a_row_becomes_markup(tmp_path):
    record = make_own_record(
        0.5,
        label=HOSTILE,
        outcome="error",
        reason=HOSTILE,
        log_tail=f"</pre>{HOSTILE}",
        processor=HOSTILE,
        sweep=HOSTILE,
    )
    point = CurvePoint(record.row.trial_id, "training", HOSTILE, 1, 1.0)
    Store(tmp_path / "trials").write(Record(record.row, [point]))
    html = parse_page(render_page(ARTIFACTS, open_results(tmp_path, "laptop"), [HOSTILE]))
    assert [script.attributes.get("type") for script in html.all("script")] == [
        None,
        *["application/gzip"] * 2,
    ]
    assert [
        image.attributes["alt"]
        for image in html.all("img")
        if not image.attributes["src"].startswith("data:")
    ] == []
    assert not [node for node in html.all() if any(name.startswith("on") for name in node.attributes)]
    assert html.one(class_="own").one("h3").children[0].strip() == HOSTILE, "the name of a sweep"
    assert read_lines(html, "laptop")[record.row.trial_id]["label"] == HOSTILE
    opened = read_details(html, "laptop")[record.row.trial_id]
    assert not [node for node in opened.all() if any(name.startswith("on") for name in node.attributes)]
    assert not list(opened.all("script"))
    assert opened.one("pre").text == f"</pre>{HOSTILE}"
    assert opened.one("svg", class_="training").one("text", class_="title").text == HOSTILE


def test_templates_escape_texts_and_refuse_undefined_names():
    environment = load_templates()
    template = environment.from_string('<p title="{{ text }}">{{ text }}</p>')
    node = parse_page(f"<html>{template.render(text=HOSTILE)}</html>").one("p")
    assert (node.attributes["title"], node.children) == (HOSTILE, [HOSTILE])
    with pytest.raises(UndefinedError):
        template.render()

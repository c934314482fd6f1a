"""The list of trials with details and curves; no text of a row becomes markup."""

import re
from dataclasses import replace

import pytest
from jinja2 import UndefinedError
from report_helpers import ARTIFACTS, fill_store, make_record, make_trial, open_results, parse_page

from bench.report.curve_drawing import POINT_LIMIT, draw_curve, group_points, thin_history
from bench.report.page import load_templates, render_page
from bench.report.trial_detail import flatten_settings
from bench.report.trial_list import StoredTrial, choose_headlines
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)> & '<!--"


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fill_store(folder)
    return parse_page(render_page(ARTIFACTS, open_results(folder)))


def body(html, name):
    return html.one("tbody", id=f"trial-{name}laptop00000000")


def facts(node):
    """All pairs of a trial's details."""
    return {
        dt.text: dd.text for dl in node.all("dl") for dt, dd in zip(dl.all("dt"), dl.all("dd"), strict=True)
    }


def test_a_trial_has_a_line_with_sort_values(html):
    table = html.one("table", aria_label="Trials of the laptop profile")
    keys = [th.attributes["data-key"] for th in table.one("thead").all("th")]
    line = body(html, "vera0").children[0]
    shown = dict(zip(keys, line.children, strict=True))
    assert {key: cell.text for key, cell in shown.items()} == {
        "id": "vera0lap",
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
    }
    assert shown["test_log_likelihood"].attributes["data-value"] == "-1138.5"


def test_a_trial_that_did_not_end_ok_lists_no_metrics(html):
    line = [cell.text for cell in body(html, "pcd0").children[0].children]
    assert line[6:] == ["diverged", "7 of 400", "—", "—", "0.5"]
    assert "Metrics (last finite values)" in body(html, "pcd0").text
    assert facts(body(html, "pcd0"))["loss"] == "1.5"


def test_details_hold_metrics_settings_and_provenance(html):
    shown = facts(body(html, "vera0"))
    assert shown["test_log_likelihood"] == "−1138.5"
    assert shown["method.lr"] == "0.003"
    assert shown["networks.energy.blocks"] == "4"
    assert shown["evaluate_every"] == "null"
    assert shown["git_commit"] == "c0ffeec0ff (changed)"
    assert shown["versions.torch"] == "2.13.0"
    assert (shown["processor"], shown["device"]) == ("An Old Processor", "cpu")
    assert "vera replay vera0lap --results-dir /" in body(html, "vera0").text


def test_details_give_the_reason_restarts_and_log(html):
    diverged, failed = body(html, "pcd0"), body(html, "pcd1")
    assert diverged.one(class_="why").text == "Diverged at step 7: loss is nan"
    assert [item.text for item in diverged.one("ol").all("li")] == [
        "seed 77: diverged at step 5, loss is inf"
    ]
    assert failed.one(class_="why").text == "Error at step 0: ValueError: no <such> thing"
    assert failed.one("pre").text == "Traceback\n  in <module>"
    assert not list(body(html, "ml0").all(class_="why"))


def test_both_kinds_of_curves_are_drawn_and_thinning_is_mentioned(html):
    names = [drawing.attributes["aria-label"].split(":")[0] for drawing in body(html, "vera0").all("svg")]
    assert names == ["evaluation curve of test_log_likelihood", "training curve of loss"]
    assert "Drawn from at most 200 points each" in body(html, "vera0").text
    assert "Drawn from at most" not in body(html, "ml0").text


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
    assert choose_headlines([StoredTrial(row, dict.fromkeys("abcdef", 1.0), {})]) == ["a", "b", "c", "d"]


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
    evaluation, training = body(html, "vera0").all("svg")
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
    record = make_record(
        make_trial(HOSTILE),
        outcome="error",
        reason=HOSTILE,
        log_tail=f"</pre>{HOSTILE}",
        processor=HOSTILE,
        sweep=HOSTILE,
    )
    point = CurvePoint(record.row.trial_id, "training", HOSTILE, 1, 1.0)
    Store(tmp_path / "trials").write(Record(record.row, [point]))
    html = parse_page(render_page(ARTIFACTS, open_results(tmp_path, "laptop"), [HOSTILE]))
    assert len(list(html.all("script"))) == 1
    assert [
        image.attributes["alt"]
        for image in html.all("img")
        if not image.attributes["src"].startswith("data:")
    ] == []
    assert not [node for node in html.all() if any(name.startswith("on") for name in node.attributes)]
    line = html.one("tbody", id=f"trial-{record.row.trial_id}").children[0]
    assert line.one(class_="label").text == HOSTILE
    assert html.one("pre").text == f"</pre>{HOSTILE}"
    assert html.one("svg", class_="training").one("text", class_="title").text == HOSTILE


def test_templates_escape_texts_and_refuse_undefined_names():
    environment = load_templates()
    template = environment.from_string('<p title="{{ text }}">{{ text }}</p>')
    node = parse_page(f"<html>{template.render(text=HOSTILE)}</html>").one("p")
    assert (node.attributes["title"], node.children) == (HOSTILE, [HOSTILE])
    with pytest.raises(UndefinedError):
        template.render()

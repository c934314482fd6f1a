"""Figures of searches: the lines, bars and coordinates that the rows make, without torch; and the verbs that
show them."""

import subprocess
import sys

import pytest
from bench_helpers import ROOT, stored
from search_helpers import BEST, fresh_rows, grid_rows, named, rows_at, tpe_rows
from test_render_bare import BARE

from bench.cli.main import main
from bench.render.parallel_coordinates import Scale, marks_of
from bench.report.page import page
from bench.searches.problems import GENERATOR_LR, TOY_GENERATOR_LR
from bench.searches.search_figure import SearchFigures
from bench.searches.search_table import Searches
from sweeps.search.objective import Objective
from sweeps.search.space import choice, uniform


@pytest.fixture
def both(tmp_path):
    return stored(tmp_path, [*grid_rows(), *tpe_rows()])


def panels(results):
    return SearchFigures().render(results).draw().get_axes()


def coordinate_lines(panel):
    return [line for line in panel.get_lines() if len(line.get_xdata()) == 4]


def test_the_best_so_far_never_falls_and_ends_at_what_the_search_cost(both):
    by_steps, by_seconds, *_ = panels(both)
    lines = {line.get_label(): line for line in by_steps.get_lines()}
    assert list(lines) == ["grid", "tpe"]
    for line in [*by_steps.get_lines(), *by_seconds.get_lines()]:
        scores = list(line.get_ydata())
        assert scores == sorted(scores)
    assert lines["grid"].get_xdata()[-1] == 144_000
    assert lines["tpe"].get_ydata()[-1] == pytest.approx(-3.005)
    assert lines["tpe"].get_xdata()[-1] == 44_300, "with what was stopped or diverged last"
    assert by_seconds.get_lines()[0].get_xdata()[-1] == 2.0 * 72


def test_each_axis_has_a_bar_for_each_search(both):
    bars = panels(both)[2]
    assert [tick.get_text() for tick in bars.get_yticklabels()] == ["lr", "generator_lr", "entropy_weight"]
    assert len(bars.patches) == 6
    widths = [bar.get_width() for bar in bars.patches]
    assert max(widths) <= 1
    assert widths[0] > widths[1] > widths[2], "in the grid the scores fall with the first axis fastest"


def test_too_few_scores_are_said_to_be_too_few(tmp_path):
    bars = panels(stored(tmp_path, list(rows_at(named("tpe"), BEST, -3.0, 0))))[2]
    assert [text.get_text().strip() for text in bars.texts] == ["not known"] * 3


def test_every_scored_configuration_is_a_line_and_how_it_ended_shows(both):
    _, _, _, grid, tpe = panels(both)
    assert (len(coordinate_lines(grid)), len(coordinate_lines(tpe))) == (36, 14)
    lines = coordinate_lines(tpe)
    assert sum(line.get_linestyle() == ":" for line in lines) == 1
    assert sum(line.get_alpha() is not None and line.get_alpha() < 0.5 for line in lines) == 2
    (best,) = [line for line in lines if line.get_linewidth() > 2]
    heights = best.get_ydata()
    assert heights[-1] == 1.0
    assert heights[1] == pytest.approx(TOY_GENERATOR_LR.position(BEST["method.generator_lr"]))


def test_one_bad_score_does_not_flatten_the_others():
    scale = Scale([-3.0, -2.9, -2.8, -2.7, -20.0])
    assert scale.low == pytest.approx(-3.5)
    assert scale.place(-20.0) == 0.0
    assert scale.place(-2.9) == pytest.approx(0.75)
    assert [text for _, text in scale.marks(Objective("x", worst=-50.0))] == ["≤ −3.5", "−3.1", "−2.7"]
    assert Scale([-1.0]).place(-1.0) == 1.0
    assert Scale([]).place(0.5) == 0.5


def test_uprights_are_marked_at_round_values_and_at_each_choice():
    assert [text for _, text in marks_of(GENERATOR_LR)] == [
        "3e-06",
        "1e-05",
        "0.0001",
        "0.001",
        "0.01",
        "0.03",
    ]
    assert marks_of(uniform("method.a", low=0.0, high=2.0)) == [(0.0, "0"), (0.5, "1"), (1.0, "2")]
    assert marks_of(choice("method.b", values=(True, False))) == [(0.0, "True"), (1.0, "False")]


def test_without_a_search_one_line_says_so_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "mine", list(fresh_rows(BEST, -3.0)))
    assert main(["render", "searches", "--results-dir", "mine"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert (
        "searches has no trial of the laptop profile in mine. To make them: vera search moons --results-dir mine"
        in captured.err
    )
    assert not (tmp_path / "mine" / "figures").exists()


def test_run_answers_with_the_verb_that_makes_searches(tmp_path, capsys):
    assert main(["run", "searches", "--results-dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "vera: searches has no list of trials: a search proposes them. To begin one: vera search moons\n"
    )


def test_one_name_renders_the_table_and_the_figures_without_torch_ray_and_optuna(tmp_path):
    stored(tmp_path, [*grid_rows(), *tpe_rows()])
    script = 'from bench.cli.main import main\nsys.exit(main(["render", "searches", "--results-dir", sys.argv[1]]))'
    command = [sys.executable, "-W", "error", "-c", BARE + script, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "✓ supported at laptop: moons vera, tpe is at least as good as the grid for 31 % of its steps"
        in done.stdout
    )
    made = sorted(path.name for folder in ("tables", "figures") for path in (tmp_path / folder).iterdir())
    assert made == ["search-figures.pdf", "search-figures.png", "searches.csv", "searches.md", "searches.tex"]


def test_the_report_shows_them_and_says_plainly_where_there_are_none(both, tmp_path):
    text = page([Searches(), SearchFigures()], [both])
    assert "open-ended" in text
    assert "the grid of 36 took 144,000 steps" in text
    assert text.count("data:image/png;base64") == 1
    none = stored(tmp_path / "none", list(fresh_rows(BEST, -3.0)))
    text = page([Searches(), SearchFigures()], [none])
    assert (
        text.count(
            "No trials of this have been run. To run them: <code>vera search moons --profile laptop --results-dir "
        )
        == 2
    )
    assert "data:image/png" not in text

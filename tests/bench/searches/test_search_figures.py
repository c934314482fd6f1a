"""The figure of searches: lines, bars and coordinates; and the commands that show them."""

import pytest
from bare_process import run_bare
from bench_helpers import store_rows
from search_helpers import BEST, make_fresh_rows, make_grid_rows, make_rows, make_search, make_tpe_rows

from bench.cli.main import main
from bench.report.page import render_page
from bench.searches.parallel_coordinates import ScoreScale, make_axis_marks
from bench.searches.problems import GENERATOR_LR, TOY_GENERATOR_LR
from bench.searches.search_figure import SearchFigure
from bench.searches.search_table import SearchTable
from sweeps.search.objective import Objective
from sweeps.search.space import choice, uniform


@pytest.fixture
def both(tmp_path):
    return store_rows(tmp_path, [*make_grid_rows(), *make_tpe_rows()])


def draw_panels(results):
    return SearchFigure().render(results).draw().get_axes()


def find_coordinate_lines(panel):
    return [line for line in panel.get_lines() if len(line.get_xdata()) == 4]


def test_the_best_so_far_never_falls_and_ends_at_the_total_cost(both):
    by_steps, by_seconds, *_ = draw_panels(both)
    lines = {line.get_label(): line for line in by_steps.get_lines()}
    assert list(lines) == ["grid", "tpe"]
    for line in [*by_steps.get_lines(), *by_seconds.get_lines()]:
        scores = list(line.get_ydata())
        assert scores == sorted(scores)
    assert lines["grid"].get_xdata()[-1] == 144_000
    assert lines["tpe"].get_ydata()[-1] == pytest.approx(-3.005)
    assert lines["tpe"].get_xdata()[-1] == 44_300, "including the trials that were stopped or diverged last"
    assert by_seconds.get_lines()[0].get_xdata()[-1] == 2.0 * 72


def test_each_axis_has_a_bar_for_each_search(both):
    bars = draw_panels(both)[2]
    assert [tick.get_text() for tick in bars.get_yticklabels()] == ["lr", "generator_lr", "entropy_weight"]
    assert len(bars.patches) == 6
    widths = [bar.get_width() for bar in bars.patches]
    assert max(widths) <= 1
    assert widths[0] > widths[1] > widths[2], "in the grid the scores fall with the first axis fastest"


def test_importance_is_not_known_for_too_few_scores(tmp_path):
    bars = draw_panels(store_rows(tmp_path, list(make_rows(make_search("tpe"), BEST, -3.0, 0))))[2]
    assert [text.get_text().strip() for text in bars.texts] == ["not known"] * 3


def test_every_scored_configuration_is_a_line_styled_by_its_outcome(both):
    _, _, _, grid, tpe = draw_panels(both)
    assert (len(find_coordinate_lines(grid)), len(find_coordinate_lines(tpe))) == (36, 14)
    lines = find_coordinate_lines(tpe)
    assert sum(line.get_linestyle() == ":" for line in lines) == 1
    assert sum(line.get_alpha() is not None and line.get_alpha() < 0.5 for line in lines) == 2
    (best,) = [line for line in lines if line.get_linewidth() > 2]
    heights = best.get_ydata()
    assert heights[-1] == 1.0
    assert heights[1] == pytest.approx(TOY_GENERATOR_LR.locate(BEST["method.generator_lr"]))


def test_one_bad_score_does_not_flatten_the_others():
    scale = ScoreScale([-3.0, -2.9, -2.8, -2.7, -20.0])
    assert scale.low == pytest.approx(-3.5)
    assert scale.locate(-20.0) == 0.0
    assert scale.locate(-2.9) == pytest.approx(0.75)
    assert [text for _, text in scale.make_marks(Objective("x", worst=-50.0))] == ["≤ −3.5", "−3.1", "−2.7"]
    assert ScoreScale([-1.0]).locate(-1.0) == 1.0
    assert ScoreScale([]).locate(0.5) == 0.5


def test_axes_are_marked_at_round_values_and_at_each_choice():
    assert [text for _, text in make_axis_marks(GENERATOR_LR)] == [
        "3e-06",
        "1e-05",
        "0.0001",
        "0.001",
        "0.01",
        "0.03",
    ]
    assert make_axis_marks(uniform("method.a", low=0.0, high=2.0)) == [(0.0, "0"), (0.5, "1"), (1.0, "2")]
    assert make_axis_marks(choice("method.b", values=(True, False))) == [(0.0, "True"), (1.0, "False")]


def test_without_a_search_the_error_names_the_command_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    store_rows(tmp_path / "mine", list(make_fresh_rows(BEST, -3.0)))
    assert main(["render", "searches", "--results-dir", "mine"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "vera search moons --results-dir mine" in captured.err
    assert not (tmp_path / "mine" / "figures").exists()


def test_run_names_the_command_that_starts_a_search(tmp_path, capsys):
    assert main(["run", "searches", "--results-dir", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "searches" in message
    assert "vera search moons" in message


def test_one_name_renders_the_table_and_the_figures_without_torch_ray_and_optuna(tmp_path):
    store_rows(tmp_path, [*make_grid_rows(), *make_tpe_rows()])
    script = (
        "from bench.cli.main import main\n"
        'sys.exit(main(["render", "searches", "--results-dir", sys.argv[1]]))'
    )
    done = run_bare(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "✓ supported at laptop: moons vera, tpe is at least as good as the grid for 31 % of its steps"
        in done.stdout
    )
    made = sorted(path.name for folder in ("tables", "figures") for path in (tmp_path / folder).iterdir())
    assert made == ["search-figures.pdf", "search-figures.png", "searches.csv", "searches.md", "searches.tex"]


def test_the_report_shows_searches_or_the_command_that_starts_one(both, tmp_path):
    text = render_page([SearchTable(), SearchFigure()], [both])
    assert "open-ended" in text
    assert "the grid of 36 took 144,000 steps" in text
    assert text.count("data:image/png;base64") == 1
    none = store_rows(tmp_path / "none", list(make_fresh_rows(BEST, -3.0)))
    text = render_page([SearchTable(), SearchFigure()], [none])
    assert text.count("<code>vera search moons --profile laptop --results-dir ") == 2
    assert "data:image/png" not in text

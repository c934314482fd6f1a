"""A plug-in's method is searched around its own defaults, within the bounds of its annotations."""

from typing import Annotated

import pytest
from cluster_helpers import run_here
from facts import raises_with
from locations import ROOT

from bench.cli.main import main
from bench.searches.problems import PROBLEMS, find_search
from bench.searches.search_problem import derive_axes
from vera.errors import SettingError, UnknownName
from vera.spec.registry import load_plugin
from vera.spec.settings import Bound, Count, Decay, Positive, UnitInterval

PLUGIN = ROOT / "docs" / "examples" / "noise_contrast.py"


def factory(
    energy: object,
    lr: Annotated[Positive, "learning rate"] = 1e-3,
    whole_number: Positive = 2,
    momentum: Decay = 0.9,
    share: UnitInterval = 0.5,
    plain: float = 3.0,
    narrow: Annotated[float, Bound(0.2, 0.6)] = 0.3,
    zero: float = 0.0,
    k: Count = 20,
    switch: bool = True,
    maybe: Positive | None = None,
    betas: tuple[Decay, Decay] = (0.0, 0.9),
): ...


def test_every_positive_real_setting_is_an_axis_within_its_bounds():
    axes = {axis.short_name: axis for axis in derive_axes(factory)}
    assert list(axes) == ["lr", "whole_number", "momentum", "share", "plain", "narrow"]
    assert all(axis.log for axis in axes.values())
    ends = {name: (axis.low, axis.high) for name, axis in axes.items()}
    assert ends == {
        "lr": (1e-5, 0.1),
        "whole_number": (0.02, 200.0),
        "momentum": (0.009, 0.999999),
        "share": (0.005, 1.0),
        "plain": (0.03, 300.0),
        "narrow": (0.2, 0.6),
    }
    assert (axes["lr"].grid, axes["momentum"].grid, axes["narrow"].grid) == (
        (1e-4, 1e-3, 1e-2),
        (0.09, 0.9),
        (0.3,),
    )


def test_a_plugin_method_is_searched_on_every_problem_with_its_networks():
    assert "noise-contrast" not in PROBLEMS["flow"].searches
    with raises_with(UnknownName, "'flow'", "'noise-contrast'"):
        find_search("flow", "noise-contrast")
    load_plugin(PLUGIN)
    assert [name for name, problem in PROBLEMS.items() if "noise-contrast" in problem.searches] == [
        "moons",
        "circles",
        "rings",
        "flow",
    ]
    search = find_search("flow", "noise-contrast")
    assert search.space.names == ("method.lr", "method.noise")
    for profile in ("smoke", "laptop", "paper"):
        assert search.base(profile).spec.method == {"name": "noise-contrast", "lr": 0.003, "noise": 0.3}
    assert len(list(search.space.iterate_grid())) == 9


def test_a_method_without_a_real_setting_cannot_be_searched(tmp_path):
    text = (
        PLUGIN.read_text(encoding="utf-8")
        .replace("Positive", "Count")
        .replace("= 3e-3", "= 3")
        .replace("= 0.3", "= 1")
    )
    (tmp_path / "whole.py").write_text(text, encoding="utf-8")
    load_plugin(tmp_path / "whole.py")
    with raises_with(SettingError, "'noise-contrast'"):
        find_search("moons", "noise-contrast")


def test_the_list_of_problems_includes_a_plugin_method(capsys):
    assert main(["search", "--plugin", str(PLUGIN)]) == 0
    assert "noise-contrast" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.usefixtures("shared_ray")
def test_a_search_of_a_plugin_method_runs_and_is_rendered(tmp_path):
    where = ("--plugin", PLUGIN, "--profile", "smoke", "--results-dir", tmp_path)
    grid = ("--max-concurrent", 1, "--sampler", "grid", "--grid", "lr=3e-3,3e-2", "--grid", "noise=0.3")
    code, out, err = run_here("search", "flow", "--method", "noise-contrast", *grid, *where)
    assert (code, err) == (0, "")
    assert "2 configurations, 0 of them stopped early, 0 without a score" in out
    assert f"--plugin {PLUGIN}" in out.partition("to see it: ")[2]
    code, out, err = run_here("render", "searches", *where)
    assert (code, err) == (0, "")
    assert "noise-contrast" in out

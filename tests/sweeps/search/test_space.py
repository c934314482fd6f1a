"""Search spaces: axes, grids, draws, and points written into and read from specifications."""

import json
import random

import pytest
from facts import raises_with
from search_space import SPACE, SPEC

from sweeps.search.space import Axis, Space, choice, integer, log_uniform, uniform
from vera.errors import SettingError


def test_a_point_applied_to_a_spec_can_be_read_back():
    rng = random.Random(0)
    for _ in range(200):
        point = SPACE.draw(rng)
        spec = SPACE.apply(SPEC, point)
        assert spec.method["lr"] == spec.method["generator_lr"] == point["method.lr"]
        assert SPACE.read(json.loads(json.dumps(spec.to_dict()))) == point
    assert SPEC.method == {"name": "vera", "lr": 1e-3}


@pytest.mark.parametrize("changes", [{"lr": 0.5}, {"lr": 2e-3}, {"penalty": "none"}, {"penalty": True}])
def test_a_spec_outside_the_space_has_no_point(changes):
    inside = SPACE.apply(
        SPEC, {"method.lr": 1e-3, "networks.generator.latent_dim": 2, "method.penalty": "half"}
    )
    assert SPACE.read(inside.to_dict()) is not None
    assert SPACE.read({**inside.to_dict(), "method": {**inside.method, **changes}}) is None


def test_draws_are_uniform_on_the_scale_of_the_axis():
    axis, rng = log_uniform("method.lr", low=1e-4, high=1e-2), random.Random(1)
    draws = [axis.draw(rng) for _ in range(2_000)]
    assert sum(value < 1e-3 for value in draws) / 2_000 == pytest.approx(0.5, abs=0.04)
    assert sorted({integer("batch_size", low=1, high=3).draw(rng) for _ in range(100)}) == [1, 2, 3]
    assert [axis.locate(value) for value in (1e-4, 1e-3, 1e-2)] == pytest.approx([0, 0.5, 1])


def test_the_grid_has_every_combination_and_the_last_axis_varies_fastest():
    points = list(SPACE.iterate_grid())
    assert len(points) == 8
    assert [point["method.penalty"] for point in points[:4]] == ["half", "full"] * 2
    with raises_with(SettingError, "'method.lr'", "--sampler"):
        list(Space((uniform("method.lr", low=0, high=1),)).iterate_grid())


def test_grid_values_can_be_replaced_by_path_or_short_name():
    for name in ("lr", "method.lr", "method.generator_lr"):
        assert SPACE.with_grid(name, ["1e-2", "0.005", "0.01"]).axes[0].grid == (1e-2, 5e-3)
    assert SPACE.with_grid("latent_dim", ["3"]).axes[1].grid == (3,)
    assert SPACE.with_grid("penalty", ["Full"]).axes[2].grid == ("full",)
    assert SPACE.axes[0].grid == (1e-4, 1e-3)
    boolean = Space((choice("method.reduced", values=(True, False)),)).with_grid("reduced", ["false"])
    assert boolean.axes[0].grid == (False,)


@pytest.mark.parametrize(
    ("name", "texts", "facts"),
    [
        ("lrr", ["1"], ("'lrr'", "lr?")),
        ("lr", ["0.5"], ("'lr'", "0.5", "0.0001 to 0.01")),
        ("lr", ["nan"], ("nan",)),
        ("lr", ["fast"], ("'lr'", "'fast'", "number")),
        ("lr", [""], ("'lr'", "'' in its grid")),
        ("latent_dim", ["2.5"], ("2.5",)),
        ("penalty", ["none"], ("'none'", "one of half, full")),
    ],
)
def test_grid_values_outside_an_axis_are_refused(name, texts, facts):
    with raises_with(SettingError, *facts):
        SPACE.with_grid(name, texts)


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e999", "2.5"])
def test_an_integer_axis_refuses_other_numbers(text):
    with raises_with(SettingError, "'latent_dim'", str(float(text)), "1 to 8"):
        SPACE.with_grid("latent_dim", [text])


@pytest.mark.parametrize(
    ("build", "fact"),
    [
        (lambda: log_uniform("method.lr", low=0, high=1), "low > 0"),
        (lambda: Axis(("method.lr",)), "choices"),
        (lambda: Axis(()), "'method.lr'"),
        (lambda: uniform("method.lr", low=0, high=1, grid=(2.0,)), "0 to 1"),
        (lambda: Space((uniform("steps", low=1, high=2),)).apply(SPEC, {"steps": 1}), "'steps'"),
        (
            lambda: Space((uniform("networks.critic.width", low=1, high=2),)).apply(
                SPEC, {"networks.critic.width": 1}
            ),
            "'networks.critic.width'",
        ),
    ],
)
def test_invalid_axes_are_refused(build, fact):
    with raises_with(SettingError, fact):
        build()

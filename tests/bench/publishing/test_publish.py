"""How trials come to ship: which of them, what is kept of each, and that what shipped before is not
touched."""

import numpy as np
import pytest
from store_helpers import make_row

from bench.publishing.publish import POINTS, main, slim_curves
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store

CLEAN = {"git_commit": "0123456789abcdef", "git_dirty": False}


def trial(name, seed=0, *, rate=1, sweep="table10", profile="paper", outcome="ok", **changes):
    spec = f'{{"method":{{"lr":{rate}}},"seed":{seed}}}'
    values = (
        CLEAN | {"spec": spec, "seed": seed, "sweep": sweep, "profile": profile, "outcome": outcome} | changes
    )
    curves = [CurvePoint(name, "training", "loss", step, float(step)) for step in range(1, 1001)]
    return Record(make_row(name, **values), curves, {"samples": np.full(3, seed)})


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Publishes these records of table10; gives the exit code and the store that ships."""
    monkeypatch.chdir(tmp_path)

    def run(*records, flags=()):
        own = Store(tmp_path / "mine" / "trials")
        for record in records:
            own.write(record)
        code = main(["mine", "table10", *flags])
        return code, Store(tmp_path / "results" / "published" / "trials")

    return run


def test_a_training_curve_becomes_means_of_neighbours_at_the_last_ones_step():
    points = [CurvePoint("a", "training", "loss", step, float(step)) for step in range(1, 251)]
    slim = list(slim_curves(reversed(points)))
    assert [point.step for point in slim[:2]] == [3, 6]
    assert [point.value for point in slim[:2]] == [2.0, 5.0]
    assert (slim[-1].step, slim[-1].value) == (250, 250.0)
    assert len(slim) <= POINTS


def test_short_curves_and_evaluations_stay_as_they_are():
    training = [CurvePoint("a", "training", "loss", step, float(step)) for step in range(1, POINTS + 1)]
    evaluations = [CurvePoint("a", "evaluation", "score", step, float(step)) for step in range(1, 3 * POINTS)]
    assert sorted(slim_curves(training + evaluations), key=str) == sorted(training + evaluations, key=str)


def test_every_metric_has_a_curve_of_its_own():
    points = [
        CurvePoint("a", "training", name, step, value)
        for step in range(1, 401)
        for name, value in (("x", 1.0), ("y", 2.0))
    ]
    assert {(point.metric, point.value) for point in slim_curves(points)} == {("x", 1.0), ("y", 2.0)}


def test_rows_go_as_they_are_with_slim_curves_and_arrays_of_the_first_seed(publish, capsys):
    records = [
        trial("a1", 1),
        trial("a0", 0),
        trial("b1", 1, rate=2),
        trial("c0", rate=3, outcome="diverged"),
    ]
    code, shipped = publish(*records)
    assert code == 0
    assert capsys.readouterr().out.startswith("4 trials of table10 at paper are new in results/published")
    assert {row.trial_id: row for row in shipped.read_rows()} == {
        record.row.trial_id: record.row for record in records
    }
    assert len(shipped.read_curves("a1")) == POINTS
    assert {name for name in ("a0", "a1", "b1", "c0") if shipped.read_arrays(name)} == {"a0", "b1", "c0"}


@pytest.mark.parametrize(("arrays", "kept"), [("none", set()), ("first", {"a0"}), ("all", {"a0", "a1"})])
def test_arrays_are_kept_as_asked(publish, arrays, kept):
    _, shipped = publish(trial("a0"), trial("a1", 1), flags=["--arrays", arrays])
    assert {name for name in ("a0", "a1") if shipped.read_arrays(name)} == kept


def test_other_sweeps_and_profiles_are_left_alone(publish):
    _, shipped = publish(trial("a0"), trial("b0", sweep="figure1"), trial("c0", profile="laptop"))
    assert list(shipped.read_outcomes()) == ["a0"]


def test_what_failed_is_named_and_left_out(publish, capsys):
    code, shipped = publish(trial("a0"), trial("b0", outcome="out_of_memory", label="PCD", dataset="moons"))
    assert code == 0
    assert list(shipped.read_outcomes()) == ["a0"]
    assert "left out: b0 PCD moons seed 0, out_of_memory" in capsys.readouterr().out


@pytest.mark.parametrize("changes", [{"git_dirty": True}, {"git_commit": ""}])
def test_what_changed_code_trained_is_refused_with_all_else(publish, capsys, changes):
    code, shipped = publish(trial("a0"), trial("b0", **changes))
    assert code == 2
    assert shipped.read_rows() == []
    assert (
        "b0. To run them again, from a clean commit: vera run table10 --profile paper --retry ok\n"
        in capsys.readouterr().err
    )


def test_a_second_call_adds_files_and_changes_none(publish, tmp_path):
    publish(trial("a0"), trial("b0", rate=2))
    folder = tmp_path / "results" / "published" / "trials"
    before = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    _, shipped = publish(trial("c0", rate=3), trial("d0", rate=4))
    assert len(shipped.read_rows()) == 4
    assert all(path.read_bytes() == text for path, text in before.items())
    assert len(list(folder.rglob("rows/*.parquet"))) == 2


def test_a_place_without_trials_is_said_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["nowhere", "table10"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_a_sweep_without_trials_is_said_so(publish, capsys):
    publish(trial("a0"))
    assert main(["mine", "tabel10"]) == 2
    assert "mine has no trial of tabel10 at paper. Did you mean table10?" in capsys.readouterr().err


def test_arrays_of_the_first_seed_are_enough_in_a_later_call_too(publish):
    publish(trial("a0"), trial("b0", rate=2))
    _, shipped = publish(trial("a1", 1), trial("c1", 1, rate=3))
    assert {name for name in ("a0", "b0", "a1", "c1") if shipped.read_arrays(name)} == {"a0", "b0", "c1"}

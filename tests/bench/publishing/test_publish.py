"""`vera publish`: which trials are copied, what is kept of them, and that published files never change."""

import numpy as np
import pytest
from store_helpers import make_row

from bench.cli.main import main
from bench.publishing.publish import MAX_POINTS, thin_curves
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
    """Publish these records of table10; the exit code and the published store."""
    monkeypatch.chdir(tmp_path)

    def run(*records, flags=()):
        own = Store(tmp_path / "mine" / "trials")
        for record in records:
            own.write(record)
        code = main(["publish", "mine", "table10", *flags])
        return code, Store(tmp_path / "results" / "published" / "trials")

    return run


def test_training_curve_is_averaged_over_neighbours():
    points = [CurvePoint("a", "training", "loss", step, float(step)) for step in range(1, 251)]
    thinned = list(thin_curves(reversed(points)))
    assert [point.step for point in thinned[:2]] == [3, 6]
    assert [point.value for point in thinned[:2]] == [2.0, 5.0]
    assert (thinned[-1].step, thinned[-1].value) == (250, 250.0)
    assert len(thinned) <= MAX_POINTS


def test_short_curves_and_evaluations_stay_as_they_are():
    training = [CurvePoint("a", "training", "loss", step, float(step)) for step in range(1, MAX_POINTS + 1)]
    evaluations = [
        CurvePoint("a", "evaluation", "score", step, float(step)) for step in range(1, 3 * MAX_POINTS)
    ]
    assert sorted(thin_curves(training + evaluations), key=str) == sorted(training + evaluations, key=str)


def test_metrics_are_averaged_separately():
    points = [
        CurvePoint("a", "training", name, step, value)
        for step in range(1, 401)
        for name, value in (("x", 1.0), ("y", 2.0))
    ]
    assert {(point.metric, point.value) for point in thin_curves(points)} == {("x", 1.0), ("y", 2.0)}


def test_rows_are_unchanged_curves_thinned_and_arrays_of_the_first_seed_kept(publish, capsys):
    records = [
        trial("a1", 1),
        trial("a0", 0),
        trial("b1", 1, rate=2),
        trial("c0", rate=3, outcome="diverged"),
    ]
    code, published = publish(*records)
    assert code == 0
    out = capsys.readouterr().out
    assert all(fact in out for fact in ("4 new trials", "table10", "paper", "results/published"))
    assert {row.trial_id: row for row in published.read_rows()} == {
        record.row.trial_id: record.row for record in records
    }
    assert len(published.read_curves("a1")) == MAX_POINTS
    assert {name for name in ("a0", "a1", "b1", "c0") if published.read_arrays(name)} == {"a0", "b1", "c0"}


@pytest.mark.parametrize(("arrays", "kept"), [("none", set()), ("first", {"a0"}), ("all", {"a0", "a1"})])
def test_arrays_flag(publish, arrays, kept):
    _, published = publish(trial("a0"), trial("a1", 1), flags=["--arrays", arrays])
    assert {name for name in ("a0", "a1") if published.read_arrays(name)} == kept


def test_other_sweeps_and_profiles_are_not_copied(publish):
    _, published = publish(trial("a0"), trial("b0", sweep="figure1"), trial("c0", profile="laptop"))
    assert list(published.read_outcomes()) == ["a0"]


def test_failed_trial_is_named_and_left_out(publish, capsys):
    code, published = publish(trial("a0"), trial("b0", outcome="out_of_memory", label="PCD", dataset="moons"))
    assert code == 0
    assert list(published.read_outcomes()) == ["a0"]
    assert "left out: b0 PCD moons seed 0, out_of_memory" in capsys.readouterr().out


@pytest.mark.parametrize("changes", [{"git_dirty": True}, {"git_commit": ""}])
def test_trials_of_uncommitted_code_are_refused(publish, capsys, changes):
    code, published = publish(trial("a0"), trial("b0", **changes))
    assert code == 2
    assert published.read_rows() == []
    err = capsys.readouterr().err
    assert all(fact in err for fact in ("b0", "uncommitted code", "unknown commit"))
    assert err.endswith("vera run table10 --profile paper --retry ok\n")


def test_second_call_adds_files_and_changes_none(publish, tmp_path):
    publish(trial("a0"), trial("b0", rate=2))
    folder = tmp_path / "results" / "published" / "trials"
    before = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    _, published = publish(trial("c0", rate=3), trial("d0", rate=4))
    assert len(published.read_rows()) == 4
    assert all(path.read_bytes() == text for path, text in before.items())
    assert len(list(folder.rglob("rows/*.parquet"))) == 2


def test_location_without_trials_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["publish", "nowhere", "table10"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_sweep_without_trials_is_refused(publish, capsys):
    publish(trial("a0"))
    assert main(["publish", "mine", "tabel10"]) == 2
    err = capsys.readouterr().err
    assert all(fact in err for fact in ("mine", "tabel10", "paper", "Did you mean table10?"))


def test_later_call_keeps_no_arrays_of_another_seed(publish):
    publish(trial("a0"), trial("b0", rate=2))
    _, published = publish(trial("a1", 1), trial("c1", 1, rate=3))
    assert {name for name in ("a0", "b0", "a1", "c1") if published.read_arrays(name)} == {"a0", "b0", "c1"}


@pytest.mark.parametrize("other", [{"sweep": "figure1"}, {"profile": "laptop"}])
def test_arrays_of_another_sweep_or_profile_do_not_count(publish, tmp_path, other):
    Store(tmp_path / "results" / "published" / "trials").write(trial("a0", **other))
    _, published = publish(trial("a1", 1), trial("a2", 2))
    assert {name for name in ("a0", "a1", "a2") if published.read_arrays(name)} == {"a0", "a1"}


@pytest.mark.parametrize(
    ("models", "ids"), [("none", []), ("first", ["a0", "b1"]), ("all", ["a0", "a1", "b1"])]
)
def test_models_are_copied_on_request(models, ids, publish, tmp_path, capsys):
    own = Store(tmp_path / "mine" / "trials")
    records = [trial(f"{name}{seed}", seed, rate=rate) for rate, name in enumerate("ab") for seed in (0, 1)]
    for trial_id in ("a1", "a0", "b1"):
        own.models.write(trial_id, trial_id.encode() * 50)
    code, target = publish(*records, flags=["--models", models])
    assert (code, list(target.models.list_sizes())) == (0, ids)
    assert all(target.models.read(trial_id) == own.models.read(trial_id) for trial_id in ids)
    size = f"{100 * len(ids)} bytes"
    assert (size in capsys.readouterr().out) is (models != "none")


def test_models_of_trials_that_are_published_already_follow_if_the_metrics_agree(publish, tmp_path):
    own = Store(tmp_path / "mine" / "trials")
    _, target = publish(trial("a0"), trial("b0", rate=2))
    for trial_id in ("a0", "b0"):
        own.models.write(trial_id, b"weights")
    target.write(trial("b0", rate=2, attempt=2, metrics='{"loss": 9.5}'))
    publish(flags=["--models", "first"])
    assert list(target.models.list_sizes()) == ["a0"]

"""`vera run` and the other verbs, from the command line to the rows, with a Ray of their own."""

import json
import re
import shlex

import pytest
from engine_helpers import PLUGIN, ROOT, vera

from bench.cli.main import main, parser
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """toy-demo, run at the smoke profile: (results directory, exit code, stdout, stderr)."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, *vera("run", "toy-demo", "--profile", "smoke", "--results-dir", folder)


def lines(capsys, *arguments):
    """Exit code and stdout of a verb that needs no Ray."""
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out


def test_a_sweep_ends_as_rows(demo):
    folder, code, out, err = demo
    assert (code, err) == (0, "")
    rows = Store(folder / "trials").rows()
    assert {row.trial_id for row in rows} == {trial.id for trial in find_sweep("toy-demo").trials("smoke")}
    assert {(row.outcome, row.attempt, row.sweep) for row in rows} == {("ok", 1, "toy-demo")}
    assert out.count("✓") == 9
    assert out.endswith(
        f"9 of 9 trials are done and in {folder}; to see it: vera report --results-dir {folder}\n"
    )
    assert "\x1b" not in out


def test_nothing_is_left_behind_but_the_store(demo):
    assert sorted(path.name for path in (demo[0] / "checkpoints").glob("*")) == []
    assert not list(demo[0].rglob("*.tmp"))


def test_a_finished_sweep_runs_nothing(demo, capsys, monkeypatch):
    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: pytest.fail("something ran"))
    code, out = lines(capsys, "run", "toy-demo", "--profile", "smoke", "--results-dir", demo[0])
    assert code == 0
    assert "9 already done" in out


def test_a_stored_trial_is_planned_with_other_seeds_and_its_own_profile(demo, capsys):
    row = Store(demo[0] / "trials").rows()[0]
    code, out = lines(capsys, "plan", f"trial:{row.trial_id[:8]}", "--seeds", 5, "--results-dir", demo[0])
    assert code == 0
    assert f"trial:{row.trial_id[:8]} · smoke profile · 5 trials · 3 already done" in out
    assert main(["plan", "trial:zzzz", "--results-dir", str(demo[0])]) == 2
    assert f"No trial in {demo[0] / 'trials'} has the id 'zzzz'" in capsys.readouterr().err


def test_status_list_plan_and_dry_run_tell_what_is_there(demo, capsys):
    where = ("--results-dir", demo[0])
    assert re.search(r"toy-demo +smoke +ok +9", lines(capsys, "status", *where)[1])
    assert re.search(r"toy-demo +smoke 9/9 ", lines(capsys, "list", *where)[1])
    code, out = lines(capsys, "plan", "toy-demo", "--profile", "smoke", "--seeds", 4, *where)
    assert code == 0
    assert "12 trials · 9 already done · less than a minute" in out
    assert out.count("60 steps") == 3
    code, out = lines(capsys, "run", "toy-demo", "--profile", "smoke", "--seeds", 5, "--dry-run", *where)
    assert code == 0
    assert "15 trials · 9 already done" in out
    assert out.count("60 steps") == 6
    assert len(Store(demo[0] / "trials").rows()) == 9


def test_show_and_replay_take_the_beginning_of_an_id(demo, capsys):
    row = next(row for row in Store(demo[0] / "trials").rows() if row.label == "ML")
    code, out = lines(capsys, "show", row.trial_id[:8], "--results-dir", demo[0])
    assert code == 0
    assert row.trial_id in out
    assert "test_log_likelihood" in out
    code, out = lines(capsys, "replay", row.trial_id[:8], "--results-dir", demo[0])
    assert "identical to the stored row" in out
    assert code == 0


def test_a_seed_more_runs_exactly_the_new_trials(demo):
    folder = demo[0]
    before = {row.trial_id: row for row in Store(folder / "trials").rows()}
    code, out, err = vera("run", "toy-demo", "--profile", "smoke", "--seeds", 4, "--results-dir", folder)
    assert (code, err) == (0, "")
    after = {row.trial_id: row for row in Store(folder / "trials").rows()}
    assert len(after) == 12
    assert {name: after[name] for name in before} == before
    assert out.count("✓") == 3


def test_failures_are_rows_the_others_go_on_and_retry_runs_only_them(tmp_path):
    arguments = ("faults", "--results-dir", tmp_path, "--plugin", PLUGIN.relative_to(ROOT))
    code, out, err = vera("run", *arguments, "--time-limit", 6)
    assert (
        f"2 of 4 trials are done and in {tmp_path}; to run again what failed: vera retry faults --profile smoke --results"
        in out
    )
    rows = {row.label: row for row in Store(tmp_path / "trials").rows()}
    outcomes = {label: row.outcome for label, row in rows.items()}
    assert outcomes == {"good": "ok", "raises": "error", "diverges": "diverged", "slow": "timeout"}
    assert code == 1
    assert "raises seed 0 ended as error" in err
    assert "vera show" in err
    assert "ValueError: raised on request" in rows["raises"].log_tail
    assert json.loads(rows["slow"].metrics).keys() >= {"test_log_likelihood"}

    code, _, err = vera("retry", *arguments, "--time-limit", 6, TROUBLE_MENDED=1)
    again = {row.label: row for row in Store(tmp_path / "trials").rows()}
    assert {label: row.attempt for label, row in again.items()} == {
        "good": 1,
        "raises": 2,
        "diverges": 1,
        "slow": 2,
    }
    assert (again["good"], again["diverges"]) == (rows["good"], rows["diverges"])
    assert (again["raises"].outcome, again["slow"].outcome, code) == ("ok", "timeout", 1)


@pytest.mark.parametrize("place", ["results/local", "my results"])
def test_the_commands_that_are_offered_look_into_the_same_store(place, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: None)
    assert main(["run", "toy-demo", "--profile", "smoke", "--seeds", "1", "--results-dir", place]) == 1
    shown = re.findall(r"see: (.*)$", capsys.readouterr().err, re.MULTILINE)
    assert len(shown) == 3
    assert main(["status", "--results-dir", place]) == 0
    shown += re.findall(r"To begin: (.*)$", capsys.readouterr().out, re.MULTILINE)
    for command in shown:
        assert parser().parse_args(shlex.split(command)[1:]).results_dir == place
        assert ("--results-dir" in command) == (place != "results/local")


@pytest.mark.parametrize(("verb", "place"), [
    ("run toy-demo", "file/results"), ("plan toy-demo", "file/results"), ("status", "file/results"),
    ("run table2", "/proc/results"),
])  # fmt: skip
def test_a_results_directory_that_cannot_be_used_is_one_clear_line(
    verb, place, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("not a directory")
    assert main([*verb.split(), "--results-dir", place]) == 2
    err = capsys.readouterr().err
    assert err.startswith("vera: ")
    assert place in err
    assert len(err.splitlines()) == 1


def test_who_only_looks_needs_no_place_to_write(capsys):
    for verb in (["plan", "toy-demo"], ["status"], ["list"]):
        assert main([*verb, "--results-dir", "/proc/results"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "toy-dmo"], "toy-demo"),
        (["run", "toy-demo", "--only", "metod=ml"], "method"),
        (["run", "toy-demo", "--only", "seed=77"], "No trial of toy-demo fits"),
        (["run", "toy-demo", "--retry", "eror"], "error"),
        (["run", "toy-demo", "--plugin", "nowhere.py"], "nowhere.py"),
        (["show", "0000"], "0000"),
    ],
)
def test_a_mistake_is_answered_in_one_line(arguments, words, tmp_path, capsys):
    assert main([*arguments, "--results-dir", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err


def test_a_table_too_small_for_a_batch_is_refused_once(tmp_path, capsys):
    file = tmp_path / "small.csv"
    file.write_text("a,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(60)))
    dataset = f"csv:{file},label=kind"
    assert main(["run", "table6", "--dataset", dataset, "--results-dir", str(tmp_path / "results")]) == 2
    assert (
        "small.csv has 54 rows to train with and 6 held out, and a batch takes 64: hold out fewer, or add rows."
        in capsys.readouterr().err
    )
    assert main(["run", "table6", "--dataset", dataset, "--data-dir", str(tmp_path / "other")]) == 2
    assert "leave --data-dir out" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--seeds", "--max-concurrent"])
def test_a_count_is_at_least_one(flag, capsys):
    with pytest.raises(SystemExit):
        main(["run", "toy-demo", flag, "0"])
    assert "at least 1" in capsys.readouterr().err


def test_missing_data_are_named_once_before_anything_runs(tmp_path, capsys):
    from sweeps.trial.identity import Trial
    from sweeps.trial.sweep import sweep, sweeps
    from vera.spec.trial_spec import TrialSpec

    @sweep("needs-files", "trials on data that are not there", seeds=(0, 1))
    def needs_files(profile, seeds):
        for seed in seeds:
            yield Trial(
                TrialSpec(
                    {"name": "mnist-logit"}, {"energy": {"name": "nice"}}, {"name": "ml"}, 1, seed=seed
                ),
                profile,
            )

    try:
        code = main(
            ["run", "needs-files", "--results-dir", str(tmp_path / "results"), "--data-dir", str(tmp_path)]
        )
    finally:
        del sweeps._known["needs-files"]
    assert code == 2
    error = capsys.readouterr().err
    assert error.count("vera data fetch mnist") == 1
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_bad_part_is_named_by_whoever_comes_upon_it(tmp_path, capsys):
    (tmp_path / "trials" / "rows").mkdir(parents=True)
    (tmp_path / "trials" / "rows" / "zz.parquet").write_text("no Parquet")
    assert main(["plan", "toy-demo", "--profile", "smoke", "--results-dir", str(tmp_path)]) == 0
    assert "rows/zz.parquet is not readable" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flag", [("--cpus-per-trial", "0"), ("--time-limit", "nan"), ("--gpus-per-trial", "-1")]
)
def test_numbers_that_mean_nothing_are_refused(flag, capsys):
    with pytest.raises(SystemExit):
        main(["run", "toy-demo", *flag])
    assert flag[0] in capsys.readouterr().err

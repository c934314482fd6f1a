"""`vera run` and the other verbs, from the command line to the rows."""

import json
import re
import shlex
import subprocess
import sys

import pytest
from bare_process import block_imports
from cluster_helpers import run_here
from engine_helpers import PATIENCE, PLUGIN, ROOT

from bench.cli.main import build_parser, main
from sweeps.run.attempt import run_trial
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from sweeps.trial.sweep import find_sweep, sweep
from vera.spec.trial_spec import TrialSpec

RUN = "\nimport sys\nfrom bench.cli.main import main\nsys.exit(main(sys.argv[1:]))\n"
DEMO = ("run", "toy-demo", "--profile", "smoke")


@pytest.mark.long
def test_a_sweep_in_a_process_of_its_own_ends_as_rows(tmp_path):
    """It runs without the packages for exports, and with a plug-in that imports Ray early: Ray reads some
    settings on import, so they must be set before."""
    folder, plugin = tmp_path / "demo", tmp_path / "careless.py"
    plugin.write_text("import ray\n")
    script = block_imports({"mlflow", "wandb", "tensorboardX"}) + RUN
    place = ("--plugin", str(plugin), "--results-dir", str(folder))
    command = [sys.executable, "-W", "error", "-c", script, *DEMO, *place]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = Store(folder / "trials").read_rows()
    assert {row.trial_id for row in rows} == {trial.id for trial in find_sweep("toy-demo").trials("smoke")}
    assert {(row.outcome, row.attempt, row.sweep) for row in rows} == {("ok", 1, "toy-demo")}
    assert done.stdout.count("✓") == 9
    last = done.stdout.splitlines()[-1]
    assert "9 of 9" in last
    assert "vera render toy-demo --profile smoke" in last
    assert f"--results-dir {folder}" in last
    assert "\x1b" not in done.stdout
    assert list((folder / "checkpoints").glob("*")) == []
    assert not list(folder.rglob("*.tmp"))


@pytest.fixture(scope="module", autouse=True)
def no_plugin_lines():
    """The demo would also train the methods of the trouble plug-in, which stays until the module ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sweeps.trial.sweep.find_plugin_methods", lambda *_: ())
        yield


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A results directory with the trials of toy-demo at the smoke profile."""
    folder = tmp_path_factory.mktemp("demo")
    store = Store(folder / "trials")
    for trial in find_sweep("toy-demo").trials("smoke"):
        store.write(run_trial(trial))
    return folder


def test_a_finished_sweep_runs_nothing(demo, monkeypatch):
    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: pytest.fail("something ran"))
    code, out, _ = run_here(*DEMO, "--results-dir", demo)
    assert code == 0
    assert "9 already done" in out


def test_a_stored_trial_is_planned_with_other_seeds_and_its_own_profile(demo):
    name = f"trial:{Store(demo / 'trials').read_rows()[0].trial_id[:8]}"
    code, out, _ = run_here("plan", name, "--seeds", 5, "--results-dir", demo)
    assert code == 0
    assert f"{name} · smoke profile · 5 trials · 3 already done" in out
    code, _, err = run_here("plan", "trial:zzzz", "--results-dir", demo)
    assert code == 2
    assert str(demo / "trials") in err
    assert "'zzzz'" in err


def test_status_list_plan_and_dry_run_show_what_is_stored(demo):
    place = ("--results-dir", demo)
    assert re.search(r"toy-demo +smoke +ok +9", run_here("status", *place)[1])
    assert re.search(r"toy-demo +smoke 9/9 ", run_here("list", *place)[1])
    code, out, _ = run_here("plan", "toy-demo", "--profile", "smoke", "--seeds", 4, *place)
    assert code == 0
    assert "12 trials · 9 already done · less than a minute" in out
    assert out.count("60 steps") == 3
    code, out, _ = run_here(*DEMO, "--seeds", 5, "--dry-run", *place)
    assert code == 0
    assert "15 trials · 9 already done" in out
    assert out.count("60 steps") == 6
    assert len(Store(demo / "trials").read_rows()) == 9


def test_show_and_replay_accept_the_beginning_of_an_id(demo):
    row = next(row for row in Store(demo / "trials").read_rows() if row.label == "ML")
    code, out, _ = run_here("show", row.trial_id[:8], "--results-dir", demo)
    assert code == 0
    assert row.trial_id in out
    assert "test_log_likelihood" in out
    code, out, _ = run_here("replay", row.trial_id[:8], "--results-dir", demo)
    assert "identical" in out
    assert code == 0


def test_one_more_seed_runs_only_the_new_trials(demo, shared_ray):
    before = {row.trial_id: row for row in Store(demo / "trials").read_rows()}
    code, out, err = run_here(*DEMO, "--seeds", 4, "--results-dir", demo, "--max-concurrent", 1)
    assert (code, err) == (0, "")
    after = {row.trial_id: row for row in Store(demo / "trials").read_rows()}
    assert len(after) == 12
    assert {name: after[name] for name in before} == before
    assert out.count("✓") == 3


@pytest.mark.long
@pytest.mark.usefixtures("trouble_plugin")
def test_failures_are_rows_and_retry_runs_only_them(tmp_path, shared_ray):
    flags = ("--plugin", PLUGIN.relative_to(ROOT), "--time-limit", 3, "--max-concurrent", 1)
    arguments = ("faults", "--results-dir", tmp_path, *flags)
    code, out, err = run_here("run", *arguments)
    assert "2 of 4" in out
    assert f"vera retry faults --profile smoke --results-dir {tmp_path}" in out
    rows = {row.label: row for row in Store(tmp_path / "trials").read_rows()}
    outcomes = {label: row.outcome for label, row in rows.items()}
    assert outcomes == {"good": "ok", "raises": "error", "diverges": "diverged", "slow": "timeout"}
    assert code == 1
    assert re.search(r"raises seed 0.*error.*vera show", err)
    assert "ValueError: raised on request" in rows["raises"].log_tail
    assert json.loads(rows["slow"].metrics).keys() >= {"test_log_likelihood"}

    shared_ray.mended.touch()
    code, _, err = run_here("retry", *arguments)
    again = {row.label: row for row in Store(tmp_path / "trials").read_rows()}
    attempts = {label: row.attempt for label, row in again.items()}
    assert attempts == {"good": 1, "raises": 2, "diverges": 1, "slow": 2}
    assert (again["good"], again["diverges"]) == (rows["good"], rows["diverges"])
    assert (again["raises"].outcome, again["slow"].outcome, code) == ("ok", "timeout", 1)


@pytest.mark.parametrize("place", ["results/local", "my results"])
def test_the_suggested_commands_use_the_same_store(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: [])
    code, _, err = run_here(*DEMO, "--seeds", 1, "--results-dir", place)
    assert code == 1
    shown = re.findall(r"vera show .*$", err, re.MULTILINE)
    assert len(shown) == 3
    code, out, _ = run_here("status", "--results-dir", place)
    assert code == 0
    shown += re.findall(r"vera run .*$", out, re.MULTILINE)
    assert len(shown) == 4
    for command in shown:
        assert build_parser().parse_args(shlex.split(command)[1:]).results_dir == place
        assert ("--results-dir" in command) == (place != "results/local")


@pytest.mark.parametrize(
    ("verb", "place"),
    [
        ("run toy-demo", "file/results"),
        ("plan toy-demo", "file/results"),
        ("status", "file/results"),
        ("run table2", "/proc/results"),
    ],
)
def test_an_unusable_results_directory_is_refused_in_one_line(verb, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("not a directory")
    code, _, err = run_here(*verb.split(), "--results-dir", place)
    assert code == 2
    assert err.startswith("vera: ")
    assert place in err
    assert len(err.splitlines()) == 1


def test_verbs_that_only_read_need_no_writable_directory():
    for verb in (["plan", "toy-demo"], ["status"], ["list"]):
        code, _, err = run_here(*verb, "--results-dir", "/proc/results")
        assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["run", "toy-dmo"], "toy-demo"),
        (["run", "toy-demo", "--only", "metod=ml"], "method"),
        (["run", "toy-demo", "--only", "seed=77"], "toy-demo"),
        (["run", "toy-demo", "--retry", "eror"], "error"),
        (["run", "toy-demo", "--plugin", "nowhere.py"], "nowhere.py"),
        (["show", "0000"], "0000"),
    ],
)
def test_a_mistake_is_refused_in_one_line(arguments, fact, tmp_path):
    code, _, err = run_here(*arguments, "--results-dir", tmp_path)
    assert code == 2
    assert fact in err
    assert len(err.splitlines()) == 1


def test_a_table_too_small_for_a_batch_is_refused_once(tmp_path):
    file = tmp_path / "small.csv"
    file.write_text("a,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(60)))
    command = ("run", "table6", "--dataset", f"csv:{file},label=kind")
    code, _, err = run_here(*command, "--results-dir", tmp_path / "results")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert [fact for fact in ("small.csv", " 54 ", " 6 ", " 64") if fact not in err] == []
    code, _, err = run_here(*command, "--data-dir", tmp_path / "other")
    assert code == 2
    assert "--data-dir" in err


@pytest.mark.parametrize("flag", ["--seeds", "--max-concurrent"])
def test_a_count_is_at_least_one(flag, capsys):
    with pytest.raises(SystemExit):
        main(["run", "toy-demo", flag, "0"])
    assert "at least 1" in capsys.readouterr().err


def test_missing_data_are_named_once_before_anything_runs(tmp_path):
    @sweep("needs-files", "trials on missing data", seeds=(0, 1))
    def needs_files(profile, seeds):
        for seed in seeds:
            networks = {"energy": {"name": "nice"}}
            yield Trial(TrialSpec({"name": "mnist-logit"}, networks, {"name": "ml"}, 1, seed=seed), profile)

    code, _, err = run_here(
        "run", "needs-files", "--results-dir", tmp_path / "results", "--data-dir", tmp_path
    )
    assert code == 2
    assert err.count("vera data fetch mnist") == 1
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_damaged_part_is_named_by_the_command_that_finds_it(tmp_path):
    (tmp_path / "trials" / "rows").mkdir(parents=True)
    (tmp_path / "trials" / "rows" / "zz.parquet").write_text("no Parquet")
    code, _, err = run_here("plan", "toy-demo", "--profile", "smoke", "--results-dir", tmp_path)
    assert code == 0
    assert "rows/zz.parquet" in err


@pytest.mark.parametrize(
    "flag", [("--cpus-per-trial", "0"), ("--time-limit", "nan"), ("--gpus-per-trial", "-1")]
)
def test_meaningless_numbers_are_refused(flag, capsys):
    with pytest.raises(SystemExit):
        main(["run", "toy-demo", *flag])
    assert flag[0] in capsys.readouterr().err

"""Provenance: the commit of the checkout, the versions and the processor. Rows hold the hash of the plug-in
that trained them, and a plan reports rows of an edited plug-in."""

import json
import shlex
import subprocess
from dataclasses import replace

import pytest
from engine_helpers import ROOT, vera

from bench.catalogue import catalogue
from bench.cli.main import build_parser, main
from sweeps.run import provenance
from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.provenance import collect_source_hashes, collect_versions, read_git_state
from sweeps.store.store import Store
from sweeps.trial.filter import filter_trials
from vera.spec.registry import datasets, load_plugin, methods
from vera.spec.trial_spec import TrialSpec

EXAMPLES = ROOT / "docs" / "examples"
MINE = "method=noise-contrast"


@pytest.fixture(autouse=True)
def restored_registries(monkeypatch):
    """Entries of plug-ins are removed from the registries after each test."""
    for registry in (methods, datasets):
        monkeypatch.setattr(registry, "_known", dict(registry._entries))


@pytest.fixture
def plugin(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text((EXAMPLES / "noise_contrast.py").read_text(encoding="utf-8"), encoding="utf-8")
    load_plugin(file)
    return file


def edit(file):
    file.write_text(
        file.read_text(encoding="utf-8").replace("softplus(-log_odds)", "softplus(-log_odds * 2)"),
        encoding="utf-8",
    )


def trials(only=MINE):
    return filter_trials(catalogue.sweep("table2").trials("smoke"), [only])


def read_offered_command(message):
    """The arguments of the command at the end of the message."""
    return shlex.split(message[message.index("vera run ") :])[1:]


@pytest.fixture
def trained(plugin, tmp_path):
    """The flags of a run of Table 2 in which the plug-in's line and that of maximum likelihood are
    finished."""
    store = Store(tmp_path / "trials")
    for trial in (*trials(), *trials("method=ml")):
        store.write(run_trial(trial))
    return ["table2", "--profile", "smoke", "--results-dir", str(tmp_path), "--plugin", str(plugin)]


def test_editing_a_plug_in_changes_its_hash_and_not_the_trial_id(plugin):
    (before,) = trials()
    source = collect_source_hashes(before.spec)
    assert source.keys() == {"method_source"}
    assert json.loads(run_trial(before).row.versions).items() >= source.items()
    edit(plugin)
    load_plugin(plugin)
    (after,) = trials()
    assert after.id == before.id
    assert collect_source_hashes(after.spec) != source


def test_a_row_without_plug_ins_has_no_hash():
    (ml,) = trials("method=ml")
    assert collect_source_hashes(ml.spec) == {}
    assert not [name for name in json.loads(run_trial(ml).row.versions) if name.endswith("_source")]


def test_a_data_set_of_a_plug_in_has_a_hash():
    load_plugin(EXAMPLES / "two_classes.py")
    spec = TrialSpec(
        {"name": "two-classes"},
        {"energy": {"name": "mlp-classifier"}},
        {"name": "supervised"},
        1,
        task="joint",
    )
    assert collect_source_hashes(spec).keys() == {"dataset_source"}


@pytest.mark.parametrize("verb", [["plan"], ["run", "--dry-run"]])
def test_an_edited_method_is_reported_with_the_command_that_trains_it_again(verb, trained, plugin, capsys):
    assert main([*verb[:1], *trained, *verb[1:]]) == 0
    assert capsys.readouterr().err == ""
    edit(plugin)
    assert main([*verb[:1], *trained, *verb[1:]]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "'noise-contrast'" in line
    assert "1 trial" in line
    offered = build_parser().parse_args(read_offered_command(line))
    assert (offered.only, offered.retry, offered.plugin, offered.profile) == (
        [MINE],
        "ok",
        [str(plugin)],
        "smoke",
    )


def test_a_row_without_a_hash_gives_no_report(plugin, tmp_path, capsys):
    (trial,) = trials()
    record = run_trial(trial)
    Store(tmp_path / "trials").write(replace(record, row=replace(record.row, versions="{}")))
    edit(plugin)
    flags = ["--profile", "smoke", "--results-dir", str(tmp_path), "--plugin", str(plugin)]
    assert main(["plan", "table2", *flags]) == 0
    assert capsys.readouterr().err == ""


def test_the_offered_command_trains_the_edited_method_and_nothing_else(trained, plugin, tmp_path, capsys):
    edit(plugin)
    assert main(["plan", *trained]) == 0
    offered = read_offered_command(capsys.readouterr().err)
    before = {row.label: row for row in Store(tmp_path / "trials").read_rows()}
    code, _, err = vera(*offered)
    assert (code, err) == (0, "")
    after = {row.label: row for row in Store(tmp_path / "trials").read_rows()}
    assert after["ML"] == before["ML"]
    assert after["noise-contrast"].attempt == 2
    assert after["noise-contrast"].metrics != before["noise-contrast"].metrics
    assert main(["plan", *trained]) == 0
    assert capsys.readouterr().err == ""


def test_a_checkpoint_of_the_file_before_its_edit_is_not_used(plugin, tmp_path):
    """Otherwise the row would hold the hash of one source for the work of both."""
    (trial,) = trials()
    conditions = Conditions(checkpoint_dir=str(tmp_path / "checkpoints"))
    attempt = Attempt(trial, conditions)
    attempt.advance(60, until=1)
    attempt.save()
    assert Attempt(trial, conditions).step == 1
    edit(plugin)
    load_plugin(plugin)
    assert Attempt(*trials(), conditions).step == 0


def test_only_selects_trials_by_any_of_their_networks(plugin):
    names = {trial.spec.method["name"] for trial in trials("generator=nice-generator")}
    assert names >= {"vera", "meg"}
    assert not names & {"ml", "pcd"}


def test_the_commit_is_that_of_the_checkout():
    head = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    assert read_git_state()[0] == head.stdout.strip()


def test_code_outside_a_checkout_has_no_commit(monkeypatch, tmp_path):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert read_git_state() == ("", False)


def test_a_change_of_the_code_is_noticed_and_a_change_of_results_is_not(monkeypatch, tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    (tmp_path / "results").mkdir()
    for name in ("code.py", "results/table.md"):
        (tmp_path / name).write_text("one")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    (tmp_path / "results" / "table.md").write_text("two")
    assert read_git_state()[1] is False
    (tmp_path / "code.py").write_text("two")
    assert read_git_state()[1] is True


def test_packages_that_are_not_installed_are_left_out(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("numpy", "no-such-package"))
    assert collect_versions().keys() == {"python", "numpy"}

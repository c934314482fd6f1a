"""A plug-in that was edited keeps the rows that it had; they say which source trained them, and a plan says
that it differs."""

import json
import shlex
from dataclasses import replace

import pytest
from engine_helpers import ROOT, vera

from bench.cli.main import main, parser
from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.plugin_sources import plugin_sources
from sweeps.store.store import Store
from sweeps.trial.filter import matching
from sweeps.trial.sweep import find_sweep
from vera.spec.registry import datasets, load_plugin, methods

EXAMPLES = ROOT / "docs" / "examples"
MINE = "method=noise-contrast"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What plug-ins register is forgotten after each test."""
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

    return matching(find_sweep("table2").trials("smoke"), [only])


@pytest.fixture
def trained(plugin, tmp_path):
    """The flags of a run of Table 2 whose own line and that of maximum likelihood are done."""
    store = Store(tmp_path / "trials")
    for trial in (*trials(), *trials("method=ml")):
        store.write(run_trial(trial))
    return ["table2", "--profile", "smoke", "--results-dir", str(tmp_path), "--plugin", str(plugin)]


def test_a_row_names_the_source_of_what_a_plug_in_brings_and_its_identity_does_not_change(plugin):
    (before,) = trials()
    source = plugin_sources(before.spec)
    assert source.keys() == {"method_source"}
    assert json.loads(run_trial(before).row.versions).items() >= source.items()
    edit(plugin)
    load_plugin(plugin)
    (after,) = trials()
    assert after.id == before.id
    assert plugin_sources(after.spec) != source


def test_a_row_of_ours_names_no_source():
    (ml,) = trials("method=ml")
    assert plugin_sources(ml.spec) == {}
    assert not [name for name in json.loads(run_trial(ml).row.versions) if name.endswith("_source")]


def test_a_data_set_has_a_source_too():
    from vera.spec.trial_spec import TrialSpec

    load_plugin(EXAMPLES / "two_classes.py")
    spec = TrialSpec(
        {"name": "two-classes"},
        {"energy": {"name": "mlp-classifier"}},
        {"name": "supervised"},
        1,
        task="joint",
    )
    assert plugin_sources(spec).keys() == {"dataset_source"}


@pytest.mark.parametrize("verb", [["plan"], ["run", "--dry-run"]])
def test_an_edited_method_is_named_with_the_command_that_trains_it_anew(verb, trained, plugin, capsys):
    assert main([*verb[:1], *trained, *verb[1:]]) == 0
    assert capsys.readouterr().err == ""
    edit(plugin)
    assert main([*verb[:1], *trained, *verb[1:]]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "vera: The file of the method 'noise-contrast' was edited since 1 trial was trained with it"
    )
    offered = parser().parse_args(shlex.split(line.partition("To train anew: ")[2])[1:])
    assert (offered.only, offered.retry, offered.plugin, offered.profile) == (
        [MINE],
        "ok",
        [str(plugin)],
        "smoke",
    )


def test_a_row_without_a_source_says_nothing(plugin, tmp_path, capsys):
    (trial,) = trials()
    record = run_trial(trial)
    Store(tmp_path / "trials").write(replace(record, row=replace(record.row, versions="{}")))
    edit(plugin)
    assert (
        main(
            ["plan", "table2", "--profile", "smoke", "--results-dir", str(tmp_path), "--plugin", str(plugin)]
        )
        == 0
    )
    assert capsys.readouterr().err == ""


def test_the_command_that_is_offered_trains_the_edited_method_and_nothing_else(
    trained, plugin, tmp_path, capsys
):
    edit(plugin)
    assert main(["plan", *trained]) == 0
    offered = shlex.split(capsys.readouterr().err.partition("To train anew: ")[2])[1:]
    before = {row.label: row for row in Store(tmp_path / "trials").rows()}
    code, _, err = vera(*offered)
    assert (code, err) == (0, "")
    after = {row.label: row for row in Store(tmp_path / "trials").rows()}
    assert after["ML"] == before["ML"]
    assert after["noise-contrast"].attempt == 2
    assert after["noise-contrast"].metrics != before["noise-contrast"].metrics
    assert main(["plan", *trained]) == 0
    assert capsys.readouterr().err == ""


def test_a_checkpoint_of_the_unedited_file_is_dropped(plugin, tmp_path):
    """Else a row would name the one source for what both have trained."""
    (trial,) = trials()
    conditions = Conditions(checkpoint_dir=str(tmp_path / "checkpoints"))
    attempt = Attempt(trial, conditions)
    attempt.advance(60, until=1)
    attempt.save()
    assert Attempt(trial, conditions).step == 1
    edit(plugin)
    load_plugin(plugin)
    assert Attempt(*trials(), conditions).step == 0


def test_trials_are_chosen_by_any_of_their_networks(plugin):
    names = {trial.spec.method["name"] for trial in trials("generator=nice-generator")}
    assert names >= {"vera", "meg"}
    assert not names & {"ml", "pcd"}

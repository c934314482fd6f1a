"""`--set`: variants of any sweep, with ids, labels and lines of their own."""

import csv
import re

import pytest
from bench_helpers import row_of, store_rows
from facts import raises_with

from bench.catalogue import catalogue
from bench.cli.main import main
from bench.cli.selection.settings import parse_settings
from bench.paper.experiments.nice import NICE
from bench.shown_variants import show_variants
from sweeps.trial.variant import make_variant
from vera.errors import SettingError

SMOKE = ("--profile", "smoke")


def run_main(capsys, *words):
    """(exit code, stdout, stderr)."""
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("3e-4", 3e-4),
        (".5", 0.5),
        ("[64, 64]", [64, 64]),
        ("null", None),
        ("true", True),
        ("rademacher", "rademacher"),
        ('"5"', "5"),
        ("a=b", "a=b"),
    ],
)
def test_value_is_json_or_text(text, value):
    found = parse_settings([f"method.x = {text}"])
    assert found == {"method.x": value}
    assert type(found["method.x"]) is type(value)


@pytest.mark.parametrize("text", ["method.k", "=5", "method.k=", "seed=3"])
def test_malformed_setting_is_refused(text):
    with raises_with(SettingError, "--set"):
        parse_settings([text])


def test_setting_given_twice_is_refused():
    with raises_with(SettingError, "method.k", "twice"):
        parse_settings(["method.k=5", "method.k=6"])


def test_plan_lists_variants_alone_and_notes_the_lines_without_the_setting(capsys, tmp_path):
    code, out, err = run_main(
        capsys, "plan", "table2", *SMOKE, "--results-dir", tmp_path, "--set", "method.k=5"
    )
    assert code == 0
    assert "table2 · smoke profile · 3 trials" in out
    assert re.findall(r"^  \w{8}  (.*?) +mnist5k-logit", out, re.MULTILINE) == [
        "VERA λ=1 (k=5)",
        "VERA λ=0 (k=5)",
        "VERA λ=0, σ held (k=5)",
    ]
    assert "method.k" in err
    assert all(label in err for label in ("ML", "VERA-HMC λ=1, prior-only force", "MEG", "4 other"))
    declared = {trial.id for trial in catalogue.sweep("table2").trials("smoke")}
    assert not declared & {*re.findall(r"^  (\w{8})  ", out, re.MULTILINE)}


def test_variant_with_the_own_settings_is_the_trial_itself(capsys, tmp_path):
    flags = (*SMOKE, "--results-dir", tmp_path, "--only", "method=vera")
    _, plain, _ = run_main(capsys, "plan", "table2", *flags)
    code, out, err = run_main(capsys, "plan", "table2", *flags, "--set", "method.k=20")
    assert (code, out) == (0, plain)
    assert "VERA λ=1; VERA λ=0" in err


def test_commands_that_are_offered_repeat_the_setting(capsys, tmp_path):
    flags = (*SMOKE, "--results-dir", tmp_path, "--set", "method.k=5", "--set", "steps=3")
    code, _, err = run_main(capsys, "plan", "table2", *flags, "--only", "method=ml")
    assert code == 2
    assert f"vera plan table2 {' '.join(map(str, (*SMOKE, *flags[4:], *flags[2:4])))}\n" in err
    code, _, err = run_main(capsys, "render", "table2", *flags)
    assert code == 2
    assert "--set method.k=5 --set steps=3" in err


@pytest.fixture
def stored(tmp_path):
    """A results directory with VERA λ=1 of Table 2 and a variant of it with k = 5."""
    trial = NICE.trial("VERA λ=1", "smoke")
    variant = make_variant(trial, {"method.k": 5})
    metric = {"metric": "test_log_likelihood"}
    rows = [
        row_of(trial, 0, -100.0, defaults={"k": 20}, sweep="table2", **metric),
        row_of(
            variant, 0, -50.0, sweep="table2 [method.k]", finished_at="2027-01-01T00:00:00+00:00", **metric
        ),
    ]
    store_rows(tmp_path, rows)
    return tmp_path


def read_table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return {line["method"]: line["test_log_likelihood"] for line in csv.DictReader(file)}


def test_variant_has_its_own_line_beside_the_original(stored, capsys):
    flags = (*SMOKE, "--results-dir", stored)
    assert run_main(capsys, "render", "table2", *flags, "--set", "method.k=5")[0] == 0
    shown = read_table(stored / "tables" / "table2-with-k-5-smoke.csv")
    assert (float(shown["VERA λ=1"]), float(shown["VERA λ=1 (k=5)"])) == (-100, -50)
    assert "VERA λ=0 (k=5)" in shown
    assert "PCD (k=5)" not in shown
    assert run_main(capsys, "render", "table2", *flags)[0] == 0
    plain = read_table(stored / "tables" / "table2-smoke.csv")
    assert float(plain["VERA λ=1"]) == -100, "the later row of the variant is not the line's own"
    assert not [label for label in plain if "(k=5)" in label]


def test_status_counts_variants_in_a_line_of_their_own(stored, capsys):
    _, out, _ = run_main(capsys, "status", "--results-dir", stored)
    assert re.search(r"^table2 \[method\.k\] +smoke +ok +1 ", out, re.MULTILINE)
    assert re.search(r"^table2 +smoke +ok +1 ", out, re.MULTILINE)


def test_artifact_without_room_for_variants_says_so(capsys):
    code, _, err = run_main(capsys, "render", "figure1", "--set", "method.k=5")
    assert code == 2
    assert all(fact in err for fact in ("figure1", "variants", "vera report"))


def test_every_experiment_lists_its_variants_inside_the_block_only():
    plain = list(NICE.trials("smoke"))
    with show_variants({"batch_size": 7}):
        shown = list(NICE.trials("smoke"))
    assert [trial.label for trial in shown[len(plain) :]] == [
        f"{trial.label} (batch_size=7)" for trial in plain
    ]
    assert list(NICE.trials("smoke")) == plain

"""No control character of a row, a file name or an argument reaches the terminal."""

import io
import sys

import pytest
from bench_helpers import print_to_text
from engine_helpers import row_of
from ray import cloudpickle

from bench.artifact import Column, Sheet
from bench.cli.main import main
from bench.cli.terminal_output import filter_output, unfiltered
from sweeps.run.progress import Progress
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep
from vera.wording import make_printable

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202e\x08"
TRIALS = list(find_sweep("toy-demo").trials("smoke", range(1)))


def find_controls(text):
    return [mark for mark in text if mark != "\n" and mark != make_printable(mark)]


@pytest.fixture
def hostile_store(tmp_path):
    """Two rows whose texts hold escape sequences; their ids."""
    store, texts = (
        Store(tmp_path / "trials"),
        dict.fromkeys(("label", "reason", "sweep", "log_tail"), HOSTILE),
    )
    rows = [row_of(trial, 0, -1.0, outcome="error", **texts) for trial in TRIALS[:2]]
    for row in rows:
        store.write(Record(row))
        store.models.write(row.trial_id, b"x")
    return [row.trial_id for row in rows]


@pytest.mark.parametrize(
    "words",
    ["show ID", "status", "compare ID OTHER", "models", "report"],
)
def test_a_verb_prints_rows_without_control_characters(words, hostile_store, tmp_path, capsys):
    names = {"ID": hostile_store[0], "OTHER": hostile_store[1]}
    code = main([*(names.get(word, word) for word in words.split()), "--results-dir", str(tmp_path)])
    printed = "".join(capsys.readouterr())
    assert code == 0, printed
    assert find_controls(printed) == []
    if words == "show ID":
        assert "red" in printed
    if words == "report":
        assert find_controls((tmp_path / "report.html").read_text()) == []


def test_the_line_of_an_ended_trial_has_no_control_characters():
    out = io.StringIO()
    Progress(1, {}, out).on_end(row_of(TRIALS[0], 0, outcome="error", label=HOSTILE, reason=HOSTILE))
    assert "red" in out.getvalue()
    assert find_controls(out.getvalue()) == []


def test_a_printed_table_has_no_control_characters():
    sheet = Sheet("t", HOSTILE, HOSTILE, (Column("a", HOSTILE),), ({"a": HOSTILE},), "smoke", (HOSTILE,))
    assert find_controls(print_to_text(sheet)) == []


def test_an_argument_is_printed_without_control_characters(capsys):
    with pytest.raises(SystemExit):
        main(["status", HOSTILE])
    assert main(["plan", HOSTILE]) == 2
    err = capsys.readouterr().err
    assert "red" in err
    assert find_controls(err) == []


def test_a_bar_keeps_its_carriage_returns_and_a_message_does_not(capsys):
    with filter_output():
        print("\r 3/7 \r", end="", file=sys.stderr)
        print("vera: a\rb", file=sys.stderr)
        print("\rc")
        print("\x1b[2Kown", file=unfiltered())
    out, err = capsys.readouterr()
    assert err.startswith("\r 3/7 \rvera: a")
    assert err.count("\r") == 2
    assert "\r" not in out
    assert out.endswith("\x1b[2Kown\n")


def test_the_listener_of_a_run_can_be_pickled_while_stdout_is_a_file(tmp_path, monkeypatch):
    """Ray Tune pickles its callbacks."""
    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        with filter_output():
            listener = Progress(1, {}, unfiltered())
            cloudpickle.loads(cloudpickle.dumps(listener))
            listener.on_note("a note")
    assert (tmp_path / "out").read_text() == " a note\n"

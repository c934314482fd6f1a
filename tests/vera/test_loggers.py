"""Loggers: metrics of a run in TensorBoard's event files and in Weights & Biases, offline."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from conformance import find_differences, get_state, probe
from facts import raises_with
from locations import ROOT
from trainer_helpers import make_scripted_trainer

import vera
from vera.errors import MissingExtra, VeraError
from vera.loggers import MetricLogger, TensorBoardLogger, WandbLogger

OPTIONS = {"evaluate": probe, "evaluate_every": 5}


def run_with(logger: MetricLogger):
    trainer = make_scripted_trainer(on_log=logger.log_training, on_evaluate=logger.log_evaluation, **OPTIONS)
    trainer.run()
    return trainer


def list_expected(trainer) -> list[tuple[int, dict[str, float]]]:
    """(step, full names and values) of each row, in the order in which a run makes them."""
    kinds = (("training", trainer.history), ("evaluation", trainer.evaluations))
    rows = [(row["step"], kind, row) for kind, rows in kinds for row in rows]
    rows.sort(key=lambda item: item[0])
    return [
        (step, {f"{kind}/{name}": value for name, value in row.items() if name != "step"})
        for step, kind, row in rows
    ]


class ListLogger(MetricLogger):
    def __init__(self):
        self.rows, self.closed = [], 0

    def write(self, step, metrics):
        self.rows.append((step, dict(metrics)))

    def close(self):
        self.closed += 1


def test_a_logger_gets_all_rows_under_names_that_cannot_collide():
    with ListLogger() as logger:
        trainer = run_with(logger)
    assert logger.rows == list_expected(trainer)
    assert {name for _, row in logger.rows for name in row} == {
        "training/loss",
        "training/noise",
        "evaluation/probe",
    }


def test_a_logger_is_closed_after_an_error():
    logger = ListLogger()
    with pytest.raises(KeyError), logger:
        raise KeyError
    assert logger.closed == 1


def test_tensorboard_gets_every_number_and_does_not_change_training(tmp_path):
    plain = make_scripted_trainer(**OPTIONS)
    plain.run()
    with TensorBoardLogger(tmp_path / "events") as logger:
        trainer = run_with(logger)
    assert find_differences(get_state(plain), get_state(trainer)) == []
    (file,) = (tmp_path / "events").iterdir()
    expected = list_expected(trainer)
    assert read_scalars(file) == [
        (step, name, pytest.approx(value)) for step, row in expected for name, value in row.items()
    ]
    logger.close()


def read_scalars(file) -> list[tuple[int, str, float]]:
    """(step, name, value) of all scalars of an event file."""
    from tensorboardX.proto.event_pb2 import Event

    content, found = file.read_bytes(), []
    while content:  # a length of 8 bytes, a checksum of 4, the event, a checksum of 4
        length = int.from_bytes(content[:8], "little")
        event = Event.FromString(content[12 : 12 + length])
        found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
        content = content[16 + length :]
    return found


def test_torch_can_write_the_events_instead(tmp_path, monkeypatch):
    calls = []
    writer = SimpleNamespace(
        add_scalar=lambda *scalar: calls.append(scalar), flush=lambda: None, close=lambda: None
    )
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    monkeypatch.setitem(
        sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=lambda folder: writer)
    )
    TensorBoardLogger(tmp_path).log_training(3, {"loss": 1.5})
    assert calls == [("training/loss", 1.5, 3)]


def test_missing_packages_are_named_with_the_command_to_install_them(monkeypatch, tmp_path):
    for name in ("tensorboardX", "torch.utils.tensorboard", "wandb"):
        monkeypatch.setitem(sys.modules, name, None)
    with raises_with(MissingExtra, "TensorBoardLogger", "tensorboardX", "pip install 'vera[exports]'"):
        TensorBoardLogger(tmp_path)
    with raises_with(MissingExtra, "WandbLogger", "wandb", "pip install 'vera[exports]'"):
        WandbLogger("a-project")


def test_the_packages_are_imported_only_when_they_are_used():
    script = "import sys, vera; vera.loggers.MetricLogger; print({'wandb', 'tensorboardX'} & {*sys.modules})"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    assert vera.loggers.TensorBoardLogger is TensorBoardLogger


def test_wandb_works_offline_and_does_not_change_training(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_SILENT", "true")
    plain = make_scripted_trainer(**OPTIONS)
    plain.run()
    with WandbLogger("a-project", mode="offline", dir=tmp_path, config={"lr": 0.1}) as logger:
        trainer = run_with(logger)
        logger.write(11, {})  # a step is complete when the next one begins
        summary = dict(logger._run.summary)
    assert find_differences(get_state(plain), get_state(trainer)) == []
    last = {name: value for _, row in list_expected(trainer) for name, value in row.items()}
    assert {name: summary[name] for name in last} == last
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    deadline = time.monotonic() + 20  # its service writes the file shortly after the run has finished
    while b"training/loss" not in file.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    logger.close()


def test_wandb_without_a_key_is_one_clear_error(monkeypatch):
    def fail(**options):
        raise RuntimeError("No API key configured.\nUse `wandb login`.")

    monkeypatch.setattr("wandb.init", fail)
    with raises_with(VeraError, "No API key configured", "WANDB_API_KEY", "mode='offline'"):
        WandbLogger("a-project")

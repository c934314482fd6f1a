"""Shared by the tests of saved models: trained models of every kind, and files with one thing wrong."""

import json
from pathlib import Path
from typing import Any

import torch
from conformance import MODELS, make_trainer, network_components

from vera.saved import SavedModel
from vera.training.trainer import Trainer

HEADER = 8
"""Bytes before the header, which hold its length."""


def train_model(method: str, energy: str) -> tuple[Trainer, SavedModel]:
    """A run of two steps and its model."""
    trainer = make_trainer(method, energy, steps=2)
    assert trainer.run().outcome == "ok"
    return trainer, SavedModel.from_trainer(trainer, networks=network_components(method, energy))


def make_points(energy: str, n: int = 33) -> torch.Tensor:
    return torch.randn(n, MODELS[energy].data_dim, generator=torch.Generator().manual_seed(5))


def read_header(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return json.loads(content[HEADER : HEADER + int.from_bytes(content[:HEADER], "little")])


def replace_header(path: Path, header: dict[str, Any] | bytes) -> None:
    """Write the file with another header and the same tensor bytes."""
    content = path.read_bytes()
    data = content[HEADER + int.from_bytes(content[:HEADER], "little") :]
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(HEADER, "little") + text + data)


def change_metadata(path: Path, **texts: str | None) -> None:
    """Replace entries of the metadata; None removes one."""
    header = read_header(path)
    metadata = header["__metadata__"] | texts
    header["__metadata__"] = {key: text for key, text in metadata.items() if text is not None}
    replace_header(path, header)

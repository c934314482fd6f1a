"""Shared by the tests of saved models: trained models of every kind, and files with one thing wrong."""

import json
from pathlib import Path
from typing import Any

import torch
from conformance import MODELS, make_trainer, network_components

from vera.models.contract import Density
from vera.models.network_modes import evaluation_mode
from vera.saved import SavedModel
from vera.training.state.random_state import use_seed
from vera.training.trainer import Trainer

HEADER = 8
"""Bytes before the header, which hold its length."""


def train_model(method: str, energy: str) -> tuple[Trainer, SavedModel]:
    """A run of two steps and its model."""
    trainer = make_trainer(method, energy, steps=2)
    assert trainer.run().outcome == "ok"
    return trainer, SavedModel.from_trainer(trainer, networks=network_components(method, energy))


@torch.no_grad()
def score_live(trainer: Trainer, x: torch.Tensor) -> torch.Tensor:
    """f(x) of the live energy, computed without `SavedModel`."""
    with evaluation_mode(trainer.method.energy):
        return trainer.method.energy(x)


def draw_live(trainer: Trainer, n: int, seed: int, block: int = 1024) -> torch.Tensor | None:
    """Samples of the live networks, drawn without `SavedModel`; None if that needs MALA.

    `block` is the number of samples that a saved model draws at once.
    """
    energy, generator = trainer.method.energy, trainer.method.networks().get("generator")
    with use_seed(seed):
        if isinstance(energy, Density):
            return energy.sample(block)[:n]
        return None if generator is None else generator.sample(block, running_averages=True)[:n]


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

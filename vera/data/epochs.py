"""Epochs: a stream through the rows of a tensor in a new random order each time round.

The position is the generator's state, the seed of this epoch's permutation and a cursor: the permutation
itself is made again from its seed, so a checkpoint of a stream over 60,000 images is 5 kB. The last
incomplete batch of an epoch is dropped.

Trap: what is random about a batch beyond its order (noise) has to be redrawn at every access and with the
stream's own generator. That is the `finish` hook; it gets a copy of the chosen rows, and the generator.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from vera.data.contract import Stream
from vera.errors import SettingError

Finish = Callable[[Tensor, torch.Generator], Tensor]


def as_stored(rows: Tensor, rng: torch.Generator) -> Tensor:
    return rows


class EpochStream(Stream):
    """Batches of rows without replacement, epoch after epoch."""

    def __init__(self, rows: Tensor, batch_size: int, seed: int, finish: Finish = as_stored) -> None:
        if batch_size > len(rows):
            raise SettingError(
                f"batch_size {batch_size} is larger than the training set of {len(rows)} points; choose a smaller one."
            )
        super().__init__(seed)
        self.rows = rows
        self.batch_size = batch_size
        self.finish = finish
        self._start_epoch()

    def next_batch(self) -> Tensor:
        if self.cursor + self.batch_size > len(self.rows):
            self._start_epoch()
        chosen = self.order[self.cursor : self.cursor + self.batch_size]
        self.cursor += self.batch_size
        return self.finish(self.rows.index_select(0, chosen), self.rng)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "epoch_seed": self.epoch_seed, "cursor": self.cursor}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self._enter_epoch(state["epoch_seed"], state["cursor"])

    def _start_epoch(self) -> None:
        self._enter_epoch(int(torch.randint(2**32, (), generator=self.rng)), 0)

    def _enter_epoch(self, epoch_seed: int, cursor: int) -> None:
        self.epoch_seed = epoch_seed
        self.cursor = cursor
        self.order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(epoch_seed))


def choose_rows(rows: Tensor, n: int | None, rng: torch.Generator) -> Tensor:
    """All rows in order for None, else n of them at random without replacement."""
    if n is None:
        return rows.clone()
    if n > len(rows):
        raise SettingError(f"{n} test points were asked for, the test set has {len(rows)}.")
    return rows.index_select(0, torch.randperm(len(rows), generator=rng)[:n])

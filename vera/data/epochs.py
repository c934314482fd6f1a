"""Epochs: a stream through the rows of a tensor, in a new random order in each epoch.

The position consists of the generator's state, the seed of the current permutation and a cursor. The
permutation is recomputed from its seed, so the checkpoint of a stream over 60,000 images takes 5 kB. The last
incomplete batch of an epoch is dropped.

Trap: any randomness of a batch beyond its order (noise) must be redrawn at every access, from the stream's
own generator. The `finish` hook does this; it gets a copy of the chosen rows, and the generator.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from vera.data.contract import Stream
from vera.errors import SettingError

Finish = Callable[[Tensor, torch.Generator], Tensor]


def keep_rows(rows: Tensor, rng: torch.Generator) -> Tensor:
    """Return the rows unchanged: the `finish` hook of a stream without noise."""
    return rows


class EpochStream(Stream):
    """Batches of rows without replacement, epoch after epoch."""

    def __init__(self, rows: Tensor, batch_size: int, seed: int, finish: Finish = keep_rows) -> None:
        if batch_size > len(rows):
            raise SettingError(
                f"batch_size {batch_size} is larger than the training set of {len(rows)} points; "
                "choose a smaller one."
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
        if not 0 <= state["cursor"] <= len(self.rows):
            raise ValueError(f"the cursor of an epoch cannot be {state['cursor']!r}")
        self._enter_epoch(state["epoch_seed"], state["cursor"])

    def _start_epoch(self) -> None:
        self._enter_epoch(int(torch.randint(2**32, (), generator=self.rng)), 0)

    def _enter_epoch(self, epoch_seed: int, cursor: int) -> None:
        self.epoch_seed = epoch_seed
        self.cursor = cursor
        self.order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(epoch_seed))


def choose_rows(rows: Tensor, n: int | None, rng: torch.Generator) -> Tensor:
    """Return all rows in order (None), or n random rows without replacement."""
    if n is None:
        return rows.clone()
    if n > len(rows):
        raise SettingError(f"n must be at most {len(rows)}, the size of the test set, got {n}.")
    return rows.index_select(0, torch.randperm(len(rows), generator=rng)[:n])

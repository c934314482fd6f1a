"""The task "gradient-count": how many gradients of each network one training step evaluates (Sec. 4.1).

The gradients of a sampler follow one another: each needs the point that the one before has reached. They
decide how long a step takes on hardware that runs a batch in parallel. After the run, hooks on the outputs of
the networks count one further step: passes through the network, and backward passes that reach its output.

Trap: a gradient penalty differentiates a gradient. Its second backward pass reaches the output of f again and
is counted too.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from vera.models.generator import Generator
from vera.spec.registry import tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_plain_trainer
from vera.tasks.contract import Measurement, Task
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer


@tasks.register("gradient-count")
class GradientCountTask(Task):
    """Counts the passes through the networks, and their gradients, in one training step."""

    trains_model = False

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        return build_plain_trainer(spec, data_dir=data_dir, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        batch = trainer.data.stream(trainer.batch_size, trainer.seed).next_batch()
        with (
            use_seed(derive_seed(trainer.seed, "measurement")),
            count_passes(trainer.method.networks()) as counts,
        ):
            trainer.method.step(batch)
        return Measurement({name: float(count) for name, count in counts.items()})


@contextmanager
def count_passes(networks: Mapping[str, nn.Module]) -> Iterator[dict[str, int]]:
    """Counts by role, as long as the context is open: `energy_passes` and `energy_gradients`, and the same
    for the other networks. A generator is counted by its mean g(z)."""
    counts = {f"{role}_{kind}": 0 for role in networks for kind in ("passes", "gradients")}
    handles = []
    for role, network in networks.items():
        module = network.net if isinstance(network, Generator) else network
        handles.append(module.register_forward_hook(_make_counter(counts, role)))
    try:
        yield counts
    finally:
        for handle in handles:
            handle.remove()


def _make_counter(counts: dict[str, int], role: str) -> Callable[[nn.Module, Any, Any], None]:
    def count_gradient(gradient: Tensor) -> None:
        counts[f"{role}_gradients"] += 1

    def count_pass(module: nn.Module, inputs: Any, output: Any) -> None:
        counts[f"{role}_passes"] += 1
        if isinstance(output, Tensor) and output.requires_grad:
            output.register_hook(count_gradient)

    return count_pass

"""Peak memory of the entropy block, alone or in its whole step, against the same block with a graph.

The meter follows every allocation and release of torch's CPU allocator, temporaries inside a kernel included,
through the profiler; it counts what is live above the start, so weights and inputs are free. What the matrix
library keeps for itself it does not see, nor does it differ between the two forms.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from bench.perf.workloads import SHAPES, Workload, prepare
from vera.entropy import ImportanceEntropy
from vera.methods import VERA
from vera.models.generator import Generator
from vera.training.random_state import use_seed


@dataclass(frozen=True)
class BlockMemory:
    """Peak bytes in the two forms of the entropy block, without a graph and with one."""

    bytes: int
    bytes_with_graph: int

    @property
    def ratio(self) -> float:
        return self.bytes / self.bytes_with_graph


def peak_bytes(work: Callable[[], object]) -> int:
    """The most that was allocated at once during `work`, above what was live before; its result counts as
    live."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # or the profiler reports its own start and stop on stderr
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    del result
    events = profiler.profiler.kineto_results.events()
    changes = [event.nbytes() for event in sorted(events, key=_start) if event.name() == "[memory]"]
    return max(accumulate(changes, initial=0))


def entropy_block(shape_name: str) -> BlockMemory:
    """Both forms on the generator, batch and k of this shape's VERA step."""
    with use_seed(0):
        return entropy_memory(prepare(SHAPES[shape_name], "vera"))


def entropy_memory(workload: Workload) -> BlockMemory:
    """Of one entropy direction for a batch."""
    entropy, generator = _entropy_and_generator(workload)
    with torch.no_grad():
        z0, x = generator.sample_with_latent(len(workload.batches[0]))
    lean = peak_bytes(lambda: entropy.direction(generator, z0, x))
    return BlockMemory(lean, peak_bytes(lambda: graph_direction(entropy, generator, z0, x)))


def step_memory(workload: Workload) -> BlockMemory:
    """Of a whole training step, its gradients included; a first one has made what optimisers keep."""
    entropy, _ = _entropy_and_generator(workload)
    step = workload.stepper()
    step()
    _drop_gradients(workload)
    lean = peak_bytes(step)
    entropy.direction = partial(graph_direction, entropy)  # type: ignore[method-assign]
    _drop_gradients(workload)
    return BlockMemory(lean, peak_bytes(step))


def graph_direction(entropy: ImportanceEntropy, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
    """c as the published code computes it: autograd follows the k·B pass, though everything is detached in
    the end."""
    noise = torch.randn(entropy.k, *z0.shape, device=z0.device, dtype=z0.dtype)
    z = z0 + entropy.log_eta.exp() * noise
    offsets = x.flatten(1) - generator.mean(z.flatten(0, 1)).view(entropy.k, len(x), -1)
    log_joint = -0.5 * ((offsets / generator.sigma).square().sum(-1) + z.square().sum(-1))
    log_proposal = -0.5 * noise.square().sum(-1)  # the normalising constants are equal for all k draws
    weights = (log_joint - log_proposal).softmax(0).unsqueeze(-1)
    return (weights * offsets / generator.sigma.square()).sum(0).detach().view_as(x)


def _drop_gradients(workload: Workload) -> None:
    """The meter does not see the release of what was there before it started."""
    entropy, _ = _entropy_and_generator(workload)
    weights = [weight for network in workload.method.networks().values() for weight in network.parameters()]
    for weight in (*weights, entropy.log_eta):
        weight.grad = None


def _entropy_and_generator(workload: Workload) -> tuple[ImportanceEntropy, Generator]:
    method = workload.method
    assert isinstance(method, VERA)
    return method.entropy, method.generator  # type: ignore[return-value]


def _start(event: torch._C._autograd._KinetoEvent) -> int:
    return event.start_ns()

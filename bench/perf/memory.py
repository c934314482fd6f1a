"""Peak memory of the entropy block, alone or in a whole step, against the same block with an autograd graph.

The profiler records every allocation and release of torch's CPU allocator, including temporaries inside a
kernel. The peak is counted from the start of the measurement, so weights and inputs are not included. Buffers
of the matrix library are not seen; they are the same in both forms.
"""

import os
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from operator import methodcaller

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from bench.perf.workloads import Workload
from vera.entropy import ImportanceEntropy
from vera.methods import VERA
from vera.models.generator import Generator


def measure_peak_bytes(work: Callable[[], object]) -> int:
    """Peak bytes allocated during `work`, above what was live before; its result is included."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # otherwise the profiler reports its start on stderr
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    del result
    events = profiler.profiler.kineto_results.events()
    changes = [
        event.nbytes() for event in sorted(events, key=methodcaller("start_ns")) if event.name() == "[memory]"
    ]
    return max(accumulate(changes, initial=0))


def measure_entropy_memory(workload: Workload) -> tuple[int, int]:
    """Peak bytes of one entropy direction for a batch, without and with an autograd graph."""
    entropy, generator = _get_entropy_and_generator(workload)
    with torch.no_grad():
        z0, x = generator.sample_with_latent(len(workload.batches[0]))
    lean = measure_peak_bytes(lambda: entropy.direction(generator, z0, x))
    return lean, measure_peak_bytes(lambda: compute_direction_with_graph(entropy, generator, z0, x))


def measure_step_memory(workload: Workload) -> tuple[int, int]:
    """Peak bytes of a whole training step with its gradients, without and with a graph in its entropy block.
    The first step, which creates the state of the
    optimisers, is not measured."""
    entropy, _ = _get_entropy_and_generator(workload)
    step = workload.make_stepper()
    step()
    _drop_gradients(workload)
    lean = measure_peak_bytes(step)
    entropy.direction = partial(compute_direction_with_graph, entropy)  # type: ignore[method-assign]
    _drop_gradients(workload)
    return lean, measure_peak_bytes(step)


def compute_direction_with_graph(
    entropy: ImportanceEntropy, generator: Generator, z0: Tensor, x: Tensor
) -> Tensor:
    """The direction c as the published code computes it: autograd records the k·B pass, and the result is
    detached."""
    noise = torch.randn(entropy.k, *z0.shape, device=z0.device, dtype=z0.dtype)
    z = z0 + entropy.log_eta.exp() * noise
    offsets = x.flatten(1) - generator.mean(z.flatten(0, 1)).view(entropy.k, len(x), -1)
    log_joint = -0.5 * ((offsets / generator.sigma).square().sum(-1) + z.square().sum(-1))
    log_proposal = -0.5 * noise.square().sum(-1)  # the normalising constants are equal for all k draws
    weights = (log_joint - log_proposal).softmax(0).unsqueeze(-1)
    return (weights * offsets / generator.sigma.square()).sum(0).detach().view_as(x)


def _drop_gradients(workload: Workload) -> None:
    """Release gradients before a measurement: the meter ignores the release of older memory."""
    entropy, _ = _get_entropy_and_generator(workload)
    weights = [weight for network in workload.method.networks().values() for weight in network.parameters()]
    for weight in (*weights, entropy.log_eta):
        weight.grad = None


def _get_entropy_and_generator(workload: Workload) -> tuple[ImportanceEntropy, Generator]:
    method = workload.method
    assert isinstance(method, VERA)
    return method.entropy, method.generator  # type: ignore[return-value]

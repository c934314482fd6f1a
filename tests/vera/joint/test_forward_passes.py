"""Memory layout and compilation change only the rounding; a failed compilation changes nothing."""

import warnings
from functools import partial

import pytest
import torch
from conformance import find_differences, get_state
from joint_helpers import Blobs, make_classifier, make_labelled_batch
from passes_helpers import (
    SIDE,
    SMALL,
    assert_same_up_to,
    make_images,
    make_joint_method,
    make_networks,
    run_two_steps,
)

from vera.data.labelled import Split
from vera.joint import Supervised
from vera.spec.registry import datasets
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.training.state.run_identity import describe_network
from vera.training.trainer import Trainer

every_method = pytest.mark.parametrize("name", list(SMALL))


@every_method
def test_channels_last_gives_the_same_numbers(name):
    default, arranged = make_joint_method(name), make_joint_method(name, channels_last=True)
    assert_same_up_to(1e-5, run_two_steps(default), run_two_steps(arranged))
    convolutions = [
        w for net in arranged.networks().values() for w in net.parameters() if w.ndim == 4 and w.shape[2] > 1
    ]
    assert convolutions
    assert all(w.is_contiguous(memory_format=torch.channels_last) for w in convolutions)
    assert [*arranged.energy.state_dict()] == [*default.energy.state_dict()]
    assert describe_network(arranged.energy) == describe_network(default.energy)


def test_the_classifier_gets_channels_last_during_training_only():
    method, seen = make_joint_method("jem", channels_last=True), []
    method.energy.stem.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    run_two_steps(method)
    in_steps = seen[-8:]  # two steps of: two sampler passes, the samples, the data
    assert all(x.is_contiguous(memory_format=torch.channels_last) for x in in_steps)
    assert "logits" not in vars(method.energy)
    method.energy(make_images().x)
    assert seen[-1].is_contiguous()


def test_channels_last_does_not_affect_tables():
    batch = make_labelled_batch(shared=False)
    plain, arranged = (
        run_two_steps(Supervised(make_classifier(), channels_last=flag), batch) for flag in (False, True)
    )
    assert find_differences(plain, arranged) == []


class ImageBlobs(Blobs):
    """Random images in image shape."""

    name, channels, side = "image-blobs", 3, SIDE

    def split(self, seed: int) -> Split:
        rng = torch.Generator().manual_seed(seed)
        x, labels = torch.rand(24, 3, SIDE, SIDE, generator=rng) * 2 - 1, torch.arange(24) % 2
        return Split(self, (x, labels), (x[:6], labels[:6]), None)


def test_a_run_with_channels_last_resumes_bit_identically(tmp_path):
    datasets.register("image-blobs")(ImageBlobs)
    networks = {
        "energy": {"name": "wrn", "depth": 10, "width": 1},
        "generator": {"name": "sngan-generator", "latent_dim": 4, "side": SIDE, "width": 8},
    }
    method = {"name": "vera", "k": 2, "channels_last": True}
    spec = TrialSpec({"name": "image-blobs"}, networks, method, steps=4, batch_size=4, task="joint")
    straight, first, second = (build_task(spec).build(spec, progress=False) for _ in range(3))
    straight.run()
    first.run(until=2)
    first.save(tmp_path / "run.pt")
    second.restore(tmp_path / "run.pt")
    second.run()
    assert straight.result.outcome == "ok"
    assert find_differences(get_state(straight), get_state(second)) == []


def test_the_trainer_runs_a_method_with_channels_last():
    trainer = Trainer(
        make_joint_method("vera", channels_last=True),
        ImageBlobs().split(0),
        steps=2,
        batch_size=4,
        progress=False,
    )
    assert trainer.run().outcome == "ok"
    assert trainer.identity()["method"]["channels_last"] is True


def broken_compile(*_, **__):
    raise RuntimeError("no compiler\nand much more about it")


def breaks_when_called(forward, **_):
    return broken_compile


def breaks_backwards(forward, **_):
    def compiled(*args):
        result = forward(*args)
        if result.requires_grad:
            result.register_hook(broken_compile)
        return result

    return compiled


@pytest.mark.parametrize("failure", [broken_compile, breaks_when_called, breaks_backwards])
@pytest.mark.parametrize("name", ["jem", "vera"])
def test_a_failed_compilation_warns_once_and_does_not_change_results(name, failure, monkeypatch):
    default = run_two_steps(make_joint_method(name))
    monkeypatch.setattr(torch, "compile", failure)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fallen_back = run_two_steps(make_joint_method(name, compiled=True))
    assert find_differences(default, fallen_back) == []
    (warning,) = caught
    assert "torch.compile" in str(warning.message)
    assert str(warning.message).endswith("no compiler")


class CountingCompiler:
    """Replaces torch.compile: runs the given function and counts the calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, forward, **_):
        def compiled(*args):
            self.calls.append(torch.is_grad_enabled())
            return forward(*args)

        return compiled


def test_all_passes_except_twice_differentiated_ones_are_compiled(monkeypatch):
    monkeypatch.setattr(torch, "compile", counting := CountingCompiler())
    expected = {}
    for name, gamma in (("jem", 0.0), ("jem", 0.1), ("vera", 0.1)):
        method = make_joint_method(name, compiled=True, gamma=gamma)
        method.begin(make_images())
        counting.calls.clear()
        method.step(make_images())
        expected[name, gamma] = len(counting.calls)
        assert [*method.energy.state_dict()] == [*make_networks()["energy"].state_dict()]
    # JEM: two sampler steps, the samples, the data. VERA: g(z0), the ELBO, two chunks, ∇f at x_g.
    assert expected == {("jem", 0.0): 4, ("jem", 0.1): 2, ("vera", 0.1): 5}


def test_compilation_changes_neither_random_numbers_nor_running_averages(monkeypatch):
    monkeypatch.setattr(torch, "compile", CountingCompiler())
    method, default = make_joint_method("vera", compiled=True), make_joint_method("vera")
    before = {n: b.clone() for n, b in method.generator.named_buffers()}
    torch.manual_seed(5)
    default.begin(make_images())
    expected = torch.randn(3)
    torch.manual_seed(5)
    method.begin(make_images())
    assert torch.equal(torch.randn(3), expected)
    assert find_differences(before, dict(method.generator.named_buffers())) == []
    assert all(w.grad is None for net in method.networks().values() for w in net.parameters())


@pytest.mark.filterwarnings("ignore")  # warnings of torch during compilation
def test_compiled_networks_give_the_same_numbers(monkeypatch):
    """Tracing and differentiation are real; code generation, which takes half a minute, is skipped."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    batch = make_labelled_batch(shared=True)
    default, compiled = Supervised(make_classifier()), Supervised(make_classifier(), compiled=True)
    assert_same_up_to(1e-9, run_two_steps(default, batch), run_two_steps(compiled, batch))
    assert compiled.passes.compiler.works

"""Estimators, samplers and methods give the same results for images as for the same points as flat rows."""

import copy

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from torch import nn

from vera.data.labelled import LabelledBatch
from vera.entropy import HMCEntropy, ImportanceEntropy
from vera.errors import IncompatibleModel
from vera.evaluation import posterior_ess, prior_ess
from vera.joint import JEM, JointVERA
from vera.methods import PCD, VERA, VERAHMC, CoopNet
from vera.models import DCGANEnergy, WideResNet, dcgan_generator, sngan_generator
from vera.models.generator import Generator
from vera.samplers import LatentRefiner, ReplayBuffer, sgld

SHAPE, LATENT = (3, 8, 8), 4


class FlatGenerator(nn.Module):
    """The same generator mean, with each image as one flat row."""

    def __init__(self, net):
        super().__init__()
        self.net, self.latent_dim = net, net.latent_dim

    def forward(self, z):
        return self.net(z).flatten(1)


class FlatEnergy(nn.Module):
    """The same energy for images given as flat rows."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x.view(-1, *SHAPE))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture(params=[sngan_generator, dcgan_generator], ids=["sngan", "dcgan"])
def generator(request):
    return request.param(latent_dim=LATENT, side=8, width=4, sigma=0.2).double()


@pytest.fixture
def energy():
    return WideResNet(3, depth=10, width=1).double()


def as_rows(generator: Generator) -> Generator:
    return Generator(FlatGenerator(copy.deepcopy(generator.net)), sigma=0.2).double()


def compute_both(of_images, of_rows):
    """Return both results, each computed with the same random numbers."""
    results = []
    for compute in (of_images, of_rows):
        torch.manual_seed(1)
        results.append(compute())
    return results


@pytest.mark.parametrize(
    "make", [lambda: ImportanceEntropy(LATENT, 6, like=torch.empty(()).double()), lambda: HMCEntropy(LATENT)]
)
def test_the_entropy_gradient_of_images_equals_that_of_rows(generator, make):
    (z0, x), rows = generator.sample_pair(5), as_rows(generator)
    on_images, on_rows = make(), make()
    found, expected = compute_both(
        lambda: on_images.direction(generator, z0, x), lambda: on_rows.direction(rows, z0, x.flatten(1))
    )
    assert found.shape == x.shape
    assert not found.requires_grad
    assert torch.allclose(found.flatten(1), expected)
    compute_both(lambda: on_images.warm_up(generator, z0, x), lambda: on_rows.warm_up(rows, z0, x.flatten(1)))
    assert all(
        torch.allclose(value, on_rows.metrics()[name], rtol=1e-9)
        for name, value in on_images.metrics().items()
    )


def test_the_memory_format_of_a_network_does_not_change_its_entropy_gradient(generator):
    (z0, x), entropy = generator.sample_pair(5), ImportanceEntropy(LATENT, 6, like=torch.empty(()).double())
    other = copy.deepcopy(generator).to(memory_format=torch.channels_last)
    laid_out = x.to(memory_format=torch.channels_last)
    found, expected = compute_both(
        lambda: entropy.direction(other, z0, laid_out), lambda: entropy.direction(generator, z0, x)
    )
    assert torch.allclose(found, expected)


def test_effective_sample_sizes_of_images_equal_those_of_rows(generator):
    entropy, rows = ImportanceEntropy(LATENT, 6, like=torch.empty(()).double()), as_rows(generator)
    assert torch.allclose(
        *compute_both(lambda: posterior_ess(entropy, generator, 5), lambda: posterior_ess(entropy, rows, 5))
    )
    assert torch.allclose(
        *compute_both(lambda: prior_ess(generator, 5, k=4), lambda: prior_ess(rows, 5, k=4))
    )


@pytest.mark.parametrize("batch_norm", ["running", "batch"])
def test_refining_images_equals_refining_rows(energy, generator, batch_norm):
    on_images = LatentRefiner(energy, generator, batch_norm=batch_norm)
    on_rows = LatentRefiner(FlatEnergy(energy), as_rows(generator), batch_norm=batch_norm)
    v = on_images.start(4)
    assert v.shape == (4, LATENT + 192)
    assert on_images.decode(v).shape == (4, *SHAPE)
    (found, accepted), (expected, also) = compute_both(
        lambda: on_images.refine(v, 4), lambda: on_rows.refine(v, 4)
    )
    assert torch.allclose(found, expected)
    assert accepted == pytest.approx(float(also))
    assert not torch.equal(found, v)
    assert torch.allclose(on_images.decode(found).flatten(1), on_rows.decode(expected))


def test_langevin_steps_on_images_equal_those_on_rows(energy):
    x = torch.rand(4, *SHAPE, dtype=torch.float64)
    found, expected = compute_both(
        lambda: sgld(energy, x, steps=3, noise=0.1),
        lambda: sgld(FlatEnergy(energy), x.flatten(1), steps=3, noise=0.1),
    )
    assert torch.allclose(found.flatten(1), expected)


def test_a_replay_buffer_restarts_whole_images():
    buffer = ReplayBuffer(200, SHAPE, restart=0.25, like=torch.empty(()))
    indices, chains = buffer.draw(100)
    assert chains.shape == (100, *SHAPE)
    kept = (chains == buffer.chains[indices]).flatten(1)
    assert torch.equal(kept.all(1), kept.any(1))
    assert 0 < (~kept.all(1)).sum() < 60
    buffer.store(indices, chains + 5)
    assert torch.equal(buffer.chains[indices], chains + 5)


def small_generator(**settings):
    return sngan_generator(latent_dim=LATENT, side=8, width=4, **settings)


def small_energy():
    return DCGANEnergy(side=8, width=4)


METHODS = {
    "vera": lambda: VERA(small_energy(), small_generator(), k=4),
    "vera with a wide resnet": lambda: VERA(WideResNet(3, 10, 1, dropout=0.3), small_generator(), k=4),
    "vera-hmc": lambda: VERAHMC(small_energy(), small_generator(), generator_lr=1e-3),
    "pcd": lambda: PCD(small_energy(), sampler_steps=2, capacity=10, gamma=0.1),
    "coopnet": lambda: CoopNet(small_energy(), small_generator(), sampler_steps=2),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_train_on_images(name):
    method, x = METHODS[name](), torch.rand(6, *SHAPE) * 2 - 1
    method.begin(x)
    before = copy.deepcopy(
        {role: dict(network.named_parameters()) for role, network in method.networks().items()}
    )
    for _ in range(2):
        metrics = method.step(x)
    assert all(value.isfinite().all() for value in metrics.values())
    assert method.training_samples(5).shape == (5, *SHAPE)
    for role, network in method.networks().items():
        moved = {
            path.split("/")[1] for path in find_differences(before[role], dict(network.named_parameters()))
        }
        assert moved >= {name for name, _ in network.named_parameters() if name != "log_sigma"}


@pytest.mark.parametrize("method", [JointVERA, JEM])
def test_joint_methods_train_a_wide_resnet_on_labelled_images(method):
    settings = {"k": 4} if method is JointVERA else {"sampler_steps": 2, "capacity": 10}
    networks = {"energy": WideResNet(3, 10, 1, dropout=0.3)} | (
        {"generator": small_generator()} if method is JointVERA else {}
    )
    joint, x = method(**networks, **settings, alpha=10.0, beta=1.0), torch.rand(6, *SHAPE) * 2 - 1
    batch = LabelledBatch(x, x[:3], torch.tensor([0, 1, 2]))
    joint.begin(batch)
    for _ in range(2):
        metrics = joint.step(batch)
    assert all(value.isfinite().all() for value in metrics.values())


@pytest.mark.parametrize(
    ("energy", "generator", "facts"),
    [
        (
            small_energy,
            lambda: sngan_generator(latent_dim=LATENT, side=16, width=4),
            ["(3, 16, 16)", "(3, 8, 8)"],
        ),
        (small_energy, lambda: small_generator(channels=1), ["(1, 8, 8)", "(3, 8, 8)"]),
        (
            lambda: DCGANEnergy(side=16, width=4),
            small_generator,
            ["DCGANEnergy", "(2, 3, 8, 8)"],
        ),
        (
            lambda: DCGANEnergy(channels=1, side=8, width=4),
            small_generator,
            ["DCGANEnergy", "(2, 3, 8, 8)"],
        ),
        (
            lambda: WideResNet(3, 10, 1, channels=1),
            small_generator,
            ["WideResNet", "(2, 3, 8, 8)"],
        ),
    ],
)
def test_networks_that_do_not_fit_the_images_are_rejected_before_training(energy, generator, facts):
    method = VERA(energy(), generator())
    with raises_with(IncompatibleModel, *facts):
        method.begin(torch.zeros(4, *SHAPE))

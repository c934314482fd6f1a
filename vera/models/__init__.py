"""Models: energies f(x), normalised densities, generators."""

from vera.models.contract import Curved, Density, has_hessian
from vera.models.linear import LinearGenerator
from vera.models.mixture import GaussianMixture
from vera.models.mlp import MLP, MLPGenerator, StatisticsNetwork, mlp_generator, nice_generator
from vera.models.nice import NICE

__all__ = [
    "MLP",
    "NICE",
    "Curved",
    "Density",
    "GaussianMixture",
    "LinearGenerator",
    "MLPGenerator",
    "StatisticsNetwork",
    "has_hessian",
    "mlp_generator",
    "nice_generator",
]

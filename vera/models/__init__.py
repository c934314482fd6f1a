"""Models: energies f(x), normalised densities, classifiers and generators."""

from vera.models.classifier import Classifier, DigitClassifier, MLPClassifier
from vera.models.contract import CurvatureModel, Density, has_hessian
from vera.models.conv import ConvEnergy, ConvGenerator, conv_generator
from vera.models.dcgan import DCGANClassifier, DCGANEnergy, DCGANGenerator, dcgan_generator
from vera.models.fitted_gaussian import FittedGaussian
from vera.models.linear import LinearGenerator
from vera.models.mixture import GaussianMixture
from vera.models.mlp import MLP, MLPGenerator, StatisticsNetwork, mlp_generator, nice_generator
from vera.models.nice import NICE
from vera.models.sngan import SNGANGenerator, sngan_generator
from vera.models.wrn import WideResNet

__all__ = [
    "MLP",
    "NICE",
    "Classifier",
    "ConvEnergy",
    "ConvGenerator",
    "CurvatureModel",
    "DCGANClassifier",
    "DCGANEnergy",
    "DCGANGenerator",
    "Density",
    "DigitClassifier",
    "FittedGaussian",
    "GaussianMixture",
    "LinearGenerator",
    "MLPClassifier",
    "MLPGenerator",
    "SNGANGenerator",
    "StatisticsNetwork",
    "WideResNet",
    "conv_generator",
    "dcgan_generator",
    "has_hessian",
    "mlp_generator",
    "nice_generator",
    "sngan_generator",
]

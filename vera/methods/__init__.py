"""Training methods, one file each; `vera/methods/contract.py` defines what a method is."""

from vera.methods.cd import CD
from vera.methods.contract import Method, Metrics
from vera.methods.coopnet import CoopNet
from vera.methods.cp_sm import CPSM
from vera.methods.dsm import DSM
from vera.methods.ed import EnergyDiscrepancy
from vera.methods.meg import MEG
from vera.methods.ml import MaximumLikelihood
from vera.methods.nce import NCE
from vera.methods.pcd import PCD
from vera.methods.short_run import ShortRun
from vera.methods.snl import SNL
from vera.methods.ssm import SSM
from vera.methods.vera import VERA
from vera.methods.vera_ar_dae import VERAARDAE
from vera.methods.vera_hmc import VERAHMC

__all__ = [
    "CD",
    "CPSM",
    "DSM",
    "MEG",
    "NCE",
    "PCD",
    "SNL",
    "SSM",
    "VERA",
    "VERAARDAE",
    "VERAHMC",
    "CoopNet",
    "EnergyDiscrepancy",
    "MaximumLikelihood",
    "Method",
    "Metrics",
    "ShortRun",
]

"""Training methods, one file each; `vera/methods/contract.py` defines what a method is."""

from vera.methods.amortised.coopnet import CoopNet
from vera.methods.amortised.meg import MEG
from vera.methods.amortised.vera import VERA
from vera.methods.amortised.vera_ar_dae import VERAARDAE
from vera.methods.amortised.vera_hmc import VERAHMC
from vera.methods.contract import Method, Metrics
from vera.methods.contrastive.ed import EnergyDiscrepancy
from vera.methods.contrastive.nce import NCE
from vera.methods.contrastive.snl import SNL
from vera.methods.langevin.cd import CD
from vera.methods.langevin.pcd import PCD
from vera.methods.langevin.short_run import ShortRun
from vera.methods.ml import MaximumLikelihood
from vera.methods.score_matching.cp_sm import CPSM
from vera.methods.score_matching.dsm import DSM
from vera.methods.score_matching.ssm import SSM

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

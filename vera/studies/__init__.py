"""Studies: trials that train no energy, but examine the estimators on which VERA rests (Sec. 5.2, B.4, B.6).

A study is a task whose methods are estimators. Each estimator is tuned by the one Trainer, on draws of a model that is known
exactly, and is then held against the truth.
"""

from vera.studies.axes import Axes
from vera.studies.ess_offset import EssOffsetTask, ShiftedProposal
from vera.studies.estimators import EstimatorStudy, HMCStudy, ImportanceStudy, LatentStudy
from vera.studies.score_error import ScoreErrorTask, pca_generator

__all__ = [
    "Axes",
    "EssOffsetTask",
    "EstimatorStudy",
    "HMCStudy",
    "ImportanceStudy",
    "LatentStudy",
    "ScoreErrorTask",
    "ShiftedProposal",
    "pca_generator",
]

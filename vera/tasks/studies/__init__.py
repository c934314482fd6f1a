"""Studies: trials that train no energy for its own sake, but examine what VERA rests on (Sec. 5.2, B.4, B.6)
and what it costs.

Most are tasks whose methods are estimators. Each estimator is tuned by the one Trainer, on draws of a model
that is known exactly, and is then held against the truth. One takes the time of training steps.
"""

from vera.tasks.studies.axes import PrincipalAxes
from vera.tasks.studies.ess_offset import EssOffsetTask, ShiftedProposal
from vera.tasks.studies.estimators import EstimatorStudy, HMCStudy, ImportanceStudy, LatentStudy
from vera.tasks.studies.score_error import ScoreErrorTask, pca_generator
from vera.tasks.studies.step_time import StepTimeComparison, StepTimeTask

__all__ = [
    "EssOffsetTask",
    "EstimatorStudy",
    "HMCStudy",
    "ImportanceStudy",
    "LatentStudy",
    "PrincipalAxes",
    "ScoreErrorTask",
    "ShiftedProposal",
    "StepTimeComparison",
    "StepTimeTask",
    "pca_generator",
]

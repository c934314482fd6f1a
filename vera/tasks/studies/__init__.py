"""Studies: tasks that examine the estimators VERA relies on (Sec. 5.2, B.4, B.6) and its cost.

Most of these tasks use estimators as methods: the Trainer tunes an estimator on draws from a model that is
known exactly, and the task compares its estimates with the exact values. One task measures the time of
training steps, another counts their gradients.
"""

from vera.tasks.studies.axes import PrincipalAxes
from vera.tasks.studies.ess_offset import EssOffsetTask, ShiftedProposal
from vera.tasks.studies.estimators import (
    DenoisingStudy,
    EstimatorStudy,
    HMCStudy,
    ImportanceStudy,
    LatentStudy,
)
from vera.tasks.studies.gradient_count import GradientCountTask
from vera.tasks.studies.score_error import ScoreErrorTask, pca_generator
from vera.tasks.studies.step_cost import StepCostTask, SupervisedStep
from vera.tasks.studies.step_time import StepTimeComparison, StepTimeTask

__all__ = [
    "DenoisingStudy",
    "EssOffsetTask",
    "EstimatorStudy",
    "GradientCountTask",
    "HMCStudy",
    "ImportanceStudy",
    "LatentStudy",
    "PrincipalAxes",
    "ScoreErrorTask",
    "ShiftedProposal",
    "StepCostTask",
    "StepTimeComparison",
    "StepTimeTask",
    "SupervisedStep",
    "pca_generator",
]

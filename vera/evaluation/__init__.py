"""Evaluation: exact likelihoods, densities on a grid, samples, effective sample sizes, score errors."""

from vera.evaluation.ess import (
    effective_sample_size,
    gaussian_ess,
    matched_gaussian_ess,
    posterior_ess,
    prior_ess,
    shifted_gaussian_ess,
)
from vera.evaluation.grid import Grid, Normaliser, density_image, grid_log_likelihood, grid_log_normaliser
from vera.evaluation.likelihood import Estimate, LikelihoodEvaluation, best_of_batches, log_likelihood
from vera.evaluation.samples import energy_distance, exact_samples, training_samples
from vera.evaluation.score import ScoreError, score_error, tune_estimator

__all__ = [
    "Estimate",
    "Grid",
    "LikelihoodEvaluation",
    "Normaliser",
    "ScoreError",
    "best_of_batches",
    "density_image",
    "effective_sample_size",
    "energy_distance",
    "exact_samples",
    "gaussian_ess",
    "grid_log_likelihood",
    "grid_log_normaliser",
    "log_likelihood",
    "matched_gaussian_ess",
    "posterior_ess",
    "prior_ess",
    "score_error",
    "shifted_gaussian_ess",
    "training_samples",
    "tune_estimator",
]

"""Evaluation: likelihoods, densities on a grid, samples, image quality, modes, outliers, effective sample
sizes, score errors."""

from vera.evaluation.classification import (
    ClassificationEvaluation,
    Reliability,
    auroc,
    classification_metrics,
    predict,
)
from vera.evaluation.conditional import RefinedSamples, SortedSamples, by_class, chain_images, refined_samples
from vera.evaluation.digit_features import DigitFeatures, DigitRecipe
from vera.evaluation.ess import (
    effective_sample_size,
    gaussian_ess,
    matched_gaussian_ess,
    posterior_ess,
    prior_ess,
    shifted_gaussian_ess,
)
from vera.evaluation.features import Description, Features
from vera.evaluation.frechet import Moments, frechet_distance, kernel_distance
from vera.evaluation.grid import Grid, Normaliser, density_image, grid_log_likelihood, grid_log_normaliser
from vera.evaluation.inception import TorchFidelityInception, TorchScriptInception, inception_network
from vera.evaluation.likelihood import Estimate, LikelihoodEvaluation, best_of_batches, log_likelihood
from vera.evaluation.modes import ModeCount, count_modes, mode_numbers, mode_shares
from vera.evaluation.outliers import histograms, outlier_aurocs, outlier_metrics, outlier_scores, separation
from vera.evaluation.quality import (
    ImageQuality,
    InceptionScore,
    Reference,
    image_quality,
    inception_score,
    reference_of,
)
from vera.evaluation.samples import energy_distance, exact_samples, training_samples
from vera.evaluation.score import ScoreError, score_error, tune_estimator

__all__ = [
    "ClassificationEvaluation",
    "Description",
    "DigitFeatures",
    "DigitRecipe",
    "Estimate",
    "Features",
    "Grid",
    "ImageQuality",
    "InceptionScore",
    "LikelihoodEvaluation",
    "ModeCount",
    "Moments",
    "Normaliser",
    "Reference",
    "RefinedSamples",
    "Reliability",
    "ScoreError",
    "SortedSamples",
    "TorchFidelityInception",
    "TorchScriptInception",
    "auroc",
    "best_of_batches",
    "by_class",
    "chain_images",
    "classification_metrics",
    "count_modes",
    "density_image",
    "effective_sample_size",
    "energy_distance",
    "exact_samples",
    "frechet_distance",
    "gaussian_ess",
    "grid_log_likelihood",
    "grid_log_normaliser",
    "histograms",
    "image_quality",
    "inception_network",
    "inception_score",
    "kernel_distance",
    "log_likelihood",
    "matched_gaussian_ess",
    "mode_numbers",
    "mode_shares",
    "outlier_aurocs",
    "outlier_metrics",
    "outlier_scores",
    "posterior_ess",
    "predict",
    "prior_ess",
    "reference_of",
    "refined_samples",
    "score_error",
    "separation",
    "shifted_gaussian_ess",
    "training_samples",
    "tune_estimator",
]

"""Evaluation: likelihoods, densities, samples, image quality, modes, outliers, sample sizes, score errors."""

from vera.evaluation.annealed import annealed_log_likelihood, annealed_log_normaliser
from vera.evaluation.classification import (
    ClassificationEvaluation,
    Reliability,
    auroc,
    classification_metrics,
    predict,
)
from vera.evaluation.digit_features import DigitFeatures, DigitRecipe
from vera.evaluation.estimator_quality import (
    effective_sample_size,
    gaussian_ess,
    matched_gaussian_ess,
    posterior_ess,
    prior_ess,
    score_error,
    shifted_gaussian_ess,
)
from vera.evaluation.features import Description, FeatureNetwork
from vera.evaluation.frechet import Moments, frechet_distance, kernel_distance
from vera.evaluation.grid import (
    PlaneGrid,
    density_image,
    grid_log_likelihood,
    grid_log_normaliser,
)
from vera.evaluation.inception import TorchFidelityInception, TorchScriptInception, load_inception
from vera.evaluation.likelihood import (
    Estimate,
    LikelihoodEvaluation,
    best_of_batches,
    estimated_log_likelihood,
    log_likelihood,
)
from vera.evaluation.modes import count_modes, mode_numbers, mode_shares
from vera.evaluation.outliers import (
    bin_scores,
    compute_aurocs,
    outlier_aurocs,
    outlier_metrics,
    outlier_scores,
)
from vera.evaluation.quality import (
    compute_reference,
    image_quality,
    inception_score,
)
from vera.evaluation.samples import (
    draw_exact_samples,
    draw_training_samples,
    energy_distance,
    refine_samples,
    sort_by_class,
    trace_chains,
)

__all__ = [
    "ClassificationEvaluation",
    "Description",
    "DigitFeatures",
    "DigitRecipe",
    "Estimate",
    "FeatureNetwork",
    "LikelihoodEvaluation",
    "Moments",
    "PlaneGrid",
    "Reliability",
    "TorchFidelityInception",
    "TorchScriptInception",
    "annealed_log_likelihood",
    "annealed_log_normaliser",
    "auroc",
    "best_of_batches",
    "bin_scores",
    "classification_metrics",
    "compute_aurocs",
    "compute_reference",
    "count_modes",
    "density_image",
    "draw_exact_samples",
    "draw_training_samples",
    "effective_sample_size",
    "energy_distance",
    "estimated_log_likelihood",
    "frechet_distance",
    "gaussian_ess",
    "grid_log_likelihood",
    "grid_log_normaliser",
    "image_quality",
    "inception_score",
    "kernel_distance",
    "load_inception",
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
    "refine_samples",
    "score_error",
    "shifted_gaussian_ess",
    "sort_by_class",
    "trace_chains",
]

"""The effective sample size of the proposal that a method has trained for its entropy gradient (Sec. 5.2).

Trap: the ESS depends on the dimension of the latent most of all. It is therefore measured together with that
of a Gaussian that matches a Gaussian posterior in the same dimension.
"""

from vera.entropy import ImportanceEntropy
from vera.evaluation import matched_gaussian_ess, posterior_ess, prior_ess
from vera.methods.contract import Method
from vera.models.generator import Generator
from vera.training.state.random_state import derive_seed, use_seed

POINTS, MATCHED_POINTS = 256, 20_000


def measure_proposal_ess(method: Method) -> dict[str, float]:
    """ESS of the trained proposal N(z0, diag η²) and of the prior N(0, I); nothing for a method that has not
    trained η."""
    trained = find_trained_proposal(method)
    if trained is None:
        return {}
    entropy, generator = trained
    proposal = posterior_ess(entropy, generator, POINTS)
    prior = prior_ess(generator, POINTS, entropy.k)
    return {"posterior_ess": float(proposal.mean()), "prior_ess": float(prior.mean())}


def measure_matched_ess(method: Method, seed: int) -> dict[str, float]:
    """ESS of a proposal around z0 with exactly the covariance of a Gaussian posterior in as many dimensions,
    with random numbers of its own."""
    trained = find_trained_proposal(method)
    if trained is None:
        return {}
    entropy, generator = trained
    with use_seed(derive_seed(seed, "matched ess")):
        matched = matched_gaussian_ess(generator.latent_dim, entropy.k, MATCHED_POINTS)
    return {"matched_ess": float(matched.mean()), "latent_dim": float(generator.latent_dim)}


def find_trained_proposal(method: Method) -> tuple[ImportanceEntropy, Generator] | None:
    """The estimator of the entropy gradient and the generator, if the method trains η."""
    entropy, generator = getattr(method, "entropy", None), getattr(method, "generator", None)
    if not isinstance(entropy, ImportanceEntropy) or not isinstance(generator, Generator):
        return None
    return (entropy, generator) if getattr(method, "entropy_weight", 0.0) else None

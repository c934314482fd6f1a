"""VERA: trains an energy by a generator with an importance-sampled entropy gradient, not by MCMC (Sec. 4)."""

from dataclasses import dataclass
from typing import Annotated, Literal

from vera.entropy import ImportanceEntropy
from vera.methods.amortised.step import AmortisedMethod
from vera.spec.registry import methods
from vera.spec.settings import Count, Positive


@methods.register("vera")
@dataclass(eq=False, kw_only=True)
class VERA(AmortisedMethod):
    """Amortised training with k posterior draws around the known latent; an ELBO tunes their scale η."""

    k: Annotated[Count, "importance samples for each generated point"] = 20
    posterior_lr: Annotated[
        Positive | None, "learning rate of the posterior scale η; generator_lr by default"
    ] = None
    eta: Annotated[Positive, "initial posterior scale"] = 0.1
    shared_eta: Annotated[bool, "one η for all latent dimensions (paper) instead of one each (code)"] = False
    tune: Annotated[Literal["first", "last"], "tune η before the updates (paper) or after its use (code)"] = (
        "first"
    )
    chunks: Annotated[
        Count,
        "chunks over k of the importance pass, each with its own batch-norm statistics (published code: 1)",
    ] = 4

    def is_tuned_first(self) -> bool:
        return self.tune == "first"

    def make_entropy(self) -> ImportanceEntropy:
        return ImportanceEntropy(
            self.generator.latent_dim,
            self.k,
            lr=self.posterior_lr or self.generator_lr,
            eta=self.eta,
            shared_eta=self.shared_eta,
            chunks=self.chunks,
            like=self.generator.log_sigma,
        )

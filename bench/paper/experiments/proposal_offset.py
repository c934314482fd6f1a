"""Proposal offset: the effective sample size (ESS) of importance sampling with a shifted Gaussian proposal
(B.6, Figure 6).

The target is N(0, I) in 128 dimensions, the proposal N(m·1, I): m is the offset of every coordinate. If m
were the distance of the means, the ESS would still be 4.5 where the paper says 1. At m = 0 all weights are
equal and the ESS is exactly k = 20. The paper gives neither the offsets nor the repetitions at each.
"""

from collections.abc import Mapping

from bench.artifact import DEFAULT_SEEDS
from bench.experiment import DataSetting, Experiment, Line, Scale
from sweeps.trial.identity import Profile

K, DIMENSIONS, LARGEST = 20, 128, 5.0
REPETITIONS: Mapping[Profile, int] = {"smoke": 50, "laptop": 1_000, "paper": 5_000}
"""Repetitions at each offset."""
OFFSETS: Mapping[Profile, int] = {"smoke": 11, "laptop": 51, "paper": 51}
SHIFTED = "shifted Gaussian proposal"

PROPOSAL_OFFSET = Experiment[DataSetting](
    "proposal-offset",
    (Line(SHIFTED, {"name": "shifted-proposal", "k": K, "largest": LARGEST}, roles=()),),
    {
        profile: Scale(
            f"{repetitions:,} repetitions of an offset and a seed",
            (DataSetting("N(0, I)", {"name": "gaussian", "dim": DIMENSIONS}),),
            networks={},
            steps=OFFSETS[profile],
            batch_size=K * repetitions,
            task="ess-offset",
            seeds=DEFAULT_SEEDS[profile],
        )
        for profile, repetitions in REPETITIONS.items()
    },
    registry=None,
)
"""One step of a trial is one offset."""

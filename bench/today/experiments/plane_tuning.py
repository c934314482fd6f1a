"""The configurations that are tried for every line in the plane, four for each, and which of them was
chosen.

The first of each line is where the search starts; the others differ from it in one setting each. They are
tried on three of the six toys with tuning seeds (the sweeps `today/density-grid` and `today/mixture-grid`).
"""

from collections.abc import Mapping

from bench.experiment import Points, vary

_AMORTISED = {"lr": 1e-3, "generator_lr": 1e-3, "entropy_weight": 1.0}
_NEAR_AMORTISED = vary(_AMORTISED, lr=(3e-4, 3e-3), generator_lr=(3e-3,))

NETWORK: Mapping[str, Points] = {
    "NCE": vary({"lr": 3e-3, "noise_ratio": 10}, lr=(1e-3, 1e-2), noise_ratio=(3,)),
    "SNL": vary({"lr": 3e-3, "noise_ratio": 10}, lr=(1e-3, 1e-2), noise_ratio=(3,)),
    "ED": vary({"lr": 3e-3, "t": 0.1}, lr=(1e-3,), t=(0.03, 0.3)),
    "CD": vary({"lr": 1e-3, "noise": 0.1}, lr=(3e-3,), noise=(0.05, 0.3)),
    "Short-run": vary({"lr": 1e-3, "noise": 0.1, "step_size": 0.01}, lr=(3e-4,), step_size=(0.003, 0.03)),
    "PCD": vary({"lr": 1e-3, "noise": 0.1}, lr=(3e-3,), noise=(0.03, 0.3)),
    "CoopNet": vary({"lr": 1e-3, "generator_lr": 1e-3, "noise": 0.1}, lr=(3e-3,), noise=(0.03, 0.3)),
    "MEG": _NEAR_AMORTISED,
    "VERA": _NEAR_AMORTISED,
    "VERA-HMC": _NEAR_AMORTISED,
    "VERA-AR-DAE": _NEAR_AMORTISED,
    "SSM": vary({"lr": 1e-3, "variance_reduced": False}, lr=(3e-3, 1e-2), variance_reduced=(True,)),
    "DSM": vary({"lr": 1e-3, "noise": 0.1}, lr=(3e-3,), noise=(0.05, 0.2)),
}
"""By line, for a network."""

_FASTER = {"lr": 3e-3, "generator_lr": 3e-3, "entropy_weight": 1.0}
_NEAR_FASTER = vary(_FASTER, lr=(1e-3, 1e-2), generator_lr=(1e-3,))

MIXTURE: Mapping[str, Points] = {
    "ML": vary({"lr": 1e-2}, lr=(3e-3, 3e-2, 1e-1)),
    "NCE": vary({"lr": 1e-2, "noise_ratio": 10}, lr=(3e-3, 3e-2), noise_ratio=(3,)),
    "SNL": vary({"lr": 1e-2, "noise_ratio": 10}, lr=(3e-3, 3e-2), noise_ratio=(3,)),
    "ED": vary({"lr": 1e-2, "t": 0.1}, lr=(3e-3,), t=(0.03, 0.3)),
    "CD": vary({"lr": 3e-3, "noise": 0.1}, lr=(1e-2,), noise=(0.05, 0.3)),
    "Short-run": vary({"lr": 3e-3, "noise": 0.1, "step_size": 0.01}, lr=(1e-3,), step_size=(0.003, 0.03)),
    "PCD": vary({"lr": 3e-3, "noise": 0.1}, lr=(1e-2,), noise=(0.03, 0.3)),
    "CoopNet": vary({"lr": 3e-3, "generator_lr": 3e-3, "noise": 0.1}, lr=(1e-2,), noise=(0.03, 0.3)),
    "MEG": _NEAR_FASTER,
    "VERA": _NEAR_FASTER,
    "VERA-HMC": _NEAR_FASTER,
    "VERA-AR-DAE": _NEAR_FASTER,
    "SSM": vary({"lr": 3e-3, "variance_reduced": False}, lr=(1e-2, 3e-2), variance_reduced=(True,)),
    "DSM": vary({"lr": 3e-3, "noise": 0.1}, lr=(1e-2,), noise=(0.05, 0.2)),
}
"""By line, for the mixture."""

CHOSEN_NETWORK: Mapping[str, int] = {}
"""By line: the position of the chosen configuration; the first if it is not given."""
CHOSEN_MIXTURE: Mapping[str, int] = {}

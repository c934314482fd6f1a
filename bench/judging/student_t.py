"""Student's t distribution: two-sided quantiles and p-values, without scipy."""

import math
from functools import cache
from statistics import NormalDist


@cache
def t_quantile(freedom: float, level: float) -> float:
    """Two-sided quantile q of Student's t, P(|T| <= q) = level, by Newton's method.

    P(|T| <= q) is concave in q and the normal quantile lies below the solution, so the iterates rise to it
    without overshooting.
    """
    q = NormalDist().inv_cdf((1 + level) / 2)
    for _ in range(100):
        step = (level - _central_probability(q, freedom)) / _density(q, freedom)
        q += step
        if abs(step) < 1e-12 * q:
            break
    return q


def t_p_value(t: float, freedom: float) -> float:
    """The two-sided p-value P(|T| > |t|)."""
    return max(0.0, 1 - _central_probability(abs(t), freedom))


def _central_probability(t: float, freedom: float, intervals: int = 2_000) -> float:
    """P(|T| <= t). With T = √f tan u the density becomes cos^(f-1) u, which Simpson's rule integrates
    accurately for any f >= 1."""
    end = math.atan(t / math.sqrt(freedom))
    heights = [math.cos(end * i / intervals) ** (freedom - 1) for i in range(intervals + 1)]
    simpson = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    return 2 * _normaliser(freedom) * simpson * end / intervals / 3


def _density(t: float, freedom: float) -> float:
    """Density of |T| at t."""
    return 2 * _normaliser(freedom) * (1 + t * t / freedom) ** (-(freedom + 1) / 2) / math.sqrt(freedom)


def _normaliser(freedom: float) -> float:
    return math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)

"""Quantiles and p-values of Student's t agree with scipy."""

import pytest
from scipy import stats

from bench.judging.student_t import t_p_value, t_quantile

FREEDOMS = [1, 1.3, 2, 2.5, 3, 4, 7.7, 29, 1e3, 1e5]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_t_quantile_agrees_with_scipy(freedom, level):
    assert t_quantile(freedom, level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-6)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [0.0, -0.3, 1.0, 4.5, 60.0])
def test_the_p_value_agrees_with_scipy(freedom, t):
    assert t_p_value(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-6, abs=1e-10)

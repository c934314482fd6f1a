"""Figure 6 and the effective sample sizes of Sec. 5.2: seeds are pooled, claims are supported or refuted by
the rows."""

import numpy as np
import pytest
from bench_helpers import row_of, store_rows

from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES
from bench.paper.experiments.proposal_offset import PROPOSAL_OFFSET, SHIFTED
from bench.paper.experiments.score_bias import IMPORTANCE, SCORE_BIAS
from bench.paper.figures.figure6 import Figure6, SampleSizeCurve
from bench.paper.values import PAPER
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json

OFFSET_TRIAL = PROPOSAL_OFFSET.trial(SHIFTED, "laptop")


def findings(results):
    return {claim.key: claim.check(results) for claim in Figure6.claims}


def offset_record(seed, ess, error=0.1, far=1.1):
    arrays = {"offset": np.array([0.0, 2.5]), "ess": np.array(ess), "ess_se": np.full(2, error)}
    return Record(row_of(OFFSET_TRIAL, seed, far, metric="ess_far"), arrays=arrays)


def test_figure_6_pools_its_seeds(tmp_path):
    store = Store(tmp_path / "trials")
    for seed, ess in enumerate(([20.0, 1.2], [20.0, 1.0])):
        store.write(offset_record(seed, ess))
    (axis,) = Figure6().render(Results(store, "laptop")).draw().get_axes()
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert lines["measured"].get_xdata().tolist() == [0, 2.5]
    assert lines["measured"].get_ydata().tolist() == pytest.approx([20, 1.1])
    assert lines["k = 20: exact at m = 0"].get_ydata()[0] == 20
    curve = SampleSizeCurve.pool([store.read_arrays(row.trial_id) for row in store.read_rows()])
    assert curve.standard_error.tolist() == pytest.approx([0.1 / 2**0.5] * 2)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"posterior_ess": 1.31, "prior_ess": 1.0, "matched_ess": 1.36},
            ("supported", "supported", "supported"),
        ),
        ({"posterior_ess": 9.0, "prior_ess": 2.0, "matched_ess": 1.36}, ("refuted", "refuted", "supported")),
        ({"posterior_ess": 1.0, "prior_ess": 1.3, "matched_ess": 1.36}, ("refuted", "refuted", "refuted")),
    ],
)
def test_claims_on_the_learned_proposal(tmp_path, values, expected):
    rows = [
        row_of(
            SCORE_BIAS.trial(IMPORTANCE, "laptop"),
            seed,
            metrics=canonical_json({k: v + 2e-3 * seed for k, v in values.items()}),
        )
        for seed in (0, 1)
    ]
    results = store_rows(tmp_path, rows)
    found = findings(results)
    assert tuple(found[key].judgement for key in ("learned-ess", "prior-ess", "learned-better")) == expected
    assert "matches the posterior has 1.361 in 100 dimensions" in found["learned-ess"].evidence
    assert found["far-ess"].judgement == "undetermined"
    (note,) = Figure6().render(results).notes
    assert f"{values['posterior_ess'] + 1e-3:.3f}" in note
    assert "1.29 (MNIST) and 1.32 (CIFAR10" in note


@pytest.mark.parametrize(("ess", "judgement"), [(1.31, "supported"), (1.6, "refuted")])
def test_the_value_of_cifar10_is_compared_with_the_trained_images(tmp_path, ess, judgement):
    own = {"posterior_ess": ess, "prior_ess": 1.0, "matched_ess": 1.314}
    rows = [
        row_of(
            IMAGES.trial("VERA α=100", "paper"),
            seed,
            metrics=canonical_json({name: value + 1e-3 * seed for name, value in own.items()}),
        )
        for seed in (0, 1)
    ]
    results = store_rows(tmp_path, rows)
    found = findings(results)
    assert found["learned-ess-cifar10"].judgement == judgement
    assert "in 128 dimensions" in found["learned-ess-cifar10"].evidence
    assert found["learned-ess"].judgement == "undetermined"
    values = {PAPER.entries[each.number]["value"]: each.cell for each in Figure6().list_compared(results)}
    assert values["1.32"].mean == pytest.approx(ess + 5e-4)
    assert values["1.29"].mean is None


@pytest.mark.parametrize(("far", "judgement"), [(1.13, "supported"), (1.6, "refuted")])
def test_claim_on_distant_proposals(tmp_path, far, judgement):
    rows = [row_of(OFFSET_TRIAL, seed, far + 1e-3 * seed, metric="ess_far") for seed in (0, 1)]
    assert findings(store_rows(tmp_path, rows))["far-ess"].judgement == judgement

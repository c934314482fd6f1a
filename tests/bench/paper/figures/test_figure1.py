"""Figure 1: its trials, its panels and claims for given rows, and a real trial of each kind."""

import numpy as np
import pytest
from bare_process import run_bare
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.toys import SMALL_NETWORK
from sweeps.run.attempt import run_trial

FIGURE = catalogue.artifact("figure1")
LABELS = [
    *(f"VERA λ={weight}" for weight in ("0.01", "0.1", "1")),
    *(f"PCD σ={sigma}" for sigma in ("0.01", "0.03", "0.1", "0.3", "1")),
]
DENSITIES = [(0, 1), (0, 2), (0, 3), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4)]
"""Row and column of each density; its samples are one row below."""
AS_CLAIMED = dict(zip(LABELS, [-5.0, -4.0, -3.0, -90.0, -20.0, -9.0, -8.0, -7.0], strict=True))


def arrays_of(number):
    """A density and samples that no other trial has."""
    image = np.full((100, 100), 1e-5, dtype=np.float32)
    image[number, 2 * number] = 1.0
    samples = np.full((1_000, 2), 0.1 * number)
    return {"density_image": image, "training_samples": samples, "data_samples": np.full((1_000, 2), -1.5)}


def records(likelihoods=None, seeds=(0, 1), distance=0.001, log_density=-2.5, rims=None):
    for number, trial in enumerate(FIGURE.trials("laptop")):
        value = (AS_CLAIMED | (likelihoods or {}))[trial.label]
        for seed in seeds:
            metrics = {
                "grid_log_likelihood": value + 0.02 * seed,
                "grid_rim_share": (rims or {}).get(trial.label, 0.0),
            }
            samples = {
                "sample_energy_distance": distance,
                "sample_log_density": log_density + 0.01 * seed,
                "ceiling": -2.394,
            }
            yield record_of(trial, seed, arrays=arrays_of(number + 10 * seed), **metrics, **samples)


def drawn(results):
    """The figure's axes by row and column."""
    figure = FIGURE.render(results).draw()
    return np.array(figure.axes).reshape(4, 5)


def shown(results):
    """The axes of density and samples by label."""
    axes = drawn(results)
    return {
        label: (axes[row, column], axes[row + 1, column])
        for label, (row, column) in zip(LABELS, DENSITIES, strict=True)
    }


@pytest.mark.parametrize("profile", SMALL_NETWORK.scales)
def test_every_trial_is_declared_once_and_has_a_panel(tmp_path, profile):
    trials = list(FIGURE.trials(profile))
    assert [trial.label for trial in trials] == LABELS
    assert len({trial.id for trial in trials}) == len(LABELS)
    axes = shown(
        results_of(tmp_path, [record_of(trial, step=7, outcome="diverged") for trial in trials[:1]], profile)
    )
    assert [density.texts[0].get_text() for density, _ in axes.values()] == ["diverged\nat step 7"] + [
        "not run"
    ] * 7


def test_the_paper_profile_has_the_papers_settings():
    for trial in FIGURE.trials("paper"):
        facts = trial.facts
        assert (facts["steps"], facts["batch_size"], facts["dataset"]["name"]) == (100_000, 200, "moons")
        assert (facts["networks"]["energy"]["name"], facts["networks"]["energy"]["hidden"]) == (
            "mlp",
            [100, 100],
        )
        assert {value for name, value in facts["method"].items() if name.endswith("lr")} == {1e-3}
    assert {trial.spec.steps for trial in FIGURE.trials("smoke")} == {20}
    assert FIGURE.seeds["laptop"] == (0, 1), "one seed would decide nothing"


def test_panels_show_the_density_and_the_samples_of_the_first_seed(tmp_path):
    axes = shown(results_of(tmp_path, records()))
    for number, (above, below) in enumerate(axes.values()):
        (image,) = above.images
        assert np.array_equal(image.get_array(), arrays_of(number)["density_image"])
        assert (image.get_cmap().name, image.origin, tuple(image.get_extent())) == (
            "viridis",
            "upper",
            (-4, 4, -4, 4),
        )
        assert np.array_equal(below.collections[0].get_offsets(), arrays_of(number)["training_samples"])
        assert above.get_title() == LABELS[number]
        assert above.get_xlabel() == f"{AS_CLAIMED[LABELS[number]]:.2f} nats".replace("-", "−")
        assert (below.get_xlim(), below.get_ylim()) == ((-4, 4), (-4, 4))


def test_the_data_are_left_of_vera_and_other_places_stay_empty(tmp_path):
    axes = drawn(results_of(tmp_path, records()))
    assert np.array_equal(axes[1, 0].collections[0].get_offsets(), arrays_of(0)["data_samples"])
    assert axes[1, 0].get_xlabel() == "ceiling −2.39 nats"
    assert [place for place in np.ndindex(axes.shape) if not axes[place].axison] == [(0, 0), (0, 4), (1, 4)]
    assert [axes[place].get_ylabel() for place in ((0, 1), (1, 0), (2, 0), (3, 0))] == [
        "density",
        "samples",
    ] * 2


def test_it_fits_on_a_page(tmp_path):
    figure = FIGURE.render(results_of(tmp_path, records())).draw()
    assert figure.get_figwidth() <= 6.5
    assert (
        min(
            text.get_fontsize()
            for axis in figure.axes
            for text in (axis.title, axis.xaxis.label, axis.yaxis.label)
        )
        >= 7
    )


def test_a_first_seed_that_diverged_is_not_replaced_by_another(tmp_path):
    first, *others = records()
    trial = next(iter(FIGURE.trials("laptop")))
    density, samples = shown(
        results_of(tmp_path, [record_of(trial, outcome="diverged", step=2_246), *others])
    )["VERA λ=0.01"]
    assert density.texts[0].get_text() == "diverged\nat step 2,246"
    assert not any(spine.get_visible() for spine in density.spines.values()), "no empty panel"
    assert not density.images
    assert not samples.collections
    assert first.row.label == "VERA λ=0.01"


def test_a_likelihood_is_shown_as_a_bound_if_mass_lies_beyond_the_grid(tmp_path):
    axes = shown(results_of(tmp_path, records(rims={"PCD σ=0.1": 0.0015})))
    assert [label for label, (density, _) in axes.items() if density.get_xlabel().startswith("≤")] == [
        "PCD σ=0.1"
    ]
    assert axes["PCD σ=0.1"][0].get_xlabel() == "≤ −9.00 nats"


def test_samples_outside_the_frame_are_counted(tmp_path):
    (record,) = list(records(seeds=(0,)))[:1]
    record.arrays["training_samples"][:3] = [[9.0, 0.0], [0.0, -5.0], [4.1, 4.1]]
    assert shown(results_of(tmp_path, [record]))["VERA λ=0.01"][1].get_xlabel() == "3 of 1,000 outside"


@pytest.mark.parametrize(
    ("key", "likelihoods", "judgement"),
    [
        ("density-improves", {}, "supported"),
        ("density-improves", {"VERA λ=0.1": -2.0}, "refuted"),
        ("pcd-samples-look-right", {}, "supported"),
        ("pcd-samples-look-right", dict.fromkeys(LABELS[3:], -2.5), "refuted"),
    ],
)
def test_claims_are_decided_by_the_rows(tmp_path, key, likelihoods, judgement):
    finding = check_claim(FIGURE, key, results_of(tmp_path, records(likelihoods)))
    assert finding.judgement == judgement, finding.evidence


@pytest.mark.parametrize(
    ("likelihoods", "bound", "judgement"),
    [
        ({}, "VERA λ=0.01", "supported"),
        ({}, "VERA λ=1", "not testable"),
        ({"VERA λ=0.1": -2.0}, "VERA λ=0.1", "not testable"),
        ({"VERA λ=0.1": -7.0}, "VERA λ=0.01", "undetermined"),
        ({"VERA λ=0.1": -7.0}, "VERA λ=0.1", "refuted"),
    ],
)
def test_a_bound_is_not_used_as_a_value(tmp_path, likelihoods, bound, judgement):
    finding = check_claim(
        FIGURE, "density-improves", results_of(tmp_path, records(likelihoods, rims={bound: 0.0015}))
    )
    assert (finding.judgement, f"that of {bound} is an upper bound" in finding.evidence) == (judgement, True)


@pytest.mark.parametrize(("value", "judgement"), [(-9.0, "supported"), (-2.5, "undetermined")])
def test_a_bound_can_show_that_pcds_density_is_wrong_but_not_that_it_is_right(tmp_path, value, judgement):
    pcd = LABELS[3:]
    results = results_of(tmp_path, records(dict.fromkeys(pcd, value), rims=dict.fromkeys(pcd, 0.0015)))
    assert check_claim(FIGURE, "pcd-samples-look-right", results).judgement == judgement


@pytest.mark.parametrize(
    ("wrong", "judgement"), [({"distance": 0.02}, "undetermined"), ({"log_density": -3.2}, "refuted")]
)
def test_samples_that_look_wrong_do_not_support_the_claim(tmp_path, wrong, judgement):
    assert (
        check_claim(FIGURE, "pcd-samples-look-right", results_of(tmp_path, records(**wrong))).judgement
        == judgement
    )


def test_the_evidence_has_the_values_and_every_sigma_whose_samples_look_right(
    tmp_path,
):
    evidence = check_claim(FIGURE, "pcd-samples-look-right", results_of(tmp_path, records())).evidence
    values = "ceiling −2.39, log-density of samples −2.50, likelihood of the model −89.99"
    assert evidence.startswith(f"PCD σ=0.01: {values}; VERA λ=1: −2.99")
    assert "energy distance 0.0010 (right: at most 0.005)" in evidence
    assert evidence.count("samples look right also of PCD") == 4


@pytest.mark.parametrize("claim", FIGURE.claims, ids=lambda claim: claim.key)
def test_one_seed_decides_nothing(tmp_path, claim):
    assert claim.check(results_of(tmp_path, records(seeds=(0,)))).judgement == "undetermined"


def test_smoke_trials_run_and_are_drawn(tmp_path):
    trials = [trial for trial in FIGURE.trials("smoke") if trial.label in ("VERA λ=1", "PCD σ=0.1")]
    made = [run_trial(trial) for trial in trials]
    results = results_of(tmp_path, made, "smoke")
    for record in made:
        above, below = shown(results)[record.row.label]
        assert above.images[0].get_array().sum() == pytest.approx(1.0, abs=1e-3)
        assert below.collections[0].get_offsets().shape == (1_000, 2)
        assert above.get_xlabel().endswith("nats")
    assert len(drawn(results)[1, 0].collections[0].get_offsets()) == 1_000


SCRIPT = """
from bench.catalogue import catalogue
from bench.judging.results import Results, open_store
from bench.render.plotting import save_figure

drawing = catalogue.artifact("figure1").render(Results(open_store(sys.argv[1]), "laptop"))
save_figure(drawing.draw(), sys.argv[1] + "/figure1.png")
print(drawing.caption)
"""


def test_drawing_needs_neither_torch_nor_ray(tmp_path):
    results_of(tmp_path, records())
    ran = run_bare(SCRIPT, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "16 trials on moons" in ran.stdout
    assert (tmp_path / "figure1.png").stat().st_size > 10_000

"""Figures 3, 5 and 6: their trials run, they draw the values of the rows, and the rows decide their
claims."""

import numpy as np
import pytest
from bare_process import run_bare
from bench_helpers import row_of, store_rows

from bench.catalogue import catalogue
from bench.judging.results import Results, open_store
from bench.paper.experiments.score_bias import (
    ALL,
    FORCES,
    IMPORTANCE,
    LATENT,
    SCORE_BIAS,
    label_hmc,
)
from bench.paper.figures.figure3 import METRICS, Figure3, read_noise_free_bias
from bench.paper.figures.figure5 import GAP, Figure5
from bench.paper.figures.figure6 import Figure6
from bench.paper.values import PAPER
from bench.render.plotting import save_figure, tile_images
from sweeps.run.attempt import run_trial
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json

FIGURES = (Figure3, Figure5, Figure6)
NOISES = ("deviation", "variance")
BIAS = {"full": {2: 0.5, 500: 0.1}, "prior_only": {2: 2.1, 500: 1.3}}
DEVIATION = {"full": {2: 1.7, 500: 1.8}, "prior_only": {2: 0.3, 500: 1.75}}


def laptop_trial(label, noise="deviation"):
    return SCORE_BIAS.trial(label, "laptop", SCORE_BIAS.reading("laptop", noise))


def value_of(trial, metric):
    """Values in the order that the laptop profile has; between the two given burn-ins, their mean."""
    method, scale = trial.spec.method, 6.0 if trial.spec.networks["generator"]["noise"] == "variance" else 1.0
    if metric == "signed_bias":
        return scale * {"latent": 0.04, "importance": 0.03, "hmc": 0.02}[method["name"]]
    if metric == "rms_noise":
        return scale * 0.09
    table, level = {"rms_bias": (BIAS, 1.8), "deviation": (DEVIATION, 2.0)}[metric]
    if method["name"] != "hmc":
        return scale * (level if method["name"] == "importance" else 0.0 if metric == "deviation" else 2.2)
    ends = table[method["force"]]
    return scale * ends.get(method["burn_in"], sum(ends.values()) / 2)


def row(trial, seed=0):
    """A row whose values are one per cent larger for each seed."""
    values = {
        name: value_of(trial, name) * (1 + 0.01 * seed) for name in (*METRICS, "signed_bias", "rms_noise")
    }
    return row_of(trial, seed, metrics=canonical_json(values))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    rows = [row(trial, seed) for trial in SCORE_BIAS.trials("laptop") for seed in (0, 1)]
    return store_rows(tmp_path_factory.mktemp("laptop"), rows)


def lines_of(axis):
    return {line.get_label(): line for line in axis.get_lines() if not line.get_label().startswith("_")}


def panels_of(drawing):
    axes = drawing.draw().get_axes()
    keys = [(metric, noise) for metric in METRICS for noise in NOISES]
    assert len(axes) == len(keys)
    return dict(zip(keys, axes, strict=True))


def findings(figure, results):
    return {claim.key: claim.check(results) for claim in figure.claims}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_registered_as_an_artifact_and_as_a_sweep(figure):
    assert isinstance(catalogue.artifact(figure.name), figure)
    sweep = catalogue.sweep(figure.name)
    counts = {
        profile: len(sweep.trials(profile)) / len(list(figure().trials(profile)))
        for profile in SCORE_BIAS.scales
    }
    assert counts == {"smoke": 1, "laptop": 2, "paper": 3}


def test_the_paper_profile_is_the_papers_protocol():
    scale = SCORE_BIAS.scales["paper"]
    assert {data.dataset["name"] for data in scale.data} == {"mnist-pixels"}
    assert (scale.latent_dim, scale.steps, scale.batch_size) == (100, 500, 5_000)
    assert scale.pairs >= 100
    assert scale.repeats == 5_000
    declared = [trial.spec for trial in Figure3().trials("paper")]
    chains = {
        (spec.method["force"], spec.method["burn_in"], spec.networks["generator"]["noise"])
        for spec in declared
        if spec.method["name"] == "hmc"
    }
    assert chains == {
        (f, b, n) for f in ("full", "prior_only") for b in (2, 5, 10, 20, 50, 100, 200, 500) for n in NOISES
    }
    assert {spec.method["k"] for spec in declared if spec.method["name"] == "importance"} == {20}


@pytest.mark.parametrize("profile", SCORE_BIAS.scales)
def test_every_declared_trial_has_its_own_id_and_figures_share_trials(profile):
    ids = [trial.id for trial in Figure3().trials(profile)]
    assert len(set(ids)) == len(ids)
    assert {trial.id for trial in Figure5().trials(profile)} < set(ids)
    assert len({trial.id for trial in Figure6().trials(profile)} - set(ids)) == 1


def test_smoke_trials_run_from_end_to_end_and_all_figures_are_drawn(tmp_path):
    store = Store(tmp_path / "trials")
    for figure in (Figure3(), Figure6()):
        for trial in figure.trials("smoke"):
            record = run_trial(trial)
            assert (record.row.outcome, record.row.reason) == ("ok", "")
            store.write(record)
    results = Results(open_store(tmp_path), "smoke")
    for figure in FIGURES:
        drawing = figure().render(results)
        assert "Smoke profile" in drawing.caption
        save_figure(drawing.draw(), tmp_path / f"{figure.name}.png")
        assert (tmp_path / f"{figure.name}.png").stat().st_size > 5_000
    assert all(note.startswith("Signed mean") for note in Figure3().render(results).notes)
    assert {finding.judgement for figure in FIGURES for finding in findings(figure, results).values()} == {
        "undetermined"
    }


def test_figure_3_draws_every_chain_at_every_burn_in(results):
    axes = panels_of(Figure3().render(results))
    for metric, noise in axes:
        lines = lines_of(axes[metric, noise])
        for force in BIAS:
            line = lines[FORCES[force]]
            burn_ins = SCORE_BIAS.reading("laptop", noise).burn_ins
            expected = [1.005 * value_of(laptop_trial(label_hmc(force, b), noise), metric) for b in burn_ins]
            assert line.get_xdata().tolist() == list(burn_ins)
            assert line.get_ydata().tolist() == pytest.approx(expected)
        level = 1.005 * value_of(laptop_trial(IMPORTANCE, noise), metric)
        assert list(lines["IS, k = 20"].get_ydata()) == pytest.approx([level, level])
        assert ("z = z0" in lines) == (metric != "deviation")


def test_figure_3_compares_the_signed_means_with_the_papers_in_a_note(results):
    notes = [note for note in Figure3().render(results).notes if note.startswith("Signed mean")]
    assert len(notes) == len(NOISES)
    values = [f"{1.005 * scale * value:.2g}" for scale in (1, 6) for value in (0.02, 0.02, 0.03)]
    source = "Figure 3 / Sec 5.2 text"
    paper = [PAPER.read_value(source, method="VERA-HMC", variant=f"burn-in {b}") for b in (2, 500)]
    paper.append(PAPER.read_value(source, method="VERA (importance sampling)"))
    pairs = [f"{ours} (paper {theirs:g})" for ours, theirs in zip(values, 2 * paper, strict=True)]
    for note, expected in zip(notes, (pairs[:3], pairs[3:]), strict=True):
        assert all(pair in note for pair in expected)


def test_figure_3_shows_the_noise_floor_of_every_estimator(results):
    for (metric, noise), axis in panels_of(Figure3().render(results)).items():
        dotted = [line for line in axis.get_lines() if line.get_linestyle() == ":"]
        assert len(dotted) == (3 if metric == "rms_bias" else 0)
        level = 1.005 * 0.09 * (6 if noise == "variance" else 1)
        for line in dotted:
            assert list(line.get_ydata()) == pytest.approx([level] * len(line.get_ydata()))


def test_noise_does_not_count_as_bias(tmp_path):
    """HMC has a larger measured bias than IS, but all of it is noise. A noise above the bias leaves zero."""

    def noisy(trial, seed):
        rms, noise = (2.0, 2.1) if trial.spec.method["name"] == "hmc" else (1.0, 0.6)
        return row_of(
            trial, seed, metrics=canonical_json({"rms_bias": rms + 0.01 * seed, "rms_noise": noise})
        )

    results = store_rows(
        tmp_path, [noisy(trial, seed) for trial in SCORE_BIAS.trials("laptop") for seed in (0, 1)]
    )
    assert read_noise_free_bias(results, laptop_trial(IMPORTANCE)).values == pytest.approx(
        (0.8, (1.01**2 - 0.36) ** 0.5)
    )
    assert read_noise_free_bias(results, laptop_trial(label_hmc("full", 500))).values == (0.0, 0.0)
    assert findings(Figure3, results)["hmc-500-more-biased-full"].judgement == "refuted"


def test_a_bias_without_a_measured_noise_is_not_used(tmp_path):
    results = store_rows(
        tmp_path, [row_of(laptop_trial(IMPORTANCE), 0, metrics=canonical_json({"rms_bias": 1.0}))]
    )
    assert read_noise_free_bias(results, laptop_trial(IMPORTANCE)).reason == "not measured 1 of 1"


def test_figure_3_shows_every_seed(results):
    axis = panels_of(Figure3().render(results))["rms_bias", "variance"]
    dots = np.concatenate([collection.get_offsets().data for collection in axis.collections])
    trial = laptop_trial(label_hmc("full", 20), "variance")
    for seed in (0, 1):
        at = [20, value_of(trial, "rms_bias") * (1 + 0.01 * seed)]
        assert np.isclose(dots, at).all(1).any()


def test_figure_3_names_missing_trials_and_draws_the_others(tmp_path):
    not_run, diverged = laptop_trial(label_hmc("full", 5)), laptop_trial(LATENT)
    rows = [
        row(trial, seed)
        for trial in SCORE_BIAS.trials("laptop")
        for seed in (0, 1)
        if trial.spec not in (not_run.spec, diverged.spec)
    ]
    rows += [row(diverged), row_of(diverged, 1, outcome="diverged")]
    drawing = Figure3().render(store_rows(tmp_path, rows))
    assert drawing.notes[-2:] == (
        "z = z0: 1 of 2 diverged, 0 failed.",
        "HMC (full force), burn-in 5: not run.",
    )
    axis = panels_of(drawing)["rms_bias", "deviation"]
    assert lines_of(axis)["HMC (full force)"].get_xdata().tolist() == [b for b in ALL if b != 5]


def test_figures_without_rows_are_drawn_empty_and_their_captions_say_so(tmp_path):
    results = store_rows(tmp_path, [])
    for figure in FIGURES:
        drawing = figure().render(results)
        assert "No trial of this has been run." in drawing.caption
        assert drawing.draw() is not None
        assert {finding.judgement for finding in findings(figure, results).values()} <= {"undetermined"}
    assert "measured" not in lines_of(Figure6().render(results).draw().get_axes()[0])


def test_claims_of_figure_3_are_decided_by_the_rows(results):
    found = {key: finding.judgement for key, finding in findings(Figure3, results).items()}
    assert found == {
        "hmc-2-more-biased-full": "refuted",
        "hmc-500-more-biased-full": "refuted",
        "hmc-bias-falls-full": "supported",
        "hmc-variance-grows-full": "supported",
        "importance-noisier-full": "supported",
        "hmc-2-more-biased-prior_only": "supported",
        "hmc-500-more-biased-prior_only": "refuted",
        "hmc-bias-falls-prior_only": "supported",
        "hmc-variance-grows-prior_only": "supported",
        "importance-noisier-prior_only": "supported",
        "signed-order": "refuted",
    }
    assert all("n=2 and 2" in finding.evidence for finding in findings(Figure3, results).values())


def test_claims_of_figure_3_are_reversed_with_the_rows(tmp_path):
    """With inverted values every supported claim is refuted and every refuted claim supported."""

    def invert(trial, seed):
        values = {name: 1 / max(value_of(trial, name), 1e-3) * (1 + 0.01 * seed) for name in METRICS}
        signs = {
            "importance": 1.0,
            "hmc": -2.0 if trial.spec.method.get("burn_in") == 500 else 4.0,
            "latent": 1.0,
        }
        changed = {"signed_bias": signs[trial.spec.method["name"]] + 0.01 * seed, "rms_noise": 0.0}
        return row_of(trial, seed, metrics=canonical_json(values | changed))

    results = store_rows(
        tmp_path, [invert(trial, seed) for trial in SCORE_BIAS.trials("laptop") for seed in (0, 1)]
    )
    found = {key: finding.judgement for key, finding in findings(Figure3, results).items()}
    assert {key for key, judgement in found.items() if judgement == "supported"} == {
        "hmc-2-more-biased-full",
        "hmc-500-more-biased-full",
        "hmc-500-more-biased-prior_only",
        "signed-order",
    }
    assert "undetermined" not in found.values()


def test_figure_5_is_a_grid_of_the_samples_of_the_first_seed(tmp_path):
    images = np.arange(100 * 9, dtype=np.uint8).reshape(100, 3, 3)
    store = Store(tmp_path / "trials")
    trial = laptop_trial(IMPORTANCE)
    store.write(Record(row_of(trial, 0, outcome="diverged")))
    store.write(Record(row(trial, 1), arrays={"images": images}))
    store.write(Record(row(trial, 2), arrays={"images": images[::-1]}))
    drawing = Figure5().render(Results(store, "laptop"))
    assert "Seed 1." in drawing.caption
    (image,) = drawing.draw().get_axes()[0].get_images()
    sheet = image.get_array()
    assert sheet.shape == (10 * (3 + GAP) - GAP, 10 * (3 + GAP) - GAP)
    assert (sheet[:3, :3] == images[0]).all()
    assert (sheet[:3, 3 + GAP : 6 + GAP] == images[1]).all()
    assert (sheet[-3:, -3:] == images[99]).all()
    assert (sheet[:, 3 : 3 + GAP] == 255).all()


def test_places_without_an_image_stay_white():
    sheet = tile_images(np.zeros((11, 2, 2), np.uint8), 10, 10, 255, GAP)
    assert sheet.dtype == np.uint8
    assert set(sheet.flat) == {0, 255}
    assert (sheet == 0).sum() == 11 * 4


SCRIPT = """
from bench.catalogue import catalogue
from bench.judging.results import Results, open_store

results = Results(open_store(sys.argv[1]), "laptop")
for figure in map(catalogue.artifact, ("figure3", "figure5", "figure6")):
    figure.render(results).draw()
    print(*(claim.check(results).judgement for claim in figure.claims))
"""


def test_declaring_and_rendering_need_neither_torch_nor_ray(tmp_path):
    store_rows(tmp_path, [row(trial) for trial in SCORE_BIAS.trials("laptop")])
    ran = run_bare(SCRIPT, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.split()) == sum(len(figure.claims) for figure in FIGURES)

"""Stability: counts and claims from made-up rows."""

from dataclasses import replace

from image_records import image_records, line_of
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.image_arms import ARMS, LONG_JEM, NOISY_VERA
from bench.paper.experiments.images import IMAGES
from bench.paper.extras.stability import VERA

STABILITY = catalogue.artifact("stability")


def test_table_counts_divergences_and_restarts(tmp_path):
    made = [*image_records(diverged=("HDGE",))]
    again = [
        replace(record, row=replace(record.row, restarts='[{"step": 5}, {"step": 9}]'))
        if record.row.label == "JEM"
        else record
        for record in made
    ]
    sheet = STABILITY.render(results := results_of(tmp_path, again, "paper"))
    hdge = line_of(sheet, dataset="SVHN", method="HDGE")
    assert (hdge["diverged"], hdge["fraction"], hdge["step"]) == ("3 of 3", 1.0, "7, 7, 7")
    assert hdge["restarts"] == 0.0
    assert line_of(sheet, dataset="SVHN", method="JEM")["restarts"] == 6.0
    assert check_claim(STABILITY, "jem-is-not", results).judgement == "supported"
    diverged = results_of(tmp_path / "diverged", image_records(diverged=VERA), "paper")
    assert check_claim(STABILITY, "vera-is-stable", diverged).judgement == "refuted"


def arm_records(label, profile="paper", outcome="ok", accuracy=0.94):
    return [
        record_of(
            ARMS.trial(label, profile, data),
            seed,
            outcome,
            **({"test_accuracy": accuracy + seed / 1000} if outcome == "ok" else {}),
        )
        for data in ARMS.data(profile)
        for seed in (0, 1, 2)
    ]


def test_arms_have_lines_only_if_they_were_run(tmp_path):
    lines = STABILITY.render(results_of(tmp_path / "without", image_records(), "paper")).lines
    assert not {LONG_JEM, NOISY_VERA} & {line["method"] for line in lines}
    made = [*image_records(), *arm_records(LONG_JEM)]
    sheet = STABILITY.render(results_of(tmp_path / "with", made, "paper"))
    assert line_of(sheet, dataset="SVHN", method=LONG_JEM)["diverged"] == "0 of 3"


def test_arms_change_what_they_name_and_nothing_else():
    for profile in ("smoke", "laptop", "paper"):
        data = IMAGES.data(profile)[0]
        jem, vera = (IMAGES.trial(label, profile, data).facts["method"] for label in ("JEM", "VERA α=100"))
        long, noisy = (ARMS.trial(label, profile, data).facts["method"] for label in (LONG_JEM, NOISY_VERA))
        assert long == {**jem, "sampler_steps": 4 * jem["sampler_steps"]}
        assert noisy == {**vera, "data_noise": 0.03}


def test_rows_of_arms_decide_claims(tmp_path):
    made = [*image_records(diverged=("JEM",)), *arm_records(LONG_JEM), *arm_records(NOISY_VERA)]
    results = results_of(tmp_path / "stable", made, "paper")
    assert check_claim(STABILITY, "long-chains-are-stable", results).judgement == "supported"
    assert check_claim(STABILITY, "vera-needs-no-noise", results).judgement == "supported"
    made = [
        *image_records(),
        *arm_records(LONG_JEM, outcome="diverged"),
        *arm_records(NOISY_VERA, accuracy=0.99),
    ]
    results = results_of(tmp_path / "unstable", made, "paper")
    assert check_claim(STABILITY, "long-chains-are-stable", results).judgement == "not testable"
    assert check_claim(STABILITY, "vera-needs-no-noise", results).judgement == "refuted"


def test_the_grid_of_weights_has_every_alpha_and_lambda():
    trials = catalogue.sweep("image-weights-grid").trials("paper")
    cifar10 = [trial.spec.method for trial in trials if trial.spec.dataset["name"] == "cifar10"]
    pairs = {(method["alpha"], method["entropy_weight"]) for method in cifar10}
    assert pairs == {(a, w) for a in (1, 10, 30, 100) for w in (1, 0.1, 0.01, 1e-3, 1e-4)}
    assert len(cifar10) == len(pairs)


def test_failed_or_short_trials_do_not_show_stability(tmp_path):
    failed = [
        replace(record, row=replace(record.row, outcome="error", metrics="{}")) for record in image_records()
    ]
    results = results_of(tmp_path / "failed", failed, "paper")
    assert {check_claim(STABILITY, key, results).judgement for key in ("vera-is-stable", "jem-is-not")} == {
        "undetermined"
    }
    short = results_of(tmp_path / "short", image_records("laptop"))
    assert check_claim(STABILITY, "vera-is-stable", short).judgement == "undetermined"

"""Tables 3 to 5, the extended FID table, speed, stability and modes: what they declare, what they say of
rows, and real trials."""

import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from engine_helpers import ROOT
from toys_helpers import judged, record_of, results_of

from bench.catalogue import catalogue
from bench.cli.dataset_flag import dataset_part
from bench.cli.verbs import render as rendering
from bench.paper.experiments.images import LINES, SETS, UNSEEN, line, own_pictures, trial_of
from bench.paper.extras.modes import LINES as MODE_LINES
from bench.paper.extras.modes import trial_of as modes_trial
from bench.paper.extras.stability import VERA
from bench.paper.tables.image_tables import NO_PROBABILITIES, printed
from bench.paper.tables.table3 import paper_accuracy
from bench.render.layout import spread
from sweeps.cluster.execute import check_data
from sweeps.run.attempt import run_trial
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.sweep import find_sweep
from vera.errors import DataMissing, IncompatibleModel, SettingError
from vera.evaluation import digit_features
from vera.models.digit_classifier import DigitClassifier
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task

FIGURES = ("figure4", "figure7", *(f"figure{number}" for number in range(9, 28)), "classes", "outliers")
SHEETS = ("table3", "table4", "table5", "table-fid", "speed", "stability", "modes")
TABLE3, TABLE4, TABLE5, TABLE_FID, SPEED, STABILITY, MODES = (catalogue.artifact(name) for name in SHEETS)
ACCURACY = {
    "Classifier": 0.96,
    "JEM": 0.92,
    "HDGE": 0.95,
    "HDGE + log p(x)": 0.9,
    "VERA α=100": 0.94,
    "VERA α=1": 0.76,
}
AUROC = dict(zip(UNSEEN, (0.83, 0.73, 0.86, 0.33), strict=True))
FID = {"JEM": 40.0, "HDGE + log p(x)": 38.0, "VERA α=100": 30.0, "VERA α=1": 27.0}


def measured(label, key, features, seed, unseen):
    """What a trial with this label might have measured; later seeds lie a little above each other."""
    small = 0.001 * seed
    found = {
        "test_accuracy": ACCURACY[label] + small,
        "classes": 10.0,
        "calibration_error": 0.1,
        "best_test_accuracy": 0.99,
    }
    level = AUROC if label == "VERA α=100" else dict.fromkeys(AUROC, 0.67)
    found |= {
        f"auroc_{score}_{name}": level.get(name, 0.8) + small
        for name in unseen
        for score in ("f", "confidence", "gradient")
    }
    if label in FID:
        found |= {
            f"fid_{features}": FID[label] + small,
            f"kid_{features}": 0.01 + 0.01 * small,
            f"quality_samples_{features}": 12_800.0,
        }
    if label.startswith("VERA"):
        found |= {
            f"generated_fid_{features}": FID[label] + 5 + small,
            f"generated_quality_samples_{features}": 12_800.0,
        }
    return found | key


def records(profile="paper", seeds=(0, 1, 2), changes=None, lost=(), **key):
    """Every trial of Table 3; those with a lost label diverged at step 7."""
    for pictures in SETS[profile]:
        for entry in LINES:
            trial = trial_of(entry, pictures, profile)
            for seed in seeds:
                if entry.label in lost:
                    yield record_of(trial, seed, "diverged", step=7)
                else:
                    more = key | (changes or {}).get(entry.label, {})
                    yield record_of(
                        trial,
                        seed,
                        **measured(entry.label, more, pictures.features, seed, pictures.unseen or {}),
                    )


def later(changes, seed):
    """The same measurements a little above each other with each seed: without any spread nothing is
    decided."""
    return {
        label: {name: value + 0.001 * seed for name, value in own.items()} for label, own in changes.items()
    }


def entry_of(sheet, **wanted):
    (found,) = [entry for entry in sheet.lines if wanted.items() <= entry.items()]
    return found


@pytest.mark.parametrize("profile", SETS)
def test_everything_but_speed_and_modes_is_read_off_table_3s_trials_and_one_for_its_samples(profile):
    own = {trial.id for trial in TABLE3.trials(profile)}
    assert len(own) == len(list(TABLE3.trials(profile))) == len(SETS[profile]) * (len(LINES) - 1)
    for name in {*FIGURES, *SHEETS} - {"speed", "modes", "table4", "table-fid"}:
        assert {trial.id for trial in catalogue.artifact(name).trials(profile)} <= own, name
    for table in (TABLE4, TABLE_FID):
        assert {trial.label for trial in table.trials(profile) if trial.id not in own} == {"HDGE + log p(x)"}
        assert len(list(table.trials(profile))) == 4
    for name in (*FIGURES, *SHEETS):
        trials = find_sweep(name).trials(profile)
        assert len({trial.id for trial in trials}) == len(trials) > 0, name


def test_figures_are_of_the_papers_data_sets():
    shown = {
        name: [trial.spec.dataset["name"] for trial in catalogue.artifact(name).trials("paper")]
        for name in FIGURES[:-1]
    }
    assert (shown["figure4"], shown["figure7"], shown["figure10"]) == (
        ["cifar10", "cifar100"],
        ["svhn"],
        ["cifar100"],
    )
    assert {tuple(shown[f"figure{number}"]) for number in range(11, 21)} == {("cifar10",)}
    assert {tuple(shown[f"figure{number}"]) for number in range(21, 28)} == {("cifar100",)}


def test_the_paper_profile_trains_as_the_paper_does():
    facts = {(trial.label, trial.spec.dataset["name"]): trial.facts for trial in TABLE3.trials("paper")}
    assert {name: facts["JEM", name]["steps"] for name in ("cifar10", "cifar100", "svhn")} == {
        "cifar10": 156_200, "cifar100": 156_200, "svhn": 228_800,
    }  # fmt: skip
    rates = {"VERA α=100": (3e-5, 6e-5, 3e-5, 100.0), "VERA α=1": (1e-4, 2e-4, 2e-4, 1.0)}
    for label, expected in rates.items():
        method = facts[label, "cifar10"]["method"]
        assert tuple(method[name] for name in ("lr", "generator_lr", "posterior_lr", "alpha")) == expected
        assert (method["gamma"], method["entropy_weight"], method["k"], method["warmup"]) == (
            0.1,
            1e-4,
            20,
            2_500,
        )
        assert (method["decay"], method["decay_at"]) == (0.3, [117_150, 136_675])
    jem = facts["JEM", "cifar10"]
    sampler = {
        "sampler_steps": 20,
        "step_size": 1.0,
        "noise": 0.01,
        "capacity": 10_000,
        "restart": 0.05,
        "data_noise": 0.03,
    }
    assert sampler.items() <= jem["method"].items()
    assert (jem["method"]["warmup"], jem["method"]["decay_at"]) == (1_000, [124_960, 140_580])
    assert jem["networks"]["energy"] == {"name": "wrn", "depth": 28, "width": 10, "dropout": 0.0}


def test_modes_are_counted_as_in_the_paper():
    for trial in MODES.trials("paper"):
        facts = trial.facts
        assert (facts["steps"], facts["batch_size"], facts["dataset"]["side"]) == (10_200, 100, 64)
        assert facts["task"] == {
            "name": "modes",
            "samples": 10_000,
            "batch": 10_000,
            "epochs": 14,
            "shown": 100,
        }
        assert facts["networks"]["generator"]["latent_dim"] == 100


def test_table_4_has_the_papers_values_beside_inception_on_cifar10_alone(tmp_path):
    sheet = TABLE4.render(results_of(tmp_path / "paper", records(), "paper"))
    found = {entry["method"]: entry["fid"] for entry in sheet.lines}
    assert {label: cell.paper for label, cell in found.items()} == {
        "JEM": 38.4, "HDGE + log p(x)": 37.6, "VERA α=100": 30.5, "VERA α=1": 27.5, "SNGAN": 25.5, "NCSN": 23.52,
    }  # fmt: skip
    assert (found["JEM"].verdict, found["VERA α=1"].mean) == (None, pytest.approx(27.001))
    assert found["VERA α=1"].verdict == "below"
    assert (found["HDGE + log p(x)"].mean, found["HDGE + log p(x)"].verdict) == (pytest.approx(38.001), None)
    assert found["SNGAN"].reason == "not trained here"
    assert "FID (Inception, n = 12,800)" in [column.header for column in sheet.columns]
    assert entry_of(sheet, method="SNGAN")["source"] == "copied in the paper"


def test_a_digit_distance_stands_beside_no_value_of_the_paper(tmp_path):
    results = results_of(tmp_path, records("laptop"))
    for table in (TABLE4, TABLE_FID):
        sheet = table.render(results)
        assert {entry["fid"].paper for entry in sheet.lines} == {None}
        assert {entry["dataset"] for entry in sheet.lines} == {"digits, 32 × 32 × 3"}
        assert "Fréchet distance (digit classifier, n = 12,800)" in [
            column.header for column in sheet.columns
        ]
        assert not any("FID" in f"{claim.text} {claim.check(results).evidence}" for claim in table.claims)


def test_a_blank_score_says_why_and_generator_samples_have_their_own_line(tmp_path):
    sheet = TABLE_FID.render(
        results_of(tmp_path, records(changes={"VERA α=100": {"score_inception": 8.2}}), "paper")
    )
    refined, generated = (
        entry_of(sheet, method="VERA α=1", samples=text) for text in ("refined by MALA", "generator's own")
    )
    assert [(entry["fid"].paper, entry["score"].paper) for entry in (refined, generated)] == [
        (27.5, 8.0),
        (32.4, 7.34),
    ]
    assert (refined["score"].reason, generated["fid"].mean) == (NO_PROBABILITIES, pytest.approx(32.001))
    assert entry_of(sheet, method="VERA α=100", samples="refined by MALA")["score"].mean == pytest.approx(8.2)
    assert entry_of(sheet, method="ADE")["fid"].paper is None
    assert (
        entry_of(sheet, method="ADE")["score"].paper
        == printed("Table U1 (unnumbered, App. C.3)", "ADE", "IS")
        == 7.55
    )


def test_table_5_shows_three_scores_of_every_unseen_set(tmp_path):
    sheet = TABLE5.render(results_of(tmp_path, records(), "paper"))
    found = entry_of(sheet, unseen="CelebA", method="VERA α=100")
    assert (found["f"].paper, found["f"].mean) == (0.33, pytest.approx(0.331))
    assert (found["confidence"].paper, found["gradient"].mean) == (None, pytest.approx(0.331))
    assert entry_of(sheet, unseen="SVHN", method="GLOW")["f"].paper == 0.05
    assert entry_of(sheet, unseen="SVHN", method="JEM")["f"].paper == 0.67
    assert entry_of(sheet, unseen="SVHN", method="VERA α=1")["f"].paper is None
    assert len(sheet.lines) == 4 * 5
    assert [strip.header for strip in spread(sheet)].count("n") == 1


CLAIMS = {
    "table3": ("alpha-buys-accuracy", "as-accurate-as-jem"),
    "table4": ("samples-beat-jem", "labels-cost-quality"),
    "table5": ("three-of-four", "mostly-better"),
    "table-fid": ("refinement-helps",),
    "stability": ("vera-is-stable",),
}


def test_claims_hold_where_the_rows_say_so(tmp_path):
    results = results_of(tmp_path, records(), "paper")
    for name, keys in CLAIMS.items():
        assert {
            key: judged(catalogue.artifact(name), key, results).judgement for key in keys
        } == dict.fromkeys(keys, "supported")
    assert judged(STABILITY, "jem-is-not", results).judgement == "refuted"


def test_claims_are_refuted_where_the_rows_say_the_opposite(tmp_path):
    scores = {f"auroc_f_{name}": 0.5 for name in UNSEEN}
    vera = {"test_accuracy": 0.5, "fid_inception": 25.0, "generated_fid_inception": 20.0, **scores}
    changes = {"VERA α=100": vera, "VERA α=1": vera | {"fid_inception": 50.0, "test_accuracy": 0.7}}
    made = [record for seed in range(3) for record in records(seeds=(seed,), changes=later(changes, seed))]
    results = results_of(tmp_path, made, "paper")
    for name, keys in CLAIMS.items():
        if name != "stability":
            assert {
                key: judged(catalogue.artifact(name), key, results).judgement for key in keys
            } == dict.fromkeys(keys, "refuted")


def test_a_set_whose_files_are_missing_leaves_the_claim_open(tmp_path):
    made = []
    for record in records():
        there = {
            name: value
            for name, value in json.loads(record.row.metrics).items()
            if name != "auroc_f_celeba-test"
        }
        made.append(replace(record, row=replace(record.row, metrics=canonical_json(there))))
    results = results_of(tmp_path, made, "paper")
    assert judged(TABLE5, "three-of-four", results).judgement == "undetermined"
    assert (
        entry_of(TABLE5.render(results), unseen="CelebA", method="JEM")["f"].reason == "not measured 3 of 3"
    )


@pytest.mark.parametrize(("sign", "judgement"), [(-1, "supported"), (1, "undetermined")])
def test_that_vera_fails_on_celeba_takes_an_interval_and_that_it_does_not_one_for_all_four_sets(
    tmp_path, sign, judgement
):
    """VERA and JEM lie .11 apart, by more than the interval of .07 and less than that of four comparisons,
    .115."""
    spread = {"VERA α=100": (0.33, 0.40, 0.36), "JEM": (0.45, 0.50, 0.47)}
    made = [
        record
        for seed in (0, 1, 2)
        for record in records(
            seeds=(seed,),
            changes={
                label: {"auroc_f_celeba-test": 0.5 - sign * (v[seed] - 0.5)} for label, v in spread.items()
            },
        )
    ]
    finding = judged(TABLE5, "three-of-four", results_of(tmp_path, made, "paper"))
    assert finding.judgement == judgement, finding.evidence


def test_other_images_have_trials_claims_and_files_of_their_own(tmp_path):
    own = TABLE3.on(dataset_part("digits32,side=16")[0])
    accuracy = {"VERA α=100": 0.9, "VERA α=1": 0.2}
    made = [record_of(trial, seed, test_accuracy=accuracy.get(trial.label, 0.5) + seed / 1_000)
            for trial in own.trials("laptop") for seed in (0, 1)]  # fmt: skip
    results = results_of(tmp_path, made)
    assert (judged(own, "as-accurate-as-jem", results).judgement, judged(TABLE3, "as-accurate-as-jem", results).judgement) == (
        "supported", "undetermined",
    )  # fmt: skip
    sheet = own.render(results)
    assert (sheet.name, sheet.title) == ("table3-digits32-side-16", f"{TABLE3.title} on digits32 (side=16)")
    assert catalogue.artifact("outliers").on(own.dataset).render(results).name == "outliers-digits32-side-16"


def test_on_other_images_all_is_rendered_from_the_first_store_that_has_any(tmp_path):
    own = TABLE3.on(dataset_part("digits32,side=16")[0])
    mine, shipped = (
        results_of(
            tmp_path / name, [record_of(trial, 0, test_accuracy=level) for trial in own.trials("laptop")]
        )
        for name, level in (("mine", 0.1), ("shipped", 0.9))
    )
    ((artifact, (found,)),) = rendering._on_other_images([TABLE3], [mine, shipped]).items()
    assert artifact.render(found).name == "table3-digits32-side-16"
    assert {entry["test_accuracy"].mean for entry in artifact.render(found).lines} == {10.0}
    ((_, (only,)),) = rendering._on_other_images([TABLE3], [shipped]).items()
    assert {entry["test_accuracy"].mean for entry in artifact.render(only).lines} == {90.0}


def test_cifar10_at_other_sizes_keeps_the_papers_values_and_unseen_sets():
    pictures = own_pictures(dataset_part("cifar10,batches=1+2")[0], "laptop")
    assert (pictures.name, pictures.features) == ("CIFAR10 (batches=1+2)", "inception")
    assert paper_accuracy(pictures, "VERA α=1") == 76.1
    assert set(pictures.unseen) > set(UNSEEN)


def test_the_papers_settings_are_for_its_own_data_sets():
    assert TABLE3.on(dataset_part("svhn")[0]).sets("paper") == [SETS["paper"][2]]
    for text in ("digits32", "cifar10,batches=1"):
        with pytest.raises(SettingError, match="cifar10, cifar100 or svhn"):
            list(TABLE3.on(dataset_part(text)[0]).trials("paper"))


def test_a_run_that_needs_inception_says_so_before_it_trains(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity.feature_extractor_inceptionv3", None)
    monkeypatch.delenv("VERA_INCEPTION", raising=False)
    trial = replace(trial_of(line("JEM"), SETS["laptop"][0], "laptop"))
    asked = replace(trial, spec=replace(trial.spec, task={**trial.spec.task, "features": "inception"}))
    check_data([trial], str(tmp_path))
    with pytest.raises(DataMissing, match=r"Inception network is not there.*as inception\.pt"):
        check_data([trial, asked], str(tmp_path))
    (tmp_path / "inception.pt").write_bytes(b"")
    with pytest.raises(DataMissing, match=r"inception\.pt holds no TorchScript network.*torch-fidelity"):
        check_data([asked], str(tmp_path))
    with zipfile.ZipFile(tmp_path / "inception.pt", "w") as archive:
        archive.writestr("network/code/of.py", "")
    check_data([asked], str(tmp_path))


@pytest.mark.parametrize("name", SHEETS)
def test_without_rows_claims_are_undetermined_and_cells_say_not_run(tmp_path, name):
    results = results_of(tmp_path, [], "paper")
    assert {claim.check(results).judgement for claim in catalogue.artifact(name).claims} <= {"undetermined"}
    assert any("not run" in strip.texts for strip in spread(catalogue.artifact(name).render(results)))


def test_stability_counts_divergences_and_restarts(tmp_path):
    made = [*records(lost=("HDGE",))]
    again = [
        replace(record, row=replace(record.row, restarts='[{"step": 5}, {"step": 9}]'))
        if record.row.label == "JEM"
        else record
        for record in made
    ]
    sheet = STABILITY.render(results := results_of(tmp_path, again, "paper"))
    lost = entry_of(sheet, dataset="SVHN", method="HDGE")
    assert (lost["diverged"], lost["fraction"], lost["step"], lost["restarts"]) == (
        "3 of 3",
        1.0,
        "7, 7, 7",
        0.0,
    )
    assert (entry_of(sheet, dataset="SVHN", method="JEM")["restarts"], judged(STABILITY, "jem-is-not", results).judgement) == (
        6.0, "supported",
    )  # fmt: skip
    assert (
        judged(
            STABILITY, "vera-is-stable", results_of(tmp_path / "bad", records(lost=VERA), "paper")
        ).judgement
        == "refuted"
    )


def test_trials_that_were_lost_or_are_short_do_not_show_that_a_method_is_stable(tmp_path):
    lost = [replace(record, row=replace(record.row, outcome="error", metrics="{}")) for record in records()]
    results = results_of(tmp_path / "lost", lost, "paper")
    assert {judged(STABILITY, key, results).judgement for key in ("vera-is-stable", "jem-is-not")} == {
        "undetermined"
    }
    short = results_of(tmp_path / "short", records("laptop"))
    assert judged(STABILITY, "vera-is-stable", short).judgement == "undetermined"


def test_distances_of_different_n_are_not_compared(tmp_path):
    few = {"quality_samples_inception": 10_000.0}
    kid = {seed: {"JEM": few | {"kid_inception": 0.005 + 1e-5 * seed}} for seed in range(3)}
    made = [record for seed, changes in kid.items() for record in records(seeds=(seed,), changes=changes)]
    results = results_of(tmp_path, made, "paper")
    found = judged(TABLE4, "samples-beat-jem", results)
    assert (found.judgement, "KID (n = 10,000 and 12,800)" in found.evidence) == ("refuted", True)


def test_a_distance_by_another_network_is_said_to_be_one(tmp_path):
    made = []
    for record in records():
        other = {
            name.replace("_inception", "_torchscript"): value
            for name, value in json.loads(record.row.metrics).items()
        }
        made.append(replace(record, row=replace(record.row, metrics=canonical_json(other))))
    found = entry_of(TABLE4.render(results_of(tmp_path, made, "paper")), method="VERA α=1")["fid"]
    assert found.reason == "judged by another network (torchscript)"


@pytest.mark.parametrize(
    ("level", "judgement"), [(2.8, "supported"), (0.5, "refuted"), (1.0, "undetermined")]
)
def test_speed_stands_beside_the_papers(tmp_path, level, judgement):
    made = [record_of(trial, seed, ratio=level + 0.001 * seed, vera_seconds=1.0, jem_seconds=level, spread=0.1)
            for trial in SPEED.trials("paper") for seed in (0, 1, 2)]  # fmt: skip
    results = results_of(tmp_path, made, "paper")
    assert judged(SPEED, "vera-is-faster", results).judgement == judgement
    (entry,) = SPEED.render(results).lines
    assert (entry["classifier"], entry["ratio"].paper, entry["ratio"].mean) == (
        "WRN-28-10",
        2.8,
        pytest.approx(level + 0.001),
    )


@pytest.mark.parametrize(("modes", "judgement"), [(999.0, "supported"), (100.0, "refuted")])
def test_modes_are_judged_beside_those_of_data(tmp_path, modes, judgement):
    counts = {
        "VERA": modes,
        "VERA-HMC, prior-only force": 998.0,
        "VERA-HMC, full force": 1.0,
        "VERA λ=0": 500.0,
    }
    made = [record_of(modes_trial(label, "paper"), seed, modes=counts[label] - seed, data_modes=1_000.0 - seed)
            for label in MODE_LINES for seed in (0, 1, 2)]  # fmt: skip
    results = results_of(tmp_path, made, "paper")
    assert {judged(MODES, key, results).judgement for key in ("nearly-all", "as-many-as-hmc")} == {judgement}
    assert [entry["modes"].paper for entry in MODES.render(results).lines] == [999.0, 999.0, None, 998.0]


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Digit classifiers as they are initialised; how they are trained is tested elsewhere."""

    def untrained(recipe, split, device):
        return DigitClassifier(split.classes, recipe.side), 0.1

    monkeypatch.setenv("VERA_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(digit_features, "_train", untrained)


def test_a_real_trial_fills_tables_and_figures(quick, tmp_path):
    record = run_trial(trial_of(line("VERA α=1"), SETS["smoke"][0], "smoke"))
    assert (record.row.outcome, record.row.reason) == ("ok", "")
    results = results_of(tmp_path, [record], "smoke")
    assert entry_of(TABLE3.render(results), method="VERA α=1")["test_accuracy"].n == 1
    judgements = [entry for entry in TABLE_FID.render(results).lines if entry["method"] == "VERA α=1"]
    assert {(entry["fid"].n, entry["score"].n) for entry in judgements} == {(1, 1)}
    found = [entry for entry in TABLE5.render(results).lines if entry["method"] == "VERA α=1"]
    assert {entry[score].n for entry in found for score in ("f", "confidence", "gradient")} == {1}
    assert len(found) == len(SETS["smoke"][0].unseen)
    assert {
        "generated_samples",
        "refined_samples",
        "chain_images",
        "class_samples",
        "histogram_seen",
    } <= record.arrays.keys()


@pytest.mark.parametrize("label", ["VERA", "VERA-HMC, prior-only force", "VERA-HMC, full force"])
def test_a_real_trial_counts_modes(quick, tmp_path, label):
    record = run_trial(modes_trial(label, "smoke"))
    assert (record.row.outcome, record.row.reason) == ("ok", "")
    found = entry_of(MODES.render(results_of(tmp_path, [record], "smoke")), method=label)
    assert 1 <= found["modes"].mean <= 60
    assert 1 <= found["data_modes"].mean <= 60
    assert record.arrays["generated_samples"].shape == (60, 3, 32, 32)


def test_modes_need_stacked_digits_and_a_generator():
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mlp"}, "generator": {"name": "mlp-generator"}}, {"name": "vera"}, 2,
                     task="modes")  # fmt: skip
    with pytest.raises(IncompatibleModel, match="counts those of 'stacked-mnist'"):
        build_task(spec).build(spec)
    alone = replace(
        modes_trial("VERA", "smoke").spec,
        networks={"energy": {"name": "dcgan", "width": 4}},
        method={"name": "pcd"},
    )
    with pytest.raises(IncompatibleModel, match="'pcd' has none"):
        build_task(alone).build(alone)


def test_a_real_trial_times_both_methods(tmp_path):
    (trial,) = SPEED.trials("smoke")
    record = run_trial(trial)
    assert record.row.outcome == "ok"
    (entry,) = SPEED.render(results_of(tmp_path, [record], "smoke")).lines
    assert min(entry[key].mean for key in ("vera_seconds", "jem_seconds", "ratio")) > 0


def test_declaring_and_rendering_need_neither_torch_nor_ray(tmp_path):
    results_of(tmp_path, records("laptop", (0,)))
    code = (
        "import sys; sys.modules |= dict.fromkeys(['torch', 'ray', 'pandas'])\n"
        "from bench.catalogue import catalogue; from bench.judging.results import Results\n"
        "results = Results.open(sys.argv[1], 'laptop')\n"
        f"for name in {(*SHEETS, *FIGURES)}:\n"
        "    artifact = catalogue.artifact(name); print(artifact.render(results).title)\n"
        "    print(*(claim.check(results).judgement for claim in artifact.claims), *artifact.trials('paper'))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, timeout=300, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")

"""The image experiment: declared trials, other images, rendering without torch, and a smoke trial."""

import sys
import zipfile
from collections import Counter
from dataclasses import replace

import pytest
from bare_process import run_bare
from facts import raises_with
from image_records import image_records, line_of
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.cli.selection.artifacts import find_image_variants
from bench.cli.selection.dataset import parse_dataset
from bench.experiment import TUNING_SEEDS
from bench.paper.experiments.image_arms import ARMS
from bench.paper.experiments.images import IMAGES, LINES, UNSEEN
from bench.paper.figures.image_figures import LABEL
from bench.paper.values import PAPER
from bench.render.layout import lay_out
from sweeps.cluster.execute import check_data
from sweeps.run.attempt import run_trial
from vera.errors import DataMissing, SettingError

FIGURES = ("figure4", "figure7", *(f"figure{number}" for number in range(9, 28)), "classes", "outliers")
SHEETS = ("table3", "table4", "table5", "table-fid", "speed", "stability", "modes")
TABLE3, TABLE4, TABLE5, TABLE_FID = map(catalogue.artifact, SHEETS[:4])


@pytest.mark.parametrize("profile", IMAGES.scales)
def test_artifacts_share_the_trials_of_table_3_and_one_line_for_samples(profile):
    own = {trial.id for trial in TABLE3.trials(profile)}
    for_figures = [data for data in IMAGES.data(profile) if data.only_in_figures]
    sets = len(IMAGES.data(profile)) - len(for_figures)
    assert len(own) == len(list(TABLE3.trials(profile))) == sets * (len(LINES) - 1)
    shown = own | {IMAGES.trial(LABEL, profile, data).id for data in for_figures}
    for name in FIGURES:
        assert {trial.id for trial in catalogue.artifact(name).trials(profile)} <= shown, name
    for name in {*SHEETS, "outliers"} - {"speed", "modes", "table4", "table-fid"}:
        arms = {trial.id for trial in ARMS.trials(profile)} if name == "stability" else set()
        assert {trial.id for trial in catalogue.artifact(name).trials(profile)} <= own | arms, name
    for table in (TABLE4, TABLE_FID):
        assert {trial.label for trial in table.trials(profile) if trial.id not in own} == {"HDGE + log p(x)"}
        assert len(list(table.trials(profile))) == 6
    for name in (*FIGURES, *SHEETS):
        trials = catalogue.sweep(name).trials(profile)
        assert len({trial.id for trial in trials}) == len(trials) > 0, name


def test_figures_show_the_data_sets_of_the_paper():
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


def test_a_second_data_set_takes_the_place_of_cifar100_at_laptop():
    first, second = IMAGES.data("laptop")
    shown = {
        name: [trial.spec.dataset["name"] for trial in catalogue.artifact(name).trials("laptop")]
        for name in FIGURES[:-1]
    }
    assert shown["figure4"] == [first.dataset["name"], second.dataset["name"]]
    assert shown["figure10"] == shown["figure27"] == shown["figure7"] == [second.dataset["name"]]
    assert shown["figure9"] == shown["figure20"] == [first.dataset["name"]]


def test_every_line_is_tuned_with_equal_effort():
    trials = list(catalogue.sweep("table3-grid").trials("laptop"))
    tried = Counter(trial.spec.seed for trial in trials)
    assert set(tried) == set(TUNING_SEEDS)
    assert len({trial.id for trial in trials}) == len(trials)
    sizes = {len(line.points_at("laptop")) for line in LINES}
    assert set(tried.values()) == {sizes.pop() * len(LINES)}
    assert not sizes
    for line in LINES:
        values = [point["lr"] for point in line.points_at("laptop")]
        assert min(values) < line.laptop["lr"] < max(values), line.label


def test_paper_profile_follows_the_protocol():
    facts = {(trial.label, trial.spec.dataset["name"]): trial.facts for trial in TABLE3.trials("paper")}
    assert {name: facts["JEM", name]["steps"] for name in ("cifar10", "cifar100", "svhn")} == {
        "cifar10": 156_200,
        "cifar100": 156_200,
        "svhn": 228_800,
    }
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


def test_other_images_have_their_own_trials_claims_and_files(tmp_path):
    own = TABLE3.on(parse_dataset("digits32,side=16")[0])
    accuracy = {"VERA α=100": 0.9, "VERA α=1": 0.2}
    made = [
        record_of(trial, seed, test_accuracy=accuracy.get(trial.label, 0.5) + seed / 1_000)
        for trial in own.trials("laptop")
        for seed in (0, 1)
    ]
    results = results_of(tmp_path, made)
    assert check_claim(own, "as-accurate-as-jem", results).judgement == "supported"
    assert check_claim(TABLE3, "as-accurate-as-jem", results).judgement == "undetermined"
    sheet = own.render(results)
    assert (sheet.name, sheet.title) == ("table3-digits32-side-16", f"{TABLE3.title} on digits32 (side=16)")
    assert catalogue.artifact("outliers").on(own.dataset).render(results).name == "outliers-digits32-side-16"


def test_other_images_are_rendered_from_the_first_store_with_trials(tmp_path):
    own = TABLE3.on(parse_dataset("digits32,side=16")[0])
    mine, shipped = (
        results_of(
            tmp_path / name, [record_of(trial, 0, test_accuracy=level) for trial in own.trials("laptop")]
        )
        for name, level in (("mine", 0.1), ("shipped", 0.9))
    )
    ((artifact, (found,)),) = find_image_variants([TABLE3], [mine, shipped]).items()
    assert artifact.render(found).name == "table3-digits32-side-16"
    assert {entry["test_accuracy"].mean for entry in artifact.render(found).lines} == {10.0}
    ((_, (only,)),) = find_image_variants([TABLE3], [shipped]).items()
    assert {entry["test_accuracy"].mean for entry in artifact.render(only).lines} == {90.0}


def test_other_batches_of_cifar10_keep_paper_values_and_unseen_sets():
    data = IMAGES.other_data(parse_dataset("cifar10,batches=1+2")[0], "laptop")
    assert (data.name, data.features) == ("CIFAR10 (batches=1+2)", "inception")
    assert PAPER.find_for("Table 3", IMAGES.line("VERA α=1"), data) == 76.1
    assert set(data.unseen) > set(UNSEEN)


def test_paper_profile_takes_the_data_sets_of_the_paper_only():
    assert TABLE3.on(parse_dataset("svhn")[0]).data("paper") == [IMAGES.data("paper")[2]]
    for text in ("digits32", "cifar10,batches=1"):
        with raises_with(SettingError, "--profile paper", "cifar10, cifar100 or svhn"):
            list(TABLE3.on(parse_dataset(text)[0]).trials("paper"))


def test_missing_inception_network_is_reported_before_training(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity.feature_extractor_inceptionv3", None)
    monkeypatch.delenv("VERA_INCEPTION", raising=False)
    trial = IMAGES.trial("JEM", "laptop")
    asked = replace(trial, spec=replace(trial.spec, task={**trial.spec.task, "features": "inception"}))
    check_data([trial], str(tmp_path))
    with raises_with(DataMissing, "Inception", "inception.pt"):
        check_data([trial, asked], str(tmp_path))
    (tmp_path / "inception.pt").write_bytes(b"")
    with raises_with(DataMissing, "inception.pt", "TorchScript", "torch-fidelity"):
        check_data([asked], str(tmp_path))
    with zipfile.ZipFile(tmp_path / "inception.pt", "w") as archive:
        archive.writestr("network/code/of.py", "")
    check_data([asked], str(tmp_path))


@pytest.mark.parametrize("name", SHEETS)
def test_claims_are_undetermined_and_cells_not_run_without_rows(tmp_path, name):
    results = results_of(tmp_path, [], "paper")
    assert {claim.check(results).judgement for claim in catalogue.artifact(name).claims} <= {"undetermined"}
    assert any("not run" in strip.texts for strip in lay_out(catalogue.artifact(name).render(results)))


def test_smoke_trial_fills_tables_and_figures(untrained_classifiers, tmp_path):
    record = run_trial(IMAGES.trial("VERA α=1", "smoke"))
    assert (record.row.outcome, record.row.reason) == ("ok", "")
    results = results_of(tmp_path, [record], "smoke")
    assert line_of(TABLE3.render(results), method="VERA α=1")["test_accuracy"].n == 1
    judgements = [entry for entry in TABLE_FID.render(results).lines if entry["method"] == "VERA α=1"]
    assert {(entry["fid"].n, entry["score"].n) for entry in judgements} == {(1, 1)}
    found = [entry for entry in TABLE5.render(results).lines if entry["method"] == "VERA α=1"]
    assert {entry[score].n for entry in found for score in ("f", "confidence", "gradient")} == {1}
    assert len(found) == len(IMAGES.data("smoke")[0].unseen)
    assert {
        "generated_samples",
        "refined_samples",
        "chain_images",
        "class_samples",
        "histogram_seen",
    } <= record.arrays.keys()


def test_declaring_and_rendering_need_neither_torch_nor_ray(tmp_path):
    results_of(tmp_path, image_records("laptop", (0,)))
    script = f"""
from bench.catalogue import catalogue
from bench.judging.results import Results, open_store

results = Results(open_store(sys.argv[1]), "laptop")
for name in {(*SHEETS, *FIGURES)}:
    artifact = catalogue.artifact(name)
    print(artifact.render(results).title)
    print(*(claim.check(results).judgement for claim in artifact.claims), *artifact.trials("paper"))
"""
    ran = run_bare(script, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")

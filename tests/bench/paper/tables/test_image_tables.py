"""Tables 3 to 5 and the extended FID table: sheets and claims from made-up rows."""

import json
from dataclasses import replace

import pytest
from image_records import image_records, line_of, shift_by_seed
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.cli.selection.dataset import parse_dataset
from bench.paper.experiments.images import UNSEEN
from bench.paper.tables.sample_quality import NO_NETWORK, NO_PROBABILITIES
from bench.paper.values import PAPER
from bench.render.layout import lay_out
from sweeps.trial.canonical_json import canonical_json

TABLE4, TABLE5, TABLE_FID, STABILITY = map(catalogue.artifact, ("table4", "table5", "table-fid", "stability"))
CLAIMS = {
    "table3": ("alpha-buys-accuracy", "as-accurate-as-jem"),
    "table4": ("samples-beat-jem", "labels-cost-quality", "accuracy-and-samples"),
    "table5": ("three-of-four", "mostly-better"),
    "table-fid": ("refinement-helps",),
    "stability": ("vera-is-stable",),
}


def test_table_4_shows_paper_values_for_inception_on_cifar10(tmp_path):
    sheet = TABLE4.render(results_of(tmp_path / "paper", image_records(), "paper"))
    found = {entry["method"]: entry["fid"] for entry in sheet.lines}
    assert {label: cell.paper for label, cell in found.items()} == {
        "JEM": 38.4,
        "JEM without data noise": None,
        "HDGE + log p(x)": 37.6,
        "VERA α=100": 30.5,
        "VERA α=30": None,
        "VERA α=1": 27.5,
        "SNGAN": 25.5,
        "NCSN": 23.52,
    }
    assert (found["JEM"].verdict, found["VERA α=1"].mean) == (None, pytest.approx(27.001))
    assert found["VERA α=1"].verdict == "below"
    assert (found["HDGE + log p(x)"].mean, found["HDGE + log p(x)"].verdict) == (pytest.approx(38.001), None)
    assert found["SNGAN"].reason == "not trained here"
    assert "FID (Inception, n = 12,800)" in [column.header for column in sheet.columns]
    assert line_of(sheet, method="SNGAN")["source"] == "copied in the paper"


def test_digit_distance_has_no_paper_value(tmp_path):
    results = results_of(tmp_path, image_records("laptop"))
    for table in (TABLE4, TABLE_FID):
        sheet = table.render(results)
        assert {entry["fid"].paper for entry in sheet.lines} == {None}
        assert {entry["dataset"] for entry in sheet.lines} == {"MNIST 5k, 16 × 16"}
        assert "Fréchet distance (digit classifier, n = 12,800)" in [
            column.header for column in sheet.columns
        ]
        assert not any("FID" in f"{claim.text} {claim.check(results).evidence}" for claim in table.claims)


@pytest.mark.parametrize("text", ["cifar10-16x16,batches=1", "digits-images"])
def test_images_that_no_network_judges_have_blank_distances(tmp_path, text):
    for table in (TABLE4, TABLE_FID):
        own = table.on(parse_dataset(text)[0])
        made = [record_of(trial, 0, test_accuracy=0.5) for trial in own.trials("laptop")]
        sheet = own.render(results_of(tmp_path / table.name, made))
        assert {entry["fid"].reason for entry in sheet.lines} == {NO_NETWORK}


def test_blank_score_gives_the_reason_and_generator_samples_have_a_line(tmp_path):
    sheet = TABLE_FID.render(
        results_of(tmp_path, image_records(changes={"VERA α=100": {"score_inception": 8.2}}), "paper")
    )
    refined, generated = (
        line_of(sheet, method="VERA α=1", samples=text) for text in ("refined by MALA", "generator's own")
    )
    assert [(entry["fid"].paper, entry["score"].paper) for entry in (refined, generated)] == [
        (27.5, 8.0),
        (32.4, 7.34),
    ]
    assert (refined["score"].reason, generated["fid"].mean) == (NO_PROBABILITIES, pytest.approx(32.001))
    assert line_of(sheet, method="VERA α=100", samples="refined by MALA")["score"].mean == pytest.approx(8.2)
    assert line_of(sheet, method="ADE")["fid"].paper is None
    assert (
        line_of(sheet, method="ADE")["score"].paper
        == PAPER.read_value("Table U1 (unnumbered, App. C.3)", method="ADE", metric="IS")
        == 7.55
    )


def test_table_5_shows_three_scores_of_every_unseen_set(tmp_path):
    sheet = TABLE5.render(results_of(tmp_path, image_records(), "paper"))
    found = line_of(sheet, unseen="CelebA", method="VERA α=100")
    assert (found["f"].paper, found["f"].mean) == (0.33, pytest.approx(0.331))
    assert (found["confidence"].paper, found["gradient"].mean) == (None, pytest.approx(0.331))
    assert line_of(sheet, unseen="SVHN", method="GLOW")["f"].paper == 0.05
    assert line_of(sheet, unseen="SVHN", method="JEM")["f"].paper == 0.67
    assert line_of(sheet, unseen="SVHN", method="VERA α=1")["f"].paper is None
    assert len(sheet.lines) == 4 * 7
    assert [strip.header for strip in lay_out(sheet)].count("n") == 1


def test_rows_support_claims(tmp_path):
    results = results_of(tmp_path, image_records(), "paper")
    for name, keys in CLAIMS.items():
        assert {
            key: check_claim(catalogue.artifact(name), key, results).judgement for key in keys
        } == dict.fromkeys(keys, "supported")
    assert check_claim(STABILITY, "jem-is-not", results).judgement == "refuted"


def test_rows_refute_claims(tmp_path):
    scores = {f"auroc_f_{name}": 0.5 for name in UNSEEN}
    vera = {"test_accuracy": 0.5, "fid_inception": 25.0, "generated_fid_inception": 20.0, **scores}
    changes = {"VERA α=100": vera, "VERA α=1": vera | {"fid_inception": 50.0, "test_accuracy": 0.7}}
    made = [
        record
        for seed in range(3)
        for record in image_records(seeds=(seed,), changes=shift_by_seed(changes, seed))
    ]
    results = results_of(tmp_path, made, "paper")
    for name, keys in CLAIMS.items():
        if name != "stability":
            assert {
                key: check_claim(catalogue.artifact(name), key, results).judgement for key in keys
            } == dict.fromkeys(keys, "refuted")


def test_hdge_claim_names_the_values_of_the_paper_that_contradict_it(tmp_path):
    hdge = {"HDGE": {f"auroc_f_{name}": 0.95 for name in UNSEEN}}
    made = [
        record
        for seed in range(3)
        for record in image_records(seeds=(seed,), changes=shift_by_seed(hdge, seed))
    ]
    made = [
        replace(
            record,
            row=replace(record.row, metrics=record.row.metrics.replace("0.95", f"0.95{record.row.seed}")),
        )
        for record in made
    ]
    finding = check_claim(TABLE5, "below-hdge", results_of(tmp_path / "above", made, "paper"))
    assert finding.judgement == "supported"
    assert "contradict it on CIFAR10-Interp (HDGE 0.82, VERA 0.86)" in finding.evidence
    usual = check_claim(TABLE5, "below-hdge", results_of(tmp_path / "below", image_records(), "paper"))
    assert usual.judgement == "refuted"


def test_unseen_set_without_files_leaves_the_claim_undetermined(tmp_path):
    made = []
    for record in image_records():
        there = {
            name: value
            for name, value in json.loads(record.row.metrics).items()
            if name != "auroc_f_celeba-test"
        }
        made.append(replace(record, row=replace(record.row, metrics=canonical_json(there))))
    results = results_of(tmp_path, made, "paper")
    assert check_claim(TABLE5, "three-of-four", results).judgement == "undetermined"
    assert line_of(TABLE5.render(results), unseen="CelebA", method="JEM")["f"].reason == "not measured 3 of 3"


@pytest.mark.parametrize(("sign", "judgement"), [(-1, "supported"), (1, "undetermined")])
def test_celeba_claim_uses_one_interval_for_support_and_a_corrected_one_against_it(tmp_path, sign, judgement):
    """The paired differences of .078, .11 and .142 have t = 5.95 with two degrees of freedom: more than the
    4.30 of one comparison and less than the 8.86 of four."""
    spread = {"VERA α=100": (0.33, 0.40, 0.36), "JEM": (0.408, 0.51, 0.502)}
    made = [
        record
        for seed in (0, 1, 2)
        for record in image_records(
            seeds=(seed,),
            changes={
                label: {"auroc_f_celeba-test": 0.5 - sign * (v[seed] - 0.5)} for label, v in spread.items()
            },
        )
    ]
    finding = check_claim(TABLE5, "three-of-four", results_of(tmp_path, made, "paper"))
    assert finding.judgement == judgement, finding.evidence


def test_unseen_sets_that_jem_separates_perfectly_are_left_out(tmp_path):
    every = {f"auroc_f_{name}": 0.9999 for name in UNSEEN}
    for name, perfect in {"some": list(every)[:2], "all": list(every)}.items():
        made = list(image_records(changes={"JEM": {key: every[key] for key in perfect}}))
        finding = check_claim(TABLE5, "mostly-better", results_of(tmp_path / name, made, "paper"))
        assert finding.judgement == ("supported" if name == "some" else "not testable")
        assert all(UNSEEN[key.removeprefix("auroc_f_")] in finding.evidence for key in perfect)


def test_distances_with_different_sample_counts_are_compared_by_kid(tmp_path):
    few = {"quality_samples_inception": 10_000.0}
    kid = {seed: {"JEM": few | {"kid_inception": 0.005 + 1e-5 * seed}} for seed in range(3)}
    made = [
        record for seed, changes in kid.items() for record in image_records(seeds=(seed,), changes=changes)
    ]
    results = results_of(tmp_path, made, "paper")
    found = check_claim(TABLE4, "samples-beat-jem", results)
    assert (found.judgement, "KID (n = 10,000 and 12,800)" in found.evidence) == ("refuted", True)


def test_distance_by_another_network_is_named_as_the_reason(tmp_path):
    made = []
    for record in image_records():
        other = {
            name.replace("_inception", "_torchscript"): value
            for name, value in json.loads(record.row.metrics).items()
        }
        made.append(replace(record, row=replace(record.row, metrics=canonical_json(other))))
    found = line_of(TABLE4.render(results_of(tmp_path, made, "paper")), method="VERA α=1")["fid"]
    assert found.reason == "judged by another network (torchscript)"

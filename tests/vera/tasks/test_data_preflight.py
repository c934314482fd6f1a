"""What is looked for before a trial starts: the files of its data set with its settings, and what its
measurement will need."""

import pytest
from image_helpers import write_cifar10, write_svhn

from sweeps.cluster.execute import check_data
from sweeps.trial.identity import Trial
from vera.data.images import svhn
from vera.errors import DataCorrupt, DataMissing, IncompatibleModel
from vera.spec.trial_spec import TrialSpec


def trial(dataset, **task):
    spec = TrialSpec(dataset, {"energy": {"name": "wrn", "depth": 10, "width": 1}}, {"name": "supervised"}, 1,
                     task={"name": "images", "features": "none", "unseen": [], **task})  # fmt: skip
    return Trial(spec)


def test_only_the_training_batches_that_are_asked_for_are_looked_for(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0, 1, 3))
    assert check_data([trial({"name": "cifar10", "batches": [1, 3]})], str(tmp_path)) == []
    with pytest.raises(DataMissing, match=r"data_batch_2 is not here.*say so: batches=1\+3\."):
        check_data([trial({"name": "cifar10"})], str(tmp_path))


def test_stacked_digits_of_the_package_need_no_data_directory(tmp_path):
    stacked = Trial(
        TrialSpec(
            {"name": "stacked-mnist", "source": "mnist5k"}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, 1
        )
    )
    check_data([stacked], str(tmp_path))
    whole = Trial(TrialSpec({"name": "stacked-mnist"}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, 1))
    with pytest.raises(DataMissing, match="train-images-idx3-ubyte"):
        check_data([stacked, whole], str(tmp_path))


def test_an_unseen_set_that_will_be_left_out_is_named_and_a_damaged_one_stops_the_run(monkeypatch, tmp_path):
    asked = trial({"name": "digits32"}, unseen=["svhn-test", "photos", "interpolated"])
    (note,) = check_data([asked, asked], str(tmp_path))
    assert note.startswith("The unseen set svhn-test is left out: test_32x32.mat is not here")
    write_svhn(monkeypatch, tmp_path)
    assert check_data([asked], str(tmp_path)) == []
    (tmp_path / svhn.TEST.name).write_bytes(b"broken")
    with pytest.raises(DataCorrupt, match="is not the published file"):
        check_data([asked], str(tmp_path))


def test_a_table_of_numbers_is_no_data_set_of_images(tmp_path):
    with pytest.raises(IncompatibleModel, match="needs a data set of images; 'wine' is none"):
        check_data([trial({"name": "wine"})], str(tmp_path))

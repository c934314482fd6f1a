"""Unseen sets: their images, the splits they accept, and reproducibility by seed."""

import numpy as np
import pytest
import torch
from facts import raises_with
from image_helpers import (
    make_cifar10_batch,
    make_cifar100_batch,
    make_faces,
    make_pixels,
    write_celeba,
    write_cifar10,
    write_cifar100,
    write_svhn,
)
from PIL import Image

from vera.data import Digits32, EmbeddedMNISTImages, EmbeddedMNISTTable, Wine
from vera.data.files.image_fetch import load_torchvision
from vera.data.images import celeba
from vera.data.images.unseen import PhotoPatches
from vera.errors import DataCorrupt, DataMissing, MissingExtra, SettingError
from vera.spec.registry import unseen_sets
from vera.tasks.build import locate_files

NO_DOWNLOAD = ["constant", "interpolated", "inverted", "photos", "uniform"]


@pytest.fixture(scope="module")
def split():
    return Digits32().split(0)


@pytest.fixture(scope="module")
def small_split():
    return Digits32(side=16).split(0)


def create_set(name, split, **settings):
    return unseen_sets.create(name, split=split, **settings)


def scale_array(pixels):
    return torch.from_numpy(np.asarray(pixels)) / 127.5 - 1


@pytest.mark.parametrize("name", NO_DOWNLOAD)
def test_sets_without_a_download_have_the_shape_of_the_split(name, split, small_split):
    for one in (split, small_split):
        x = create_set(name, one).images
        assert x.shape[1:] == one.held_out.shape[1:]
        assert x.dtype == torch.float32
        assert x.min() >= -1
        assert x.max() <= 1
        assert x.isfinite().all()


def test_registered_names():
    assert set(unseen_sets) == {*NO_DOWNLOAD, "celeba-test", "cifar10-test", "cifar100-test", "svhn-test"}
    assert all(unseen_sets.get(name).name == name for name in unseen_sets)
    assert unseen_sets.plugin_names() == []


def test_sizes_of_the_sets(split):
    assert {name: len(create_set(name, split).images) for name in NO_DOWNLOAD} == {
        "constant": 1,
        "interpolated": 900,
        "inverted": 1000,
        "photos": 520,
        "uniform": 1000,
    }


def test_only_random_sets_depend_on_the_seed(small_split):
    for name in NO_DOWNLOAD:
        one, again, other = (create_set(name, small_split, seed=seed) for seed in (0, 0, 1))
        assert torch.equal(one.images, again.images)
        assert one.fingerprint == again.fingerprint
        assert (one.fingerprint == other.fingerprint) == (name not in ("interpolated", "uniform"))
    assert len({create_set(name, small_split).fingerprint for name in NO_DOWNLOAD}) == len(NO_DOWNLOAD)


def test_interpolation_averages_each_batch_with_the_previous_one(small_split):
    unseen = create_set("interpolated", small_split, seed=4)
    order = torch.randperm(1000, generator=unseen.build_generator())
    previous, expected = None, []
    for start in range(0, 1000, 100):
        batch = small_split.held_out[order[start : start + 100]]
        if previous is not None:
            expected.append(0.5 * batch + 0.5 * previous)
        previous = batch
    torch.testing.assert_close(unseen.images, torch.cat(expected))


def test_interpolation_drops_an_incomplete_batch_and_refuses_too_few_images(small_split):
    class Few:
        side, channels, name = 16, 3, "few"

        def __init__(self, n):
            self.held_out = small_split.held_out[:n]

    assert len(create_set("interpolated", Few(350)).images) == 200
    with raises_with(SettingError, "200", "'few'", "150"):
        create_set("interpolated", Few(150)).images  # noqa: B018


def test_inverted_constant_and_uniform(split):
    assert torch.equal(create_set("inverted", split).images, -split.held_out)
    assert (create_set("constant", split).images == -1).all()
    noise = create_set("uniform", split).images
    assert float(noise.mean()) == pytest.approx(0, abs=5 / (3 * noise.numel()) ** 0.5)
    assert float(noise.var()) == pytest.approx(1 / 3, abs=0.01)


def test_patches_tile_the_photographs(split):
    x = create_set("photos", split).images
    with Image.open(PhotoPatches.locate() / "flower.jpg") as image:
        photo = np.array(image)
    assert photo.shape == (427, 640, 3)
    row, column = 7, 11
    patch = photo[32 * row : 32 * row + 32, 32 * column : 32 * column + 32].transpose(2, 0, 1)
    assert torch.equal(x[260 + 20 * row + column], scale_array(patch))


@pytest.mark.parametrize(("name", "package"), [("photos", "PIL"), ("svhn-test", "scipy")])
def test_packages_that_read_the_files_are_required_before_anything_runs(name, package, monkeypatch, tmp_path):
    write_svhn(monkeypatch, tmp_path)
    unseen_sets.get(name).verify(tmp_path)
    monkeypatch.setattr("vera.extras.find_spec", lambda name: None)
    with raises_with(MissingExtra, f"'{name}'", f"package {package}", "pip install 'vera[images]'"):
        unseen_sets.get(name).verify(tmp_path)


def test_scipy_is_required_before_a_trial_reads_svhn(monkeypatch, tmp_path):
    write_svhn(monkeypatch, tmp_path)
    locate_files({"name": "svhn"}, tmp_path)
    monkeypatch.setattr("vera.extras.find_spec", lambda name: None)
    with raises_with(MissingExtra, "'svhn'", "package scipy", "pip install 'vera[images]'"):
        locate_files({"name": "svhn"}, tmp_path)


def test_images_are_averaged_down_for_smaller_splits(split, small_split):
    large, small = (create_set("photos", one).images for one in (split, small_split))
    torch.testing.assert_close(small, large.view(520, 3, 16, 2, 16, 2).mean((3, 5)), rtol=0, atol=1e-5)


def test_the_channels_of_other_images_are_averaged_for_grey_splits(small_split):
    colour, grey = (create_set("photos", one).images for one in (small_split, EmbeddedMNISTImages().split(0)))
    torch.testing.assert_close(grey, colour.mean(1, keepdim=True), rtol=0, atol=1e-5)


def test_flat_digits_have_derived_sets_only_and_tables_none():
    flat = EmbeddedMNISTTable().split(0)
    assert create_set("interpolated", flat).images.shape == (900, 784)
    with raises_with(SettingError, "'photos'", "side 32", "'mnist5k-table'", "no channels", "side 28"):
        create_set("photos", flat)
    with raises_with(SettingError, "'uniform'", "'wine'"):
        create_set("uniform", Wine().split(0))


def test_sets_from_test_images_of_other_data(split, monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0,))
    write_cifar100(monkeypatch, tmp_path, binary=False)
    write_svhn(monkeypatch, tmp_path)
    expected = {
        "cifar10-test": make_cifar10_batch(0)[0],
        "cifar100-test": make_cifar100_batch(0)[0],
        "svhn-test": make_pixels(1),
    }
    for name, pixels in expected.items():
        assert torch.equal(create_set(name, split, data_dir=str(tmp_path)).images, scale_array(pixels))


@pytest.mark.parametrize("name", ["cifar10-test", "cifar100-test", "svhn-test", "celeba-test"])
def test_missing_files_are_named(name, split, tmp_path):
    source = name.removesuffix("-test")
    with raises_with(DataMissing, str(tmp_path), f"vera data fetch {source}"):
        create_set(name, split, data_dir=str(tmp_path)).images  # noqa: B018


@pytest.mark.parametrize("crop", ["resize", "centre"])
def test_faces_are_reduced_as_in_torchvision(crop, split, monkeypatch, tmp_path):
    load_torchvision()
    from torchvision import transforms

    files = make_faces()
    write_celeba(monkeypatch, tmp_path / "zip", files, zipped=True)
    write_celeba(monkeypatch, tmp_path / "folder", files, zipped=False)
    steps = [transforms.CenterCrop(178)] if crop == "centre" else []
    reduce = transforms.Compose(
        [*steps, transforms.Resize(32), transforms.ToTensor(), transforms.Normalize(0.5, 0.5)]
    )
    paths = [tmp_path / "folder" / celeba.FOLDER / name for row, name in enumerate(files) if row % 2 == 0]
    expected = torch.stack([reduce(Image.open(path)) for path in paths])
    one, two = (
        create_set("celeba-test", split, data_dir=tmp_path / form, crop=crop) for form in ("zip", "folder")
    )
    assert one.images.shape == (3, 3, 39 if crop == "resize" else 32, 32)
    torch.testing.assert_close(one.images, expected, rtol=0, atol=1e-6)
    assert one.fingerprint == two.fingerprint


def test_missing_damaged_and_wrong_faces_are_refused(split, monkeypatch, tmp_path):
    files = make_faces()
    with raises_with(SettingError, "crop", "'resize', 'centre'", "'square'"):
        create_set("celeba-test", split, crop="square")
    folder = write_celeba(monkeypatch, tmp_path, files, zipped=False) / celeba.FOLDER
    first = folder / "000001.jpg"
    first.write_bytes(b"no jpeg")
    with raises_with(DataCorrupt, str(folder), "vera data fetch celeba"):
        celeba.read_faces("resize", tmp_path)
    Image.new("RGB", (32, 32)).save(first)
    with raises_with(DataCorrupt, "32 × 32", "178 × 218"):
        celeba.read_faces("resize", tmp_path)
    first.unlink()
    with raises_with(DataMissing, "000001.jpg", str(folder), "img_align_celeba.zip"):
        celeba.read_faces("resize", tmp_path)
    (tmp_path / "celeba" / "img_align_celeba.zip").write_bytes(b"half a file")
    with raises_with(DataCorrupt, "img_align_celeba.zip", "md5"):
        celeba.read_faces("resize", tmp_path)


def test_checksums_of_celeba_are_those_of_torchvision():
    listed = {name: md5 for _, md5, name in load_torchvision().datasets.CelebA.file_list}
    assert all(listed[file.name] == file.checksum for file in (celeba.IMAGES, celeba.PARTITION))

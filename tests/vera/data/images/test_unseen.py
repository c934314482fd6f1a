"""Unseen sets: what each holds, for which splits, and that the same seed gives the same images."""

import numpy as np
import pytest
import torch
from image_helpers import (
    cifar10_batch,
    cifar100_batch,
    faces,
    pixels_of,
    write_celeba,
    write_cifar10,
    write_cifar100,
    write_svhn,
)
from PIL import Image

from vera.data import Digits32, EmbeddedMNISTTable, Wine
from vera.data.files.torchvision_import import load_torchvision
from vera.data.images import celeba
from vera.data.images import photo_patches as photos
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.registry import unseen_sets

OWN = ["constant", "interpolated", "inverted", "photos", "uniform"]


@pytest.fixture(scope="module")
def split():
    return Digits32().split(0)


@pytest.fixture(scope="module")
def small_split():
    return Digits32(side=16).split(0)


def make(name, split, **settings):
    return unseen_sets.create(name, split=split, **settings)


def scaled(pixels):
    return torch.from_numpy(np.asarray(pixels)) / 127.5 - 1


@pytest.mark.parametrize("name", OWN)
def test_without_a_download_there_are_images_of_the_split_s_shape(name, split, small_split):
    for one in (split, small_split):
        x = make(name, one).images
        assert x.shape[1:] == one.held_out.shape[1:]
        assert x.dtype == torch.float32
        assert x.min() >= -1
        assert x.max() <= 1
        assert x.isfinite().all()


def test_the_names_that_are_registered():
    assert set(unseen_sets) == {*OWN, "celeba-test", "cifar10-test", "cifar100-test", "svhn-test"}
    assert all(unseen_sets.get(name).name == name for name in unseen_sets)
    assert unseen_sets.plugin_names() == []


def test_how_many_there_are(split):
    assert {name: len(make(name, split).images) for name in OWN} == {
        "constant": 1,
        "interpolated": 900,
        "inverted": 1000,
        "photos": 520,
        "uniform": 1000,
    }


def test_a_seed_decides_what_is_random_and_nothing_else(small_split):
    for name in OWN:
        one, again, other = (make(name, small_split, seed=seed) for seed in (0, 0, 1))
        assert torch.equal(one.images, again.images)
        assert one.fingerprint == again.fingerprint
        assert (one.fingerprint == other.fingerprint) == (name not in ("interpolated", "uniform"))
    assert len({make(name, small_split).fingerprint for name in OWN}) == len(OWN)


def test_interpolation_averages_each_batch_with_the_one_before(small_split):
    unseen = make("interpolated", small_split, seed=4)
    order = torch.randperm(1000, generator=unseen.generator())
    previous, expected = None, []
    for start in range(0, 1000, 100):
        batch = small_split.held_out[order[start : start + 100]]
        if previous is not None:
            expected.append(0.5 * batch + 0.5 * previous)
        previous = batch
    torch.testing.assert_close(unseen.images, torch.cat(expected))


def test_an_incomplete_last_batch_is_left_out_and_too_few_are_refused(small_split):
    class Few:
        side, channels, name = 16, 3, "few"

        def __init__(self, n):
            self.held_out = small_split.held_out[:n]

    assert len(make("interpolated", Few(350)).images) == 200
    with pytest.raises(SettingError, match="needs 200 held-out images, 'few' has 150"):
        make("interpolated", Few(150)).images  # noqa: B018


def test_inverted_constant_and_uniform(split):
    assert torch.equal(make("inverted", split).images, -split.held_out)
    assert (make("constant", split).images == -1).all()
    noise = make("uniform", split).images
    assert float(noise.mean()) == pytest.approx(0, abs=5 / (3 * noise.numel()) ** 0.5)
    assert float(noise.var()) == pytest.approx(1 / 3, abs=0.01)


def test_patches_tile_the_photographs(split):
    x = make("photos", split).images
    with Image.open(photos.find_photo_folder() / "flower.jpg") as image:
        photo = np.array(image)
    assert photo.shape == (427, 640, 3)
    row, column = 7, 11
    patch = photo[32 * row : 32 * row + 32, 32 * column : 32 * column + 32].transpose(2, 0, 1)
    assert torch.equal(x[260 + 20 * row + column], scaled(patch))


def test_pictures_for_smaller_images_are_averages_of_pixels(split, small_split):
    large, small = (make("photos", one).images for one in (split, small_split))
    torch.testing.assert_close(small, large.view(520, 3, 16, 2, 16, 2).mean((3, 5)), rtol=0, atol=1e-5)


def test_flat_digits_have_what_is_made_of_them_and_tables_nothing():
    flat = EmbeddedMNISTTable().split(0)
    assert make("interpolated", flat).images.shape == (900, 784)
    with pytest.raises(
        SettingError,
        match=r"'photos' has colour images of side 32.*'mnist5k-table' has no channels and side 28",
    ):
        make("photos", flat)
    with pytest.raises(SettingError, match="'uniform' is for images; the data set 'wine' has none"):
        make("uniform", Wine().split(0))


def test_test_images_of_other_sets(split, monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0,))
    write_cifar100(monkeypatch, tmp_path, binary=False)
    write_svhn(monkeypatch, tmp_path)
    expected = {
        "cifar10-test": cifar10_batch(0)[0],
        "cifar100-test": cifar100_batch(0)[0],
        "svhn-test": pixels_of(1),
    }
    for name, pixels in expected.items():
        assert torch.equal(make(name, split, data_dir=str(tmp_path)).images, scaled(pixels))


@pytest.mark.parametrize("name", ["cifar10-test", "cifar100-test", "svhn-test", "celeba-test"])
def test_what_is_not_here_is_named(name, split, tmp_path):
    source = name.removesuffix("-test")
    with pytest.raises(DataMissing, match=f"is not here: it belongs at {tmp_path}.*vera data fetch {source}"):
        make(name, split, data_dir=str(tmp_path)).images  # noqa: B018


@pytest.mark.parametrize("crop", ["resize", "centre"])
def test_faces_are_reduced_as_torchvision_does(crop, split, monkeypatch, tmp_path):
    load_torchvision()
    from torchvision import transforms

    files = faces()
    write_celeba(monkeypatch, tmp_path / "zip", files, zipped=True)
    write_celeba(monkeypatch, tmp_path / "folder", files, zipped=False)
    steps = [transforms.CenterCrop(178)] if crop == "centre" else []
    reduce = transforms.Compose(
        [*steps, transforms.Resize(32), transforms.ToTensor(), transforms.Normalize(0.5, 0.5)]
    )
    paths = [tmp_path / "folder" / celeba.FOLDER / name for row, name in enumerate(files) if row % 2 == 0]
    expected = torch.stack([reduce(Image.open(path)) for path in paths])
    one, two = (make("celeba-test", split, data_dir=tmp_path / form, crop=crop) for form in ("zip", "folder"))
    assert one.images.shape == (3, 3, 39 if crop == "resize" else 32, 32)
    torch.testing.assert_close(one.images, expected, rtol=0, atol=1e-6)
    assert one.fingerprint == two.fingerprint


def test_faces_that_are_missing_changed_or_no_faces(split, monkeypatch, tmp_path):
    files = faces()
    with pytest.raises(SettingError, match="crop must be one of 'resize', 'centre'"):
        make("celeba-test", split, crop="square")
    folder = write_celeba(monkeypatch, tmp_path, files, zipped=False) / celeba.FOLDER
    first = folder / "000001.jpg"
    first.write_bytes(b"no jpeg")
    with pytest.raises(DataCorrupt, match=r"An image in .* cannot be read"):
        celeba.read_faces("resize", tmp_path)
    Image.new("RGB", (32, 32)).save(first)
    with pytest.raises(DataCorrupt, match="a face of 32 × 32 pixels in place of 178 × 218"):
        celeba.read_faces("resize", tmp_path)
    first.unlink()
    with pytest.raises(
        DataMissing, match=r"000001.jpg is not in .*Unpack img_align_celeba.zip there once more"
    ):
        celeba.read_faces("resize", tmp_path)
    (tmp_path / "celeba" / "img_align_celeba.zip").write_bytes(b"half a file")
    with pytest.raises(DataCorrupt, match=r"img_align_celeba\.zip is not the published file"):
        celeba.read_faces("resize", tmp_path)


def test_checksums_of_celeba_are_torchvision_s():
    listed = {name: md5 for _, md5, name in load_torchvision().datasets.CelebA.file_list}
    assert all(listed[file.name] == file.checksum for file in (celeba.IMAGES, celeba.PARTITION))

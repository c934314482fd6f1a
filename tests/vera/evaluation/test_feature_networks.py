"""Feature networks: preprocessing of images, TorchScript files, torch-fidelity, rejected files."""

import math
import sys
import types
import warnings

import pytest
import torch
from facts import raises_with
from torch import nn

from vera.errors import DataCorrupt, DataMissing, IncompatibleModel, SettingError
from vera.evaluation import TorchFidelityInception, TorchScriptInception, load_inception
from vera.evaluation.features import as_bytes
from vera.evaluation.inception import resize


class CornerFeatures(nn.Module):
    """The top left pixel and the mean of each channel."""

    def forward(self, x):
        return torch.cat([x[:, :, 0, 0], x.mean((2, 3))], 1)


class IdentityMaps(nn.Module):
    def forward(self, x):
        return x


def save_script(path, module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(module).save(str(path))
    return path


@pytest.fixture
def images():
    torch.manual_seed(0)
    return torch.randint(256, (7, 3, 8, 8)) / 127.5 - 1


@pytest.fixture(autouse=True)
def no_setting(monkeypatch):
    monkeypatch.delenv("VERA_INCEPTION", raising=False)


class FeatureExtractorInceptionV3(nn.Module):
    """The interface of torch-fidelity with a small network."""

    def __init__(self, name, features_list, feature_extractor_weights_path=None):
        super().__init__()
        assert isinstance(name, str)
        self.features_list = list(features_list)
        self.fc = nn.Linear(3, 1008)
        if feature_extractor_weights_path is not None:
            self.load_state_dict(torch.load(feature_extractor_weights_path))

    def forward(self, x):
        assert x.dtype == torch.uint8
        assert x.shape[1] == 3
        mean = x.float().mean((2, 3)) / 255
        found = {"2048": mean.repeat(1, 683)[:, :2048], "logits_unbiased": mean @ self.fc.weight.T}
        return tuple(found[name] for name in self.features_list)


@pytest.fixture
def library(monkeypatch):
    module = types.ModuleType("torch_fidelity.feature_extractor_inceptionv3")
    module.FeatureExtractorInceptionV3 = FeatureExtractorInceptionV3
    monkeypatch.setitem(sys.modules, "torch_fidelity", types.ModuleType("torch_fidelity"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


@pytest.fixture
def no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity", None)


def test_as_bytes_recovers_bytes_and_clamps_other_values():
    values = torch.arange(256)
    assert torch.equal(as_bytes(values / 127.5 - 1), values.to(torch.uint8))
    assert as_bytes(torch.tensor([-9.0, 9.0, 0.0])).tolist() == [0, 255, 128]


def test_resizing_equals_that_of_tensorflow():
    """Position i of the large image is at i · 2/4 of the small one; the last pixel repeats beyond it."""
    x = torch.tensor([[0.0, 10.0], [20.0, 30.0]]).view(1, 1, 2, 2)
    assert resize(x, 4)[0, 0].tolist() == [
        [0, 5, 10, 10],
        [10, 15, 20, 20],
        [20, 25, 30, 30],
        [20, 25, 30, 30],
    ]


def test_resizing_equals_sampling_on_a_shifted_grid():
    """A second implementation: grid_sample at the same positions; PyTorch resizes at pixel centres."""
    x = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    places = torch.arange(299) * (32 / 299) * (2 / 31) - 1
    grid = torch.stack(torch.meshgrid(places, places, indexing="xy"), -1).expand(2, -1, -1, -1)
    expected = nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=True)
    torch.testing.assert_close(resize(x, 299), expected, rtol=1e-4, atol=1e-4)
    centred = nn.functional.interpolate(x, (299, 299), mode="bilinear", align_corners=False)
    assert float((centred - expected).abs().max()) > 0.5


def test_a_torchscript_network_gets_standard_preprocessing(tmp_path, images):
    network = TorchScriptInception(save_script(tmp_path / "net.pt", CornerFeatures()))
    features = network.features(images)
    assert network.dim == features.shape[1] == 6
    torch.testing.assert_close(features[:, :3], (as_bytes(images)[:, :, 0, 0].float() - 128) / 128)
    enlarged = (resize(as_bytes(images).float(), 299) - 128) / 128
    torch.testing.assert_close(features[:, 3:], enlarged.mean((2, 3)), rtol=1e-4, atol=1e-5)
    assert network.probabilities(images) is None
    assert "no class probabilities" in network.no_probabilities


def test_features_do_not_depend_on_the_chunk_size(tmp_path, images):
    network = TorchScriptInception(save_script(tmp_path / "net.pt", CornerFeatures()))
    whole = network.features(images)
    network.chunk = 2
    assert torch.equal(network.features(images), whole)


def test_only_the_published_file_is_named_inception(tmp_path, monkeypatch):
    path = save_script(tmp_path / "net.pt", CornerFeatures())
    network = TorchScriptInception(path)
    assert network.key == "torchscript"
    assert "inception" not in network.name
    monkeypatch.setattr("vera.evaluation.inception.KNOWN", (network.name.split()[0],))
    assert TorchScriptInception(path).key == "inception"


def test_fingerprints_depend_on_the_file_content_not_its_path(tmp_path):
    path = save_script(tmp_path / "net.pt", CornerFeatures())
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / "other.pt")
    other = save_script(tmp_path / "net.pt", nn.Sequential(CornerFeatures(), nn.Linear(6, 2)))
    first, second = TorchScriptInception(moved), TorchScriptInception(other)
    assert first.fingerprint != second.fingerprint
    assert (first.dim, second.dim) == (6, 2)
    again = save_script(tmp_path / "elsewhere" / "other.pt", CornerFeatures())
    assert str(tmp_path) not in first.name + TorchScriptInception(again).fingerprint


def test_grey_images_get_three_equal_channels(tmp_path, images):
    network = TorchScriptInception(save_script(tmp_path / "net.pt", CornerFeatures()))
    grey = images[:, :1]
    assert torch.equal(network.features(grey), network.features(grey.expand(-1, 3, -1, -1)))
    with raises_with(IncompatibleModel, "1 or 3 channels", "got 2"):
        network.features(images[:, :2])


def test_a_non_finite_image_has_nan_features(tmp_path, images, library):
    broken = images.clone()
    broken[2, 0, 3, 3], broken[4, 1, 0, 0] = math.nan, math.inf
    for network in (
        TorchScriptInception(save_script(tmp_path / "net.pt", CornerFeatures())),
        TorchFidelityInception(),
    ):
        seen, whole = network.describe(broken), network.describe(images)
        rows = [0, 1, 3, 5, 6]
        assert seen.features[[2, 4]].isnan().all()
        assert torch.equal(seen.features[rows], whole.features[rows])
        if seen.probabilities is not None:
            assert seen.probabilities[[2, 4]].isnan().all()


def test_images_must_have_four_axes(tmp_path):
    network = TorchScriptInception(save_script(tmp_path / "net.pt", CornerFeatures()))
    with raises_with(SettingError, "(n, channels, height, width)", "(3, 784)"):
        network.features(torch.zeros(3, 784))
    with raises_with(SettingError, "(0, 3, 8, 8)"):
        network.features(torch.zeros(0, 3, 8, 8))


def test_torch_fidelity_returns_features_and_probabilities(library, images):
    network = TorchFidelityInception()
    features, probabilities = network.describe(images)
    assert features.shape == (7, 2048)
    torch.testing.assert_close(features[:, :3], as_bytes(images).float().mean((2, 3)) / 255)
    expected = (features[:, :3] @ network.network.fc.weight.T).softmax(1)
    torch.testing.assert_close(probabilities, expected.detach())
    assert network.key == "inception"


def test_torch_fidelity_takes_weights_from_a_file(library, tmp_path, images):
    torch.manual_seed(1)
    theirs = FeatureExtractorInceptionV3("x", ["2048", "logits_unbiased"])
    torch.save(theirs.state_dict(), tmp_path / "weights.pth")
    network = load_inception(tmp_path / "weights.pth")
    assert isinstance(network, TorchFidelityInception)
    assert torch.equal(network.network.fc.weight, theirs.fc.weight)
    assert network.key == "torch-fidelity"  # not the standard weights
    assert network.fingerprint == TorchFidelityInception(tmp_path / "weights.pth").fingerprint
    assert network.fingerprint != TorchFidelityInception().fingerprint


def test_argument_environment_and_data_directory_name_the_file(tmp_path, monkeypatch, library):
    path = save_script(tmp_path / "net.pt", CornerFeatures())
    assert isinstance(load_inception(path), TorchScriptInception)
    assert isinstance(load_inception(), TorchFidelityInception)
    save_script(tmp_path / "inception.pt", CornerFeatures())
    assert isinstance(load_inception(data_dir=tmp_path), TorchScriptInception)
    monkeypatch.setenv("VERA_INCEPTION", str(path))
    assert isinstance(load_inception(), TorchScriptInception)


def test_without_the_library_the_error_names_all_remedies(no_library):
    with raises_with(DataMissing, "pip install torch-fidelity", "inception.pt", "VERA_INCEPTION"):
        load_inception()


def test_a_failed_download_is_reported(library, monkeypatch):
    def offline(*args):
        raise OSError("no route to host")

    monkeypatch.setattr(library, "FeatureExtractorInceptionV3", offline)
    with raises_with(DataMissing, "no route to host", "VERA_INCEPTION"):
        load_inception()


def test_invalid_files_are_rejected(tmp_path, library):
    with raises_with(DataMissing, "nowhere.pt"):
        load_inception(tmp_path / "nowhere.pt")
    (tmp_path / "text.pth").write_text("not weights")
    with raises_with(DataCorrupt, "text.pth", "torch-fidelity"):
        load_inception(tmp_path / "text.pth")
    with raises_with(DataCorrupt, "text.pth", "TorchScript"):
        TorchScriptInception(tmp_path / "text.pth")
    with raises_with(IncompatibleModel, "maps.pt", "FID"):
        load_inception(save_script(tmp_path / "maps.pt", IdentityMaps()))

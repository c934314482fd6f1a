"""`TensorData`: epochs, positions, fingerprints and invalid input."""

import io

import numpy as np
import pandas as pd
import pytest
import torch
from facts import raises_with
from torch.utils.data import TensorDataset

from vera.data import EpochStream, Moons, TensorData, as_dataset
from vera.errors import DataCorrupt, SettingError, VeraError
from vera.methods import MaximumLikelihood
from vera.models import GaussianMixture
from vera.training.trainer import Trainer


def make_numbered(n, d=1):
    return torch.arange(n, dtype=torch.float32).unsqueeze(1).expand(n, d)


def run_epoch(stream, batches):
    return torch.cat([stream.next_batch() for _ in range(batches)])[:, 0].int().tolist()


def test_an_epoch_holds_every_point_once_in_a_new_order():
    stream = TensorData(make_numbered(12)).stream(4, seed=0)
    first, second = run_epoch(stream, 3), run_epoch(stream, 3)
    assert sorted(first) == sorted(second) == list(range(12))
    assert first != second
    assert first != list(range(12))


def test_the_last_incomplete_batch_is_dropped():
    stream = TensorData(make_numbered(10)).stream(4, seed=0)
    assert len(set(run_epoch(stream, 2))) == 8
    seen = set()
    for _ in range(20):
        seen |= set(run_epoch(stream, 2))
    assert seen == set(range(10))


@pytest.mark.parametrize("before", range(8))
def test_a_stream_resumes_bit_for_bit_across_epochs(before):
    data = TensorData(torch.randn(10, 3))
    stream = data.stream(3, seed=4)
    for _ in range(before):
        stream.next_batch()
    saved = io.BytesIO()
    torch.save(stream.state_dict(), saved)
    resumed = data.stream(3, seed=99)
    resumed.load_state_dict(torch.load(io.BytesIO(saved.getvalue()), weights_only=True))
    for _ in range(7):
        assert torch.equal(stream.next_batch(), resumed.next_batch())


def test_a_position_does_not_grow_with_the_data():
    sizes = []
    for n in (10, 100_000):
        saved = io.BytesIO()
        torch.save(TensorData(make_numbered(n)).stream(5, seed=0).state_dict(), saved)
        sizes.append(len(saved.getvalue()))
    assert abs(sizes[0] - sizes[1]) < 100


def test_the_finish_hook_draws_new_noise_at_every_access_and_resumes():
    def add_noise(rows, rng):
        return rows + torch.rand(rows.shape, generator=rng)

    def make_stream(seed):
        return EpochStream(torch.zeros(1, 2), 1, seed, add_noise)

    one, two = make_stream(0), make_stream(7)
    assert not torch.equal(one.next_batch(), one.next_batch())
    two.load_state_dict(one.state_dict())
    assert torch.equal(one.next_batch(), two.next_batch())


def test_batches_depend_only_on_the_seed():
    data = TensorData(make_numbered(100))
    same, other = run_epoch(data.stream(10, seed=1), 10), run_epoch(data.stream(10, seed=2), 10)
    torch.manual_seed(5)
    assert run_epoch(data.stream(10, seed=1), 10) == same != other


def test_a_batch_larger_than_the_data_is_refused():
    with raises_with(SettingError, "batch_size 11", "10 points"):
        TensorData(make_numbered(10)).stream(11, seed=0)


@pytest.mark.parametrize(("value", "named"), [(float("nan"), "nan"), (float("-inf"), "-inf"), (1e300, "inf")])
def test_points_that_are_not_finite_are_refused_by_row(value, named):
    x = np.zeros((50, 3))
    x[17, 1], x[30, 0] = value, value
    facts = ("'mine'", "row 17", f"({named})")
    with raises_with(DataCorrupt, "2 training points", *facts):
        TensorData(x, name="mine")
    with raises_with(DataCorrupt, "2 test points", *facts):
        TensorData(np.zeros((4, 3)), test=x, name="mine")


def test_the_trainer_refuses_a_tensor_that_is_not_finite():
    x = torch.zeros(200, 2)
    x[3, 0] = torch.nan
    with raises_with(DataCorrupt, "1 training point ", "row 3", "(nan)"):
        Trainer(MaximumLikelihood(GaussianMixture()), x, steps=1)


@pytest.mark.parametrize(
    ("x", "facts"),
    [
        (torch.zeros(3, 2, dtype=torch.int64), ["floats", "torch.int64", ".float()"]),
        (np.zeros((3, 2), dtype=np.uint8), ["floats", "uint8"]),
        (torch.zeros(3, 2, dtype=torch.bool), ["floats", "torch.bool"]),
        (torch.zeros(3), ["shape (3,)", "x.reshape(-1, 1)"]),
        (np.zeros((3, 28, 28)), ["shape (3, 28, 28)", "x[:, None]"]),
        (np.zeros((3, 28, 28, 1)), ["shape (3, 28, 28, 1)", "x.transpose(0, 3, 1, 2)"]),
        (torch.zeros(3, 28, 28, 3), ["shape (3, 28, 28, 3)", "x.permute(0, 3, 1, 2)"]),
        (torch.zeros(3, 0), ["shape (3, 0)"]),
        (np.array([["a", 1.0]], dtype=object), ["floats", "object"]),
        ([[1.0, 2.0]], ["list"]),
        (torch.tensor(1.0), ["shape ()."]),
        (np.array(1.0), ["shape ()."]),
        (torch.zeros(3, 2, device="meta"), ["'meta'", "'cpu'"]),
    ],
)
def test_input_that_is_not_points_is_refused_with_a_hint(x, facts):
    with raises_with(SettingError, *facts):
        as_dataset(x)
    with raises_with(SettingError, *facts):
        TensorData(x)
    with raises_with(SettingError, *facts):
        TensorData(torch.zeros(3, 2), test=x)


@pytest.mark.parametrize("x", [pd.DataFrame({"a": [1.0]}), TensorDataset(torch.zeros(3, 2))])
def test_other_containers_are_refused_with_a_hint(x):
    with raises_with(SettingError, type(x).__name__, "vera.data.as_dataset"):
        TensorData(x)


def test_images_keep_their_shape_and_know_their_side():
    images = TensorData(torch.zeros(5, 3, 8, 8), test=torch.zeros(2, 3, 8, 8))
    assert (images.data_dim, images.channels, images.side) == (192, 3, 8)
    assert images.stream(2, seed=0).next_batch().shape == (2, 3, 8, 8)
    wide = TensorData(torch.zeros(5, 1, 4, 6))
    assert (wide.data_dim, wide.channels, wide.side) == (24, 1, None)
    with raises_with(SettingError, "(3, 8, 8)", "(3, 8, 9)"):
        TensorData(torch.zeros(5, 3, 8, 8), test=torch.zeros(2, 3, 8, 9))


def test_arrays_of_any_layout_become_the_same_points():
    x = np.random.default_rng(0).normal(size=(6, 2))
    reference = TensorData(x)
    reversed_and_back = x[::-1].copy()[::-1]
    frozen = x.astype(">f8")
    frozen.flags.writeable = False
    for form in (
        reversed_and_back,
        np.asfortranarray(x),
        frozen,
        torch.tensor(x),
        torch.tensor(x, requires_grad=True),
    ):
        assert torch.equal(TensorData(form).train, reference.train)
        assert TensorData(form).fingerprint == reference.fingerprint
    assert reference.train.dtype == torch.float32


def test_the_points_are_a_copy():
    x = torch.zeros(4, 2)
    data = TensorData(x)
    before = data.fingerprint
    x += 1
    assert data.train.sum() == 0
    assert before == data.fingerprint == TensorData(torch.zeros(4, 2)).fingerprint


def test_the_fingerprint_depends_on_content_and_shape_not_on_the_name():
    x = torch.arange(6.0).reshape(3, 2)
    variants = [
        TensorData(x),
        TensorData(x + 1e-6),
        TensorData(x.reshape(2, 3)),
        TensorData(x, test=x[:1]),
        TensorData(x, test=x[1:]),
        TensorData(x.flip(0)),
    ]
    assert len({data.fingerprint for data in variants}) == len(variants)
    assert TensorData(x, name="mine").fingerprint == TensorData(x).fingerprint
    assert len(TensorData(x).fingerprint) == 16


def test_test_points_are_the_test_set_or_a_subset():
    data = TensorData(make_numbered(5, 2), test=make_numbered(20, 2) + 100)
    assert torch.equal(data.test_points(seed=0), make_numbered(20, 2) + 100)
    some = data.test_points(seed=0, n=8)[:, 0].tolist()
    assert len(set(some)) == 8
    assert min(some) >= 100
    assert (
        some == data.test_points(seed=0, n=8)[:, 0].tolist() != data.test_points(seed=1, n=8)[:, 0].tolist()
    )
    with raises_with(SettingError, "at most 20", "got 21"):
        data.test_points(seed=0, n=21)


def test_test_points_without_a_test_set_raise():
    with raises_with(VeraError, "'mine'", "TensorData(x, test=...)"):
        TensorData(make_numbered(5), name="mine").test_points(seed=0)


def test_a_test_set_with_another_number_of_columns_is_refused():
    with raises_with(SettingError, "2 columns", "test data 3"):
        TensorData(torch.zeros(4, 2), test=torch.zeros(4, 3))


def test_as_dataset_accepts_tensors_arrays_and_data_sets():
    moons = Moons()
    assert as_dataset(moons) is moons
    assert isinstance(as_dataset(torch.zeros(3, 2)), TensorData)
    assert as_dataset(np.zeros((3, 2))).data_dim == 2
    with raises_with(SettingError, "str"):
        as_dataset("moons")

"""Splits: the labelled rows, the batches of a stream, and resumed streams."""

import numpy as np
import pytest
import torch
from facts import raises_with

from vera.data import DigitsTable, LabelledBatch, Split, Wine
from vera.data.labelled import choose_labelled_rows, draw_permutation
from vera.errors import DataCorrupt, SettingError


def list_row_bytes(x):
    return {row.numpy().tobytes() for row in x}


def test_ten_training_rows_of_each_class_are_labelled():
    split = DigitsTable(labels_per_class=10).split(seed=0)
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [10] * 10
    assert len(set(split.labelled_rows.tolist())) == 100


def test_the_labelled_rows_are_the_first_of_each_class_in_the_shuffled_order():
    split = DigitsTable(labels_per_class=3).split(seed=7)
    order = np.arange(len(split.train))
    np.random.RandomState(7).shuffle(order)
    expected, seen = [], [0] * 10
    for row in order:
        label = int(split.train_labels[row])
        seen[label] += 1
        if seen[label] <= 3:
            expected.append(row)
    assert split.labelled_rows.tolist() == sorted(expected)


def test_a_class_with_fewer_points_is_labelled_completely():
    labels = torch.tensor([0] * 20 + [1] * 3)
    assert labels[choose_labelled_rows(labels, 5, seed=0)].bincount().tolist() == [5, 3]


def test_only_the_seed_changes_the_split_and_the_labelled_rows():
    data = DigitsTable()
    one, again, other = data.split(0), data.split(0), data.split(1)
    assert torch.equal(one.train, again.train)
    assert torch.equal(one.labelled_rows, again.labelled_rows)
    assert not torch.equal(one.held_out, other.held_out)
    assert not torch.equal(one.labelled_rows, other.labelled_rows)
    assert one.fingerprint == other.fingerprint == data.fingerprint


@pytest.mark.parametrize("seed", [0, 1234, 2**32 - 1, 2**32 + 5, 2**63 - 1])
def test_seeds_beyond_32_bits_are_accepted(seed):
    assert sorted(draw_permutation(50, seed)) == list(range(50))
    assert (draw_permutation(50, seed) == np.random.RandomState(seed & 0xFFFFFFFF).permutation(50)).all()


def test_labelled_points_stay_in_the_unlabelled_stream():
    split = Wine(labels_per_class=5).split(seed=0)
    stream = split.stream(len(split.train), seed=0)
    assert list_row_bytes(split.train[split.labelled_rows]) <= list_row_bytes(stream.next_batch().x)


def test_a_batch_holds_points_and_labelled_points_with_their_labels():
    split = DigitsTable().split(seed=0)
    by_row = {
        row.numpy().tobytes(): int(label) for row, label in zip(split.train, split.train_labels, strict=True)
    }
    batch = split.stream(64, seed=0).next_batch()
    assert isinstance(batch, LabelledBatch)
    assert (batch.x.shape, batch.labelled.shape, batch.labels.shape) == ((64, 64), (64, 64), (64,))
    assert list_row_bytes(batch.labelled) <= list_row_bytes(split.train[split.labelled_rows])
    assert [by_row[row.numpy().tobytes()] for row in batch.labelled] == batch.labels.tolist()
    assert not batch.is_shared


def test_a_labelled_batch_is_no_larger_than_the_number_of_labels():
    batch = Wine(labels_per_class=2).split(seed=0).stream(64, seed=0).next_batch()
    assert (len(batch.x), len(batch.labels)) == (64, 6)
    assert sorted(batch.labels.tolist()) == [0, 0, 1, 1, 2, 2]


def test_with_all_labels_the_points_are_the_labelled_points():
    split = Wine(labels_per_class=None).split(seed=0)
    assert split.labelled_rows is None
    batch = split.stream(len(split.train), seed=0).next_batch()
    assert batch.is_shared
    assert torch.equal(batch.labels.bincount(), split.train_labels.bincount())


@pytest.mark.parametrize("labels_per_class", [4, None])
def test_a_resumed_stream_continues_bit_for_bit(labels_per_class):
    split = Wine(labels_per_class).split(seed=0)
    stream = split.stream(50, seed=0)
    stream.next_batch()
    resumed = split.stream(50, seed=99)
    resumed.load_state_dict(stream.state_dict())
    for _ in range(5):
        one, two = stream.next_batch(), resumed.next_batch()
        assert torch.equal(one.x, two.x)
        assert torch.equal(one.labelled, two.labelled)
        assert torch.equal(one.labels, two.labels)


def test_streams_of_two_seeds_differ():
    split = Wine().split(seed=0)
    assert not torch.equal(split.stream(50, 0).next_batch().x, split.stream(50, 1).next_batch().x)


def test_held_out_points_are_not_training_points():
    split = Wine().split(seed=3)
    assert not list_row_bytes(split.held_out) & list_row_bytes(split.train)
    assert torch.equal(split.test_points(seed=0), split.held_out)
    assert split.test_points(seed=0, n=5).shape == (5, 13)


def test_facts_of_a_split_are_the_columns_of_table_8():
    split = Wine().split(seed=0)
    counts = [int((split.train_labels == label).sum()) for label in range(3)]
    assert split.facts == (13, 143, 3, 100 * max(counts) / 143)
    held_out = [int((split.held_out_labels == label).sum()) for label in range(3)]
    assert split.majority_share == max(held_out) / 35


def test_a_split_without_labelled_rows_is_refused():
    split = Wine().split(seed=0)
    with raises_with(SettingError, "'wine'", "labelled"):
        Split(
            split.source,
            (split.train, split.train_labels),
            (split.held_out, split.held_out_labels),
            torch.empty(0).long(),
        )


@pytest.mark.parametrize("subset", ["training", "held-out"])
def test_points_that_are_not_finite_are_refused_by_row(subset):
    split = Wine().split(seed=0)
    spoilt = (split.train if subset == "training" else split.held_out).clone()
    spoilt[[7, 9], 2] = torch.inf
    train, held_out = (spoilt, split.held_out) if subset == "training" else (split.train, spoilt)
    with raises_with(DataCorrupt, "'wine'", f"2 {subset} points", "row 7", "(inf)"):
        Split(
            split.source, (train, split.train_labels), (held_out, split.held_out_labels), split.labelled_rows
        )


@pytest.mark.parametrize("value", [0, -1, 1.5, "10"])
def test_labels_per_class_is_a_count_or_none(value):
    with raises_with(SettingError, "Wine", "labels_per_class"):
        Wine(labels_per_class=value)

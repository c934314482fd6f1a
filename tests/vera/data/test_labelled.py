"""Splits: which labels show, what a stream gives, and that it goes on bit for bit."""

import numpy as np
import pytest
import torch

from vera.data import DigitsTable, LabelledBatch, Split, Wine
from vera.data.labelled import first_of_each_class, shuffled
from vera.errors import DataCorrupt, SettingError


def known_rows(x):
    return {row.numpy().tobytes() for row in x}


def test_ten_labels_of_each_class_from_the_training_part():
    split = DigitsTable(labels_per_class=10).split(seed=0)
    assert split.train_labels[split.shown].bincount().tolist() == [10] * 10
    assert len(set(split.shown.tolist())) == 100


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
    assert split.shown.tolist() == sorted(expected)


def test_a_class_with_fewer_points_shows_all_of_them():
    labels = torch.tensor([0] * 20 + [1] * 3)
    assert labels[first_of_each_class(labels, 5, seed=0)].bincount().tolist() == [5, 3]


def test_a_seed_changes_the_split_and_the_labelled_rows_and_nothing_else_does():
    data = DigitsTable()
    one, again, other = data.split(0), data.split(0), data.split(1)
    assert torch.equal(one.train, again.train)
    assert torch.equal(one.shown, again.shown)
    assert not torch.equal(one.held_out, other.held_out)
    assert not torch.equal(one.shown, other.shown)
    assert one.fingerprint == other.fingerprint == data.fingerprint


@pytest.mark.parametrize("seed", [0, 1234, 2**32 - 1, 2**32 + 5, 2**63 - 1])
def test_any_seed_that_a_trial_can_have_shuffles(seed):
    assert sorted(shuffled(50, seed)) == list(range(50))
    assert (shuffled(50, seed) == np.random.RandomState(seed & 0xFFFFFFFF).permutation(50)).all()


def test_labelled_points_stay_in_the_unlabelled_stream():
    split = Wine(labels_per_class=5).split(seed=0)
    stream = split.stream(len(split.train), seed=0)
    assert known_rows(split.train[split.shown]) <= known_rows(stream.next_batch().x)


def test_a_batch_has_points_and_labelled_points_with_their_labels():
    split = DigitsTable().split(seed=0)
    by_row = {
        row.numpy().tobytes(): int(label) for row, label in zip(split.train, split.train_labels, strict=True)
    }
    batch = split.stream(64, seed=0).next_batch()
    assert isinstance(batch, LabelledBatch)
    assert (batch.x.shape, batch.labelled.shape, batch.labels.shape) == ((64, 64), (64, 64), (64,))
    assert known_rows(batch.labelled) <= known_rows(split.train[split.shown])
    assert [by_row[row.numpy().tobytes()] for row in batch.labelled] == batch.labels.tolist()
    assert not batch.shared


def test_fewer_labels_than_a_batch_are_a_smaller_batch():
    batch = Wine(labels_per_class=2).split(seed=0).stream(64, seed=0).next_batch()
    assert (len(batch.x), len(batch.labels)) == (64, 6)
    assert sorted(batch.labels.tolist()) == [0, 0, 1, 1, 2, 2]


def test_with_every_label_the_points_are_the_labelled_points():
    split = Wine(labels_per_class=None).split(seed=0)
    assert split.shown is None
    batch = split.stream(len(split.train), seed=0).next_batch()
    assert batch.shared
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


def test_held_out_points_are_none_of_the_training_points():
    split = Wine().split(seed=3)
    assert not known_rows(split.held_out) & known_rows(split.train)
    assert torch.equal(split.test_points(seed=0), split.held_out)
    assert split.test_points(seed=0, n=5).shape == (5, 13)


def test_what_table_8_says_of_a_split():
    split = Wine().split(seed=0)
    counts = [int((split.train_labels == label).sum()) for label in range(3)]
    assert split.facts == (13, 143, 3, 100 * max(counts) / 143)
    held_out = [int((split.held_out_labels == label).sum()) for label in range(3)]
    assert split.majority_share == max(held_out) / 35


def test_no_label_at_all_is_refused():
    split = Wine().split(seed=0)
    with pytest.raises(SettingError, match="'wine' shows no label at all"):
        Split(
            split.source,
            (split.train, split.train_labels),
            (split.held_out, split.held_out_labels),
            torch.empty(0).long(),
        )


@pytest.mark.parametrize("part", ["training", "held-out"])
def test_points_that_are_not_finite_are_refused_and_named(part):
    split = Wine().split(seed=0)
    spoilt = (split.train if part == "training" else split.held_out).clone()
    spoilt[[7, 9], 2] = torch.inf
    train, held_out = (spoilt, split.held_out) if part == "training" else (split.train, spoilt)
    with pytest.raises(
        DataCorrupt, match=rf"'wine' has 2 {part} points not finite .* the first in row 7 \(inf\)"
    ):
        Split(split.source, (train, split.train_labels), (held_out, split.held_out_labels), split.shown)


@pytest.mark.parametrize("value", [0, -1, 1.5, "10"])
def test_labels_per_class_is_a_count_or_none(value):
    with pytest.raises(SettingError, match="Wine: labels_per_class must be"):
        Wine(labels_per_class=value)

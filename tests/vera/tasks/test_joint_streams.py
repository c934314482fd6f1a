"""What a split gives to a method, step by step: points, and labelled points beside them, each in epochs; and
what it refuses."""

import pytest
import torch
from conformance import Alternating, differences, expect_refusal
from joint_helpers import Blobs

from vera.data.labelled import LabelledBatch, Split
from vera.errors import SettingError


def rows_split(n=100, shown=20):
    """Each point is its own row number, so that a batch says which rows it has; the label is the number's
    last digit."""
    rows = torch.arange(n)
    source = Alternating(rows.float().unsqueeze(1), 1.0)
    source.classes = 10
    chosen = (
        None
        if shown is None
        else torch.randperm(n, generator=torch.Generator().manual_seed(0))[:shown].sort().values
    )
    return Split(source, (source.x, rows % 10), (source.x[:10], rows[:10] % 10), chosen)


def rows_of(x):
    return x.flatten().long().tolist()


@pytest.mark.parametrize(
    ("batch_size", "shown", "expected"), [(64, 20, 20), (64, 100, 64), (8, 20, 8), (20, 20, 20), (1, 3, 1)]
)
def test_a_labelled_batch_is_as_large_as_a_batch_or_as_all_that_is_shown(batch_size, shown, expected):
    batch = rows_split(128, shown).stream(batch_size, 0).next_batch()
    assert (len(batch), len(batch.x), len(batch.labelled), len(batch.labels)) == (
        batch_size,
        batch_size,
        expected,
        expected,
    )


def test_labelled_rows_come_round_in_epochs_and_the_rest_of_one_is_dropped():
    split = rows_split(100, shown=20)
    stream = split.stream(8, 3)
    epochs = [[rows_of(stream.next_batch().labelled) for _ in range(2)] for _ in range(6)]
    for first, second in epochs:
        assert len({*first, *second}) == 16, "no row twice in an epoch"
        assert {*first, *second} <= {*split.shown.tolist()}
    assert len({tuple(first + second) for first, second in epochs}) == 6, "each epoch has an order of its own"
    assert {row for epoch in epochs for part in epoch for row in part} == {*split.shown.tolist()}


def test_all_points_come_without_their_labels_in_epochs_of_their_own():
    split = rows_split(100, shown=20)
    stream = split.stream(25, 3)
    batches = [stream.next_batch() for _ in range(8)]
    for epoch in (batches[:4], batches[4:]):
        assert sorted(row for batch in epoch for row in rows_of(batch.x)) == list(range(100))
    assert not any(batch.shared for batch in batches)


@pytest.mark.parametrize("shown", [20, None])
def test_every_label_belongs_to_its_point(shown):
    stream = rows_split(100, shown).stream(16, 1)
    for _ in range(20):
        batch = stream.next_batch()
        assert [row % 10 for row in rows_of(batch.labelled)] == batch.labels.tolist()


def test_with_every_label_shown_the_labelled_points_are_the_points():
    batch = rows_split(100, None).stream(16, 1).next_batch()
    assert batch.shared
    assert batch.labelled is batch.x


@pytest.mark.parametrize("shown", [20, None])
def test_a_stream_goes_on_from_its_state_inside_an_epoch_and_across_its_end(shown):
    split = rows_split(100, shown)
    for before in range(14):
        straight, resumed = split.stream(8, 5), split.stream(8, 6)
        for _ in range(before):
            straight.next_batch()
        resumed.load_state_dict(straight.state_dict())
        for _ in range(5):
            assert differences(vars(straight.next_batch()), vars(resumed.next_batch())) == []


def test_points_and_labelled_points_are_shuffled_apart():
    """With all rows in both streams, one order would show each point twice in a step."""
    batch = rows_split(100, shown=100).stream(100, 0).next_batch()
    assert rows_of(batch.x) != rows_of(batch.labelled)
    assert sorted(rows_of(batch.x)) == sorted(rows_of(batch.labelled))


@pytest.mark.parametrize("shared", [False, True])
def test_on_the_way_to_a_device_points_take_the_networks_type_and_labels_stay_integers(shared):
    x = torch.zeros(4, 2)
    batch = LabelledBatch(
        x, x if shared else torch.zeros(3, 2), torch.tensor([0, 1, 1, 0][: 4 if shared else 3])
    )
    there = batch.to(torch.device("cpu"), torch.float64)
    assert (there.x.dtype, there.labelled.dtype, there.labels.dtype) == (
        torch.float64,
        torch.float64,
        torch.int64,
    )
    assert there.shared == shared
    assert torch.equal(there.labels, batch.labels)
    assert batch.x.dtype == torch.float32


def test_a_batch_larger_than_the_training_set_is_refused():
    for shown in (20, None):
        with expect_refusal(
            "batch_size 101 is larger than the training set of 100 points", kind=SettingError
        ):
            rows_split(100, shown).stream(101, 0)


def test_the_majority_share_is_that_of_held_out_points():
    split = Blobs(n=600).split(3)
    counts = [int((split.held_out_labels == label).sum()) for label in range(2)]
    assert split.majority_share == max(counts) / sum(counts)


def points_of(n=6, dtype=torch.float32):
    return torch.zeros(n, 2, dtype=dtype)


@pytest.mark.parametrize(
    ("labels", "parts"),
    [
        (torch.tensor([1, 2, 1, 2, 1, 2]), ["labels from 1 to 2", "0 to 1"]),
        (torch.tensor([0, -100, 1, 0, 1, 0]), ["labels from -100 to 1"]),
        (torch.tensor([0, 1, 0, 1, 0, 1], dtype=torch.int32), ["int64", "int32"]),
        (torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), ["int64", "float32"]),
        (torch.tensor([0, 1, 0]), ["6", "3 labels"]),
    ],
)
@pytest.mark.parametrize("held_out", [False, True])
def test_labels_that_cannot_be_classes_are_refused_at_once(labels, parts, held_out):
    fine = (points_of(), torch.tensor([0, 1, 0, 1, 0, 1]))
    given = (points_of(), labels)
    with expect_refusal(
        "The data set 'alternating'", "held-out" if held_out else "training", *parts, kind=SettingError
    ):
        Split(Alternating(points_of(), 1.0), fine if held_out else given, given if held_out else fine, None)


def test_a_split_without_held_out_points_is_refused():
    fine, empty = (points_of(), torch.tensor([0, 1] * 3)), (points_of(0), torch.zeros(0, dtype=torch.int64))
    with expect_refusal("no held-out points", kind=SettingError):
        Split(Alternating(points_of(), 1.0), fine, empty, None)

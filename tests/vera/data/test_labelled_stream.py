"""The stream of a labelled split: points and labelled points, each in its own epochs, and invalid splits."""

import pytest
import torch
from conformance import Alternating, find_differences
from facts import raises_with
from joint_helpers import Blobs

from vera.data.labelled import LabelledBatch, Split
from vera.errors import SettingError


def rows_split(n=100, shown=20):
    """Each point is its row number, so a batch shows which rows it contains; the label is the last digit."""
    rows = torch.arange(n)
    source = Alternating(rows.float().unsqueeze(1), 1.0)
    source.classes = 10
    chosen = (
        None
        if shown is None
        else torch.randperm(n, generator=torch.Generator().manual_seed(0))[:shown].sort().values
    )
    return Split(source, (source.x, rows % 10), (source.x[:10], rows[:10] % 10), chosen)


def list_rows(x):
    return x.flatten().long().tolist()


@pytest.mark.parametrize(
    ("batch_size", "shown", "expected"), [(64, 20, 20), (64, 100, 64), (8, 20, 8), (20, 20, 20), (1, 3, 1)]
)
def test_a_labelled_batch_has_the_batch_size_or_all_labelled_rows(batch_size, shown, expected):
    batch = rows_split(128, shown).stream(batch_size, 0).next_batch()
    assert (len(batch), len(batch.x), len(batch.labelled), len(batch.labels)) == (
        batch_size,
        batch_size,
        expected,
        expected,
    )


def test_labelled_rows_come_in_epochs_and_the_rest_of_an_epoch_is_dropped():
    split = rows_split(100, shown=20)
    stream = split.stream(8, 3)
    epochs = [[list_rows(stream.next_batch().labelled) for _ in range(2)] for _ in range(6)]
    for first, second in epochs:
        assert len({*first, *second}) == 16, "no row twice in an epoch"
        assert {*first, *second} <= {*split.labelled_rows.tolist()}
    assert len({tuple(first + second) for first, second in epochs}) == 6, "each epoch has its own order"
    assert {row for epoch in epochs for batch in epoch for row in batch} == {*split.labelled_rows.tolist()}


def test_all_points_come_without_labels_in_their_own_epochs():
    split = rows_split(100, shown=20)
    stream = split.stream(25, 3)
    batches = [stream.next_batch() for _ in range(8)]
    for epoch in (batches[:4], batches[4:]):
        assert sorted(row for batch in epoch for row in list_rows(batch.x)) == list(range(100))
    assert not any(batch.is_shared for batch in batches)


@pytest.mark.parametrize("shown", [20, None])
def test_every_label_belongs_to_its_point(shown):
    stream = rows_split(100, shown).stream(16, 1)
    for _ in range(20):
        batch = stream.next_batch()
        assert [row % 10 for row in list_rows(batch.labelled)] == batch.labels.tolist()


def test_with_all_labels_the_labelled_points_are_the_points():
    batch = rows_split(100, None).stream(16, 1).next_batch()
    assert batch.is_shared
    assert batch.labelled is batch.x


@pytest.mark.parametrize("shown", [20, None])
def test_a_stream_resumes_from_its_state_inside_an_epoch_and_across_its_end(shown):
    split = rows_split(100, shown)
    for before in range(14):
        straight, resumed = split.stream(8, 5), split.stream(8, 6)
        for _ in range(before):
            straight.next_batch()
        resumed.load_state_dict(straight.state_dict())
        for _ in range(5):
            assert find_differences(vars(straight.next_batch()), vars(resumed.next_batch())) == []


def test_points_and_labelled_points_are_shuffled_independently():
    """With all rows in both streams, a common order would use each point twice in a step."""
    batch = rows_split(100, shown=100).stream(100, 0).next_batch()
    assert list_rows(batch.x) != list_rows(batch.labelled)
    assert sorted(list_rows(batch.x)) == sorted(list_rows(batch.labelled))


@pytest.mark.parametrize("shared", [False, True])
def test_moving_a_batch_converts_points_to_the_dtype_and_keeps_labels_integer(shared):
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
    assert there.is_shared == shared
    assert torch.equal(there.labels, batch.labels)
    assert batch.x.dtype == torch.float32


def test_a_batch_larger_than_the_training_set_is_refused():
    for shown in (20, None):
        with raises_with(SettingError, "batch_size 101", "100"):
            rows_split(100, shown).stream(101, 0)


def test_the_majority_share_is_that_of_the_held_out_points():
    split = Blobs(n=600).split(3)
    counts = [int((split.held_out_labels == label).sum()) for label in range(2)]
    assert split.majority_share == max(counts) / sum(counts)


def make_points(n=6, dtype=torch.float32):
    return torch.zeros(n, 2, dtype=dtype)


@pytest.mark.parametrize(
    ("labels", "facts"),
    [
        (torch.tensor([1, 2, 1, 2, 1, 2]), ["1 to 2", "0 to 1"]),
        (torch.tensor([0, -100, 1, 0, 1, 0]), ["-100 to 1"]),
        (torch.tensor([0, 1, 0, 1, 0, 1], dtype=torch.int32), ["int64", "int32"]),
        (torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), ["int64", "float32"]),
        (torch.tensor([0, 1, 0]), ["has 6", "3 labels"]),
    ],
)
@pytest.mark.parametrize("held_out", [False, True])
def test_labels_that_are_not_classes_are_refused(labels, facts, held_out):
    fine = (make_points(), torch.tensor([0, 1, 0, 1, 0, 1]))
    given = (make_points(), labels)
    with raises_with(SettingError, "'alternating'", "held-out" if held_out else "training", *facts):
        Split(Alternating(make_points(), 1.0), fine if held_out else given, given if held_out else fine, None)


def test_a_split_without_held_out_points_is_refused():
    fine, empty = (
        (make_points(), torch.tensor([0, 1] * 3)),
        (make_points(0), torch.zeros(0, dtype=torch.int64)),
    )
    with raises_with(SettingError, "held-out"):
        Split(Alternating(make_points(), 1.0), fine, empty, None)

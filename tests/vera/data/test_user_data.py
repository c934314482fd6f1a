"""What a user may pass as data: images, pairs, frames and torch data sets, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import torch
from facts import raises_with
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from vera.data import DigitsTable, Split, TensorData, UserData, as_dataset
from vera.data.user_data import encode_labels, read_user_data
from vera.errors import DataCorrupt, IncompatibleModel, SettingError, VeraError
from vera.evaluation import ClassificationEvaluation
from vera.joint import Supervised
from vera.methods import DSM
from vera.models import MLP, DCGANEnergy, MLPClassifier
from vera.saved import SavedModel
from vera.training.trainer import Trainer

X = np.arange(12, dtype=np.float64).reshape(6, 2)
Y = np.array(["b", "a", "b", "a", "b", "a"])


class Listed(Dataset):
    """A map-style data set of given items."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Endless(IterableDataset):
    def __iter__(self):
        yield torch.zeros(2)


def as_split(data, label=None):
    split = as_dataset(data, label)
    assert isinstance(split, Split)
    return split


@pytest.mark.parametrize(
    "data",
    [
        (X, Y),
        (torch.tensor(X), Y.tolist()),
        (pd.DataFrame(X), pd.Series(Y)),
        (X, Y[:, None]),
        Listed([(torch.tensor(x), y) for x, y in zip(X, Y, strict=True)]),
        UserData(X, Y),
    ],
    ids=["arrays", "tensor and list", "frame and series", "column", "torch data set", "user data"],
)
def test_pairs_of_any_kind_give_the_same_labelled_points(data):
    split = as_split(data)
    assert torch.equal(split.train, torch.tensor(X).float())
    assert split.train_labels.tolist() == [1, 0, 1, 0, 1, 0]
    assert (split.classes, split.source.class_names) == (2, ("a", "b"))


def test_whole_labels_are_sorted_by_value_and_text_as_text():
    assert encode_labels(np.array([10, 2, 10, 2]))[1] == ("2", "10")
    assert encode_labels(np.array([10.0, 2.0, 10.0, 2.0]))[1] == ("2", "10")
    assert encode_labels(np.array(["10", "2", "10", "2"]))[1] == ("10", "2")
    assert encode_labels(np.array([-1, 1, 1, -1]))[0].tolist() == [0, 1, 1, 0]
    assert encode_labels(np.array([True, False, True, False]))[1] == ("False", "True")
    numbers, names = encode_labels(np.array(["a", "c"]), ("c", "b", "a"))
    assert (numbers.tolist(), names) == ([2, 0], ("c", "b", "a"))


@pytest.mark.parametrize(
    ("labels", "facts"),
    [
        (np.array([0.5, 1.0]), ["whole numbers", "row 0", "0.5"]),
        (np.array([1.0, np.nan]), ["row 1", "nan"]),
        (np.array(["a", None], dtype=object), ["row 1", "None"]),
        (np.array([3, 3]), ["'3'", "two classes"]),
        (np.arange(6), ["6 classes", "single point"]),
    ],
)
def test_labels_that_are_no_classes_are_refused(labels, facts):
    with raises_with(SettingError, *facts):
        encode_labels(labels)


def test_an_unknown_class_is_refused_by_name():
    with raises_with(SettingError, "'c'", "a, b"):
        encode_labels(np.array(["a", "c"]), ("a", "b"))


@pytest.mark.parametrize(
    ("y", "facts"),
    [
        (Y[:5], ["6 points", "5 labels"]),
        (np.eye(6), ["(6, 6)", "argmax(1)"]),
        ([[1], [1, 2]], ["one class per point"]),
        (None, ["one class per point"]),
    ],
)
def test_labels_of_another_shape_are_refused(y, facts):
    with raises_with(SettingError, *facts):
        as_dataset((X, y))


def test_a_frame_gives_its_numbers_and_the_label_column_its_classes():
    frame = pd.DataFrame({"height": [1, 2, 3, 4], "kind": list("xyxy"), "width": [0.5, 1.5, 2.5, 3.5]})
    split = as_split(frame, label="kind")
    assert split.train.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5], [4, 3.5]]
    assert split.source.feature_names == ("height", "width")
    data = as_dataset(frame.drop(columns="kind"))
    assert isinstance(data, TensorData)
    assert data.feature_names == ("height", "width")


def test_a_column_of_user_data_can_become_the_label():
    user = UserData(np.array([[1.0, 0.0], [2.0, 1.0]]), feature_names=("x", "kind"))
    moved = read_user_data(user, label="kind")
    assert (moved.x.tolist(), moved.labels.tolist()) == ([[1.0], [2.0]], [0.0, 1.0])
    assert moved.feature_names == ("x",)
    with raises_with(SettingError, "'knd'", "kind"):
        read_user_data(user, label="knd")
    with raises_with(SettingError, "label='x'", "already"):
        read_user_data(moved, label="x")


@pytest.mark.parametrize(
    ("frame", "label", "facts"),
    [
        (pd.DataFrame({"a": [1.0], "kind": ["x"]}), None, ["'kind'", "row 0", "'x'", "label='kind'"]),
        (pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]}), None, ["'a'", "row 1", "nan"]),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), None, ["'a'", "row 1"]),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), None, ["'a'", "not numeric"]),
        (pd.DataFrame({"species": [1.0]}), "specis", ["'specis'", "species"]),
        (pd.DataFrame({"a": [1, 2]}), "a", ["2 rows", "0 columns"]),
        (pd.DataFrame({"a": []}), None, ["0 rows"]),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, ["two columns", "'a'"]),
    ],
    ids=["text", "nan", "missing", "date", "misspelt", "only label", "empty", "repeated"],
)
def test_a_frame_that_is_no_table_of_numbers_is_refused(frame, label, facts):
    with raises_with(VeraError, *facts):
        as_dataset(frame, label)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (Endless(), ["Endless", "no length"]),
        (Listed([]), ["Listed", "empty"]),
        (Listed([torch.zeros(2), (torch.zeros(2), 1)]), ["Listed", "pairs (x, y)"]),
        (Listed([(torch.zeros(2), 1, 2)]), ["pairs (x, y)"]),
        (Listed([torch.zeros(2), torch.zeros(3)]), ["Item 1", "(3,)", "(2,)"]),
        (Listed(["text"]), ["Item 0", "str", "ToTensor()"]),
    ],
    ids=["iterable", "empty", "mixed", "triple", "shapes", "text"],
)
def test_a_torch_data_set_that_cannot_be_read_is_refused(data, facts):
    with raises_with(SettingError, *facts):
        as_dataset(data)


@pytest.mark.parametrize(
    ("data", "label", "facts"),
    [
        (X, "kind", ["label='kind'", "(x, y)"]),
        ([[1.0, 2.0]], None, ["list", "torch.tensor(data)"]),
        ("moons.csv", None, ["str", "vera.data.load(path)"]),
        (DigitsTable(), None, ["'digits-table'", "split(seed)"]),
        (np.zeros((2, 2), dtype=np.uint8), None, ["floats", "uint8"]),
    ],
)
def test_other_inputs_are_refused_with_a_hint(data, label, facts):
    with raises_with(SettingError, *facts):
        as_dataset(data, label)


def test_values_that_are_not_finite_are_refused_by_row():
    x = X.copy()
    x[4, 1] = np.inf
    for data in (x, (x, Y), TensorDataset(torch.tensor(x))):
        with raises_with(DataCorrupt, "1 training point", "row 4", "(inf)"):
            as_dataset(data)


@pytest.mark.parametrize("labelled", [False, True])
def test_images_of_bytes_are_scaled_and_remember_it(labelled):
    images = np.array([0, 255, 127, 128], dtype=np.uint8).reshape(4, 1, 1, 1).repeat(2, 3)
    data = as_dataset((images, [0, 1, 0, 1]) if labelled else torch.tensor(images))
    assert data.train[:2].flatten(1).tolist() == [[-1, -1], [1, 1]]
    assert [tensor.shape for tensor in data.scale] == [(1, 1, 2)] * 2
    restored = data.train.double() * data.scale[1] + data.scale[0]
    assert torch.allclose(restored, torch.tensor(images).double(), atol=1e-4)


def test_all_points_of_a_pair_train_and_none_can_evaluate():
    split = as_split((X, Y))
    assert len(split.train) == 6
    with raises_with(VeraError, "'tensor'", "no held-out points"):
        split.test_points(0)
    with raises_with(SettingError, "'tensor'", "no held-out points"):
        ClassificationEvaluation(split)
    held_out = split.source.split(0)
    assert (len(held_out.train), len(held_out.held_out)) == (6, 0)


def test_the_fingerprint_depends_on_points_labels_and_names():
    labels = [0, 1, 0, 1, 0, 1]
    pairs = [(X, labels), (X + 1, labels), (X, labels[::-1]), (X, [2 * y for y in labels])]
    assert len({as_dataset(pair).fingerprint for pair in pairs}) == 4
    assert as_dataset((X, labels)).fingerprint == as_dataset((torch.tensor(X), labels)).fingerprint


def test_a_trainer_takes_pairs_and_trains_a_classifier():
    trainer = Trainer(Supervised(MLPClassifier(2, 2, (8,))), (X, Y), steps=3, batch_size=4)
    assert trainer.run().outcome == "ok"
    assert SavedModel.from_trainer(trainer).facts.data["class_names"] == ["a", "b"]


def test_a_trainer_takes_images_for_convolutions_and_rows_for_perceptrons():
    images = torch.rand(12, 1, 8, 8)
    assert Trainer(DSM(DCGANEnergy(1, 8, 4)), images, steps=2, batch_size=4).run().outcome == "ok"
    assert Trainer(DSM(MLP(64)), images.reshape(12, -1), steps=2, batch_size=4).run().outcome == "ok"
    with raises_with(IncompatibleModel, "MLP", "(2, 1, 8, 8)", "x.reshape(len(x), -1)"):
        Trainer(DSM(MLP(64)), images, steps=2, batch_size=4)
    with raises_with(IncompatibleModel, "MLP", "63 dimensions", "have 64"):
        Trainer(DSM(MLP(63)), images, steps=2, batch_size=4)

"""Damaged, foreign and malicious files: one clear error, and no code is executed."""

import json
import os
import pickle
import time

import pytest
import safetensors.torch
import torch
from facts import raises_with
from saved_helpers import HEADER, change_metadata, read_header, replace_header, train_model

import vera
from vera.errors import ModelFileError
from vera.saved import load_model

MLP = {"name": "mlp", "data_dim": 2, "hidden": [8, 8], "activation": "leaky_relu"}


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    train_model("vera", "leaky_mlp")[1].save(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, content):
    file = tmp_path / "m.safetensors"
    file.write_bytes(content)
    return file


def assert_refused(path, *facts: str) -> None:
    began = time.monotonic()
    with raises_with(ModelFileError, str(path), *facts):
        load_model(path)
    assert time.monotonic() - began < 20


def set_network(path, role: str, component) -> None:
    networks = json.loads(read_header(path)["__metadata__"]["networks"])
    change_metadata(path, networks=json.dumps(networks | {role: component}))


def test_the_file_itself_is_fine(path):
    assert load_model(path).score(torch.zeros(1, 2)).shape == (1,)
    assert issubclass(ModelFileError, vera.VeraError)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert_refused(tmp_path / "no.safetensors")
    assert_refused(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(path, content, share):
    path.write_bytes(content[: int(share * len(content))])
    assert_refused(path)


def test_a_file_with_bytes_after_its_end_is_refused(path, content):
    path.write_bytes(content + b"more")
    assert_refused(path)


class Payload:
    """Unpickling it creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_foreign_files_are_refused_and_not_executed(path, tmp_path):
    mark = tmp_path / "executed"
    for foreign in (pickle.dumps(Payload(str(mark))), b"\x89PNG\r\n\x1a\n" + bytes(90), b"", b"{}"):
        path.write_bytes(foreign)
        assert_refused(path)
    torch.save({"weights": torch.ones(3)}, path)
    assert_refused(path)
    safetensors.torch.save_file({"energy.net.0.weight": torch.ones(3)}, path)
    assert_refused(path, "not a model that vera has saved")
    assert not mark.exists()


@pytest.mark.parametrize("length", [0, 1, 2**24 + 1, 2**40, 2**63, 2**64 - 1])
def test_an_absurd_header_length_is_refused(path, content, length):
    path.write_bytes(length.to_bytes(HEADER, "little") + content[HEADER:])
    assert_refused(path)


@pytest.mark.parametrize(
    "header", [b"[" * 100_000, b"null", b"[1, 2]", b"\xff\xfe{}", b'{"__metadata__": 3}']
)
def test_a_header_that_is_not_ours_is_refused(path, header):
    replace_header(path, header)
    assert_refused(path)


@pytest.mark.parametrize(
    ("texts", "fact"),
    [
        ({"format": "other"}, "vera"),
        ({"format": None}, "vera"),
        ({"format_version": "2"}, "version 2"),
        ({"format_version": "-1"}, "version"),
        ({"format_version": "9" * 5000}, "version"),
        ({"spec": None}, "spec"),
        ({"networks": None}, "networks"),
        ({"spec": "{"}, "spec"),
        ({"spec": "[1]"}, "spec"),
        ({"spec": '{"steps": 3}'}, "dataset"),
        ({"spec": '{"surprise": 3}'}, "surprise"),
        ({"metrics": '{"loss": NaN}'}, "metrics"),
        ({"metrics": '{"loss": "low"}'}, "metrics"),
        ({"metrics": "[" * 100_000}, "metrics"),
        ({"step": "-3"}, "step"),
        ({"step": "true"}, "step"),
        ({"seed": "9" * 5000}, "seed"),
        ({"versions": '{"torch": 2}'}, "versions"),
        ({"method": '{"lr": 1}'}, "method"),
        ({"data": "{}"}, "data"),
        ({"data": '{"name": "x", "data_dim": 3, "shape": [2]}'}, "data"),
        ({"data": '{"name": "x", "data_dim": 0, "shape": [0]}'}, "data"),
        ({"data": '{"name": "x", "data_dim": 2, "shape": [2], "classes": "two"}'}, "data"),
        ({"data": '{"name": "x", "data_dim": 2, "shape": [2], "class_names": [1]}'}, "data"),
        ({"data": '{"name": "x", "data_dim": 2, "shape": [2], "surprise": 1}'}, "data"),
        ({"data": '{"name": "x", "data_dim": 3, "shape": [3]}'}, "(3,)"),
        ({"networks": "{}"}, "networks"),
        ({"networks": '{"energy": 3}'}, "networks"),
        ({"networks": '{"energy": null, "data": null}'}, "networks"),
        ({"networks": '{"energy": {"name": "mlp"}, "../up": null}'}, "networks"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_wrong_metadata_are_refused(path, texts, fact):
    change_metadata(path, **texts)
    assert_refused(path, fact)


def test_unknown_entries_of_the_metadata_are_ignored(path):
    expected = load_model(path).score(torch.ones(1, 2))
    change_metadata(path, added="by a hub")
    assert torch.equal(load_model(path).score(torch.ones(1, 2)), expected)


@pytest.mark.parametrize(
    ("component", "fact"),
    [
        ({"name": "no-such-network"}, "no-such-network"),
        ({"name": "os.system"}, "os.system"),
        ({"name": "__import__"}, "__import__"),
        ({**MLP, "hidden": [8, 9]}, "energy.net"),
        ({**MLP, "hidden": [8]}, "energy.net"),
        ({**MLP, "hidden": [8, 8, 8]}, "energy.net"),
        ({**MLP, "data_dim": 3}, "energy.net"),
        ({**MLP, "surprise": 1}, "surprise"),
        ({"name": "mlp"}, "data_dim"),
        ({**MLP, "hidden": "8"}, "hidden"),
        ({**MLP, "hidden": [10**9, 10**9]}, "1000000000"),
        ({**MLP, "hidden": [10**6, 10**6]}, "energy.net"),
        ({**MLP, "hidden": [8] * 300_000}, "weights"),
        ({"name": "nice", "data_dim": 2, "hidden": 2, "hidden_layers": 10**6}, "weights"),
        ({"name": "nice", "data_dim": 2, "hidden": 2, "couplings": 10**6}, "weights"),
        ({"name": "nice", "data_dim": 2, "hidden": 2, "couplings": 10**12}, str(10**12)),
        ({"name": "wrn", "classes": 2, "depth": 6 * 10**5 + 4}, "weights"),
        ({"name": "mixture", "components": 2**20}, "means"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_networks_that_do_not_fit_the_weights_are_refused(path, component, fact):
    set_network(path, "energy", component)
    assert_refused(path, fact)


def write_tensors(path, change) -> None:
    """Write the file with changed tensors and the same metadata."""
    metadata = read_header(path)["__metadata__"]
    tensors = safetensors.torch.load(path.read_bytes())
    change(tensors)
    safetensors.torch.save_file(tensors, path, metadata=metadata)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        (lambda t: t.pop("energy.net.0.weight"), "energy.net.0.weight"),
        (lambda t: t.pop("generator.log_sigma"), "generator.log_sigma"),
        (lambda t: t.pop("generator.net.net.1.running_mean"), "running_mean"),
        (lambda t: t.update({"energy.more": torch.ones(1)}), "energy.more"),
        (lambda t: t.update({"stray": torch.ones(1)}), "stray"),
        (lambda t: t.update({"other.weight": torch.ones(1)}), "other.weight"),
        (lambda t: t.update({"method.secret": torch.ones(1)}), "method.secret"),
        (lambda t: t.update({"method.entropy.log_eta": torch.ones(1, 1)}), "log_eta"),
        (lambda t: t.update({"ema.energy": torch.ones(1)}), "ema"),
        (lambda t: t.update({"ema.nobody.weight": torch.ones(1)}), "ema"),
        (lambda t: t.update({"ema.energy.net.0.weight": torch.ones(1)}), "energy.net"),
        (lambda t: t.update({"energy.net.0.weight": torch.ones(8, 3)}), "[8, 3]"),
        (lambda t: t.update({"energy.net.0.weight": t["energy.net.0.weight"].double()}), "float64"),
        (lambda t: t.update({"energy.net.0.weight": t["energy.net.0.weight"].int()}), "int32"),
        (lambda t: t.pop("data.mean"), "data.mean"),
        (lambda t: t.update({"data.mean": torch.full((2,), float("nan"))}), "data.mean"),
        (lambda t: t.update({"data.mean": torch.ones(3)}), "data.mean"),
        (lambda t: t.update({"data.width": torch.ones(2)}), "data.width"),
        (lambda t: t.update({"data.width": torch.zeros(2), "data.centre": torch.ones(2)}), "data.width"),
        (lambda t: t.update({"data.deviation": -torch.ones(2)}), "data.deviation"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(path, change, fact):
    write_tensors(path, change)
    assert_refused(path, fact)


def test_a_network_in_the_wrong_role_is_refused(path):
    networks = json.loads(read_header(path)["__metadata__"]["networks"])
    tensors = safetensors.torch.load(path.read_bytes())
    metadata = read_header(path)["__metadata__"]
    swapped = {"energy": networks["generator"], "generator": networks["energy"]}
    other = {"energy": "generator", "generator": "energy"}
    renamed = {
        ".".join([other.get(n.split(".")[0], n.split(".")[0]), *n.split(".")[1:]]): t
        for n, t in tensors.items()
    }
    safetensors.torch.save_file(renamed, path, metadata=metadata | {"networks": json.dumps(swapped)})
    assert_refused(path, "energy", "(2,)")


def test_every_flipped_byte_of_the_header_gives_a_model_or_one_clear_error(path, content):
    size = HEADER + int.from_bytes(content[:HEADER], "little")
    for position in range(0, size, 37):
        damaged = bytearray(content)
        damaged[position] ^= 0x11
        path.write_bytes(damaged)
        message = ""
        try:
            load_model(path)
        except ModelFileError as error:
            message = str(error)
        assert not message or (str(path) in message and "\n" not in message)

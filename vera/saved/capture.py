"""What a model file needs, collected from a live Trainer: copies of the networks, facts and tensors."""

import platform
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import safetensors
import torch
from torch import Tensor, nn

import vera
from vera.data.contract import DataSet
from vera.data.labelled import LabelledBatch, Split
from vera.errors import IncompatibleModel, UnknownName
from vera.methods.contract import Method
from vera.saved.facts import ModelFacts
from vera.saved.rebuild import check_forward
from vera.spec.registry import estimators, models
from vera.spec.resolve import infer_settings, resolve_component, resolve_spec
from vera.spec.settings import settings_of
from vera.spec.trial_spec import Component, TrialSpec
from vera.training.averaging import WeightAverage, copy_network
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

MOMENT_POINTS = 1_024
"""Number of training points from which mean and deviation are estimated, at least one batch."""


def capture_model(
    trainer: Trainer,
    components: Mapping[str, Component] | None,
    metrics: Mapping[str, float] | None,
    texts: Mapping[str, str],
) -> tuple[dict[str, nn.Module], ModelFacts, dict[str, Tensor]]:
    """Copies of the networks, the facts and the other tensors of the Trainer's model as it is now."""
    method = trainer.method
    if method.registry is estimators:
        raise IncompatibleModel(f"{method.label()} examines an estimator and has no model to save.")
    spec = None if trainer.spec is None else TrialSpec.from_dict(trainer.spec)
    given = components if components is not None else spec.networks if spec is not None else {}
    if unknown := [role for role in components or () if role not in method.network_names()]:
        raise UnknownName(f"{method.label()} has no network '{unknown[0]}'.")
    mean, deviation = estimate_moments(trainer)
    try:
        check_forward(method.networks(), tuple(mean.shape))
    except Exception as error:  # a user's module can raise anything
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise IncompatibleModel(f"{method.label()} has no model to save: {reason}.") from error
    facts = ModelFacts(
        method={"name": method.label(), **_to_plain(method.settings())},
        networks=resolve_networks(given, method.networks(), trainer.data),
        data=describe_data(trainer.data, tuple(mean.shape)),
        step=trainer.step,
        seed=trainer.seed,
        spec=None if spec is None else resolve_spec(spec),
        metrics=dict(trainer.journal.latest_metrics() if metrics is None else metrics),
        versions=collect_versions(),
        **texts,
    )
    networks = {role: copy_network(role, network) for role, network in method.networks().items()}
    tensors = {"data.mean": mean, "data.deviation": deviation}
    return (
        networks,
        facts,
        tensors | dict(_collect_scale(trainer.data)) | dict(_collect_state(method, trainer.average)),
    )


def resolve_networks(
    components: Mapping[str, Component], networks: Mapping[str, nn.Module], data: DataSet
) -> dict[str, dict[str, Any] | None]:
    """The name and all settings of each network, those inferred from data and generator included."""
    inferred = infer_settings(data)
    resolved: dict[str, dict[str, Any] | None] = {}
    for role, network in networks.items():
        component = components.get(role)
        if component is None:
            resolved[role] = None
        else:
            known = settings_of(models.get(component["name"]))
            accepted = {name: fact for name, fact in inferred.items() if name in known}
            resolved[role] = resolve_component(models, accepted | dict(component))
        if hasattr(network, "latent_dim"):
            inferred["latent_dim"] = network.latent_dim
    return resolved


def describe_data(data: DataSet, shape: tuple[int, ...]) -> dict[str, Any]:
    """Name, fingerprint and shape of the data, and classes, channels, side and names where they are known."""
    source = data.source if isinstance(data, Split) else data
    names = {name: getattr(source, name, None) for name in ("class_names", "feature_names")}
    facts = {
        "name": data.name,
        "fingerprint": data.fingerprint,
        **infer_settings(data),
        **{name: None if items is None else list(items) for name, items in names.items()},
        "shape": list(shape),
        "given_shape": None if data.given_shape is None else list(data.given_shape),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


@torch.no_grad()
def estimate_moments(trainer: Trainer) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each coordinate of the training points, as the networks see them."""
    seed = derive_seed(trainer.seed, "moments")
    with use_seed(seed):
        stream = trainer.data.stream(trainer.batch_size, seed)
        batches = [stream.next_batch() for _ in range(-(-MOMENT_POINTS // trainer.batch_size))]
    points = torch.cat([batch.x if isinstance(batch, LabelledBatch) else batch for batch in batches]).double()
    return points.mean(0).to(trainer.dtype), points.std(0, correction=0).to(trainer.dtype)


def collect_versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide a model's numbers."""
    packages = {"vera": vera, "torch": torch, "numpy": np, "safetensors": safetensors}
    found = {name: str(package.__version__) for name, package in packages.items()}
    return {"python": platform.python_version(), **found}


def _collect_scale(data: DataSet) -> Iterator[tuple[str, Tensor]]:
    """Centre and width of each coordinate, if the data set scales them."""
    if data.scale is not None:
        yield from zip(("data.centre", "data.width"), data.scale, strict=True)


def _collect_state(method: Method, average: WeightAverage | None) -> Iterator[tuple[str, Tensor]]:
    """The posterior scale η, the estimate of log Z and averaged weights, where they exist."""
    log_eta = getattr(getattr(method, "entropy", None), "log_eta", None)
    if isinstance(log_eta, Tensor):
        yield "method.entropy.log_eta", log_eta.detach().clone()
    log_normaliser = method.estimate_log_normaliser()
    if log_normaliser is not None:
        yield "method.log_normaliser", log_normaliser.detach().clone()
    for role, weights in average.state_dict()["networks"].items() if average is not None else ():
        for name, tensor in weights.items():
            yield f"ema.{role}.{name}", tensor


def _to_plain(value: Any) -> Any:
    """Tuples as lists, as JSON would return them."""
    if isinstance(value, dict):
        return {key: _to_plain(item) for key, item in value.items()}
    return [_to_plain(item) for item in value] if isinstance(value, tuple | list) else value

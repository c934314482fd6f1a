"""`SavedModel`: the networks of a trained model, with what is needed to use them.

Points are in the units and the shape of the data. If the data set scales its points (columns of a table,
bytes of an image) or flattens images, points are scaled and flattened before they enter a network, samples
are returned in the units and the shape of the data, and a log-likelihood is that of the data's own units.
`energy` and `generator` are the networks themselves and know nothing of this. For all other data sets the
units are those that the networks were trained on, such as pixels in [−1, 1].

Results have no gradient. An array gives an array, a tensor gives a tensor on its own device, with the dtype
of the points where they are floats. The columns of a data frame are matched by their names if the model knows
the names of its features; other columns are left out.
"""

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from vera.errors import IncompatibleModel, SettingError, VeraError
from vera.models.classifier import Classifier
from vera.models.contract import Density
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.saved.capture import capture_model
from vera.saved.card import render_card
from vera.saved.facts import ModelFacts
from vera.saved.model_file import encode_model, write_file
from vera.saved.sampling import ModelSampler
from vera.spec.settings import Count, NonNegativeCount, validate_arguments
from vera.spec.trial_spec import Component, TrialSpec
from vera.training.device import resolve_device
from vera.training.state.random_state import use_seed
from vera.training.trainer import Trainer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BATCH_ELEMENTS, SMALLEST_BATCH, LARGEST_BATCH = 2**20, 64, 10_000


class SavedModel:
    """A trained model. Make one with `vera.load_model(path)` or `SavedModel.from_trainer(trainer)`.

    `networks` are all networks of the training method by role, in evaluation mode. `facts` say how the model
    came about. `tensors` hold the rest of a model file: `data.mean` and `data.deviation` of the training
    points, and where they exist `data.centre` and `data.width` of scaled points, the posterior scale
    `method.entropy.log_eta`, the estimate of log Z `method.log_normaliser` and averaged weights `ema.*`.
    """

    def __init__(
        self, networks: Mapping[str, nn.Module], facts: ModelFacts, tensors: Mapping[str, Tensor]
    ) -> None:
        self.networks = {role: network.eval() for role, network in networks.items()}
        self.facts, self.tensors = facts, dict(tensors)
        weights = next(self.energy.parameters())
        self.to(weights.device)

    def __repr__(self) -> str:
        facts, kind = self.facts, type(self.energy).__name__
        label = f"{facts.label}: " if facts.label else ""
        return f"<SavedModel {label}{kind} trained by {facts.method['name']} on {facts.data['name']}>"

    @classmethod
    def from_trainer(
        cls,
        trainer: Trainer,
        *,
        networks: Mapping[str, Component] | None = None,
        metrics: Mapping[str, float] | None = None,
        trial_id: str = "",
        label: str = "",
        commit: str = "",
    ) -> Self:
        """A copy of a Trainer's networks as they are now; further training does not change it.

        The model can be loaded from its file alone if the Trainer was built from a spec, or if `networks`
        gives the registered name and the settings of each network. Otherwise pass your modules to
        `load_model`. `metrics` defaults to the last metrics of the run.
        """
        facts = {"trial_id": trial_id, "label": label, "commit": commit}
        return cls(*capture_model(trainer, networks, metrics, facts))

    @property
    def energy(self) -> nn.Module:
        """The energy model f(x), high where data are likely."""
        return self.networks["energy"]

    @property
    def generator(self) -> Generator | None:
        """The generator, or None if the model has none."""
        generator = self.networks.get("generator")
        return generator if isinstance(generator, Generator) else None

    def copy_networks(self) -> dict[str, nn.Module]:
        """Copies of all networks by role, in training mode: `VERA(**model.copy_networks())` trains on."""
        return {role: deepcopy(network).train() for role, network in self.networks.items()}

    def averaged(self) -> Self:
        """The same model with its averaged weights; the run must have kept them (`ema=0.999`)."""
        networks = self.copy_networks()
        for role, network in networks.items():
            prefix = f"ema.{role}."
            weights = {n.removeprefix(prefix): t for n, t in self.tensors.items() if n.startswith(prefix)}
            if not weights:
                raise IncompatibleModel(
                    "The model has no averaged weights: train it with ema=0.999 to have them."
                )
            network.load_state_dict(weights)
        others = {name: t for name, t in self.tensors.items() if not name.startswith("ema.")}
        return type(self)(networks, self.facts, others)

    @property
    def spec(self) -> TrialSpec | None:
        """The spec of the training run with all defaults written out, or None if it had no spec."""
        return None if self.facts.spec is None else TrialSpec.from_dict(self.facts.spec)

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of the training run."""
        return dict(self.facts.metrics)

    @property
    def eta(self) -> Tensor | None:
        """The scale η of the approximate posterior of z, or None if the method has none."""
        log_eta = self.tensors.get("method.entropy.log_eta")
        return None if log_eta is None else log_eta.exp()

    @property
    def log_normaliser(self) -> float | None:
        """log Z of f: 0 for a normalised model, else the estimate that training learned; None without one."""
        estimate = self.tensors.get("method.log_normaliser")
        return 0.0 if isinstance(self.energy, Density) else None if estimate is None else float(estimate)

    @property
    def device(self) -> torch.device:
        return next(self.energy.parameters()).device

    def to(self, device: str | torch.device) -> Self:
        """Move the model to a device and return it."""
        place = resolve_device(str(device))
        for network in self.networks.values():
            network.to(place)
        self.tensors = {name: tensor.to(place) for name, tensor in self.tensors.items()}
        moments = (self.tensors["data.mean"], self.tensors["data.deviation"])
        self._sampler = ModelSampler(self.energy, self.generator, *moments)
        return self

    @validate_arguments
    def score(self, x: Any, *, batch_size: Count | None = None) -> Any:
        """Return f(x) of each point: an unnormalised log-density, or log p(x) of a normalised model."""
        return self._evaluate(self.energy, x, batch_size)

    @validate_arguments
    def log_likelihood(self, x: Any, *, batch_size: Count | None = None) -> Any:
        """Return log p(x) of each point, in nats.

        The model must be normalised, or trained with an estimate of log Z, as by `nce`: f(x) − log Z is then
        an estimate that can lie above the truth.
        """
        log_normaliser = self.log_normaliser
        if log_normaliser is None:
            raise IncompatibleModel(
                f"{type(self.energy).__name__} is not normalised, so it has no exact likelihood; score(x) "
                "returns f(x). In 2-D, vera.evaluation.grid_log_likelihood integrates it on a grid."
            )
        width = self.tensors.get("data.width")
        offset = log_normaliser + (0.0 if width is None else float(width.log().sum()))
        log_density = self.energy.log_prob if isinstance(self.energy, Density) else self.energy
        return self._evaluate(lambda points: log_density(points) - offset, x, batch_size)

    @validate_arguments
    def predict(self, x: Any, *, batch_size: Count | None = None) -> Any:
        """Return the most probable class of each point, as a whole number. The model must be a classifier.

        `facts.data["class_names"]` has the names of the classes where they are known.
        """
        probabilities = self.predict_proba(x, batch_size=batch_size)
        is_tensor = isinstance(probabilities, Tensor)
        return probabilities.argmax(1) if is_tensor else probabilities.argmax(1).astype(np.int64)

    @validate_arguments
    def predict_proba(self, x: Any, *, batch_size: Count | None = None) -> Any:
        """Return p(y|x) for each point and class, of shape (points, classes)."""
        classifier = self._get_classifier()

        def classify(points: Tensor) -> Tensor:
            logits = classifier.logits(points)
            if not logits.isfinite().all():
                raise VeraError(f"{type(classifier).__name__} has logits that are not finite at some points.")
            return logits.softmax(1)

        return self._evaluate(classify, x, batch_size)

    @validate_arguments
    def sample(
        self,
        n: Count,
        *,
        refine: NonNegativeCount = 0,
        label: int | str | None = None,
        seed: NonNegativeCount | None = None,
    ) -> Tensor:
        """Return n samples as a tensor on the model's device.

        - A normalised model is sampled exactly; `refine` then changes nothing.
        - A generator draws the samples; its batch norm uses its running averages. `refine` moves them towards
          high f by this many steps of MALA over (z, ε).
        - Other models need `refine`: MALA in data space, from Gaussian noise with the data's mean and spread.
          Short chains depend on where they start.

        `label` (a number or a name) keeps samples that the classifier assigns to that class. With a `seed`
        samples are reproducible, and the first ones do not depend on n.
        """
        if seed is not None:
            with use_seed(seed):
                return self.sample(n, refine=refine, label=label)
        if label is None:
            return self._to_data(self._sampler.draw(n, refine))
        return self._to_data(self._sampler.draw_class(n, refine, self._find_class(label)))

    @property
    def has_direct_samples(self) -> bool:
        """Whether `sample` works without `refine`."""
        return self._sampler.has_direct_samples

    def save(self, path: str | Path) -> None:
        """Write the model file. The same model always gives the same bytes."""
        write_file(Path(path), self.encode())

    def encode(self) -> bytes:
        """The content of the model file."""
        networks = {
            f"{role}.{name}": tensor
            for role, network in self.networks.items()
            for name, tensor in _get_tensors(role, network).items()
        }
        return encode_model({**networks, **self.tensors}, self.facts.to_metadata())

    def card(self) -> str:
        """A model card in Markdown: what the model is, how it was trained and how to load it."""
        sizes = {role: sum(p.numel() for p in net.parameters()) for role, net in self.networks.items()}
        return render_card(self.facts, sizes, self.has_direct_samples)

    def plot(self, n: int | None = None, *, refine: int | None = None, seed: int = 0) -> "Figure":
        """Plot density and samples (2-D), a sheet of samples (images), or marginals of samples."""
        from vera.plot import plot_model

        return plot_model(self, n, refine=refine, seed=seed)

    def _evaluate(self, function: Callable[[Tensor], Tensor], x: Any, batch_size: int | None) -> Any:
        """The function of each point, with the network in evaluation mode and in batches."""
        points = self._check_points(x)
        weights = next(self.energy.parameters())
        size = batch_size or max(
            SMALLEST_BATCH, min(LARGEST_BATCH, BATCH_ELEMENTS // math.prod(self.facts.shape))
        )
        dtype = points.dtype if points.is_floating_point() else weights.dtype
        with torch.no_grad(), evaluation_mode(self.energy):
            results = [
                function(self._to_model(batch, weights)).to(points.device, dtype)
                for batch in points.split(size)
            ]
        result = torch.cat(results)
        return result if isinstance(x, Tensor) else result.numpy()

    def _check_points(self, x: Any) -> Tensor:
        if isinstance(x, Tensor):
            points = x.detach()
        else:
            try:
                array = np.asarray(self._select_columns(x))
                points = torch.from_numpy(np.require(array, array.dtype.newbyteorder("="), ["C", "W"]))
            except (TypeError, ValueError) as error:
                raise SettingError(f"Points must be numbers, got {type(x).__name__} ({error}).") from error
        if points.is_complex() or points.layout != torch.strided:
            raise SettingError(f"Points must be real and dense, got {points.dtype}, {points.layout}.")
        shape = self.facts.given_shape
        if tuple(points.shape[1:]) != shape or not points.ndim:
            wanted = f"(points, {', '.join(map(str, shape))})"
            raise SettingError(f"Points must have shape {wanted}, got {tuple(points.shape)}.")
        finite = points.flatten(1).isfinite().all(1)
        if not finite.all():
            raise SettingError(f"Points must be finite; row {int((~finite).nonzero()[0])} is not.")
        return points

    def _select_columns(self, x: Any) -> Any:
        """The columns that the model knows, in its order, if those of a data frame or file have names."""
        wanted, given = self.facts.data.get("feature_names"), getattr(x, "feature_names", None)
        keys = list(given if given is not None else getattr(x, "columns", ()))
        if wanted is None or not keys:
            return x
        names = [str(key) for key in keys]
        if missing := [name for name in wanted if name not in names]:
            raise SettingError(
                f"The points have no column '{missing[0]}', which the model needs; they have "
                f"{', '.join(names)}."
            )
        places = [names.index(name) for name in wanted]
        return np.asarray(x)[:, places] if given is not None else x[[keys[place] for place in places]]

    def _to_model(self, x: Tensor, weights: Tensor) -> Tensor:
        """Points in the space of the networks."""
        x = x.reshape(len(x), *self.facts.shape)
        centre, width = self.tensors.get("data.centre"), self.tensors.get("data.width")
        if centre is None or width is None:
            return x.to(weights.device, weights.dtype)
        return ((x.to(weights.device, torch.float64) - centre) / width).to(weights.dtype)

    def _to_data(self, x: Tensor) -> Tensor:
        """Points in the units of the data."""
        centre, width = self.tensors.get("data.centre"), self.tensors.get("data.width")
        points = x if centre is None or width is None else (x.double() * width + centre).to(x.dtype)
        return points.reshape(len(x), *self.facts.given_shape)

    def _get_classifier(self) -> Classifier:
        if not isinstance(self.energy, Classifier):
            raise IncompatibleModel(
                f"{type(self.energy).__name__} is not a classifier, so it has no classes."
            )
        return self.energy

    def _find_class(self, label: int | str) -> int:
        classes, names = self._get_classifier().classes, self.facts.data.get("class_names", [])
        if isinstance(label, str) and label in names:
            return int(names.index(label))
        if isinstance(label, str) or not 0 <= label < classes:
            known = f": {', '.join(names)}" if names else ""
            raise SettingError(f"There is no class {label!r}; the classes are 0 to {classes - 1}{known}.")
        return label


def _get_tensors(role: str, network: nn.Module) -> dict[str, Tensor]:
    """The state of a network; other objects than tensors cannot be saved."""
    state = network.state_dict()
    for name, value in state.items():
        if not isinstance(value, Tensor):
            raise IncompatibleModel(
                f"The {role} cannot be saved: {name} is {type(value).__name__}, not a tensor."
            )
    return state

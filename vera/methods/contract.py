"""The method contract: a training method is one class in one file.

A method is a dataclass. It trains the fields that are annotated as networks (`energy`, `generator`, ...). All
other fields are settings and are checked against their annotations. `setup` creates the optimisers, `step`
does everything else. State that the next step depends on must be an attribute that is a tensor or has a
`state_dict`; it is then saved and restored automatically.
"""

import dataclasses
import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, get_type_hints

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from vera.errors import IncompatibleModel, SettingError
from vera.methods.network_checks import check_energy, check_generator, check_hessian
from vera.models.contract import CurvatureModel, Density, has_hessian
from vera.models.generator import Generator
from vera.spec.registry import Registry, methods
from vera.spec.settings import check_fields, check_value, is_checkable, settings_of
from vera.training.optimisers import trainable_parameters
from vera.training.state.stateful import Stateful

Metrics = dict[str, Tensor]
"""Name to 0-d tensor, detached and on the device. Every method reports "loss"."""
Batch: TypeAlias = Any
"""What the stream of a data set yields: a tensor of points, or a `LabelledBatch` for joint methods."""

NEEDS = ("density", "hessian", "curvature")
CHECKABLE = "take bool, int, float, str, Literal[...], tuple[...] or a union of these"


@dataclass(eq=False)
class Method(Stateful, ABC):
    """Base class of training methods; owns its networks and optimisers.

    Subclasses are decorated with `@methods.register(name)` and `@dataclass(eq=False)`.
    """

    energy: nn.Module

    registry: ClassVar[Registry[Any]] = methods
    needs: ClassVar[tuple[str, ...]] = ()
    """What the energy model must offer: "density" (a normalised log-likelihood), "hessian" (f is not
    piecewise linear) or "curvature" (curvature propagation)."""
    has_fixed_length: ClassVar[bool] = False
    """Whether a setting fixes the number of steps, so that a run cannot be extended."""

    def __post_init__(self) -> None:
        if "__dataclass_fields__" not in vars(type(self)):
            raise SettingError(
                f"{type(self).__name__} must be decorated with @dataclass(eq=False); "
                "without it its settings are ignored."
            )
        if wrong := self.find_declaration_error():
            raise SettingError(f"{self.label()} {wrong}.")
        check_fields(self)
        self._check_networks()
        for need in self.needs:
            self._check_need(need)
        self.energy_weights = trainable_parameters(self.energy)
        self.setup()

    @abstractmethod
    def setup(self) -> None:
        """Create optimisers, buffers and estimators. The settings have been checked before."""

    @abstractmethod
    def step(self, batch: Batch) -> Metrics:
        """Update the networks on one batch and return metrics as tensors, without waiting for the device."""

    def setup_for(self, x: Tensor) -> None:
        """Create what takes its shape from the data.

        Called once with an example batch, before the first step or a restore.
        """

    def begin(self, batch: Batch) -> None:
        """Check the networks against an example batch, then call `setup_for`. The Trainer calls this."""
        if not isinstance(batch, Tensor):
            raise IncompatibleModel(
                f"{self.label()} trains on points without labels; labelled data need the task 'joint'."
            )
        x = batch
        check_energy(self.label(), self.energy, x)
        if len(x) == 1 and any(
            isinstance(m, _BatchNorm) for n in self.networks().values() for m in n.modules()
        ):
            raise IncompatibleModel(f"{self.label()}: batch norm needs a batch_size of at least 2, got 1.")
        for network in self.networks().values():
            if isinstance(network, Generator):
                check_generator(self.label(), network, x)
        if "hessian" in self.needs and x.isfinite().all():
            check_hessian(self.label(), self.energy, x)
        self.setup_for(x)

    def training_samples(self, n: int) -> Tensor | None:
        """Return n of the samples that training contrasts with data, or None if it uses no samples."""
        return None

    def estimate_log_normaliser(self) -> Tensor | None:
        """Return the estimate of log Z that training learned, or None if it learns none."""
        return None

    @classmethod
    def label(cls) -> str:
        """Return the registered name, or the class name if it is not registered."""
        return cls.registry.name_of(cls) or cls.__name__

    @classmethod
    def network_names(cls) -> list[str]:
        """Return the names of the fields that are networks, in order."""
        return list(cls.network_types())

    @classmethod
    def network_types(cls) -> dict[str, type[nn.Module]]:
        """Return the annotated class of each network field."""
        hints = get_type_hints(cls)
        fields = {f.name: hints[f.name] for f in dataclasses.fields(cls)}
        return {
            name: kind
            for name, kind in fields.items()
            if isinstance(kind, type) and issubclass(kind, nn.Module)
        }

    @classmethod
    def find_declaration_error(cls) -> str:
        """Return what is wrong with the declaration of the class, or "" if nothing is.

        Found are unknown needs, settings whose annotation cannot be checked, and defaults that their own
        annotation rejects.
        """
        for need in cls.needs:
            if need not in NEEDS:
                return f"needs '{need}', which is not one of {', '.join(NEEDS)}"
        networks, defaults = cls.network_names(), {f.name: f.default for f in dataclasses.fields(cls)}
        for name, setting in settings_of(cls).items():
            if name not in networks and not is_checkable(setting.annotation):
                kind = inspect.formatannotation(setting.annotation)
                return f"annotates its setting '{name}' with {kind}, which cannot be checked: {CHECKABLE}"
            try:
                if defaults.get(name, dataclasses.MISSING) is not dataclasses.MISSING:
                    check_value("an invalid default", name, defaults[name], setting.annotation)
            except SettingError as error:
                return f"has {str(error).rstrip('.')}"
        return ""

    def networks(self) -> dict[str, nn.Module]:
        """Return the networks by field name."""
        return {name: getattr(self, name) for name in self.network_names()}

    def settings(self) -> dict[str, Any]:
        """Return the settings by field name."""
        networks = self.network_names()
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in networks}

    def _check_networks(self) -> None:
        for name, cls in self.network_types().items():
            network = getattr(self, name)
            if not isinstance(network, cls):
                wanted = "torch.nn.Module" if cls is nn.Module else cls.__name__
                is_bare = cls is Generator and isinstance(network, nn.Module)
                hint = "; wrap it: vera.Generator(net)" if is_bare else ""
                raise SettingError(
                    f"{self.label()}: {name} must be a {wanted}, got {type(network).__name__}{hint}."
                )
        for name, network in self.networks().items():
            if not trainable_parameters(network):
                raise IncompatibleModel(
                    f"{self.label()} cannot train {type(network).__name__} as its {name}: "
                    "it has no trainable weights."
                )

    def _check_need(self, need: str) -> None:
        rules = {
            "density": (
                isinstance(self.energy, Density),
                "a normalised log-likelihood (log_prob and sample)",
                "mixture, nice",
            ),
            "hessian": (
                has_hessian(self.energy),
                "second derivatives in x, which are zero for a piecewise linear network",
                "mlp with activation='softplus', mixture, nice",
            ),
            "curvature": (
                isinstance(self.energy, CurvatureModel),
                "curvature propagation (score_and_curvature)",
                "nice",
            ),
        }
        offered, wanted, hint = rules[need]
        if not offered:
            raise IncompatibleModel(
                f"{self.label()} cannot train {type(self.energy).__name__}: it needs {wanted}. "
                f"Models that have it: {hint}."
            )

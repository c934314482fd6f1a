"""The method contract: a way to train an energy model, as one class in one file.

A method is a dataclass. Its fields annotated as networks are what it trains (`energy`, `generator`, ...); all
others are its settings, checked against their annotations. It makes its optimisers in `setup` and does
everything else in `step`. Whatever the next step depends on is an attribute with a `state_dict` or a tensor,
and is then saved and restored without being listed.
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
from vera.training.state import Stateful

Metrics = dict[str, Tensor]
"""Name to 0-d tensor, detached and still on the device. Every method reports "loss"."""
Batch: TypeAlias = Any
"""What the data set's stream gives: a tensor of points, or, for methods that classify, a `LabelledBatch`."""

NEEDS = ("density", "hessian", "curvature")
CHECKABLE = "take bool, int, float, str, Literal[...], tuple[...] or a union of these"


@dataclass(eq=False)
class Method(Stateful, ABC):
    """Owns its networks and optimisers. Subclass, decorate with `@methods.register(name)` and
    `@dataclass(eq=False)`."""

    energy: nn.Module

    registry: ClassVar[Registry[Any]] = methods
    needs: ClassVar[tuple[str, ...]] = ()
    """What the energy model must offer, of "density" (a normalised log-likelihood), "hessian" (f is not
    piecewise linear) and "curvature" (curvature propagation)."""

    def __post_init__(self) -> None:
        if "__dataclass_fields__" not in vars(type(self)):
            raise SettingError(
                f"{type(self).__name__} must be decorated with @dataclass(eq=False), or its settings are lost."
            )
        if wrong := self.find_declaration_error():
            raise SettingError(f"{self.label()} {wrong}.")
        check_fields(self)
        for name, kind in self.network_types().items():
            if not isinstance(getattr(self, name), kind):
                wanted = "torch.nn.Module" if kind is nn.Module else kind.__name__
                way = (
                    "; wrap it: vera.Generator(net)"
                    if kind is Generator and isinstance(getattr(self, name), nn.Module)
                    else ""
                )
                raise SettingError(
                    f"{self.label()}: {name} must be a {wanted}, got {type(getattr(self, name)).__name__}{way}."
                )
        for name, network in self.networks().items():
            if not trainable_parameters(network):
                what = type(network).__name__
                raise IncompatibleModel(
                    f"{self.label()} cannot train {what} as its {name}: it has no weights to train."
                )
        for need in self.needs:
            self._check_need(need)
        self.energy_weights = trainable_parameters(self.energy)
        self.setup()

    @abstractmethod
    def setup(self) -> None:
        """Make optimisers, buffers and estimators; the settings are checked already."""

    @abstractmethod
    def step(self, batch: Batch) -> Metrics:
        """Update the networks on one batch of data. Never wait for the device: return tensors, not
        numbers."""

    def setup_for(self, x: Tensor) -> None:
        """Make what takes its shape from the data. Called once, with an example batch, before the first step
        or a restore."""

    def begin(self, batch: Batch) -> None:
        """Check the networks against an example batch, then `setup_for` it. The Trainer calls this."""
        if not isinstance(batch, Tensor):
            raise IncompatibleModel(
                f"{self.label()} trains on points alone; labelled data are for the task 'joint'."
            )
        x = batch
        check_energy(self.label(), self.energy, x)
        if len(x) == 1 and any(
            isinstance(m, _BatchNorm) for n in self.networks().values() for m in n.modules()
        ):
            raise IncompatibleModel(f"{self.label()}: batch norm needs a batch_size of at least 2.")
        for network in self.networks().values():
            if isinstance(network, Generator):
                check_generator(self.label(), network, x)
        if "hessian" in self.needs and x.isfinite().all():
            check_hessian(self.label(), self.energy, x)
        self.setup_for(x)

    def training_samples(self, n: int) -> Tensor | None:
        """n of the samples that are pitted against data, or None for a method that trains without samples."""
        return None

    @classmethod
    def label(cls) -> str:
        return cls.registry.name_of(cls) or cls.__name__

    @classmethod
    def network_names(cls) -> list[str]:
        """The fields that are networks, in order."""
        return list(cls.network_types())

    @classmethod
    def network_types(cls) -> dict[str, type[nn.Module]]:
        hints = get_type_hints(cls)
        fields = {f.name: hints[f.name] for f in dataclasses.fields(cls)}
        return {
            name: kind
            for name, kind in fields.items()
            if isinstance(kind, type) and issubclass(kind, nn.Module)
        }

    @classmethod
    def find_declaration_error(cls) -> str:
        """What is wrong with the class whatever its networks are: a need that is none, a setting whose values
        nothing could check, a default that the setting's own annotation refuses; nothing if all is well."""
        for need in cls.needs:
            if need not in NEEDS:
                return f"needs '{need}', which is none of {', '.join(NEEDS)}"
        networks, defaults = cls.network_names(), {f.name: f.default for f in dataclasses.fields(cls)}
        for name, setting in settings_of(cls).items():
            if name not in networks and not is_checkable(setting.annotation):
                kind = inspect.formatannotation(setting.annotation)
                return f"annotates its setting '{name}' with {kind}, which cannot be checked: {CHECKABLE}"
            try:
                if defaults.get(name, dataclasses.MISSING) is not dataclasses.MISSING:
                    check_value("its default", name, defaults[name], setting.annotation)
            except SettingError as error:
                return f"refuses {str(error).rstrip('.')}"
        return ""

    def networks(self) -> dict[str, nn.Module]:
        return {name: getattr(self, name) for name in self.network_names()}

    def settings(self) -> dict[str, Any]:
        networks = self.network_names()
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in networks}

    def _check_need(self, need: str) -> None:
        rules = {
            "density": (isinstance(self.energy, Density), "a normalised log-likelihood (log_prob and sample)", "mixture, nice"),
            "hessian": (has_hessian(self.energy), "second derivatives in x, and those of a piecewise linear network are zero",
                        "mlp with activation='softplus', mixture, nice"),
            "curvature": (isinstance(self.energy, CurvatureModel), "curvature propagation (score_and_curvature)", "nice"),
        }  # fmt: skip
        offered, wanted, hint = rules[need]
        if not offered:
            raise IncompatibleModel(
                f"{self.label()} cannot train {type(self.energy).__name__}: it needs {wanted}. Models that have it: {hint}."
            )

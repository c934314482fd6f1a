"""The networks of a run: given by the user, copied from a saved model, or those of the recipe."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from vera.data.contract import DataSet
from vera.errors import IncompatibleModel, SettingError
from vera.methods.contract import Method
from vera.recipes.choices import FLAT_NEEDS
from vera.saved.model import SavedModel
from vera.spec.registry import models
from vera.spec.settings import settings_of
from vera.spec.trial_spec import Component
from vera.tasks.build import build_networks
from vera.training.state.random_state import derive_seed, use_seed

Network = nn.Module | Component | str
"""A module, or a registered name with settings or without."""


@dataclass
class NetworkSet:
    """Networks by role. Those with a registered name have a component, so their model file needs no code."""

    modules: dict[str, nn.Module] = field(default_factory=dict)
    components: dict[str, Component] = field(default_factory=dict)
    given: list[str] = field(default_factory=list)
    """The roles for which the user gave a network."""

    @property
    def roles(self) -> set[str]:
        return {*self.modules, *self.components}

    @classmethod
    def collect(cls, given: Mapping[str, Network | None], start_from: SavedModel | None) -> "NetworkSet":
        """The networks that the user gave, and copies of those of a saved model."""
        found = cls()
        if start_from is not None:
            found.modules |= start_from.copy_networks()
            known = start_from.facts.networks
            found.components |= {role: each for role, each in known.items() if each is not None}
        for role, network in given.items():
            if network is None:
                continue
            if role in found.roles:
                raise SettingError(f"The model of start_from has a network '{role}': do not pass {role}=.")
            found.given.append(role)
            if isinstance(network, nn.Module):
                found.modules[role] = network
            else:
                found.components[role] = _as_component(role, network)
        return found

    def select(self, method: type[Method]) -> list[str]:
        """Keep the roles of the method; returns those that have no network yet."""
        roles = method.network_names()
        if unknown := [role for role in self.given if role not in roles]:
            raise SettingError(
                f"The method '{method.label()}' has no network '{unknown[0]}'; it has {', '.join(roles)}."
            )
        self.modules = {role: each for role, each in self.modules.items() if role in roles}
        self.components = {role: each for role, each in self.components.items() if role in roles}
        return [role for role in roles if role not in self.roles]

    def build(self, roles: list[str], data: DataSet, seed: int) -> dict[str, nn.Module]:
        """The modules of these roles, initialised from the seed, in this order."""
        with use_seed(derive_seed(seed, "networks")):
            built = build_networks(self.components, roles, data, self.modules)
        _check_classes(built["energy"], getattr(data, "classes", None))
        return built

    def takes_rows(self, method: type[Method]) -> bool:
        """Whether the networks take rows of numbers, so that images have to be flattened."""
        for role in ("energy", "generator"):
            if role in self.modules:
                module = self.modules[role]
                return hasattr(module, "data_dim") or hasattr(getattr(module, "net", None), "data_dim")
            if role in self.components:
                known = settings_of(models.get(self.components[role]["name"]))
                return "data_dim" in known
        return bool(FLAT_NEEDS & set(method.needs))


def _as_component(role: str, network: Any) -> Component:
    if isinstance(network, str):
        return {"name": network}
    if isinstance(network, Mapping) and isinstance(network.get("name"), str):
        return network
    kind = type(network).__name__
    raise SettingError(
        f"{role} must be a torch.nn.Module, a registered name or {{'name': ...}} with settings, got {kind}."
    )


def _check_classes(energy: nn.Module, classes: int | None) -> None:
    """A batch may lack the class that the network does not have, so it is checked here."""
    found = getattr(energy, "classes", classes)
    if classes is not None and isinstance(found, int) and found < classes:
        raise IncompatibleModel(f"{type(energy).__name__} has classes={found}, the data have {classes}.")

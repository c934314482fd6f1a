"""What a model file says about its model, as plain data: networks, method, data, spec, metrics, provenance.

In the file each fact is a string: text as it is, everything else as canonical JSON. Reading checks the type
of every fact, because a file can contain anything.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from vera.spec.trial_spec import TrialSpec

FORMAT, VERSION = "vera-model", 1
TEXTS = ("commit", "trial_id", "label")
"""Facts that are stored as plain text."""
RESERVED = ("data", "method", "ema")
"""Prefixes of tensors that belong to no network."""
DATA_TYPES: dict[str, type] = {
    "name": str, "fingerprint": str, "data_dim": int, "classes": int, "channels": int, "side": int,
    "shape": list, "given_shape": list, "class_names": list, "feature_names": list,
}  # fmt: skip


@dataclass(frozen=True)
class ModelFacts:
    """The facts of one model.

    `networks` maps each role to a component with all settings, or to None if the network is a module of the
    user's own. `data` has a name, a `data_dim` and the `shape` of a point, and other facts where they are
    known.
    """

    method: dict[str, Any]
    networks: dict[str, dict[str, Any] | None]
    data: dict[str, Any]
    step: int
    seed: int
    spec: dict[str, Any] | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    commit: str = ""
    trial_id: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        _check_facts(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a point as the networks see it."""
        return tuple(self.data["shape"])

    @property
    def given_shape(self) -> tuple[int, ...]:
        """The shape of a point as the user has it: an image may enter the networks as a row of numbers."""
        return tuple(self.data.get("given_shape", self.data["shape"]))

    def to_metadata(self) -> dict[str, str]:
        """The facts as strings. Equal facts give equal strings."""
        facts = {f.name: getattr(self, f.name) for f in fields(self)}
        texts = {name: fact if name in TEXTS else write_json(fact) for name, fact in facts.items()}
        return {"format": FORMAT, "format_version": str(VERSION), **texts}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, str]) -> "ModelFacts":
        """The facts in the metadata of a file; raises ValueError with the reason if they are not valid.

        Unknown entries are ignored.
        """
        if metadata.get("format") != FORMAT:
            raise ValueError("it is not a model that vera has saved")
        version = metadata.get("format_version", "")
        if not version.isdecimal() or len(version) > 9:
            raise ValueError("its format version is not a number")
        if int(version) != VERSION:
            raise ValueError(f"it has format version {version}, this vera reads {VERSION}: update vera")
        names = [f.name for f in fields(cls)]
        if missing := [name for name in names if name not in metadata]:
            raise ValueError(f"it does not say its {', '.join(missing)}")
        facts: dict[str, Any] = {
            name: metadata[name] if name in TEXTS else _parse(name, metadata[name]) for name in names
        }
        return cls(**facts)


def write_json(value: Any) -> str:
    """The value as JSON with sorted keys and no white space; ValueError for NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _parse(name: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its {name} is not valid JSON") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _check_facts(facts: ModelFacts) -> None:
    """Raise ValueError, naming the fact, if one has the wrong type or contradicts another."""
    _check("method", facts.method, _is_component)
    _check("networks", facts.networks, _is_network_mapping)
    _check("data", facts.data, _is_data)
    for name in ("step", "seed"):
        _check(name, getattr(facts, name), lambda value: type(value) is int and value >= 0)
    _check("metrics", facts.metrics, lambda value: _is_mapping(value, _is_finite))
    _check("versions", facts.versions, lambda value: _is_mapping(value, lambda item: isinstance(item, str)))
    for name in TEXTS:
        _check(name, getattr(facts, name), lambda value: isinstance(value, str))
    if facts.spec is not None:
        _check("spec", facts.spec, lambda value: _is_mapping(value, lambda item: True))
        TrialSpec.from_dict(facts.spec)  # raises an error that names the field


def _check(name: str, value: Any, is_valid: Callable[[Any], bool]) -> None:
    if not is_valid(value):
        raise ValueError(f"its {name} is not valid: {str(value)[:100]}")


def _is_mapping(value: Any, is_item: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(
        isinstance(key, str) and is_item(item) for key, item in value.items()
    )


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_component(value: Any) -> bool:
    return _is_mapping(value, lambda item: True) and isinstance(value.get("name"), str)


def _is_network_mapping(value: Any) -> bool:
    return (
        _is_mapping(value, lambda item: item is None or _is_component(item))
        and "energy" in value
        and all(role.isidentifier() and role not in RESERVED for role in value)
    )


def _is_data(value: Any) -> bool:
    if not _is_mapping(value, lambda item: True) or not {"name", "data_dim", "shape"} <= value.keys():
        return False
    if not all(name in DATA_TYPES and type(item) is DATA_TYPES[name] for name, item in value.items()):
        return False
    shape, given = value["shape"], value.get("given_shape", value["shape"])
    sizes = [value["data_dim"], *shape, *given, *(value.get(name, 1) for name in ("classes", "side"))]
    named = [*value.get("class_names", ()), *value.get("feature_names", ())]
    return (
        all(type(size) is int and 0 < size <= 2**40 for size in sizes)
        and len(shape) > 0
        and math.prod(shape) == math.prod(given) == value["data_dim"]
        and all(isinstance(name, str) for name in named)
    )

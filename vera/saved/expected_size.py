"""The expected size of a model file, from the networks of a spec alone: they are built without memory."""

from pathlib import Path
from typing import Any

import torch

from vera.spec.registry import models
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_networks, build_source, build_task
from vera.training.state.random_state import use_seed

DESCRIPTION_BYTES = 4_096
"""About the size of the facts in a file."""


def estimate_model_size(spec: TrialSpec, data_dir: str | Path | None = None) -> int:
    """Bytes of the model that a trial leaves, about; 0 if its task trains none. Raises as building the
    networks would, and for data whose shape only a missing file tells."""
    task = build_task(spec)
    if not task.trains_model:
        return 0
    data = build_source(spec.dataset, data_dir)
    networks = _build_without_memory(spec, task.methods.get(spec.method["name"]).network_names(), data)
    tensors = [tensor for network in networks.values() for tensor in network.state_dict().values()]
    moments = 2 * data.data_dim * torch.float32.itemsize
    return DESCRIPTION_BYTES + moments + sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _build_without_memory(spec: TrialSpec, roles: list[str], data: Any) -> dict[str, Any]:
    with use_seed(0):
        try:
            with torch.device("meta"):
                return build_networks(spec.networks, roles, data)
        except Exception:  # a network of a plug-in may compute with values when it is built
            if not any(component["name"] in models.plugin_names() for component in spec.networks.values()):
                raise
            return build_networks(spec.networks, roles, data)

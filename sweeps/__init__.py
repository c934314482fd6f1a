"""The sweep layer: trial identity, the store, and running the trials that are missing in it.

From Python or a notebook: `sweeps.grid(spec, {"method.lr": [1e-3, 3e-4], "seed": range(5)}).run()`. Names are
imported on first use, so `import sweeps` loads neither torch nor ray.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vera.extras import explain_missing

if TYPE_CHECKING:
    from sweeps.grids.grid_results import BestConfiguration, GridResults
    from sweeps.grids.grid_sweep import GridSweep, grid

_MODULES = {
    "BestConfiguration": "sweeps.grids.grid_results",
    "GridResults": "sweeps.grids.grid_results",
    "GridSweep": "sweeps.grids.grid_sweep",
    "grid": "sweeps.grids.grid_sweep",
}

__all__ = ["BestConfiguration", "GridResults", "GridSweep", "grid"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        with explain_missing(f"sweeps.{name}"):
            return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'sweeps' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__

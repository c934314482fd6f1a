"""Optional packages: which extra of vera installs them, and one clear error if one is missing.

The core (`pip install vera`) trains, saves, loads, samples and scores. Everything else is an extra. The table
repeats pyproject.toml by the names under which packages are imported; a test compares the two.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from vera.errors import MissingExtra

CORE = ("numpy", "safetensors", "torch", "tqdm")
EXTRAS = {
    "sweeps": ("optuna", "pandas", "pyarrow", "ray", "rich"),
    "render": ("jinja2", "matplotlib", "numpy", "pyarrow", "rich"),
    "images": ("PIL", "scipy", "torchvision"),
    "exports": ("mlflow", "tensorboardX", "wandb"),
}
PURPOSES = {"sweeps": "run trials", "render": "read and render results"}
"""What an extra is for, where a package belongs to several."""


@contextmanager
def explain_missing(purpose: str) -> Iterator[None]:
    """Turn the failed import of an optional package in this block into `MissingExtra`."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not (remedy := format_remedy(package)):
            raise
        raise MissingExtra(f"{purpose} needs the package {package}, which is missing: {remedy}") from error


def require_package(package: str, purpose: str) -> None:
    """Raise `MissingExtra` unless the package is installed. Does not import it."""
    with explain_missing(purpose):
        if find_spec(package) is None:
            raise ModuleNotFoundError(name=package)


def format_remedy(package: str) -> str:
    """The command that installs a package; empty if it belongs neither to the core nor to an extra."""
    if package in CORE:
        return "pip install vera"
    extras = [extra for extra, packages in EXTRAS.items() if package in packages]
    if len(extras) < 2:
        return "".join(f"pip install 'vera[{extra}]'" for extra in extras)
    return ", or ".join(f"pip install 'vera[{extra}]' to {PURPOSES[extra]}" for extra in extras)

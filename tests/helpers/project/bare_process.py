"""A Python process that cannot import certain packages, such as torch and ray."""

import subprocess
import sys
from collections.abc import Iterable

from locations import ROOT

BLOCKED = ("torch", "torchvision", "ray", "pandas", "optuna")
BLOCKER = """
import sys

class FilteredFinder:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {blocked!r} else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(FilteredFinder, sys.meta_path)
"""


def block_imports(names: Iterable[str]) -> str:
    """Code after which these packages cannot be found, as if they were not installed."""
    return BLOCKER.format(blocked=sorted(names))


def run_bare(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script in the repository without torch, ray, pandas and optuna, with warnings as errors."""
    code = block_imports(BLOCKED) + script
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)

"""A Python process that cannot import certain packages, such as torch and ray."""

import subprocess
import sys
from collections.abc import Iterable

from locations import ROOT

BLOCKED = ("torch", "torchvision", "ray", "pandas", "optuna")
BLOCKER = """
import sys

class ImportBlocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, ImportBlocker())
"""


def block_imports(names: Iterable[str]) -> str:
    """Code that makes every later import of these packages fail."""
    return BLOCKER.format(blocked=sorted(names))


def run_bare(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script in the repository without torch, ray, pandas and optuna, with warnings as errors."""
    code = block_imports(BLOCKED) + script
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)

"""Tests of searches make their rows as the tests of the engine do, whose helpers are therefore importable here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "sweeps"))

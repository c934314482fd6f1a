"""Where the tests find the project, its helpers, and real data files where there are any."""

from pathlib import Path

HELPERS = Path(__file__).resolve().parents[1]
"""One folder per package that is tested, and `project`; pytest puts all of them on the path."""
HELPER_FOLDERS = sorted(str(folder) for folder in HELPERS.iterdir() if folder.is_dir())
ROOT = HELPERS.parents[1]
SHARED = ROOT.parent / "shared"
"""Real data and the paper's values, beside the checkout on some machines; tests that use it skip where it is
missing."""

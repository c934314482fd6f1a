"""Where results are stored, and the names of the profiles. Imports nothing else of bench."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweeps.trial.identity import Profile

LOCAL = "results/local"
"""The user's own results."""
PUBLISHED = "results/published"
"""The results that ship with the repository."""
REMOTE = "results/remote"
"""Files rendered from results in a bucket."""
PROFILES: "tuple[Profile, ...]" = ("smoke", "laptop", "paper")
DEFAULT_PROFILE: "Profile" = "laptop"

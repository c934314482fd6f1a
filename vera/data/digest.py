"""Fingerprints and derived seeds: both are short hashes, so both live here.

A fingerprint goes into a trial's identity: it must change with content and preprocessing, and with nothing else. A test sample's
seed is derived from the run's seed instead of being that seed; otherwise the first training batch would be the first test points.
"""

import hashlib
import json

Fact = str | int | float | dict[str, str]


def fingerprint_of(**facts: Fact) -> str:
    """16 hex digits that stand for these facts, whatever their order."""
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def evaluation_seed(seed: int) -> int:
    """A seed for the test sample of a run; 32 bits, since torch's CPU generator takes no more."""
    return int.from_bytes(hashlib.sha256(f"test points of seed {seed}".encode()).digest()[:4], "big")

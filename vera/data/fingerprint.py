"""Fingerprints: 16 hex digits that change with a data set's content and preprocessing, and with nothing
else."""

import hashlib
import json

Fact = str | int | float | dict[str, str]


def fingerprint_of(**facts: Fact) -> str:
    """A short hash of these facts, whatever their order."""
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]

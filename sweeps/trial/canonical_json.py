"""Canonical JSON: equal values give equal text, so the hash of the text is an identity."""

import json
from typing import Any


def canonical_json(value: Any) -> str:
    """The value as JSON with sorted keys, no white space and the shortest digits; ValueError for NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)

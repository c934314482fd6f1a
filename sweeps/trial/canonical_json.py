"""Canonical JSON: one text for one value, so that its hash is an identity."""

import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Sorted keys, no white space, shortest digits, never NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)

"""Data inside the page: JSON, compressed with gzip, in base64. `script.js` unpacks it in the browser.

A list of thousands of trials repeats the same words; packed, it needs a tenth of the room. The same value
gives the same text.
"""

import base64
import gzip
import json
from typing import Any


def pack(value: Any) -> str:
    """The value as packed text, which holds no character that is special in HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def unpack(text: str) -> Any:
    """The value of a packed text."""
    return json.loads(gzip.decompress(base64.b64decode(text)))

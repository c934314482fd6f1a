"""Help and error messages, word for word, in one golden file. To update it, see tests/helpers/messages.py."""

import difflib
import sys

import pytest
from messages import GOLDEN, collect_messages


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="argparse formats help differently")
def test_messages_equal_the_golden_file():
    old, new = GOLDEN.read_text(encoding="utf-8"), collect_messages()
    difference = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1))
    assert not difference, "\n".join(difference)

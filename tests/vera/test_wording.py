"""Words for messages."""

import pytest

from vera.wording import format_bytes


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (9_960, "10 kB"),
        (999_600, "1.0 MB"),
        (18_300_000, "18 MB"),
        (2_080_400_000, "2.1 GB"),
        (7e12, "7,000 GB"),
    ],
)
def test_sizes_have_two_or_three_digits(size, text):
    assert format_bytes(size) == text

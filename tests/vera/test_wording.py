"""Words for messages."""

import pytest

from vera.wording import REPLACEMENT, format_bytes, make_printable


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


@pytest.mark.parametrize(
    ("text", "printable"),
    [
        ("plain", "plain"),
        ("σ = .5 · é 🙂\tline\n", "σ = .5 · é 🙂\tline\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07a\x1b]8;;u\x1b\\b", "ab"),
        ("windows\r\n", "windows\n"),
        ("a\rb\x07\x9b\x7f", f"a{REPLACEMENT}b" + 3 * REPLACEMENT),
        ("\u202e\u2028\udcff\x1b", 4 * REPLACEMENT),
    ],
)
def test_printable_text_has_no_control_characters(text, printable):
    assert make_printable(text) == printable

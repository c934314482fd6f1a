"""Every text colour of the report has a contrast of at least 4.5 to 1, in light and in dark (WCAG AA)."""

import re
from pathlib import Path

import pytest

import bench.report

STYLE = (Path(bench.report.__file__).parent / "style.css").read_text(encoding="utf-8")
PAIRS = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLE)
LIGHT, DARK = ({name: pair[i] for name, *pair in PAIRS} for i in (0, 1))
ON_PAGE = ("text", "muted", "link", "good", "bad", "open")
ON_COLOUR = ("paper", "laptop", "smoke")


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_follows_its_definition():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_enough_contrast(scheme):
    weak = {
        (name, ground)
        for name in ON_PAGE
        for ground in ("ground", "shade")
        if contrast(scheme[name], scheme[ground]) < 4.5
    }
    weak |= {("on-banner", name) for name in ON_COLOUR if contrast(scheme["on-banner"], scheme[name]) < 4.5}
    assert weak == set()

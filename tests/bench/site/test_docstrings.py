"""The API reference shows signatures, docstrings and the meaning of settings, without importing anything."""

import sys

import pytest
from locations import ROOT

from bench.site.docstrings import describe_module, describe_name
from bench.site.reference import PACKAGES, write_reference

SOURCE = '''"""What the module is about."""
from typing import Annotated

LIMIT: int = 3
"""The largest number."""
UNDOCUMENTED = 4


class Example(Base):
    """An example with `a < b`, and a < b."""

    rate: Annotated[Positive, "learning rate | step"] = 1e-3
    steps: int = 10
    """How often."""
    _hidden: int = 0

    def __init__(
        self, first: dict[str, int], second: tuple[int, ...] = (1, 2), *, third: str = "", last_one: str = ""
    ):
        """Makes one."""

    @property
    def size(self) -> int:
        """The size."""

    def without_docstring(self) -> None: ...


def _private(): ...
'''


@pytest.fixture
def text(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from package.example import Example as Shown\n")
    (tmp_path / "package" / "example.py").write_text(SOURCE, encoding="utf-8")
    return describe_module("package.example", tmp_path)


def test_public_definitions_are_shown(text):
    assert "package" not in sys.modules
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## `package.example`",
        "### `LIMIT`",
        "### `Example`",
        "#### `__init__`",
        "#### `size`",
    ]
    assert "What the module is about." in text
    assert "The largest number." in text


def test_fields_are_a_table_with_their_meaning(text):
    assert "| `rate` | `Positive` | `0.001` | learning rate \\| step |" in text
    assert "| `steps` | `int` | `10` | How often. |" in text
    assert "_hidden" not in text


def test_signatures_are_spelled_out(text):
    assert "\nclass Example(Base)\n" in text
    assert "\nsize -> int\n" in text
    arguments = text.partition("__init__(\n")[2].partition(")\n")[0].splitlines()
    assert [argument.strip(" ,") for argument in arguments] == [
        "self",
        "first: dict[str, int]",
        "second: tuple[int, ...]=(1, 2)",
        "*",
        "third: str=''",
        "last_one: str=''",
    ]


def test_what_looks_like_html_is_escaped_outside_of_code(text):
    assert "An example with `a < b`, and a &lt; b." in text


def test_an_exported_name_is_found_where_it_is_defined():
    assert "σ, the deviation of the added noise" in describe_name("vera.methods", "DSM", ROOT)


def test_every_package_has_a_page_with_content():
    pages = dict(write_reference(ROOT))
    assert {f"reference/{package}.md" for package in PACKAGES} < pages.keys()
    assert all(page.count("###") > 0 for place, page in pages.items() if place != "reference/index.md")

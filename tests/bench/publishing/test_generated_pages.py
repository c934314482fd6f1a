"""Pages with generated parts: they are up to date, and `vera docs` writes or checks them."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from facts import raises_with
from locations import ROOT

from bench.catalogue import PaperListing, catalogue
from bench.cli.main import main
from bench.publishing.pages import (
    METHODS,
    PERFORMANCE,
    README,
    RESULTS_README,
    fill_blocks,
    list_pages,
    list_results_pages,
    update_pages,
)
from vera.errors import VeraError


def test_all_pages_are_up_to_date(monkeypatch, capsys):
    """If it fails: vera docs."""
    monkeypatch.chdir(ROOT)
    assert main(["docs", "--check"]) == 0, capsys.readouterr().err


def test_pages_are_those_with_generated_parts(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = [path for folder in (".", "results", "docs") for path in Path(folder).glob("*.md")]
    marked = {path for path in found if ": written by vera docs -->" in path.read_text(encoding="utf-8")}
    assert {path for path, _ in list_pages()} == {*marked, *METHODS.glob("*.md")}
    assert {README, RESULTS_README, PERFORMANCE} <= marked


def test_second_paper_adds_pages_of_its_own(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    other = ModuleType("bench_other_pages")
    other.list_pages = lambda laptop, paper: [(page, {"a": lambda: f"{laptop.profile}, {paper.profile}\n"})]
    monkeypatch.setitem(sys.modules, other.__name__, other)
    listing = PaperListing(prefix="other/", pages=f"{other.__name__}:list_pages")
    monkeypatch.setattr(catalogue, "papers", [*catalogue.papers, listing])
    own = [(path, blocks) for path, blocks in list_results_pages() if path == page]
    assert update_pages(own, write=True) == []
    assert "laptop, paper" in page.read_text()


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# Title\n\n<!-- a: written by vera docs -->\nold\n<!-- end -->\nBy hand.\n")
    return path


def test_check_names_a_stale_page_and_writes_nothing(page):
    before = page.read_text()
    (problem,) = update_pages([(page, {"a": lambda: "new\n"})], write=False)
    assert str(page) in problem
    assert "vera docs" in problem
    assert page.read_text() == before


def test_writing_replaces_the_block_alone(page):
    assert update_pages([(page, {"a": lambda: "new\n"})], write=True) == []
    assert page.read_text() == "# Title\n\n<!-- a: written by vera docs -->\nnew\n<!-- end -->\nBy hand.\n"
    assert update_pages([(page, {"a": lambda: "new\n"})], write=False) == []


@pytest.mark.parametrize("write", [True, False])
def test_missing_page_is_named(tmp_path, write):
    (problem,) = update_pages([(tmp_path / "none.md", {"a": str})], write)
    assert "none.md" in problem


@pytest.mark.parametrize(
    ("text", "count"),
    [("nothing\n", "0 blocks"), (2 * "<!-- a: written by vera docs -->\n<!-- end -->\n", "2 blocks")],
)
def test_page_needs_each_block_once(page, text, count):
    with raises_with(VeraError, str(page), f"{count} 'a'", "<!-- a: written by vera docs -->"):
        fill_blocks(page, text, {"a": str})


def test_docs_verb_lists_stale_pages(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("bench.publishing.pages.list_pages", lambda: [(page, {"a": lambda: "new\n"})])
    assert main(["docs", "--check"]) == 1
    assert str(page) in capsys.readouterr().err
    assert main(["docs"]) == 0
    assert main(["docs", "--check"]) == 0


def test_results_pages_need_neither_torch_nor_ray():
    code = """
import sys
from bench.publishing.pages import list_results_pages, update_pages
update_pages(list_results_pages(), write=False)
print({"torch", "ray"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr

"""The site builds without a warning, links only to what exists, and needs no other host."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from locations import ROOT

from vera.spec.registry import joint_methods, methods

pytestmark = pytest.mark.long


class Links(HTMLParser):
    """What a page loads, where it leads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.assets, self.targets, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.targets.append(found["href"])
        elif tag != "a":
            self.assets += [found[name] for name in ("src", "href", "srcset", "data") if found.get(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_nothing_is_loaded_from_another_host(site, pages):
    assets = {asset for page in pages.values() for asset in page.assets}
    assert assets
    assert [
        asset for asset in assets if re.match(r"[a-z]+:|//", asset) and not asset.startswith("data:")
    ] == []
    for file in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:|//)", file.read_text(encoding="utf-8")), file


def test_links_lead_to_pages_and_anchors(pages):
    wrong = []
    for path, page in pages.items():
        for target in page.targets if path.name != "404.html" else ():
            place, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (path.parent / unquote(place)).resolve() if place else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists() or (
                anchor and file in pages and unquote(anchor) not in pages[file].anchors | {"__top"}
            ):
                wrong.append((path.name, target))
    assert wrong == []


def test_every_method_has_a_page_in_the_navigation(site, pages):
    linked = set(pages[site / "methods" / "index.html"].targets)
    own = {*methods, *joint_methods} - {*methods.plugin_names(), *joint_methods.plugin_names()}
    assert {f"{name}.html" for name in own} <= linked


def test_formulas_are_rendered(site):
    html = (site / "methods" / "vera.html").read_text(encoding="utf-8")
    assert html.count("<math ") >= 3
    assert "arithmatex" not in html
    assert not [
        path for path in site.rglob("*.html") if 'class="mermaid"' in path.read_text(encoding="utf-8")
    ]


def test_pages_from_outside_of_docs_are_on_the_site(site):
    for name in ("index", "changelog", "contributing", "deviations", "results"):
        assert (site / f"{name}.html").is_file()
    assert (site / "results" / "published" / "figures" / "figure1-paper.png").is_file()
    options = (site / "reference" / "options.html").read_text(encoding="utf-8")
    assert "--gpus-per-trial" in options

"""Links between files of the repository become links between pages of the site."""

import pytest
from locations import ROOT

from bench.site.links import find_site_path, list_linked_files, rewrite_links


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("README.md", "index.md"),
        ("results/README.md", "results.md"),
        ("docs/search.md", "search.md"),
        ("docs/methods/vera.md", "methods/vera.md"),
        ("docs/README.md", "index.md"),
        ("docs/methods", "methods/README.md"),
        ("vera/methods/score_matching/dsm.py", "source/vera/methods/score_matching/dsm.py.md"),
        ("results/published/figures/figure1.png", "results/published/figures/figure1.png"),
    ],
)
def test_every_file_has_a_place_on_the_site(source, place):
    assert find_site_path(source) == place


@pytest.mark.parametrize(
    ("source", "link", "rewritten"),
    [
        ("docs/methods/vera.md", "../../DEVIATIONS.md", "../deviations.md"),
        ("docs/methods/vera.md", "../../vera/joint/vera.py", "../source/vera/joint/vera.py.md"),
        ("docs/claims.md", "../results/README.md#what-is-published", "results.md#what-is-published"),
        ("DEVIATIONS.md", "docs/claims.md", "claims.md"),
        ("README.md", "docs/README.md", "index.md"),
        ("README.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("README.md", "no/such/file.md", "no/such/file.md"),
    ],
)
def test_links_lead_to_places_on_the_site(source, link, rewritten):
    assert rewrite_links(f"See [this]({link}).", source, ROOT) == f"See [this]({rewritten})."


def test_code_is_left_alone():
    text = "```\n[a](docs/claims.md)\n```\n[a](docs/claims.md)\n"
    assert rewrite_links(text, "README.md", ROOT) == "```\n[a](docs/claims.md)\n```\n[a](claims.md)\n"
    assert list(list_linked_files(text, "README.md")) == ["docs/claims.md"]

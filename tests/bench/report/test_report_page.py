"""The page as a document: overview, profiles, scorecard, tables and figures, all self-contained."""

import base64
import hashlib
import re

import pytest
from report_helpers import (
    ARTIFACTS,
    FakeTable,
    fill_store,
    make_record,
    make_trial,
    open_results,
    parse_page,
    read_list,
)

from bench.catalogue import catalogue
from bench.judging.claims import Claim
from bench.report.page import render_page
from bench.report.scorecard import judge_claim, measure_coverage
from bench.report.section import build_section
from sweeps.errors import StoreError
from sweeps.store.store import Store


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fill_store(folder)
    return folder


@pytest.fixture(scope="module")
def text(folder):
    return render_page(ARTIFACTS, open_results(folder), ["Something is left out."])


@pytest.fixture(scope="module")
def html(text):
    return parse_page(text)


def lines(table):
    return [[cell.text for cell in row.children] for row in table.one("tbody").children]


def claims(html, profile):
    """Judgement, text, where and evidence of the claims of table90."""
    listed = html.one("ul", aria_label=f"Claims of table90 at the {profile} profile")
    return [
        [
            *(child if isinstance(child, str) else child.text for child in item.one("summary").children),
            item.one("p").text,
        ]
        for item in listed.all("li")
    ]


def test_the_header_summarises_the_store(html):
    facts = html.one("header").one("dl")
    shown = dict(zip([dt.text for dt in facts.all("dt")], [dd.text for dd in facts.all("dd")], strict=True))
    assert shown == {
        "Store": "local: trained here",
        "Trials": "6: ok (4), diverged (1), error (1)",
        "Finished": "2026-02-03",
        "Code": "c0ffeec0ff (5), c0ffeec0ff (changed) (1)",
        "Processor": "An Old Processor",
    }
    assert [note.text for note in html.one("header").all(class_="note")] == ["Something is left out."]
    assert html.one("title").text == "vera: your results (laptop, smoke)"
    assert html.one("h1").text == "Your results"


def test_every_profile_has_its_own_section_and_banner(html):
    sections = list(html.all("section"))
    assert [section.attributes["id"] for section in sections] == ["laptop", "smoke"]
    banners = [section.one(class_="banner").text for section in sections]
    assert banners[0].startswith("laptop profile")
    assert banners[1].startswith("smoke profile")
    assert all("not comparable with the paper's" in banner for banner in banners)


def test_the_contents_count_what_the_page_shows(html):
    shown = [item.text for item in html.one("nav").all("li")]
    assert [" ".join(text.split()) for text in shown] == [
        "laptop profile: 2 tables and figures, 5 trials",
        "smoke profile: 2 tables and figures, 1 trial",
    ]


def test_no_table_mixes_profiles_and_every_heading_names_its_profile(html):
    for section in html.all("section"):
        profile = section.attributes["id"]
        assert all(name.find(profile) > 0 for name in read_list(section, profile)["ids"])
        assert {tag.text for tag in section.all(class_="tag")} == {f"{profile} profile"}
        assert all(
            f"{profile} profile" in table.attributes["aria-label"]
            for table in section.all("table", class_="sheet")
        )


def test_an_article_counts_finished_trials(html):
    laptop = html.one("article", id="laptop-table90").one(class_="missing")
    assert laptop.text.startswith("Partial: 4 of 6 trials done, 1 diverged, 1 failed.")
    assert not list(html.one("article", id="laptop-figure90").all(class_="missing"))
    listed = html.one("section", id="laptop").one("ul", class_="contents")
    shown = [item.one(class_="status").text for item in listed.all("li")]
    assert shown == ["partial", "complete"]


def test_extra_seeds_do_not_replace_missing_ones(tmp_path):
    store = Store(tmp_path / "trials")
    for seed in (0, 5, 6):
        store.write(make_record(make_trial("ML", seed=seed), -1.0))
    (results,) = open_results(tmp_path, "laptop")
    found = measure_coverage(ARTIFACTS[1], results)
    assert (found.status, found.progress) == ("partial", "1 of 2 trials, and 2 of other seeds")


def test_an_artifact_without_trials_at_a_profile_is_left_out_there(tmp_path):
    """Those of bench/today have no trials at paper."""
    Store(tmp_path / "trials").write(make_record(make_trial("ML"), -1.0))
    density = catalogue.artifact("today/density")
    for results in open_results(tmp_path, "laptop", "paper"):
        section = build_section([density], results, (), str)
        named = {article.artifact.name for article in (*section.articles, *section.not_run)}
        assert named == ({density.name} if results.profile == "laptop" else set())


def test_claims_have_a_judgement_and_evidence(html):
    order, sky, pigs, fish = claims(html, "laptop")
    assert order[0] == "? undetermined"
    assert "n=2" in order[-1]
    assert [text.strip() for text in sky] == ["✓ supported", "The sky is <blue>.", "Sec. 6", "seen & noted"]
    assert pigs[0] == "✗ refuted"
    assert (fish[0], fish[-1]) == ("– not testable", "there is no water; measured: none seen")
    assert (
        "1 supported · 1 refuted · 1 undetermined · 1 not testable" in html.one("section", id="laptop").text
    )


def test_a_claim_whose_rows_cannot_be_read_is_undetermined(folder):
    def broken(results):
        raise StoreError("The arrays are damaged.")

    finding = judge_claim(Claim("k", "text", "where", broken), open_results(folder, "laptop")[0])
    assert (finding.judgement, finding.evidence) == ("undetermined", "The arrays are damaged.")


def test_a_table_has_mean_interval_n_failures_paper_value_and_reason(html):
    article = html.one("article", id="laptop-table90")
    table = article.one("table")
    assert [th.text for th in table.one("thead").all("th")] == [
        "method", "test log-likelihood", "n", "diverged", "failed", "paper (its own setting)"
    ]  # fmt: skip
    assert lines(table) == [
        ["ML", "−792.5 ± 15.9", "2", "", "", "−791"],
        ["VERA λ=1", "−1138.5", "1", "", "", "−1138"],
        ["PCD", "diverged 1 of 2, error 1 of 2", "0", "1 of 2", "1 of 2", ""],
    ]
    assert table.one(class_="reason").text == "diverged 1 of 2, error 1 of 2"
    assert article.one(class_="caption").text == "Nats on <test> points."
    assert "A note & more." in [note.text for note in article.all(class_="note")]
    assert article.one(class_="missing").text.startswith("Partial: 4 of 6 trials done")


def test_only_the_paper_profile_has_verdicts(tmp_path):
    store = Store(tmp_path / "trials")
    for seed, value in enumerate((-790.0, -792.0, -791.5)):
        store.write(make_record(make_trial("ML", "paper", seed), value))
    html = parse_page(render_page(ARTIFACTS, open_results(tmp_path, "paper")))
    table = html.one("article", id="paper-table90").one("table")
    assert [th.text for th in table.one("thead").all("th")][3:] == ["paper", "difference", "verdict"]
    assert lines(table)[0][3:] == ["−791", "−0.2", "agrees"]
    assert "comparable with the paper's" in html.one(class_="banner").text


def test_notes_on_the_choice_of_rows_appear_only_where_the_rows_are_used(html):
    note = "PCD on digits: 1 of 2 trials began again after a divergence."
    laptop = html.one("section", id="laptop")
    assert note in [p.text for p in laptop.one("article", id="laptop-table90").all(class_="note")]
    assert [p.text for p in laptop.one("article", id="laptop-figure90").all(class_="note")] == [
        "Drawn by hand."
    ]
    assert [p.text for p in laptop.all(class_="note")].count(note) == 1
    assert note not in html.one("section", id="smoke").text


def test_a_figure_is_an_embedded_image_with_a_description(html):
    image = html.one("article", id="laptop-figure90").one("img")
    head, data = image.attributes["src"].split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert image.attributes["alt"] == "Figure 90: a line (laptop profile). It rises."
    assert 100 < int(image.attributes["width"]) < 300


def test_what_was_not_run_is_one_folded_line_with_commands(html):
    folded = html.one("details", id="not-run")
    assert folded.one("summary").text == "Not run: 1 table or figure"
    assert "open" not in folded.attributes
    ((name, title, profiles, command),) = lines(folded.one("table"))
    assert (name, title, profiles) == ("figure91", "Figure 91: not run", "laptop, smoke")
    assert command.startswith("vera run figure91 --profile laptop --results-dir /"), "the folder of the rows"
    assert not list(html.all("article", id="laptop-figure91"))


def test_an_artifact_that_cannot_be_rendered_gives_the_reason(folder):
    class FakeDamagedTable(FakeTable):
        name = "table91"

        def render(self, results):
            raise StoreError("The arrays of trial x are damaged.")

    html = parse_page(render_page([FakeDamagedTable(), ARTIFACTS[1]], open_results(folder, "laptop")))
    assert "The arrays of trial x are damaged." in html.one("article", id="laptop-table91").text
    assert html.one("article", id="laptop-figure90").one("img")


def test_the_page_loads_nothing_from_outside(text, html):
    targets = [
        node.attributes[name]
        for node in html.all()
        for name in ("src", "href", "action")
        if name in node.attributes
    ]
    assert all(target.startswith(("#", "data:")) for target in targets)
    assert not re.search(r"https?:|@import|url\(|//cdn", text)


def test_the_policy_allows_only_this_style_and_this_script(html):
    policy = html.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    for tag in ("style", "script"):
        text = next(html.one("head").all(tag)).text
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_ids_are_unique_and_every_reference_resolves(html):
    ids = [node.attributes["id"] for node in html.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    asked = [
        node.attributes[name]
        for node in html.all()
        for name in ("aria-controls", "aria-labelledby", "for")
        if name in node.attributes
    ]
    links = [link.attributes["href"][1:] for link in html.all("a")]
    assert {*asked, *(link for link in links if "=" not in link)} <= set(ids)


def test_headers_have_a_scope_and_images_a_description(html):
    assert all(th.attributes.get("scope") in ("col", "row") for th in html.all("th"))
    assert all(image.attributes["alt"] for image in html.all("img"))
    assert all(drawing.attributes["aria-label"] for drawing in html.all("svg"))
    assert all(table.attributes["aria-label"] for table in html.all("table"))
    assert all(button.text and button.attributes["type"] == "button" for button in html.all("button"))
    assert html.attributes["lang"] == "en"
    scrollable = [*html.all(role="region"), *html.all("pre")]
    assert all(node.attributes["tabindex"] == "0" for node in scrollable), "scrolls by keyboard"


def test_the_same_rows_give_the_same_bytes(folder, text):
    assert render_page(ARTIFACTS, open_results(folder), ["Something is left out."]) == text

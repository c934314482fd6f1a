"""The generated parts of docs/reproduction.md."""

import pytest
from locations import ROOT

from bench.judging.claims import Finding
from bench.judging.results import Results
from bench.locations import PUBLISHED
from bench.paper.artifacts import ARTIFACTS
from bench.paper.pages.reproduction import (
    list_artifacts,
    render_agreement,
    render_cost,
    render_not_run,
    render_paper_claims,
    summarise_evidence,
)


@pytest.fixture(scope="module")
def results():
    """(laptop, paper) of the published rows."""
    return Results.open_profiles(ROOT / PUBLISHED, ("laptop", "paper"), "published")


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def read_lines(text):
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines()[2:]]


def test_only_claims_of_the_paper_are_listed_each_once(results):
    laptop, paper = results
    lines = read_lines(render_paper_claims(paper, laptop))
    claims = [(line[0].strip("` "), line[1]) for line in lines]
    assert len(claims) == len(set(claims)) > 30
    assert not [line for line in lines if line[2].startswith("ours")]
    known = {(artifact.name, claim.text) for artifact in list_artifacts() for claim in artifact.claims}
    assert set(claims) <= known


def test_the_profile_paper_comes_first(results):
    laptop, paper = results
    profiles = {
        (line[0].strip("` "), line[1]): line[3] for line in read_lines(render_paper_claims(paper, laptop))
    }
    assert profiles["table10", "VERA with λ = 1 beats PCD on all three data sets."] == "`paper`"
    assert profiles["table2", "VERA (λ = 1) beats PCD."] == "`laptop`"


def test_evidence_of_many_comparisons_is_counted():
    supported, refuted = Finding("supported", "a − b = 1"), Finding("refuted", "a − c = −1")
    assert summarise_evidence(supported) == "a − b = 1"
    joined = Finding("refuted", "long", parts=(supported, refuted, supported))
    assert summarise_evidence(joined) == "3 comparisons: 2 supported, 1 refuted"
    untested = Finding("not testable", "long", parts=(Finding("not testable", "the reason"),))
    assert summarise_evidence(untested) == "the reason"


def test_every_value_of_table10_is_counted(results):
    lines = [line for line in read_lines(render_agreement()) if line[0].strip("` ") == "table10"]
    assert [line[1] for line in lines] == ["test log likelihood", "best of either"]
    assert [sum(map(int, line[2:])) for line in lines] == [18, 18]


def test_cost_is_that_of_all_rows(results):
    rows = results[1].stored_rows
    lines = read_lines(render_cost(rows))
    assert [line[0].strip("` ") for line in lines] == ["laptop", "paper"]
    assert sum(int(line[1].replace(",", "")) for line in lines) == len(rows)
    hours = sum(row.seconds * row.cpus for row in rows) / 3600
    assert sum(float(line[4]) for line in lines) == pytest.approx(hours, abs=0.1)


def test_what_was_not_run_is_listed_and_what_was_run_is_not(results):
    text = render_not_run(results[1])
    assert "`table2`" in text
    assert "`table10`" not in text, "all of its trials were run"
    (images,) = [line for line in read_lines(text) if "`table3`" in line[0]]
    assert "GPU-hours" in images[2]
    assert {artifact.name for artifact in list_artifacts()} == {*ARTIFACTS}

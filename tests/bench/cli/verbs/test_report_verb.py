"""`vera report`: the store it reads, the file it writes, what it prints; it needs neither torch nor ray."""

import argparse
from dataclasses import replace
from pathlib import Path

import pytest
from bare_process import run_bare
from bench_helpers import use_artifacts
from facts import raises_with
from locations import HELPER_FOLDERS
from report_helpers import ARTIFACTS, fill_store, make_record, make_trial, parse_page

from bench.cli.verbs.report import add_parser
from sweeps.errors import StoreError
from sweeps.store.row import Record
from sweeps.store.store import Store


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory, with made-up artifacts instead of the paper's."""
    monkeypatch.chdir(tmp_path)
    with use_artifacts({artifact.name: artifact for artifact in ARTIFACTS}):
        yield tmp_path


def report(*words):
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["report", *map(str, words)])
    return arguments.run(arguments)


def test_local_store_comes_first(here, capsys):
    fill_store(here / "results/local")
    fill_store(here / "results/published")
    assert report() == 0
    out = capsys.readouterr().out
    assert out.startswith("results/local/report.html  local trials: laptop 5, smoke 1")
    assert parse_page((here / "results/local/report.html").read_text(encoding="utf-8")).one(
        "article", id="laptop-figure90"
    )
    assert not (here / "results/published/report.html").exists()
    assert sorted(path.name for path in (here / "results/local").iterdir()) == ["report.html", "trials"]


@pytest.mark.parametrize("words", [(), ("--from", "published")])
def test_published_store_is_used_if_named_or_alone(here, capsys, words):
    fill_store(here / "results/published")
    if words:
        fill_store(here / "results/local")
    assert report(*words) == 0
    assert capsys.readouterr().out.startswith("results/published/report.html  published trials")
    assert "published: shipped with the code" in (here / "results/published/report.html").read_text(
        encoding="utf-8"
    )
    assert not (here / "results/local/report.html").exists()


def test_a_store_elsewhere(here, capsys):
    fill_store(here / "mine")
    assert report("--results-dir", here / "mine") == 0
    assert (here / "mine/report.html").is_file()


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ((), "in results/local or results/published."),
        (("--from", "local"), "in results/local."),
        (("--results-dir", "x"), "in x."),
    ],
)
def test_empty_store_is_an_error_with_a_command(here, words, places):
    Store(here / "results/local/trials")
    with raises_with(StoreError, places, "vera run"):
        report(*words)


def test_named_empty_store_is_not_replaced_by_another(here):
    fill_store(here / "results/published")
    with raises_with(StoreError, "in results/local."):
        report("--from", "local")


def test_rows_of_another_protocol_are_left_out_and_counted(here):
    store = fill_store(here / "results/local")
    other = make_record(make_trial("ML", seed=9), -1.0)
    store.write(Record(replace(other.row, protocol=99), other.curves))
    report()
    html = parse_page((here / "results/local/report.html").read_text(encoding="utf-8"))
    assert not list(html.all("tbody", id=f"trial-{other.row.trial_id}"))
    note = html.one("header").one(class_="note").text
    assert note.startswith("1 trial ")
    assert "protocol" in note


def test_damaged_part_is_named_on_the_page_and_on_stderr(here, capsys):
    fill_store(here / "results/local")
    (here / "results/local/trials/rows/broken.parquet").write_bytes(b"no parquet")
    assert report() == 0
    assert "rows/broken.parquet" in capsys.readouterr().err
    html = parse_page((here / "results/local/report.html").read_text(encoding="utf-8"))
    assert "rows/broken.parquet" in html.one("header").one(class_="note").text


def test_open_opens_the_page_in_a_browser(here, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    fill_store(here / "results/local")
    report("--open")
    assert shown == [(here / "results/local/report.html").as_uri()]


def test_watch_follows_the_store_and_ends_cleanly(here, monkeypatch, capsys):
    page = here / "results/local/report.html"
    pages = []
    pauses = iter([fill_first, lambda: None, fill_second, None])

    def pause(seconds):
        assert seconds >= 3
        pages.append(page.read_text(encoding="utf-8") if page.exists() else None)
        step = next(pauses)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr("time.sleep", pause)
    fill_store(here / "results/published")
    assert report("--watch", "3") == 0
    assert pages[0] is None, "the published results are not the running sweep"
    assert [parse_page(text).one("nav").text.count("1 trial") for text in pages[1:]] == [1, 1, 0]
    assert "2 trials" in parse_page(pages[-1]).one("nav").text
    assert parse_page(pages[-1]).attributes["data-refresh"] == "3"
    last = parse_page(page.read_text(encoding="utf-8"))
    assert "data-refresh" not in last.attributes
    assert len(capsys.readouterr().out.splitlines()) == 4, "a start, two changes, and the end"


def fill_first():
    Store(Path("results/local/trials")).write(make_record(make_trial("ML"), -1.0))


def fill_second():
    Store(Path("results/local/trials")).write(make_record(make_trial("ML", seed=1), -1.0))


BARE = """
import os, sys
from pathlib import Path
os.chdir(sys.argv[1])
sys.path += sys.argv[2:]
from report_helpers import ARTIFACTS, fill_store
from bench.catalogue import catalogue
vars(catalogue).update(papers=[], _registered={artifact.name: artifact for artifact in ARTIFACTS})
fill_store(Path("results/local"))
from test_report_verb import report
raise SystemExit(report())
"""


def test_report_works_without_torch_and_ray(tmp_path):
    done = run_bare(BARE, tmp_path, *HELPER_FOLDERS, Path(__file__).parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "results/local/report.html").is_file()

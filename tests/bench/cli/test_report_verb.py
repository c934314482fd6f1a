"""`vera report`: which store it takes, where it writes, what it says, and that it needs neither torch nor
ray."""

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from bench_helpers import only_artifacts
from engine_helpers import ROOT
from locations import HELPERS
from report_helpers import ARTIFACTS, fill_store, make_record, make_trial, parse_page

from bench.cli.verbs.report import add_report
from sweeps.errors import StoreError
from sweeps.store.row import Record
from sweeps.store.store import Store


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory, with made-up artifacts in place of the paper's."""
    monkeypatch.chdir(tmp_path)
    with only_artifacts({artifact.name: artifact for artifact in ARTIFACTS}):
        yield tmp_path


def report(*words):
    parser = argparse.ArgumentParser()
    add_report(parser.add_subparsers())
    arguments = parser.parse_args(["report", *map(str, words)])
    return arguments.run(arguments)


def test_the_local_store_comes_first(here, capsys):
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
def test_the_published_store_where_it_is_asked_for_or_the_only_one(here, capsys, words):
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
        ((), "results/local nor in results/published"),
        (("--from", "local"), "results/local,"),
        (("--results-dir", "x"), "x,"),
    ],
)
def test_no_trials_at_all_is_one_clear_error(here, words, places):
    Store(here / "results/local/trials")
    with pytest.raises(StoreError, match=f"There are no trials in {places}.*vera run"):
        report(*words)


def test_an_empty_local_store_is_not_asked_for_by_name_in_vain(here):
    fill_store(here / "results/published")
    with pytest.raises(StoreError, match="no trials in results/local,"):
        report("--from", "local")


def test_rows_of_another_protocol_are_left_out_and_counted(here):
    store = fill_store(here / "results/local")
    other = make_record(make_trial("ML", seed=9), -1.0)
    store.write(Record(replace(other.row, protocol=99), other.curves))
    report()
    html = parse_page((here / "results/local/report.html").read_text(encoding="utf-8"))
    assert not list(html.all("tbody", id=f"trial-{other.row.trial_id}"))
    assert (
        html.one("header").one(class_="note").text
        == "1 trial of another protocol than 1 is not comparable and left out."
    )


def test_a_damaged_part_is_named_on_the_page_and_to_the_user(here, capsys):
    fill_store(here / "results/local")
    (here / "results/local/trials/rows/broken.parquet").write_bytes(b"no parquet")
    assert report() == 0
    assert "rows/broken.parquet is not readable" in capsys.readouterr().err
    html = parse_page((here / "results/local/report.html").read_text(encoding="utf-8"))
    assert "rows/broken.parquet is not readable" in html.one("header").one(class_="note").text


def test_open_shows_the_page(here, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    fill_store(here / "results/local")
    report("--open")
    assert shown == [(here / "results/local/report.html").as_uri()]


BARE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "torchvision", "ray", "pandas", "optuna"):
            raise ImportError(f"{name} is not installed here")
sys.meta_path.insert(0, Refuse())
from report_helpers import ARTIFACTS, fill_store
from pathlib import Path
from bench.catalogue import catalogue
vars(catalogue).update(papers=[], _registered={artifact.name: artifact for artifact in ARTIFACTS})
fill_store(Path("results/local"))
from test_report_verb import report
raise SystemExit(report())
"""


def test_it_works_where_torch_and_ray_are_not_installed(tmp_path):
    places = os.pathsep.join(map(str, (ROOT, HELPERS, Path(__file__).parent)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BARE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "results/local/report.html").is_file()

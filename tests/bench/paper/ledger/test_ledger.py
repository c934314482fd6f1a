"""The ledger: everything that the paper says has a declaration, and losing one is an error."""

from dataclasses import replace

import pytest
from bench_helpers import row_of, store_rows
from facts import raises_with
from locations import ROOT

from bench.catalogue import catalogue
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES, VERA
from bench.paper.ledger import statements, value_status
from bench.paper.ledger.statements import (
    Statement,
    check_declared,
    list_paper_claims,
    list_statements,
    read_statements,
)
from bench.paper.ledger.value_status import count_ended, list_value_statuses
from bench.paper.pages.coverage import FIGURES, NAMES, TABLES, Coverage, describe_standing
from bench.paper.tables.table4 import Table4
from bench.paper.tables.table9 import Table9
from bench.paper.values import PAPER
from vera.errors import UnknownName, VeraError
from vera.joint.jem import JEM
from vera.samplers.mala import TARGET_ACCEPTANCE
from vera.spec.settings import settings_of

SIGMAS = Statement("grid", "B.2", "table10", "PCD", "method.noise", "0.1|1", "σ of PCD")


@pytest.fixture
def empty(tmp_path):
    """Results at `laptop` and at `paper` without rows."""
    results = store_rows(tmp_path, [])
    return results, replace(results, profile="paper")


@pytest.fixture
def changed(monkeypatch):
    """A function that replaces the list of statements."""

    def change(found):
        monkeypatch.setattr(statements, "read_statements", lambda: tuple(found))

    return change


def test_every_grid_setting_and_arm_is_declared():
    listed = list_statements("grid", "setting", "arm")
    assert len(listed) > 70
    for statement in listed:
        check_declared(statement)


@pytest.mark.parametrize(("change", "named"), [
    ({"values": "0.1|0.07"}, "0.07"),
    ({"values": ">=6"}, "only 5"),
    ({"line": "PCE"}, "PCE"),
    ({"setting": "method.gone"}, "method.gone"),
])  # fmt: skip
def test_a_grid_that_lost_values_is_an_error(change, named):
    check_declared(SIGMAS)
    with raises_with(VeraError, "table10", named):
        check_declared(replace(SIGMAS, **change))


def test_data_sets_that_differ_are_no_grid():
    """Table 6 has three κ, one for each data set; its grid tries all of them on one."""
    grid = next(each for each in list_statements("grid") if each.values == "20|40|80")
    check_declared(grid)
    with raises_with(VeraError, "table6", "method.sampler_steps"):
        check_declared(replace(grid, declared="table6"))


def test_a_sweep_that_is_gone_is_an_error():
    with pytest.raises(UnknownName):
        check_declared(replace(SIGMAS, declared="table11-grid"))


def test_an_arm_that_is_gone_is_an_error():
    arm = next(each for each in list_statements("arm") if each.declared == "stability")
    with raises_with(VeraError, "stability", "JEM, 5 × steps"):
        check_declared(replace(arm, line="JEM, 5 × steps"))


def test_claims_are_those_of_the_list(changed):
    known = read_statements()
    claims = [each for each in known if each.kind == "claim"]
    assert len(list(list_paper_claims())) == len(claims)
    changed([*known, Statement("claim", "", "table2:gone", "", "", "", "")])
    with raises_with(VeraError, "table2:gone"):
        list(list_paper_claims())
    changed([each for each in known if each is not claims[0]])
    with raises_with(VeraError, claims[0].declared):
        list(list_paper_claims())


def test_a_claim_that_lost_its_declaration_is_an_error(monkeypatch):
    table = catalogue.artifact("table9")
    monkeypatch.setattr(table, "claims", ())
    with raises_with(VeraError, "table9:settings"):
        list(list_paper_claims())
    ours = Claim("new", "Ours.", "ours", lambda results: Finding("supported", ""))
    monkeypatch.setattr(table, "claims", (*type(table).claims, ours))
    assert "new" not in {claim.key for _, claim in list_paper_claims()}


def test_statements_have_a_known_kind(tmp_path):
    file = tmp_path / "statements.csv"
    file.write_text("kind,where,declared,line,setting,values,statement\nwish,,,,,,\n")
    with raises_with(VeraError, "wish", "claim"):
        read_statements(file)


def test_every_value_has_a_status(empty):
    found = list_value_statuses(*empty)
    assert [status.entry for status in found] == list(PAPER.entries)
    assert all(status.judgement and status.module for status in found)
    assert {status.standing for status in found} == {"not run", "quoted", "setting", "mark", "none"}
    assert sum(status.is_result for status in found) == 137


def test_a_value_that_no_artifact_compares_is_an_error(empty, monkeypatch):
    monkeypatch.setattr(Table4, "list_untrained", lambda self, quality: iter(()))
    with raises_with(VeraError, "Table 4", "SNGAN"):
        list_value_statuses(*empty)


def test_a_source_without_an_artifact_is_an_error(empty, monkeypatch):
    kept = [each for each in read_statements() if each.where != "Text Sec 6"]
    monkeypatch.setattr(value_status, "list_statements", lambda *kinds: [e for e in kept if e.kind in kinds])
    with raises_with(VeraError, "2.8"):
        list_value_statuses(*empty)


def test_a_setting_that_differs_is_named(empty, monkeypatch):
    monkeypatch.setattr("bench.paper.tables.table9.read_setting", lambda table, profile, name: "7")
    assert {each.verdict for each in Table9().list_compared(empty[1])} == {"differs"}


def test_standing_follows_the_rows(tmp_path):
    trials = {trial.label: trial for trial in catalogue.artifact("modes").trials("paper")}
    rows = [row_of(trials["VERA"], seed, 999.0 + seed, metric="modes") for seed in (0, 1, 2)]
    rows += [row_of(catalogue.artifact("modes").experiment.trial("VERA λ=0", "laptop"), 0, metric="modes")]
    store = store_rows(tmp_path, rows).store
    laptop = Results(store, "laptop")
    found = {
        (status.entry["method"], status.entry["variant"]): status
        for status in list_value_statuses(laptop, Results(store, "paper"))
        if status.entry["metric"] == "modes_of_1000"
    }
    ours, without, hmc = (found[key] for key in (("VERA", ""), ("VERA", "lambda=0"), ("VERA-HMC", "")))
    assert (ours.standing, ours.n, ours.at_laptop) == ("agrees", 3, 0)
    assert (without.standing, without.n, without.at_laptop) == ("laptop only", 0, 1)
    assert hmc.standing == "not run"


def test_a_chosen_line_counts_the_trials_of_all_its_lines(tmp_path):
    trials = [trial for trial in catalogue.artifact("table10").trials("laptop") if "PCD" in trial.label]
    results = store_rows(tmp_path, [row_of(trial, 0, -3.0) for trial in trials])
    assert count_ended(catalogue.artifact("table10"), "PCD (best σ)", results) == len(trials) == 15
    assert count_ended(catalogue.artifact("table10"), "PCD", results) == 0


@pytest.mark.parametrize(("counts", "standing"), [
    ((6, 6, 0), "run at `paper`"), ((1, 6, 9), "run in part at `paper`"), ((0, 6, 9), "laptop only"),
    ((0, 6, 0), "declared, not run"),
])  # fmt: skip
def test_standing_of_a_grid(counts, standing):
    assert describe_standing(*counts) == standing


def test_totals_are_the_sums_of_their_parts(empty):
    lines = [
        line.split("|") for line in Coverage(*empty).render_totals().splitlines() if line.startswith("|")
    ]
    numbers = [[int(cell) for cell in line[2:-1]] for line in lines[2:]]
    assert numbers[0] == [sum(column) for column in zip(*numbers[1:], strict=True)]
    assert numbers[0][0] == numbers[0][1] + sum(numbers[0][5:])
    assert numbers[0][1] == sum(numbers[0][2:5])


def test_the_page_lists_every_table_and_figure():
    assert len(NAMES) == TABLES + FIGURES + 1
    assert all(name in catalogue for name in NAMES.values())


def test_settings_of_the_text_are_those_of_the_code():
    printed = {
        statement.declared: PAPER.read_value(statement.where, method=statement.line)
        for statement in list_statements("values")
        if statement.declared not in catalogue
    }
    assert all((ROOT / file).is_file() for file in printed)
    step, noise = (settings_of(JEM)[name].default for name in ("step_size", "noise"))
    assert printed["vera/joint/jem.py"] == pytest.approx(2 * step / noise**2)
    weights = {line.method["entropy_weight"] for line in IMAGES.lines if line.method["name"] == VERA["name"]}
    assert [printed["bench/paper/experiments/images.py"]] == pytest.approx([1 / each for each in weights])
    assert printed["vera/samplers/mala.py"] == TARGET_ACCEPTANCE

"""The catalogue: names, lazy imports, name clashes, and a second paper next to the VERA paper."""

import subprocess
import sys
import textwrap

import pytest
from facts import raises_with
from locations import ROOT

import bench
from bench.artifact import Artifact
from bench.catalogue import Catalogue, catalogue
from bench.cli.main import main
from sweeps.run.attempt import run_trial
from sweeps.store.store import Store
from sweeps.trial.sweep import sweep
from vera.errors import UnknownName, VeraError

FILES = {
    "__init__.py": '"""Another paper."""',
    "artifacts.py": """
        ARTIFACTS = {"table2": "bench.other.table2:Table2", "only-here": "bench.other.table2:OnlyHere"}
        SWEEPS = {"table2-grid": "bench.other.experiment:GRID"}
        NOTHING_TO_RUN = {"table3": "Table 3 of the other paper has nothing to run."}
    """,
    "values.csv": "artifact,dataset,method,variant,metric,value\nTable 2,moons,ML,,likelihood,-2.5\n",
    "experiment.py": """
        from pathlib import Path
        from bench.experiment import DataSetting, Experiment, Line, Scale
        from bench.judging.reference import PaperValues

        VALUES = PaperValues(Path(__file__).with_name("values.csv"))
        MOONS = DataSetting("moons", {"name": "moons"}, "moons")
        ENERGY = {"energy": {"name": "mixture", "components": 2}}
        TINY = Scale("tiny", (MOONS,), ENERGY, 2, 8, seeds=(0,))
        MIXTURE = Experiment(
            "mixture",
            (Line("ML", {"name": "ml"}, reference={"method": "ML"}, grid={"lr": (1e-3, 1e-2)}),),
            {"smoke": TINY, "laptop": TINY, "paper": TINY},
        )
        GRID = MIXTURE.grid_sweep("table2-grid", "the grid of the other paper")
    """,
    "table2.py": """
        from bench.artifact import Column, ExperimentArtifact, Sheet
        from bench.other.experiment import MIXTURE, MOONS, VALUES

        class Table2(ExperimentArtifact):
            name, title, experiment, companions = "table2", "Table 2: another paper", MIXTURE, ("only-here",)

            def render(self, results):
                line = MIXTURE.line("ML")
                paper = VALUES.find_for("Table 2", line, MOONS, metric="likelihood")
                cell = results.cell(MIXTURE.trial("ML", results.profile), "test_log_likelihood", paper)
                columns = (Column("method", "method"), Column("likelihood", "likelihood"))
                lines = ({"method": "ML", "likelihood": cell},)
                return Sheet("table2", self.title, "A caption.", columns, lines, results.profile)

        class OnlyHere(Table2):
            name, title, companions = "only-here", "Only here", ()

            def render(self, results):
                return Sheet(self.name, self.title, "A caption.", (), (), results.profile)
    """,
}


@pytest.fixture
def other_paper(tmp_path, monkeypatch):
    """A second paper in a folder of its own, found by the catalogue; forgotten after the test."""
    folder = tmp_path / "papers" / "other"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(textwrap.dedent(text).strip() + "\n", encoding="utf-8")
    monkeypatch.setattr(bench, "__path__", [*bench.__path__, str(folder.parent)])
    state = dict(vars(catalogue))
    vars(catalogue).pop("papers", None)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    yield work
    vars(catalogue).clear()
    vars(catalogue).update(state)
    for name in [name for name in sys.modules if f"{name}.".startswith("bench.other.")]:
        del sys.modules[name]


@pytest.fixture
def forget_registered(monkeypatch):
    monkeypatch.setattr(catalogue, "_registered", {})


class MyTable(Artifact):
    name, title = "mine", "Table of a user"

    def trials(self, profile):
        return iter(())

    def render(self, results):
        raise NotImplementedError


def test_second_paper_is_listed_under_its_qualified_name(other_paper, capsys):
    assert main(["list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert {"table2", "other/table2", "other/only-here", "table2-grid", "other/table2-grid"} <= {*lines}
    assert "smoke 0/1" in lines["other/table2"]
    assert "another paper" in lines["other/table2"]
    assert "another paper" not in lines["table2"]


def test_bare_name_means_the_vera_paper_or_the_only_artifact(other_paper):
    assert catalogue.artifact("table2").title == "Table 2: test log-likelihood of a NICE flow on MNIST"
    assert catalogue.artifact("other/table2").title == "Table 2: another paper"
    assert catalogue.artifact("only-here").name == "other/only-here"
    assert catalogue.artifact("other/table2").companions == ("other/only-here",)
    assert catalogue.sweep("table2").name == "table2"
    assert catalogue.sweep("other/table2").name == "other/table2"
    assert len(catalogue.sweep("other/table2-grid").trials("paper")) == 2
    assert len(catalogue.sweep("table2-grid").trials("paper")) > 2
    assert catalogue.explain_not_run("other/table3") == "Table 3 of the other paper has nothing to run."
    assert catalogue.explain_not_run("table3") is None


def test_second_paper_is_planned_run_and_rendered_without_touching_the_first(other_paper, capsys):
    assert main(["plan", "other/table2", "--profile", "smoke"]) == 0
    assert capsys.readouterr().out.startswith("other/table2 · smoke profile · 1 trial · 0 already done\n")
    (trial,) = catalogue.sweep("other/table2").trials("smoke")
    Store(other_paper / "results" / "local" / "trials").write(run_trial(trial))
    tables = other_paper / "results" / "local" / "tables"
    tables.mkdir(parents=True)
    (tables / "table2-smoke.md").write_text("of the first paper")

    assert main(["plan", "other/table2", "--profile", "smoke"]) == 0
    assert "· 1 trial · 1 already done\n" in capsys.readouterr().out
    assert main(["render", "other/table2", "--profile", "smoke"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("other/table2 · smoke profile · local trials\n")
    assert "other/only-here" in out
    kinds = ("csv", "md", "tex")
    names = {f"other-{name}-smoke.{kind}" for name in ("table2", "only-here") for kind in kinds}
    assert {path.name for path in tables.iterdir()} == {*names, "table2-smoke.md"}
    assert "Table 2: another paper" in (tables / "other-table2-smoke.md").read_text(encoding="utf-8")
    assert "−2.5" in (tables / "other-table2-smoke.md").read_text(encoding="utf-8")
    assert (tables / "table2-smoke.md").read_text() == "of the first paper"
    assert main(["report"]) == 0


def test_error_offers_the_qualified_names_if_several_papers_have_a_name(other_paper, tmp_path):
    third = tmp_path / "papers" / "third"
    third.mkdir()
    (third / "__init__.py").touch()
    (third / "artifacts.py").write_text('ARTIFACTS = {"only-here": "bench.third:Nothing"}')
    fresh = Catalogue()
    assert "only-here" not in fresh
    with raises_with(UnknownName, "'only-here'", "other/only-here, third/only-here"):
        fresh.artifact("only-here")


def test_every_name_is_listed_once_and_found():
    names = catalogue.sweep_names()
    assert len(names) == len(set(names))
    assert all(catalogue.sweep(name).name == name for name in names)
    assert {name for name in catalogue.artifact_names() if catalogue.artifact(name).listed} == {
        name for name in catalogue.artifact_names() if name in names
    }


@pytest.mark.parametrize("profile", ["smoke", "laptop", "paper"])
def test_all_is_every_trial_of_every_table_and_figure_once(profile):
    artifacts = [
        each for each in catalogue.artifacts() if each.listed and each.needs_rows and not each.optional
    ]
    declared = {trial.id: trial for each in artifacts for trial in each.sweep().trials(profile)}
    found = catalogue.sweep("all").trials(profile)
    assert [trial.id for trial in found] == list(dict.fromkeys(trial.id for trial in found))
    assert {trial.id for trial in found} == set(declared)
    assert "toy-demo" not in {trial.sweep for trial in found}
    assert {trial.sweep for trial in found} <= {artifact.name for artifact in artifacts}


def test_a_trial_of_all_belongs_to_the_last_of_the_sweeps_with_the_most_trials():
    owners = {trial.sweep for trial in catalogue.sweep("all").trials("laptop")}
    assert {"table2", "stability", "table6"} <= owners
    assert not {"figure2", "table3", "reliability"} & owners
    trial = next(trial for trial in catalogue.sweep("all").trials("paper") if trial.sweep == "table2")
    assert catalogue.sweep("all").flop(trial) == catalogue.sweep("table2").flop(trial) > 0


def test_names_are_known_without_importing_artifacts():
    code = """
import sys
from bench.catalogue import catalogue
assert "table2" in catalogue.sweep_names() and "table10" in catalogue.artifact_names()
assert not [name for name in sys.modules if name.startswith(("bench.paper.tables", "bench.report"))]
catalogue.sweep("table2")
print(sorted(name for name in sys.modules if name.startswith("bench.paper.tables.table")))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "table2" in done.stdout, done.stderr
    assert "table10" not in done.stdout


@pytest.mark.usefixtures("forget_registered")
def test_artifact_of_a_plugin_is_found_and_may_be_loaded_again():
    catalogue.register(MyTable)
    catalogue.register(MyTable)
    assert catalogue.artifact("mine").title == "Table of a user"
    assert catalogue.sweep_names().count("mine") == 1


@pytest.mark.usefixtures("forget_registered")
@pytest.mark.parametrize("name", ["table2", "table2-grid", "toy-demo"])
def test_artifact_under_a_taken_name_is_refused(name):
    with raises_with(VeraError, f"'{name}'", "MyTable", f"my-{name}"):
        catalogue.register(type("MyTable", (MyTable,), {"name": name}))


@pytest.mark.usefixtures("forget_registered")
@pytest.mark.parametrize("name", ["table2", "table2-grid"])
def test_sweep_under_a_taken_name_is_refused(name):
    sweep(name, "of a plug-in")(lambda profile, seeds: iter(()))
    with raises_with(VeraError, f"'{name}'", f"my-{name}"):
        catalogue.check_plugin_sweeps()

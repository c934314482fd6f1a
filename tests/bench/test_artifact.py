"""Artifacts of an experiment: trials, captions, names on other data, and claims over data sets."""

from dataclasses import replace

import pytest
from toys_helpers import record_of, results_of

from bench.artifact import Column, DataArtifact, ExperimentArtifact, on_all, on_first
from bench.experiment import DataSetting, Experiment, Line, Scale
from bench.judging.claims import Claim, Finding
from vera.spec.trial_spec import Component

TOYS = (DataSetting("Moons", {"name": "moons"}), DataSetting("Rings", {"name": "rings"}))
SCALE = Scale("two toys", TOYS, {"energy": {"name": "mixture"}}, steps=5, batch_size=2, seeds=(0, 1))


class ToyFamily(Experiment[DataSetting]):
    def other_data(self, dataset: Component, profile):
        return DataSetting(f"own {dataset['name']}", dataset)


TOY = ToyFamily("toy", (Line("ML", {"name": "ml"}), Line("PCD", {"name": "pcd"})), {"laptop": SCALE})


def name_data(results, data):
    return Finding("supported", f"the {data.dataset['name']}")


class ToyTable(DataArtifact):
    experiment = TOY
    name = "toy"
    title = "Toy"

    def claims_on(self, data):
        yield Claim("all", "On all.", "Sec. 1", on_all(name_data, data))
        yield Claim("first", "On the first.", "Sec. 1", on_first(name_data, data))

    def is_shown(self, line):
        return line.label != "PCD"

    def render(self, results):
        lines = [{"method": trial.label} for trial in self.trials(results.profile)]
        return self.sheet(results, "A table", [Column("method", "method")], lines, ["A note."])


class ToyFigure(ExperimentArtifact):
    experiment = TOY
    name = "figure"
    title = "Figure"

    def render(self, results):
        return self.drawing(results, "A figure.", self.rows(results), lambda: "drawn")


def list_data(artifact):
    return [trial.spec.dataset["name"] for trial in artifact.trials("laptop")]


def test_an_artifact_has_the_trials_and_seeds_of_its_experiment():
    assert [trial.label for trial in ToyFigure().trials("laptop")] == ["ML", "PCD"] * 2
    assert ToyFigure().seeds == {"laptop": (0, 1)}
    assert not ToyFigure().takes


def test_an_artifact_can_leave_lines_out():
    assert [trial.label for trial in ToyTable().trials("laptop")] == ["ML", "ML"]


def test_captions_describe_the_scale_and_the_rows(tmp_path):
    results = results_of(tmp_path, [record_of(TOY.trial("ML", "laptop"))])
    sheet, figure = ToyTable().render(results), ToyFigure().render(results)
    assert sheet.caption.startswith("A table; two toys. Laptop profile: 1 trial on moons")
    assert (sheet.name, sheet.title, sheet.notes) == ("toy", "Toy", ("A note.",))
    assert figure.caption.startswith("A figure. Laptop profile: 1 trial on moons")
    assert figure.draw() == "drawn"


def test_notes_on_the_choice_of_rows_follow_those_of_the_artifact(tmp_path):
    results = results_of(tmp_path, [])
    results.notes.append("A choice.")
    assert ToyTable().render(results).notes == ("A note.", "A choice.")
    assert ToyFigure().render(results).notes == ("A choice.",)


def test_other_data_replace_those_of_the_profile(tmp_path):
    other = ToyTable().on({"name": "circles"})
    assert (list_data(ToyTable()), list_data(other)) == (["moons", "rings"], ["circles"])
    sheet = other.render(results_of(tmp_path, []))
    assert (sheet.title, sheet.name.startswith("toy-own-circles")) == ("Toy on own circles", True)


def test_claims_are_about_the_data_of_the_artifact(tmp_path):
    results = results_of(tmp_path, [])
    on_every, on_one = (claim.check(results).evidence for claim in ToyTable().claims)
    assert (on_every, on_one) == ("Moons: the moons; Rings: the rings", "the moons")
    on_other = ToyTable().on({"name": "circles"}).claims[0].check(results)
    assert on_other == Finding("supported", "own circles: the circles")


def test_a_data_set_that_could_not_support_a_claim_is_left_out(tmp_path):
    results = results_of(tmp_path, [])

    def refute_on_rings(results, data):
        return Finding("refuted" if data.name == "Rings" else "supported", "seen")

    def judge(*untestable):
        why = lambda results, data: "too small" if data.name in untestable else ""  # noqa: E731
        return on_all(refute_on_rings, TOY.data, why)(results)

    assert judge().judgement == "refuted"
    assert judge("Rings") == Finding("supported", "Moons: seen; Rings is left out: too small")
    assert judge("Rings", "Moons").judgement == "not testable"


@pytest.mark.parametrize(("made", "shown"), [("toy", "toy"), ("toy-wine", "toy-wine"), ("toy10", "toy")])
def test_a_rendering_has_the_name_of_its_artifact_or_of_its_variant(tmp_path, made, shown):
    class RenamedTable(ToyTable):
        def render(self, results):
            return replace(super().render(results), name=made)

    assert RenamedTable().render_with_notes(results_of(tmp_path, [])).name == shown

"""A small store, artifacts for it, and a parser that reads a page into a tree."""

import math
from dataclasses import replace
from html.parser import HTMLParser

from engine_helpers import make_row

from bench.artifact import Artifact, Column, Drawing, Sheet
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import Results
from bench.render.plotting import create_panels
from bench.report.packed_data import unpack
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec

VOID = ("img", "input", "link", "meta")
"""Elements without an end tag."""
METHODS = {"ML": "ml", "VERA λ=1": "vera", "PCD": "pcd"}


def make_trial(label, profile="laptop", seed=0):
    networks = {"energy": {"name": "nice", "blocks": 4}}
    method = {"name": METHODS.get(label, "ml"), "lr": 0.003}
    spec = TrialSpec({"name": "digits"}, networks, method, 400, seed=seed)
    return Trial(spec, profile, sweep="table90", label=label)


def make_trial_row(trial, **changes):
    spec = trial.spec
    facts = {"protocol": 1, "profile": trial.profile, "data_fingerprint": "f00d"} | spec.to_dict()
    known = {
        "trial_id": f"{spec.method['name']}{spec.seed}{trial.profile}00000000",
        "profile": trial.profile,
        "sweep": trial.sweep,
        "label": trial.name,
        "dataset": "digits",
        "energy": "nice",
        "method": spec.method["name"],
        "seed": spec.seed,
        "outcome": "ok",
        "steps": spec.steps,
        "outcome_step": spec.steps,
        "spec": canonical_json(facts),
        "task": "density",
        "protocol": 1,
        "started_at": "2026-02-03T04:04:06.789+00:00",
        "finished_at": "2026-02-03T04:05:06.789+00:00",
        "git_commit": "c0ffee" * 6,
        "versions": '{"numpy":"2.0.0","torch":"2.13.0"}',
        "processor": "An Old Processor",
        "device": "cpu",
        "log_tail": "",
    }
    return make_row(**(known | changes))


def make_record(trial, value=None, points=40, **changes):
    """A record with this test likelihood, and with curves of the loss and of an evaluation."""
    metrics = {"loss": 1.5} | (
        {} if value is None else {"test_log_likelihood": value, "test_log_likelihood_se": 0.25}
    )
    row = make_trial_row(trial, metrics=canonical_json(metrics), **changes)
    loss = [
        CurvePoint(row.trial_id, "training", "loss", 10 * i, 3 * math.exp(-i / 9) + math.sin(i) / 5)
        for i in range(1, points + 1)
    ]
    evaluations = [
        CurvePoint(row.trial_id, "evaluation", "test_log_likelihood", 100 * i, -900 / i) for i in range(1, 5)
    ]
    return Record(row, loss + (evaluations if value is not None else []))


def make_own_record(lr, seed=0, value=None, **changes):
    """A record of a sweep of the user's own, with another learning rate than any artifact's trial."""
    trial = make_trial("ML", seed=seed)
    method = {"name": "ml", "lr": lr}
    trial = replace(trial, spec=replace(trial.spec, method=method), sweep="my-sweep", label="mine")
    name = f"own{lr:g}{seed}".replace(".", "")
    return make_record(trial, value, trial_id=name, **changes)


def fill_store(folder):
    """A store of two profiles. At laptop, ML has two seeds, VERA one, and PCD diverged once and failed once;
    at smoke, ML has one seed."""
    store = Store(folder / "trials")
    records = [
        make_record(make_trial("ML"), -791.25, seconds=30.5),
        make_record(make_trial("ML", seed=1), -793.75, seconds=4.0),
        make_record(make_trial("VERA λ=1"), -1138.5, points=1_000, seconds=200.0, git_dirty=True),
        make_record(
            make_trial("PCD"),
            outcome="diverged",
            outcome_step=7,
            reason="loss is nan",
            seconds=0.5,
            restarts='[{"reason":"loss is inf","seed":77,"step":5}]',
        ),
        make_record(
            make_trial("PCD", seed=1),
            outcome="error",
            outcome_step=0,
            reason="ValueError: no <such> thing",
            seconds=12.0,
            log_tail="Traceback\n  in <module>",
        ),
        make_record(make_trial("ML", "smoke"), -5000.0, seconds=0.25),
    ]
    for record in records:
        store.write(record)
    return store


class FakeTable(Artifact):
    name = "table90"
    title = "Table 90: one flow, trained three ways"
    paper = {"ML": -791.0, "VERA λ=1": -1138.0}  # noqa: RUF012
    claims = (
        Claim(
            "order", "Maximum likelihood is above VERA.", "Sec. 5", lambda results: FakeTable().judge(results)
        ),
        Claim("two", "The sky is <blue>.", "Sec. 6", lambda results: Finding("supported", "seen & noted")),
        Claim("three", "Pigs fly.", "Sec. 7", lambda results: Finding("refuted", "none did")),
        Claim(
            "four",
            "Fish swim.",
            "Sec. 8",
            lambda results: Finding("undetermined", "none seen"),
            {"laptop": "there is no water", "paper": "there is no water"},
        ),
    )

    def trials(self, profile):
        return (make_trial(label, profile) for label in METHODS)

    def cells(self, results):
        declared = {trial.label: trial for trial in self.trials(results.profile)}
        return {
            label: results.cell(declared[label], "test_log_likelihood", self.paper.get(label))
            for label in METHODS
        }

    def judge(self, results):
        cells = self.cells(results)
        return check_above("ML", cells["ML"], "VERA", cells["VERA λ=1"])

    def render(self, results):
        lines = tuple({"method": label, "value": cell} for label, cell in self.cells(results).items())
        columns = (Column("method", "method"), Column("value", "test log-likelihood", 1))
        return Sheet(
            self.name,
            self.title,
            "Nats on <test> points.",
            columns,
            lines,
            results.profile,
            ("A note & more.",),
        )


class FakeFigure(Artifact):
    name = "figure90"
    title = "Figure 90: a line"

    def trials(self, profile):
        return iter([make_trial("ML", profile)])

    def render(self, results):
        def draw():
            figure, axes = create_panels(1, 1, 2.0, 1.5)
            axes[0, 0].plot([0, 1], [0, len(results.rows)])
            return figure

        return Drawing(self.name, self.title, "It rises.", draw, results.profile, ("Drawn by hand.",))


class FakeUnrunFigure(FakeFigure):
    name = "figure91"
    title = "Figure 91: not run"

    def trials(self, profile):
        spec = TrialSpec({"name": "rings"}, {}, {"name": "vera"}, 10)
        return iter([Trial(spec, profile)])


ARTIFACTS = (FakeTable(), FakeFigure(), FakeUnrunFigure())


def open_results(folder, *profiles):
    return Results.open_profiles(folder, profiles or ("laptop", "smoke"))


class HtmlNode:
    """An element: its name, attributes and children; `text` is the text that a reader sees.

    Whitespace between elements is not a child.
    """

    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, dict(attributes), []

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag=None, **attributes):
        """Every descendant with this name and these attributes; a class matches one of several."""
        for child in self.children:
            if isinstance(child, HtmlNode):
                if tag in (None, child.tag) and all(
                    child.has(name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items()
                ):
                    yield child
                yield from child.all(tag, **attributes)

    def one(self, tag=None, **attributes):
        (found,) = self.all(tag, **attributes)
        return found

    def has(self, name, value):
        own = self.attributes.get(name)
        return own is not None and (value in own.split() if name == "class" else own == value)


class HtmlTree(HTMLParser):
    """A page as a tree; fails if elements are not well nested."""

    def __init__(self, text):
        super().__init__()
        self.root = HtmlNode("root", {})
        self.path = [self.root]
        self.feed(text)
        self.close()
        assert self.path == [self.root], f"{self.path[-1].tag} is not closed"

    def handle_starttag(self, tag, attributes):
        node = HtmlNode(tag, attributes)
        self.path[-1].children.append(node)
        if tag not in VOID:
            self.path.append(node)

    def handle_endtag(self, tag):
        assert self.path[-1].tag == tag, f"{tag} closes {self.path[-1].tag}"
        self.path.pop()

    def handle_data(self, text):
        if text.strip():
            self.path[-1].children.append(text)


def parse_page(text):
    return HtmlTree(text).root.one("html")


def read_list(html, profile):
    """The table of trials of a profile, unpacked."""
    return unpack(html.one(class_="list", data_profile=profile).one("script", class_="table").text)


def read_lines(html, profile):
    """Trial id → column → text."""
    table = read_list(html, profile)
    texts = zip(*(column["texts"] for column in table["columns"]), strict=True)
    keys = [column["key"] for column in table["columns"]]
    return {name: dict(zip(keys, line, strict=True)) for name, line in zip(table["ids"], texts, strict=True)}


def read_details(html, profile):
    """Trial id → its details as a tree."""
    box, table = html.one(class_="list", data_profile=profile), read_list(html, profile)
    htmls = [text for piece in box.all("script", class_="piece") for text in unpack(piece.text)]
    places = range(len(table["ids"])) if table["details"] is None else table["details"]
    return {table["ids"][i]: HtmlTree(text).root for i, text in zip(places, htmls, strict=True)}

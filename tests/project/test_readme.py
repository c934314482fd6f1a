"""The README and the pages: their Python blocks run, and their commands are accepted by the parser.

Cheap commands are run, and their output is the one that the README shows. Expensive ones are checked without
training: target, verb, flags, sweep, and that `--only` leaves trials. `.ci/readme` runs them at smoke; that
its list is complete is checked here.
"""

import os
import re
import shlex
import subprocess
import sys

import pytest
import torch
from locations import ROOT

import vera
from bench.catalogue import catalogue
from bench.cli.main import build_parser, main
from bench.locations import PUBLISHED
from sweeps.run.progress import format_row, measure_widths
from sweeps.run.provenance import collect_provenance
from sweeps.store.store import Store
from sweeps.trial.filter import filter_trials
from vera.spec.registry import methods

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "results" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = r"(?:\$ )?((?:make|vera|python -m) \S.*?)(?:  +#.*)?"
BLOCKS = re.findall(r"<!-- run by tests/project/test_readme.py -->\n```python\n(.*?)```", README, re.DOTALL)
OWN_METHOD, OWN_DATA, LIKELIHOOD, FEW_LABELS = BLOCKS


def run(code, cwd):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd, env=one_thread
    )


def test_own_data_example_trains_an_ebm_in_about_ten_lines(tmp_path):
    code = OWN_DATA
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    check = """
assert result.outcome == "ok"
assert samples.shape == (1_000, 2)
assert scores.shape == (5_000,)
anywhere = energy(6 * torch.rand(2_000, 2) - 3).detach()
assert scores.detach().median() > anywhere.mean() + 1
assert (samples.std(0) / x.std(0)).log().abs().max() < 0.7
import sys
assert "ray" not in sys.modules
"""
    done = run(f"{code}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_exact_likelihood_example_prints_a_likelihood(tmp_path):
    done = run(LIKELIHOOD, tmp_path)
    assert done.returncode == 0, done.stderr
    assert -10 < float(done.stdout) < -2.394


def test_few_labels_example_prints_an_accuracy(tmp_path):
    done = run(FEW_LABELS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0.2 < float(done.stdout) <= 1


def test_own_method_example_trains_as_a_plug_in(tmp_path):
    plugin = tmp_path / "my_method.py"
    plugin.write_text(OWN_METHOD)
    assert len([line for line in OWN_METHOD.splitlines() if line.strip()]) < 40
    code = f"""
import vera
vera.load_plugin({str(plugin)!r})
energy, method = {{"energy": {{"name": "mlp"}}}}, {{"name": "noise-contrast"}}
spec = vera.TrialSpec({{"name": "moons"}}, energy, method, steps=300, batch_size=200)
trainer = vera.build_trainer(spec)
result = trainer.run()
assert result.outcome == "ok"
assert trainer.history[-1]["loss"] < trainer.history[0]["loss"] < 0.7  # log 2 for a constant f
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


def commands_of(page):
    """Commands in fenced blocks, one per line, and in backticks."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")  # a command may continue on the next line
    blocks = [
        body
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if not language
    ]
    fenced = [
        found.group(1)
        for block in blocks
        for line in block.splitlines()
        if (found := re.fullmatch(COMMAND, line))
    ]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return fenced + [
        found.group(1) for code in re.findall(r"`([^`\n]+)`", prose) if (found := re.fullmatch(COMMAND, code))
    ]


FOUND = sorted({command for page in PAGES for command in commands_of(page)})
OURS = [command for command in FOUND if command.startswith("vera ")]
PLACEHOLDERS = {"SWEEP", "ID", "trial:ID", "NAME", "NAME...", "FILE"}


@pytest.mark.parametrize("command", [command for command in FOUND if command.startswith("make ")])
def test_every_make_target_exists(command):
    words = [word.replace("NAME", "table2") for word in shlex.split(command)]
    done = subprocess.run([words[0], "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", OURS)
def test_every_command_is_one_that_the_parser_takes(command):
    words = shlex.split(command)[1:]
    if len(words) == 1:  # a verb that is only mentioned
        assert words[0] in build_parser().format_help().split()
        return
    arguments = build_parser().parse_args(words)
    named = {getattr(arguments, "sweep", "ID"), *getattr(arguments, "names", [])} - PLACEHOLDERS - {"all"}
    if not has_foreign_names(arguments):
        assert named <= {*catalogue.sweep_names(), *catalogue.artifact_names()}
        assert all(
            name in catalogue.artifact_names() for name in set(getattr(arguments, "names", [])) & named
        )
    for name in (
        [arguments.sweep] if getattr(arguments, "only", None) and not has_foreign_names(arguments) else []
    ):
        assert filter_trials(catalogue.sweep(name).trials(arguments.profile), arguments.only)


def has_foreign_names(arguments):
    """Whether names may come from a plug-in or are placeholders; tests/project/test_docs.py runs these."""
    return bool(getattr(arguments, "plugin", [])) or getattr(arguments, "sweep", "") in PLACEHOLDERS


def test_every_program_is_a_verb():
    assert not [command for command in FOUND if command.startswith("python -m bench")]


@pytest.mark.parametrize("file", sorted(set(re.findall(r"(?:csv:|--plugin )([^\s,]+)", "\n".join(FOUND)))))
def test_every_file_that_a_command_names_exists(file):
    assert file in PLACEHOLDERS or (ROOT / file).is_file()


def test_the_pages_have_commands():
    assert {
        "make reproduce-table2",
        "make test",
        "make figures",
        "vera run toy-demo",
        "vera docs --check",
    } <= set(FOUND)
    assert len(OURS) > 40


CHEAP = {
    "vera plan table2 --profile paper": r"33 trials · 0 already done · at least 26 GPU-hours",
    "vera list": r"table10 +smoke 0/30 +laptop 0/60",
    "vera data list": r"mnist5k-logit +here",
    "vera status": r"results/local .* vera run toy-demo",
}


@pytest.mark.parametrize("command", list(CHEAP))
def test_what_costs_nothing_is_run(command, tmp_path, monkeypatch, capsys):
    assert command in FOUND
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    assert re.search(CHEAP[command], capsys.readouterr().out)


NOT_IN_CI = {
    "vera data fetch": "needs the network; tests/vera/data/files/test_fetch.py has its own server",
    "vera run table3": "needs the files of CIFAR10; tests/bench/paper has tests on other data",
    "vera plan table3": "the same verb with another table",
    "make check": "make lint and make test",
    "vera replay 79ecd95e": "tested below with a published trial",
    "vera perf memory": "takes 832 MB; tests/bench/perf/test_image_step.py measures a smaller shape",
}
"""The beginnings of commands that .ci does not run, and why."""


def shorten_command(command):
    """What a smoke form has in common with the command in the README: program, verb or target, and its
    subject."""
    words = [word for word in shlex.split(command) if "=" not in word or word.startswith("--")]
    subject = [word for word in words[2:3] if not word.startswith("-")]
    return " ".join(words[:2] + subject)


@pytest.mark.parametrize("command", sorted(set(commands_of(ROOT / "README.md"))))
def test_every_command_of_the_readme_is_run(command):
    script = "".join((ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "readme"))
    tables = command.startswith("make reproduce-")  # the loop of .ci/readme takes these off the README
    spoken_of = PLACEHOLDERS & set(shlex.split(command))
    known = command in CHEAP or any(command.startswith(beginning) for beginning in NOT_IN_CI)
    assert tables or spoken_of or known or shorten_command(command) in script, (
        f"add its smoke form to .ci/readme: {shorten_command(command)}"
    )


def test_the_loop_over_tables_finds_those_of_the_readme():
    loop = re.search(r"\$\((grep .*)\); do", (ROOT / ".ci" / "readme").read_text(encoding="utf-8")).group(1)
    found = subprocess.run(["bash", "-c", loop], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert found == re.findall(r"^\| `make reproduce-([a-z0-9-]+)`", README, re.MULTILINE)
    assert len(found) > 15


@pytest.mark.parametrize(
    ("name", "trials"), re.findall(r"^\| `make reproduce-([a-z0-9]+)` \| (\d+)[ |]", README, re.MULTILINE)
)
def test_the_counts_of_trials_are_those_of_the_sweeps(name, trials):
    """Of those that share another table's trials, the README says which."""
    assert len({trial.id for trial in catalogue.sweep(name).trials("laptop")}) == int(trials)


def test_the_table_shown_is_the_published_one():
    """Whatever stands in the README's Table 2 stands in results/published."""
    published = (ROOT / "results" / "published" / "tables" / "table2.md").read_text(encoding="utf-8")
    shown = README.partition("──\n")[2].partition("\n...\n")[0].splitlines()
    assert len(shown) == 11
    for line in shown:
        cells = re.split(r"  +", line.strip())
        row = next(row for row in published.splitlines() if row.startswith(f"| {cells[0]} "))
        assert [cell for cell in map(str.strip, row.strip("|").split("|")) if cell] == cells


@pytest.mark.parametrize("name", ["table2", "toy-demo"])
def test_the_plan_shown_is_the_plan_made(name, tmp_path, monkeypatch, capsys):
    """On two cores, as the README says."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("bench.cli.planning.count_cores", lambda: 2)
    assert main(["plan", name, "--results-dir", str(tmp_path)]) == 0
    assert f"\n{capsys.readouterr().out.splitlines()[0]}\n" in README


def test_the_trials_shown_for_table_2_are_those_that_ship():
    ships = {row.trial_id[:8]: row for row in Store(f"{PUBLISHED}/trials").read_rows()}
    shown = [line for line in README.splitlines() if line.startswith(" ✓ ") and " mnist5k-logit " in line]
    assert len(shown) == 2
    assert shown == [
        format_row(ships[line.split()[-1]], measure_widths(catalogue.sweep("table2").trials("laptop")))
        for line in shown
    ]


def test_the_trial_that_is_replayed_ships_and_is_the_first_of_the_list(tmp_path, monkeypatch, capsys):
    """From an empty store. Nothing differs with the processor and the versions of its row; others may round
    otherwise."""
    monkeypatch.chdir(ROOT)
    command = next(command for command in FOUND if command.startswith("vera replay ") and "ID" not in command)
    name = command.split()[-1]
    assert re.search(r"^ ✓ (.*)$", README, re.MULTILINE).group(1).endswith(f" {name}")
    (row,) = [row for row in Store(f"{PUBLISHED}/trials").read_rows() if row.trial_id.startswith(name)]
    here = collect_provenance("cpu")
    same = all(here[column] == getattr(row, column) for column in ("processor", "versions"))
    same = same and torch.backends.cpu.get_cpu_capability() == "AVX512"  # which "AMD EPYC" alone does not say
    code = main([*shlex.split(command)[1:], "--results-dir", str(tmp_path)])
    out = capsys.readouterr().out
    assert out.startswith("replayed ML seed 0 (from results/published) in ")
    assert ("identical to the stored row" in out, code) == (True, 0) or not same, out


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_the_accuracies_shown_are_the_published_ones():
    """The small table of ten labels a class: three seeds at laptop, one of HUMAN at paper, and the paper's
    own beside it."""
    tables = ROOT / "results" / "published" / "tables"
    found = {}
    for name in ("table6", "table6-paper"):
        for line in (tables / f"{name}.md").read_text(encoding="utf-8").splitlines():
            data, method, *values = [*cells_of(line), ""][:5]
            found[data, method] = values
    heading, _, *lines = (
        re.search(r"^\| \| digits 8 .*?(?=\n\n)", README, re.DOTALL | re.MULTILINE).group(0).splitlines()
    )
    assert [cells_of(line)[0] for line in lines] == ["VERA", "VAT", "MEG", "labels alone"]
    for line in lines:
        label, *shown = cells_of(line)
        method = {"labels alone": "Supervised"}.get(label, label)
        human, in_the_paper = found["HUMAN", method][:2]
        expected = [found[data, method][0] for data in cells_of(heading)[1:-2]]
        assert shown == [*expected, human, in_the_paper]


METHOD_LINES = [
    cells_of(line)
    for line in re.findall(r"^\| `[a-z-]+` \| `\w+\(energy.*$", README.partition("## A classifier")[0], re.M)
]


@pytest.mark.parametrize("line", METHOD_LINES, ids=[line[0] for line in METHOD_LINES])
def test_a_method_is_made_as_its_line_says_of_what_it_needs(line):
    name, call, needs, _ = (cell.strip("`") for cell in line)
    made = {
        "vera": vera,
        "MLP": vera.models.MLP,
        "energy": vera.models.MLP(2),
        "data_dim": 2,
        "latent_dim": 3,
    }
    made["generator"] = vera.Generator(vera.models.MLPGenerator(latent_dim=3, data_dim=2))
    for what, energy in {"normalised": vera.models.GaussianMixture, "NICE": vera.models.NICE}.items():
        made |= {"energy": energy(2)} if what in needs else {}
    for energy in re.findall(r"`(MLP\(.*?\))", needs):
        made["energy"] = eval(energy.replace("...", "2"), made)
    for statistics in re.findall(r"(vera\.models\.\w+\(.*?\))", needs):
        made["statistics"] = eval(statistics, made)
    method = eval(f"vera.methods.{call}", made)
    assert method.label() == name
    assert vera.Trainer(method, torch.randn(64, 2), steps=2, batch_size=32).run().outcome == "ok"


def test_the_table_of_methods_has_all_of_them():
    assert {line[0].strip("`") for line in METHOD_LINES} == {*methods} - {*methods.plugin_names()}


def test_the_error_shown_is_the_error_given(tmp_path):
    shown = re.search(r">>> (vera\.methods\.CPSM.*)\n(vera\.errors.*)\n", README)
    done = run(f"import vera\n{shown.group(1)}", tmp_path)
    assert done.stderr.strip().splitlines()[-1] == shown.group(2)

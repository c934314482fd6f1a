"""What a user gets wrong at the prompt is answered in one line: the thing, the reason, the way on; never a
traceback."""

import json
import re

import pytest
from locations import ROOT

from bench.cli.main import main
from sweeps.trial.sweep import sweeps
from vera.spec.registry import datasets, methods

SPEC = {
    "dataset": {"name": "moons"}, "networks": {"energy": {"name": "mixture"}}, "method": {"name": "ml"}, "steps": 1,
}  # fmt: skip
SWEEP = """
from sweeps.trial.sweep import sweep
from sweeps.trial.identity import Trial
from vera.data import DataSet, TensorData
from vera.spec.registry import datasets
from vera.spec.trial_spec import TrialSpec

@sweep("mine", "one trial")
def mine(profile, seeds):
    spec = TrialSpec({"name": "own"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, 1)
    REST
"""
DATA = """
@datasets.register("own")
class Own(TensorData):
    def __init__(self):
        import numpy as np
        super().__init__(np.load("gone.npy"), name="own")
"""
FILES = {
    "nolabel.csv": "a,b\n1,2\n",
    "empty.csv": "",
    "text.csv": "a,kind\n1,x\nzz,y\n",
    "iris.csv": (ROOT / "docs" / "examples" / "iris.csv").read_text(encoding="utf-8"),
    "syntax.py": "def broken(:",
    "class.py": "from vera.spec.registry import methods\n\n\n@methods.register('no-method')\nclass NoMethod: ...\n",
    "lacking.py": SWEEP.replace("REST", "yield Trial(spec, profile)").replace("own", "lacking")
    + "@datasets.register('lacking')\nclass Lacking(DataSet):\n    name, data_dim = 'lacking', 2\n",
    "idle.py": "from vera.methods import Method\nfrom vera.spec.registry import methods\nfrom dataclasses import dataclass\n\n\n"
    "@methods.register('idle')\n@dataclass(eq=False)\nclass Idle(Method):\n    def setup(self): ...\n",
    "gone.py": SWEEP.replace("REST", "yield Trial(spec, profile)") + DATA,
    "name.py": SWEEP.replace("REST", "yield Trial(spec, profil)"),
    "spec.py": SWEEP.replace("REST", "yield spec"),
    "one.py": SWEEP.replace("REST", "yield Trial(replace(spec, dataset={'name': 'moons'}), profile)").replace(
        "from sweeps.trial.sweep", "from dataclasses import replace\nfrom sweeps.trial.sweep", 1
    ),
    "none.py": SWEEP.replace("REST", "Trial(spec, profile)"),
    "trial.json": json.dumps({"profile": "smoke", "spec": SPEC}),
    "file": "not a directory",
    "bare.csv": "kind\nx\ny\n",
    "semicolon.csv": "a;b;kind\n1;2;x\n",
    "quoted.csv": '"a";"b";"kind"\n1;2;"x"\n',
    "tabs.csv": "a\tb\tkind\n1\t2\tx\n",
    "list.json": "[]",
    "bare.json": "{}",
    "huge.json": json.dumps({"profile": "huge", "spec": SPEC}),
    "label.json": json.dumps({"profile": "smoke", "spec": SPEC, "label": 5}),
    "odd.json": json.dumps({"profile": "smoke", "spec": SPEC | {"stepss": 1}}),
}
MISTAKES = {
    "": "VERB. See: vera --help",
    "rnu table2": "VERB cannot be 'rnu'. Did you mean run?",
    "run": "SWEEP. See: vera run --help",
    "run tabel2": "There is no sweep 'tabel2'. Did you mean table2",
    "run table2 --profile huge": "--profile cannot be 'huge'. Available: laptop, paper, smoke",
    "run table2 --seeds zero": "--seeds: must be a whole number, at least 1, got 'zero'",
    "run table2 --seeds 1.5": "--seeds: must be a whole number, at least 1, got '1.5'",
    "plan toy-demo --seeds 999999999999": "--seeds: must be at most 10,000, got '999999999999'",
    "search moons --seeds 10001": "--seeds: must be at most 10,000, got '10001'",
    "launch slurm --nodes 0 -- run table2": "--nodes: must be a whole number, at least 1, got '0'",
    "run table2 --cpus-per-trial many": "--cpus-per-trial: must be a number above 0, got 'many'",
    "run table2 --cpus-per-trial -1": "--cpus-per-trial: must be a number above 0, got '-1'",
    "run table2 --cpus-per-trial 0": "--cpus-per-trial: must be a number above 0, got '0'",
    "run table2 --gpus-per-trial lots": "--gpus-per-trial: must be a number from 0 on, or auto, got 'lots'",
    "run table2 --time-limit 1h": "--time-limit: must be seconds, a number above 0, got '1h'",
    "run table2 --checkpoint-every 1m": "--checkpoint-every: must be seconds, a number from 0 on, got '1m'",
    "search moons --sampler-seed abc": "--sampler-seed: must be a whole number, got 'abc'",
    "-V": "vera: there is no -V. Did you mean --version? See: vera --help",
    "--hlep": "vera: there is no --hlep. Did you mean --help? See: vera --help",
    "run --helpp": "vera run: there is no --helpp. Did you mean --help? See: vera run --help",
    "run --profile=smoke": "the following arguments are required: SWEEP. See: vera run --help",
    "help rnu": "VERB cannot be 'rnu'. Did you mean run?",
    "run nosuch": "There is no sweep 'nosuch'. To see them: vera list",
    "plan table6 --dataset parquet:iris.csv,label=species": "iris.csv is named as csv. Did you mean csv:iris.csv,label=species?",
    "plan table6 --dataset csv:bare.csv,label=kind": "bare.csv has no column but 'kind': there is nothing to tell its classes by",
    "search moons --sampler grid --grid lr=a,b": "The axis 'lr' has 'a' in its grid, which is no number",
    "run figure": "Did you mean figure1 or figure2 or figure3?",
    "launch slurm -- run tabel2": "The command after -- cannot be run: There is no sweep 'tabel2'. Did you mean table2",
    "launch job -- run toy-demo --only method=vrea": "after -- cannot be run: No trial of toy-demo fits --only method=vrea.",
    "launch job -- run table6 --dataset csv:iris.csv,label=species --only method=vrea": "fits --only method=vrea. Did you mean",
    "launch job -- run table9": "The command after -- cannot be run: table9 needs no trials. To see it: vera render table9",
    "launch ray-up -- search moon": "The command after -- cannot be run: There is no task 'moon' to search. Did you mean moons?",
    "launch ray-up --hosts , -- run table2": "--hosts names no machine: write --hosts 10.0.0.1,10.0.0.2, the head first, or leave",
    "launch ray-up --hosts= -- run table2": "--hosts names no machine",
    "launch job -- search": "The command after -- cannot be run: it names no TASK, and so only lists them",
    "launch slurm -- vera run table2": "Leave out vera after --: vera launch slurm ... -- run table2",
    "run table2 --nosuch": "there is no --nosuch. See: vera run --help",
    "run table2 --seed 3": "vera run: there is no --seed. Did you mean --seeds? See: vera run --help",
    "run table2 --seed=3": "there is no --seed. Did you mean --seeds?",
    "run table2 --profil smoke": "there is no --profil. Did you mean --profile?",
    "run table2 -dry-run": "there is no -dry-run. Did you mean --dry-run?",
    "data list --datadir x": "vera data list: there is no --datadir. Did you mean --data-dir? See: vera data list --help",
    "run table2 table3": "vera run: 'table3' is one word too many. See: vera run --help",
    "run toy-demo --only method=vrea": "toy-demo fits --only method=vrea. Did you mean vera? To see its trials: vera plan toy-demo",
    "run toy-demo --only method=VERA": "fits --only method=VERA. Did you mean vera?",
    "run toy-demo --only seed=7": "fits --only seed=7. Available: 0, 1, 2.",
    "run toy-demo --only method=ml,vera": "fits --only method=ml,vera. An --only takes one value.",
    "run toy-demo --only method=ml --only method=vera": "method=vera. A trial is taken if it fits every --only.",
    "run toy-demo --only lr=3": "--only knows no 'lr'. Did you mean method.lr?",
    "run toy-demo --only method.lrr=3": "--only knows no 'method.lrr'. Did you mean method.lr?",
    "run toy-demo --only method.learning_rate=3": "'method.learning_rate'. Of method there is: betas, capacity, chunks,",
    "run mine --plugin one.py --profile smoke --only seed=5": "vera plan mine --profile smoke --plugin one.py\n",
    "run table7": "The paper's Table 7 recommends settings: there is nothing to run. To see what there is: vera list",
    "render table1": "The paper's Table 1 compares ways of training in words: there is nothing to run.",
    "run toy-demo --only method": "--only takes key=value, such as method=vera, got 'method'",
    "run toy-demo --only =vera": "--only takes key=value, such as method=vera, got '=vera'",
    "run toy-demo --dataset wine": "toy-demo is neither. To see them: vera list",
    "run table2 --dataset wine": "table2 has data of its own; --dataset goes with",
    "run table3 --dataset wine": "table3 takes images with labels, such as digits32, cifar10 or svhn; wine has tables",
    "run table6 --dataset digits32": "table6 takes tables with labels, such as wine, digits-table or csv:PATH,label=COLUMN",
    "run table6 --dataset moons": "moons has points without labels",
    "run table6 --dataset nosuch": "There is no data set 'nosuch'",
    "run table6 --dataset csv": "csv:PATH,label=COLUMN",
    "run table6 --dataset csv:nowhere.csv,label=kind": "There is no file nowhere.csv",
    "run table6 --dataset csv:nolabel.csv,label=kind": "has no column 'kind'",
    "run table6 --dataset csv:empty.csv,label=kind": "empty.csv is empty",
    "run table6 --dataset csv:text.csv,label=kind": "column 'a', line 3: 'zz' is not a number",
    "run table6 --dataset csv:.,label=kind": "'.' is a directory: name a file, as in csv:PATH,label=COLUMN.",
    "run table6 --dataset csv:,label=kind": "'' is no file: name a file, as in csv:PATH,label=COLUMN.",
    "run table6 --dataset csv:semicolon.csv,label=kind": "semicolon.csv has semicolons between its columns, and a csv",
    "run table6 --dataset csv:quoted.csv,label=kind": "quoted.csv has semicolons between its columns",
    "run table6 --dataset csv:tabs.csv,label=kind": "tabs.csv has tabs between its columns",
    "plan table2 --plugin .": "The plug-in '.' is a directory: name a Python file.",
    "plan table2 --plugin=": "name a Python file",
    "plan spec:": "spec: names no file: write spec:FILE. vera search writes such files to results/local/searches.",
    "plan trial:": "trial: names no trial: write trial:ID. Every id stands in the page of: vera report",
    "plan spec:.": ". is a directory. vera search writes files for spec: to results/local/searches.",
    "search moons --name=": "--name takes up to 40 letters, digits, '.', '_' and '-', and begins with a letter or digit; got ''.",
    "data check --data-dir file": "--data-dir file is a file; it takes the directory in which data files lie, or shall lie.",
    "data fetch mnist --data-dir file": "--data-dir file is a file; it takes the directory",
    "plan spec:file": "file is no JSON: Expecting value in line 1.",
    "plan spec:list.json": "does not hold a trial as `vera search` writes it: it is a list, not an object with profile and",
    "plan spec:bare.json": "bare.json does not hold a trial as `vera search` writes it: it has no profile and no spec.",
    "plan spec:huge.json": "a trial: profile must be one of 'smoke', 'laptop', 'paper', got 'huge'.",
    "plan spec:label.json": "as `vera search` writes it: a trial: label must be a string, got 5.",
    "plan spec:odd.json": "as `vera search` writes it: TrialSpec has no setting 'stepss'. Did you mean steps?",
    "plan table2 --plugin nowhere.py": "There is no plug-in file nowhere.py",
    "plan table2 --plugin syntax.py": "SyntaxError: invalid syntax (syntax.py, line 1)",
    "plan table2 --plugin class.py": "registers the method 'no-method', but NoMethod is not a subclass of vera.methods.Method",
    "plan mine --plugin lacking.py": "registers the data set 'lacking', but Lacking lacks fingerprint and stream and test_points",
    "plan table2 --plugin idle.py": "registers the method 'idle', but Idle lacks step: see vera.methods.contract.Method",
    "plan mine --plugin gone.py": "gone.py failed in line 17, creating the data set 'own': FileNotFoundError: [Errno 2]",
    "run mine --dry-run --plugin gone.py": "gone.py failed in line 17, creating the data set 'own': FileNotFoundError: [Errno 2]",
    "list --plugin name.py": "name.py failed in line 11, listing the trials of 'mine': NameError: name 'profil' is not defined",
    "plan mine --plugin spec.py": "of the plug-in spec.py gives a TrialSpec, not a Trial; wrap it: Trial(spec, profile)",
    "plan mine --plugin none.py": "of the plug-in none.py gives None, no trials; write: yield Trial(spec, profile)",
    "plan spec:nofile.json": "There is no file nofile.json. vera search writes files for spec: to results/local/searches.",
    "plan spec:trial.json --profile paper": "spec:trial.json has the profile smoke of its own: leave --profile out.",
    "plan spec:trial.json --profile laptop": "spec:trial.json has the profile smoke of its own: leave --profile out.",
    "report --results-dir no": "To begin: vera run toy-demo --results-dir no; those that ship: --from published",
    "render table2 --results-dir no": "in no. To make them: vera run table2 --results-dir no; those that ship: --from published",
    "render all --results-dir no": "in no. To see what to run: vera list; those that ship: --from published",
    "plan table9 --dataset wine": "table9 has data of its own",
    "status --results-dir file": "--results-dir file is a file; it takes the directory",
    "render table2 --results-dir file": "--results-dir file is a file; it takes the directory",
    "show zzzz": "has the id 'zzzz', or one that begins so. It is empty. To begin: vera run toy-demo\n",
    "show zzzz --results-dir no": "No trial in no/trials has the id 'zzzz', or one that begins so. It is empty. To begin: vera run "
    "toy-demo --results-dir no\n",
    "status --results-dir=": "Results cannot lie in '': give a directory, such as . for this one.",
    "status --results-dir s3://": "'s3://' is not where results can lie: give a directory or s3://BUCKET/PREFIX.",
    "status --results-dir s3:lab": "'s3:lab' is no address: write s3://BUCKET/PREFIX, or ./s3:lab for a directory of that name.",
    "render table2 --from published": "--from published takes trials from results/published, which is not here: run it where the",
    "report --from published": "--from published takes trials from results/published, which is not here: run it where the repo was",
    "render tabel2": "There is no table or figure 'tabel2'. Did you mean table2",
    "render toy-demo": "toy-demo is a sweep without a table; its trials are on the page of: vera report",
    "render table2 --from elsewhere": "--from cannot be 'elsewhere'. Available: local, published",
    "render table2": "To make them: vera run table2",
    "render all": "To see what to run: vera list",
    "report": "To begin: vera run toy-demo",
    "run table6 --dataset x/nolabel.csv,label=kind": "no data set 'x/nolabel.csv'. Did you mean csv:x/nolabel.csv,label=kind?",
    "run table6 --dataset my.parquet": "Did you mean parquet:my.parquet,label=COLUMN?",
    "run table6 --dataset wein": "There is no data set 'wein'. Did you mean wine? To see them: vera data list",
    "data fetch nosuch": "There are no files to fetch for 'nosuch'. To see them: vera data list",
    "data check foo": "There are no files to check for 'foo'. To see them: vera data list",
}


@pytest.mark.parametrize("line", list(MISTAKES))
def test_a_mistake_is_one_line(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for registry in (datasets, methods, sweeps):
        monkeypatch.setattr(registry, "_known", dict(registry._entries))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    try:
        code = main(line.split())
    except SystemExit as error:
        code = error.code
    err = capsys.readouterr().err
    assert code == 2
    assert len(err.splitlines()) == 1, err
    assert re.match(r"vera( \w+)*: ", err)
    assert MISTAKES[line] in err


@pytest.mark.parametrize("line", ["data list", "plan table6", "run table6 --dry-run"])
def test_the_data_directory_of_the_environment_is_no_file(line, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "file"))
    assert main([*line.split(), *([] if "data" in line else ["--results-dir", str(tmp_path)])]) == 2
    assert capsys.readouterr().err == (
        f"vera: VERA_DATA {tmp_path / 'file'} is a file; it takes the directory in which data files lie, or shall lie.\n"
    )


def test_verbs_that_look_for_no_data_do_not_ask_where_it_is(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "file"))
    assert main(["status", "--results-dir", str(tmp_path)]) == 0


@pytest.mark.parametrize("words", ["data list --data-dir=~/file", "status --results-dir=~/file"])
def test_a_tilde_that_the_shell_left_is_the_home_directory(words, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(words.split()) == 2
    assert f"{tmp_path / 'file'} is a file" in capsys.readouterr().err
    assert main(["status", "--plugin=~/none.py"]) == 2
    assert f"There is no plug-in file {tmp_path / 'none.py'}." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["help"], ["help", "run"], ["help", "data", "fetch"]])
def test_help_can_be_asked_for_as_a_verb(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {' '.join(['vera', *words[1:]])} ")


@pytest.mark.parametrize("profile", ["laptop", "paper"])
def test_a_table_that_needs_no_trials_runs_none_and_is_rendered(profile, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "nothing"))
    flags = [] if profile == "laptop" else ["--profile", profile]
    for verb in ("plan", "run"):
        assert main([verb, "table9", *flags]) == 0
        assert (
            capsys.readouterr().out
            == f"table9 needs no trials; to see it: {' '.join(['vera render table9', *flags])}\n"
        )
    assert main(["render", "table9", *flags]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"table9 · {profile} profile · needs no trials\n")
    assert "results/local/tables/table9" in out


def test_a_hint_keeps_the_place_that_was_named(tmp_path, capsys):
    assert main(["status", "--results-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith(f"To begin: vera run toy-demo --results-dir {tmp_path}\n")


def test_the_list_has_a_line_for_each_sweep_in_the_order_of_numbers(tmp_path, capsys):
    assert main(["list", "--results-dir", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines]
    assert len(names) == len(set(names)) == len(sweeps.names())
    assert names.index("figure2") < names.index("figure10") < names.index("table2") < names.index("table10")
    assert re.search(
        r"^toy-demo +smoke 0/9 +laptop 0/9 +paper 0/9 +a 100-component", "\n".join(lines), re.MULTILINE
    )
    assert re.search(r"^table9 +needs no trials +Table 9: settings", "\n".join(lines), re.MULTILINE)

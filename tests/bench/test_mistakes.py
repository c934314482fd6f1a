"""What a user gets wrong at the prompt is answered in one line: the thing, the reason, the way on; never a traceback."""

import re

import pytest

from bench.cli import main
from sweeps.sweep import sweeps
from vera.registry import datasets, methods

SWEEP = """
from sweeps.sweep import sweep
from sweeps.trial import Trial
from vera.data import DataSet, TensorData
from vera.registry import datasets
from vera.spec import TrialSpec

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
    "syntax.py": "def broken(:",
    "class.py": "from vera.registry import methods\n\n\n@methods.register('no-method')\nclass NoMethod: ...\n",
    "lacking.py": SWEEP.replace("REST", "yield Trial(spec, profile)").replace("own", "lacking")
    + "@datasets.register('lacking')\nclass Lacking(DataSet):\n    name, data_dim = 'lacking', 2\n",
    "idle.py": "from vera.methods import Method\nfrom vera.registry import methods\nfrom dataclasses import dataclass\n\n\n"
    "@methods.register('idle')\n@dataclass(eq=False)\nclass Idle(Method):\n    def setup(self): ...\n",
    "gone.py": SWEEP.replace("REST", "yield Trial(spec, profile)") + DATA,
    "name.py": SWEEP.replace("REST", "yield Trial(spec, profil)"),
    "spec.py": SWEEP.replace("REST", "yield spec"),
    "none.py": SWEEP.replace("REST", "Trial(spec, profile)"),
    "file": "not a directory",
}
MISTAKES = {
    "": "VERB. See: vera --help",
    "rnu table2": "VERB cannot be 'rnu'. Did you mean run?",
    "run": "SWEEP. See: vera run --help",
    "run tabel2": "There is no sweep 'tabel2'. Did you mean table2",
    "run table2 --profile huge": "--profile cannot be 'huge'. There is: laptop, paper, smoke",
    "run table2 --seeds zero": "--seeds: must be a whole number, at least 1, got 'zero'",
    "run table2 --seeds 1.5": "--seeds: must be a whole number, at least 1, got '1.5'",
    "run table2 --cpus-per-trial many": "--cpus-per-trial: must be a number from 0 on, got 'many'",
    "run table2 --nosuch": "there is no --nosuch. See: vera run --help",
    "run table2 --seed 3": "vera run: there is no --seed. Did you mean --seeds? See: vera run --help",
    "run table2 --seed=3": "there is no --seed. Did you mean --seeds?",
    "run table2 --profil smoke": "there is no --profil. Did you mean --profile?",
    "run table2 -dry-run": "there is no -dry-run. Did you mean --dry-run?",
    "data list --datadir x": "vera data list: there is no --datadir. Did you mean --data-dir? See: vera data list --help",
    "run table2 table3": "vera run: 'table3' is one word too many. See: vera run --help",
    "run toy-demo --only method=vrea": "No trial of toy-demo fits --only method=vrea. To see its trials: vera plan toy-demo",
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
    "plan table2 --plugin nowhere.py": "There is no plug-in file nowhere.py",
    "plan table2 --plugin syntax.py": "SyntaxError: invalid syntax (syntax.py, line 1)",
    "plan table2 --plugin class.py": "registers the method 'no-method', but NoMethod is no class derived from vera.methods.Method",
    "plan mine --plugin lacking.py": "registers the data set 'lacking', but Lacking lacks fingerprint and stream and test_points",
    "plan table2 --plugin idle.py": "registers the method 'idle', but Idle lacks step: see vera.methods.contract.Method",
    "plan mine --plugin gone.py": "gone.py failed in line 17, making the data set 'own': FileNotFoundError: [Errno 2]",
    "run mine --dry-run --plugin gone.py": "gone.py failed in line 17, making the data set 'own': FileNotFoundError: [Errno 2]",
    "list --plugin name.py": "name.py failed in line 11, listing the trials of 'mine': NameError: name 'profil' is not defined",
    "plan mine --plugin spec.py": "of the plug-in spec.py gives a TrialSpec, not a Trial; wrap it: Trial(spec, profile)",
    "plan mine --plugin none.py": "of the plug-in none.py gives None, no trials; write: yield Trial(spec, profile)",
    "status --results-dir file": "--results-dir file is a file; it takes the directory",
    "render table2 --results-dir file": "--results-dir file is a file; it takes the directory",
    "show zzzz": "has the id 'zzzz', or one that begins so. Every id stands in the page of: vera report",
    "render tabel2": "There is no table or figure 'tabel2'. Did you mean table2",
    "render table2 --from elsewhere": "--from cannot be 'elsewhere'. There is: local, published",
    "render table2": "To make them: vera run table2",
    "render all": "To see what to run: vera list",
    "report": "To begin: vera run toy-demo",
    "data fetch nosuch": "There are no files to fetch for 'nosuch'",
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


def test_a_damaged_part_is_named_also_where_it_was_the_only_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for verb in (["render", "table2"], ["report"]):
        part = tmp_path / "results" / "local" / "trials" / "rows" / "part.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text("not Parquet")
        assert main(verb) == 2
        problem, error = capsys.readouterr().err.splitlines()
        assert "rows/part.parquet is not readable" in problem
        assert "vera run" in error

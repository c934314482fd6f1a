"""Mistakes that users make at the prompt: the command, the files it needs, and the facts that its error
names."""

import json

from locations import ROOT

SPEC = {
    "dataset": {"name": "moons"},
    "networks": {"energy": {"name": "mixture"}},
    "method": {"name": "ml"},
    "steps": 1,
}
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
ARTIFACT = """
from bench.artifact import Artifact
from bench.catalogue import catalogue

@catalogue.register
class Mine(Artifact):
    name, title = "table2", "Table 2: mine"
    def render(self, results): ...
"""
METHOD = """
from dataclasses import dataclass
from vera.methods import Method
from vera.spec.registry import methods

@methods.register('idle')
@dataclass(eq=False)
class Idle(Method):
    def setup(self): ...
"""
LACKING = """
@datasets.register('lacking')
class Lacking(DataSet):
    name, data_dim = 'lacking', 2
"""
ONE_TRIAL = "from dataclasses import replace\n" + SWEEP.replace(
    "REST", "yield Trial(replace(spec, dataset={'name': 'moons'}), profile)"
)
FILES = {
    "nolabel.csv": "a,b\n1,2\n",
    "empty.csv": "",
    "text.csv": "a,kind\n1,x\nzz,y\n",
    "iris.csv": (ROOT / "docs" / "examples" / "iris.csv").read_text(encoding="utf-8"),
    "bare.csv": "kind\nx\ny\n",
    "semicolon.csv": "a;b;kind\n1;2;x\n",
    "quoted.csv": '"a";"b";"kind"\n1;2;"x"\n',
    "tabs.csv": "a\tb\tkind\n1\t2\tx\n",
    "syntax.py": "def broken(:",
    "class.py": "from vera.spec.registry import methods\n"
    "@methods.register('no-method')\nclass NoMethod: ...\n",
    "lacking.py": SWEEP.replace("REST", "yield Trial(spec, profile)").replace("own", "lacking") + LACKING,
    "idle.py": METHOD,
    "gone.py": SWEEP.replace("REST", "yield Trial(spec, profile)") + DATA,
    "name.py": SWEEP.replace("REST", "yield Trial(spec, profil)"),
    "spec.py": SWEEP.replace("REST", "yield spec"),
    "one.py": ONE_TRIAL,
    "taken.py": ONE_TRIAL.replace('"mine"', '"table2"'),
    "grid.py": ONE_TRIAL.replace('"mine"', '"table2-grid"'),
    "artifact.py": ARTIFACT,
    "none.py": SWEEP.replace("REST", "Trial(spec, profile)"),
    "trial.json": json.dumps({"profile": "smoke", "spec": SPEC}),
    "list.json": "[]",
    "bare.json": "{}",
    "huge.json": json.dumps({"profile": "huge", "spec": SPEC}),
    "label.json": json.dumps({"profile": "smoke", "spec": SPEC, "label": 5}),
    "odd.json": json.dumps({"profile": "smoke", "spec": SPEC | {"stepss": 1}}),
    "file": "not a directory",
}
TO_PUBLISHED = "--from published"
COLUMN = "csv:PATH,label=COLUMN"
MISTAKES: dict[str, tuple[str, ...]] = {
    # The command itself.
    "": ("VERB", "vera --help"),
    "rnu table2": ("'rnu'", "Did you mean run?"),
    "help rnu": ("'rnu'", "Did you mean run?"),
    "run": ("SWEEP", "vera run --help"),
    "run --profile=smoke": ("SWEEP", "vera run --help"),
    "-V": ("-V", "--version", "vera --help"),
    "--hlep": ("--hlep", "Did you mean --help?"),
    "run --helpp": ("vera run:", "--helpp", "Did you mean --help?", "vera run --help"),
    "run table2 table3": ("vera run:", "'table3'", "vera run --help"),
    "run table2 --nosuch": ("--nosuch", "vera run --help"),
    "run table2 --seed 3": ("vera run:", "--seed.", "Did you mean --seeds?", "vera run --help"),
    "run table2 --seed=3": ("--seed.", "Did you mean --seeds?"),
    "run table2 --profil smoke": ("--profil.", "Did you mean --profile?"),
    "run table2 -dry-run": ("-dry-run", "Did you mean --dry-run?"),
    "data list --datadir x": ("vera data list:", "--datadir", "Did you mean --data-dir?"),
    # Values of flags.
    "run table2 --profile huge": ("--profile", "'huge'", "laptop, paper, smoke"),
    "run table2 --seeds zero": ("--seeds", "whole number", "1", "'zero'"),
    "run table2 --seeds 1.5": ("--seeds", "whole number", "'1.5'"),
    "plan toy-demo --seeds 999999999999": ("--seeds", "10,000", "'999999999999'"),
    "search moons --seeds 10001": ("--seeds", "10,000", "'10001'"),
    "launch slurm --nodes 0 -- run table2": ("--nodes", "whole number", "1", "'0'"),
    "run table2 --cpus-per-trial many": ("--cpus-per-trial", "above 0", "'many'"),
    "run table2 --cpus-per-trial -1": ("--cpus-per-trial", "above 0", "'-1'"),
    "run table2 --cpus-per-trial 0": ("--cpus-per-trial", "above 0", "'0'"),
    "run table2 --gpus-per-trial lots": ("--gpus-per-trial", "0", "auto", "'lots'"),
    "run table2 --time-limit 1h": ("--time-limit", "seconds", "above 0", "'1h'"),
    "run table2 --checkpoint-every 1m": ("--checkpoint-every", "seconds", "0", "'1m'"),
    "search moons --sampler-seed abc": ("--sampler-seed", "whole number", "'abc'"),
    "search moons --name=": ("--name", "40", "''"),
    "search moons --sampler grid --grid lr=a,b": ("'lr'", "'a'"),
    "search moons --grid lr=1": ("--grid", "tpe", "--sampler grid"),
    "search moons --sampler grid --grid lr": ("--grid", "AXIS=V1,V2,...", "'lr'"),
    "run table2 --seeds ٣": ("--seeds", "whole number", "'٣'"),
    "run table2 --cpus-per-trial ٣": ("--cpus-per-trial", "above 0", "'٣'"),
    "run table2 --set=--": ("--set", "'--'", "vera run --help"),
    "run table2 --retry eror": ("--retry", "'eror'", "Did you mean error"),
    # Names of sweeps, tables and trials.
    "run tabel2": ("'tabel2'", "Did you mean table2", "vera list"),
    "run nosuch": ("'nosuch'", "vera list"),
    "run figure": ("Did you mean figure1 or figure2 or figure3?",),
    "run searches": ("searches", "vera search"),
    "render tabel2": ("'tabel2'", "Did you mean table2"),
    "render toy-demo": ("toy-demo", "vera run toy-demo"),
    "render table2-grid": ("table2-grid", "vera report"),
    "plan spec:": ("spec:FILE", "results/local/searches"),
    "plan trial:": ("trial:ID", "vera report"),
    "plan spec:.": (". is a directory", "results/local/searches"),
    "plan spec:nofile.json": ("nofile.json", "results/local/searches"),
    "plan spec:file": ("file", "JSON", "line 1"),
    "plan spec:list.json": ("list.json", "list", "profile", "spec"),
    "plan spec:bare.json": ("bare.json", "profile", "spec"),
    "plan spec:huge.json": ("profile", "'smoke', 'laptop', 'paper'", "'huge'"),
    "plan spec:label.json": ("label", "5"),
    "plan spec:odd.json": ("'stepss'", "Did you mean steps?"),
    "plan spec:trial.json --profile paper": ("spec:trial.json", "smoke", "--profile"),
    "plan spec:trial.json --profile laptop": ("spec:trial.json", "smoke", "--profile"),
    "show zzzz": ("'zzzz'", "vera run toy-demo\n"),
    "show zzzz --results-dir no": ("no/trials", "'zzzz'", "vera run toy-demo --results-dir no\n"),
    # Models.
    "models prun": ("ACTION", "'prun'", "prune"),
    "models --only": ("--only", "vera models --help"),
    "models --only method=vera --without-rows": ("--only", "--without-rows"),
    "sample zzzz": ("'zzzz'", "vera run toy-demo\n"),
    "sample no.safetensors": ("no.safetensors",),
    "sample zzzz -o x.jpg": ("x.jpg", ".png", ".npz"),
    "sample zzzz -n 0": ("-n", "at least 1", "'0'"),
    "score zzzz iris.csv -o x.png": ("x.png", ".csv, .npy, .npz"),
    "score zzzz": ("DATA", "vera score --help"),
    "export zzzz file": ("file", "directory"),
    "export zzzz .": ("not empty", "--force"),
    "compare zzzz": ("two", "vera report"),
    "train iris.csv --label species --method nosuch": ("'nosuch'",),
    # --only.
    "run toy-demo --only method=vrea": ("method=vrea", "Did you mean vera?", "vera plan toy-demo"),
    "run toy-demo --only method=VERA": ("method=VERA", "Did you mean vera?"),
    "run toy-demo --only seed=7": ("seed=7", "0, 1, 2"),
    "run toy-demo --only method=ml,vera": ("method=ml,vera", "one value"),
    "run toy-demo --only method=ml --only method=vera": ("method=vera", "every --only"),
    "run toy-demo --only lr=3": ("'lr'", "Did you mean method.lr?"),
    "run toy-demo --only method.lrr=3": ("'method.lrr'", "Did you mean method.lr?"),
    "run toy-demo --only method.learning_rate=3": ("'method.learning_rate'", "betas, capacity, chunks,"),
    "run toy-demo --only method": ("key=value", "method=vera", "'method'"),
    "run toy-demo --only =vera": ("key=value", "'=vera'"),
    "run mine --plugin one.py --profile smoke --only seed=5": (
        "vera plan mine --profile smoke --plugin one.py\n",
    ),
    # --set.
    "run toy-demo --set method.kk=5": ("toy-demo", "'method.kk'", "Did you mean method.k?"),
    "run toy-demo --set lr=5": ("'lr'", "Did you mean method.lr"),
    "run toy-demo --set method.k": ("--set", "PATH=VALUE", "method.lr=3e-4", "'method.k'"),
    "run toy-demo --set method.k=0": ("at least 1", "got 0"),
    "run toy-demo --set method.k=5 --set method.noise=1": ("toy-demo", "method.k, method.noise"),
    "run toy-demo --set seed=3": ("--set", "seed", "--seeds N"),
    "render table2 --set method.kk=5": ("table2", "'method.kk'", "Did you mean method.k?"),
    # --dataset.
    "run toy-demo --dataset wine": ("toy-demo", "points", "moons, circles or rings", "wine"),
    "run table2-grid --dataset wine": ("table2-grid", "vera list"),
    "run table2 --dataset wine": ("table2", "--dataset", "table6"),
    "plan table9 --dataset wine": ("table9", "--dataset"),
    "run table3 --dataset wine": ("table3", "images", "digits32, cifar10 or svhn", "wine"),
    "run table6 --dataset digits32": ("table6", "tables", COLUMN, "digits32", "images"),
    "run table6 --dataset moons": ("moons", "without labels"),
    "run table6 --dataset nosuch": ("'nosuch'",),
    "run table6 --dataset wein": ("'wein'", "Did you mean wine?", "vera data list"),
    "run table6 --dataset csv": (COLUMN,),
    "run table6 --dataset x/nolabel.csv,label=kind": ("'x/nolabel.csv'", "csv:x/nolabel.csv,label=kind?"),
    "run table6 --dataset my.parquet": ("parquet:my.parquet,label=COLUMN?",),
    "plan table6 --dataset parquet:iris.csv,label=species": ("iris.csv", "csv:iris.csv,label=species?"),
    "run table6 --dataset csv:nowhere.csv,label=kind": ("nowhere.csv",),
    "run table6 --dataset csv:nolabel.csv,label=kind": ("nolabel.csv", "'kind'"),
    "run table6 --dataset csv:empty.csv,label=kind": ("empty.csv", "empty"),
    "run table6 --dataset csv:text.csv,label=kind": ("'a'", "line 3", "'zz'"),
    "run table6 --dataset csv:.,label=kind": ("'.'", "directory", COLUMN),
    "run table6 --dataset csv:,label=kind": ("''", COLUMN),
    "run table6 --dataset csv:semicolon.csv,label=kind": ("semicolon.csv", "semicolons"),
    "run table6 --dataset csv:quoted.csv,label=kind": ("quoted.csv", "semicolons"),
    "run table6 --dataset csv:tabs.csv,label=kind": ("tabs.csv", "tabs"),
    "plan table6 --dataset csv:bare.csv,label=kind": ("bare.csv", "'kind'"),
    # --plugin.
    "plan table2 --plugin .": ("'.'", "directory"),
    "plan table2 --plugin=": ("plug-in", "Python file"),
    "plan table2 --plugin nowhere.py": ("nowhere.py",),
    "plan table2 --plugin syntax.py": ("SyntaxError", "syntax.py", "line 1"),
    "plan table2 --plugin class.py": ("'no-method'", "NoMethod", "vera.methods.Method"),
    "plan mine --plugin lacking.py": ("'lacking'", "Lacking", "fingerprint and stream and test_points"),
    "plan table2 --plugin idle.py": ("'idle'", "Idle", "step", "vera.methods.contract.Method"),
    "plan mine --plugin gone.py": ("gone.py", "line 17", "'own'", "FileNotFoundError"),
    "run mine --dry-run --plugin gone.py": ("gone.py", "line 17", "'own'", "FileNotFoundError"),
    "list --plugin name.py": ("name.py", "line 11", "'mine'", "NameError", "'profil'"),
    "plan mine --plugin spec.py": ("spec.py", "TrialSpec", "Trial(spec, profile)"),
    "plan mine --plugin none.py": ("none.py", "None", "Trial(spec, profile)"),
    "plan table2 --plugin taken.py": ("'table2'", "my-table2"),
    "plan table2 --plugin grid.py": ("'table2-grid'", "my-table2-grid"),
    "plan table2 --plugin artifact.py": ("'table2'", "Mine", "my-table2"),
    # Results and data directories.
    "status --results-dir file": ("--results-dir file", "directory"),
    "render table2 --results-dir file": ("--results-dir file", "directory"),
    "status --results-dir=": ("results", "directory"),
    "status --results-dir s3://": ("'s3://'", "s3://BUCKET/PREFIX"),
    "status --results-dir s3:lab": ("'s3:lab'", "s3://BUCKET/PREFIX", "./s3:lab"),
    "data check --data-dir file": ("--data-dir file", "directory"),
    "data fetch mnist --data-dir file": ("--data-dir file", "directory"),
    "data fetch nosuch": ("'nosuch'", "vera data list"),
    "data check foo": ("'foo'", "vera data list"),
    "render table2": ("results/local", "results/published", "vera run table2"),
    "render table2 --results-dir no": ("in no.", "vera run table2 --results-dir no", TO_PUBLISHED),
    "render all": ("vera list",),
    "render all --results-dir no": ("in no.", "vera list", TO_PUBLISHED),
    "render table2 --from published": (TO_PUBLISHED, "results/published"),
    "render table2 --from elsewhere": ("--from", "'elsewhere'", "local, published"),
    "report": ("vera run toy-demo",),
    "report --results-dir no": ("vera run toy-demo --results-dir no", TO_PUBLISHED),
    "report --from published": (TO_PUBLISHED, "results/published"),
    "plan table2 --reuse-published": ("--reuse-published", "results/published"),
    "docs": ("vera docs", "results/published"),
    "publish nowhere table2": ("nowhere",),
    "perf step --quick --keep results/published": ("--keep results/published", "--quick"),
    "perf step --shapes nosuch": ("--shapes", "'nosuch'", "toy"),
    # Launchers.
    "launch slurm -- run tabel2": ("after --", "'tabel2'", "Did you mean table2"),
    "launch slurm": ("--", "run table2 --profile paper"),
    "launch slurm -- vera run table2": ("-- run table2",),
    "launch slurm -- status": ("status",),
    "launch job --results-dir a -- run table2 --results-dir b": ("--results-dir",),
    "launch job -- run toy-demo --only method=vrea": ("after --", "toy-demo", "method=vrea"),
    "launch job -- run table6 --dataset csv:iris.csv,label=species --only method=vrea": (
        "method=vrea",
        "Did you mean",
    ),
    "launch job -- run table9": ("after --", "table9", "vera render table9"),
    "launch job -- search": ("after --", "PROBLEM"),
    "launch ray-up -- search moon": ("after --", "'moon'", "Did you mean moons?"),
    "launch ray-up --hosts , -- run table2": ("--hosts", "10.0.0.1,10.0.0.2", "AWS"),
    "launch ray-up --hosts= -- run table2": ("--hosts",),
}
"""Command → facts in its one line of error: names, values and commands, not the wording."""

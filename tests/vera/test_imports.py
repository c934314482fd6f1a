"""Every module can be imported first, in an interpreter that has loaded no other module of the project."""

import subprocess
import sys

import pytest
from locations import ROOT

import vera

IMPORT_EACH = """
import os, sys, traceback
import numpy, PIL.Image, pyarrow.parquet, ray.tune, torch  # once: only the project's modules must be fresh

for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            __import__(module)
        except BaseException:
            print(module, traceback.format_exc(), sep="\\n", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def list_modules(package: str) -> list[str]:
    paths = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / package).rglob("*.py"))
    return sorted(".".join(path.parts).removesuffix(".__init__") for path in paths if path.name != "__main__")


@pytest.mark.long
@pytest.mark.parametrize("package", ["vera", "sweeps", "bench"])
def test_each_module_can_be_imported_first(package):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EACH, *list_modules(package)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def test_every_public_name_can_be_imported():
    assert sorted(vera.__all__) == dir(vera)
    for name in vera.__all__:
        assert getattr(vera, name) is not None
    with pytest.raises(AttributeError):
        _ = vera.no_such_name


def test_specs_and_errors_do_not_load_torch():
    code = "import sys, vera; vera.TrialSpec; vera.errors; vera.load_plugin; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0

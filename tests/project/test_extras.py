"""The core needs four packages; everything else belongs to an extra, which errors name."""

import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest
from bare_process import block_imports
from facts import raises_with
from installed_packages import PROJECT, list_requirements, list_unavailable, normalise
from locations import HELPERS, ROOT

from vera.errors import MissingExtra
from vera.extras import CORE, EXTRAS, explain_missing, require_package

RUN = "import runpy, sys; sys.path.insert(0, {root!r}); runpy.run_path({script!r}, run_name='__main__')"


def list_packages(modules):
    """The packages that install these modules."""
    owners = packages_distributions()
    return {normalise(owner) for module in modules for owner in owners[module]}


def test_the_table_of_modules_agrees_with_pyproject():
    assert list_packages(CORE) == set(list_requirements()) == {"numpy", "safetensors", "torch", "tqdm"}
    assert {extra: list_packages(modules) for extra, modules in EXTRAS.items()} == {
        extra: set(list_requirements(extra)) for extra in EXTRAS
    }
    assert PROJECT["optional-dependencies"].keys() == {*EXTRAS, "all", "docs", "dev"}
    assert PROJECT["optional-dependencies"]["all"] == [f"vera[{','.join(EXTRAS)}]"]


def test_the_core_trains_saves_loads_and_refuses_the_rest_with_the_name_of_the_extra(tmp_path):
    blocked = list_unavailable(list_requirements())
    assert {"ray", "pyarrow", "matplotlib", "PIL", "scipy", "torchvision", "rich"} <= blocked
    script = str(HELPERS / "project" / "core_example.py")
    code = block_imports(blocked) + RUN.format(root=str(ROOT), script=script)
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("package", "facts"),
    [
        ("ray", ["pip install 'vera[sweeps]'"]),
        ("matplotlib.pyplot", ["package matplotlib", "pip install 'vera[render]'"]),
        ("pyarrow", ["pip install 'vera[sweeps]' to run", "pip install 'vera[render]' to read"]),
        ("PIL", ["pip install 'vera[images]'"]),
        ("torch", ["pip install vera"]),
    ],
)
def test_a_missing_package_is_explained(package, facts):
    with raises_with(MissingExtra, "This command", *facts), explain_missing("This command"):
        raise ModuleNotFoundError(name=package)


def test_the_absence_of_any_other_module_is_a_bug_and_keeps_its_traceback():
    with pytest.raises(ModuleNotFoundError), explain_missing("This command"):
        import no_such_module  # noqa: F401


def test_a_package_is_required_without_importing_it(monkeypatch):
    require_package("wandb", "--wandb")
    monkeypatch.setattr("vera.extras.find_spec", lambda name: None)
    with raises_with(MissingExtra, "--wandb", "package wandb", "vera[exports]"):
        require_package("wandb", "--wandb")

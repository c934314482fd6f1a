"""The layers of the design: the import contracts hold and can fail, and there are no import cycles."""

import graphlib
import pkgutil
import subprocess
import sys
import tomllib

import grimp
import pytest
from locations import ROOT

import sweeps
from bench.catalogue import find_papers

BARE_RENDERING = "results are read and rendered without torch, ray and optuna"
ONLY_CLUSTER = "only sweeps.cluster imports ray"


@pytest.fixture
def graph():
    """Imports of all modules, also those inside functions, but not those for type checking."""
    packages = ("vera", "sweeps", "bench")
    return grimp.build_graph(
        *packages, include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


def lint(directory):
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))",
    ]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True)


def test_the_import_contracts_hold():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def list_rooms_of_sweeps():
    rooms = {f"sweeps.{info.name}" for info in pkgutil.iter_modules(sweeps.__path__) if info.ispkg}
    return rooms - {"sweeps.cluster"}


def test_no_room_of_sweeps_is_left_out_of_its_contract():
    """A new room of sweeps needs an entry in source_modules of pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (rooms,) = [each["source_modules"] for each in settings["contracts"] if each["name"] == ONLY_CLUSTER]
    assert sorted(list_rooms_of_sweeps() - {*rooms}) == []


def test_every_paper_is_rendered_without_torch_and_ray(graph):
    """Also a paper that pyproject.toml does not name: it needs no edit outside its folder."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (ignored,) = [each["ignore_imports"] for each in contracts if each["name"] == BARE_RENDERING]
    for importer, imported in (each.split(" -> ") for each in ignored):
        graph.remove_import(importer=importer, imported=imported)
    papers = set(find_papers())
    assert "bench.paper" in papers
    for paper in papers:
        for package in ("torch", "ray", "optuna"):
            chains = graph.find_shortest_chains(importer=paper, imported=package, as_packages=True)
            assert not chains, f"{paper} imports {package}: {chains}"


def write_module(root, name, text=""):
    path = root / f"{name.replace('.', '/')}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in path.relative_to(root).parents[:-1]:
        (root / folder / "__init__.py").touch()
    with path.open("a") as file:  # a module may be given several imports
        file.write(text)


def test_a_forbidden_import_is_found(tmp_path):
    """In a copy of the layers that contains only the modules named in the contracts."""
    settings = (ROOT / "pyproject.toml").read_text()
    (tmp_path / "pyproject.toml").write_text(settings)
    for package in ("vera", "sweeps", "bench"):
        write_module(tmp_path, f"{package}.__init__")
    for contract in tomllib.loads(settings)["tool"]["importlinter"]["contracts"]:
        for module in contract["source_modules"]:
            write_module(tmp_path, f"{module}.__init__")
        for ignored in contract.get("ignore_imports", ()):
            importer, imported = ignored.split(" -> ")
            write_module(tmp_path, imported)
            write_module(tmp_path, importer, f"import {imported}\n")
    write_module(tmp_path, "vera.trainer", "def late():\n    import pandas\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "vera is the science alone BROKEN" in done.stdout
    assert "1 broken" in done.stdout


def test_there_are_no_import_cycles(graph):
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        raise AssertionError(f"import cycle: {' → '.join(error.args[1])}") from error

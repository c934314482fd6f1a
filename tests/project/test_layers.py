"""The layer table of the design, enforced: the import contracts hold, and they can fail."""

import subprocess
import sys
import tomllib

from locations import ROOT


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


def test_a_forbidden_import_would_be_found(tmp_path):
    for package in ("vera", "sweeps", "bench"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    for module in sorted({module for contract in contracts for module in contract["source_modules"]}):
        path = tmp_path / (module.replace(".", "/") + ".py")
        if "." in module:
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text("")
    (tmp_path / "vera" / "trainer.py").write_text("def late():\n    import pandas\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "vera is the science alone BROKEN" in done.stdout

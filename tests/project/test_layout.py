"""The layout: rooms stay small, class names are unique, and tests lie as the source does."""

import ast
from collections import Counter, defaultdict

from locations import HELPERS, ROOT

LARGEST = 15
"""Modules in one folder, `__init__.py` not counted."""
PACKAGES = ("vera", "sweeps", "bench")
TESTS = HELPERS.parent


def list_modules(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_folder_holds_many_modules():
    modules = [path for path in list_modules(*PACKAGES, "tests") if path.name != "__init__.py"]
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules)
    assert {folder: count for folder, count in counts.items() if count > LARGEST} == {}


def test_class_names_are_unique():
    places = defaultdict(list)
    for path in list_modules(*PACKAGES, "tests"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_names_of_test_files_are_unique():
    counts = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in counts.items() if count > 1] == []


def test_tests_lie_as_the_source_does():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    mirrored = {folder for folder in folders if folder.parts[0] != "project"}
    assert [folder.as_posix() for folder in sorted(mirrored) if not (ROOT / folder).is_dir()] == []

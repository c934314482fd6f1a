"""`make release-check`: what keeps a checkout from being released."""

import subprocess
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from distribution import copy_files
from locations import ROOT

FILES = ("pyproject.toml", "vera/__init__.py", "CITATION.cff", "apptainer.def", "CHANGELOG.md")
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## {version} – 2026-11-18\n\n### Added\n- All of it.\n"


@pytest.fixture(scope="module")
def release_check():
    spec = spec_from_file_location("release_check", ROOT / ".ci" / "release_check.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(release_check, tmp_path):
    """A clean checkout of the version that the project states."""
    root = copy_files(FILES, tmp_path)
    version = release_check.read_versions(ROOT)["pyproject.toml"]
    (root / "CHANGELOG.md").write_text(CHANGELOG.format(version=version), encoding="utf-8")
    git(root, "init", "--quiet")
    commit(root)
    return root


def git(root, *words):
    identity = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    subprocess.run(["git", *identity, *words], cwd=root, check=True)


def commit(root):
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "State")


def replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_versions_of_this_checkout_agree(release_check):
    assert len(set(release_check.read_versions(ROOT).values())) == 1


def test_a_clean_checkout_can_be_released(release_check, checkout):
    assert list(release_check.list_problems(checkout)) == []


@pytest.mark.parametrize("file", [file for file in FILES if file != "CHANGELOG.md"])
def test_another_version_is_named_with_its_file(release_check, checkout, file):
    version = release_check.read_versions(checkout)[file]
    replace(checkout / file, version, "9.8.7")
    commit(checkout)
    (problem,) = release_check.list_problems(checkout)
    assert f"{file} 9.8.7" in problem
    assert version in problem


def test_unreleased_entries_are_a_problem(release_check, checkout):
    replace(checkout / "CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- A change.\n")
    commit(checkout)
    (problem,) = release_check.list_problems(checkout)
    assert "Unreleased" in problem


def test_a_version_without_a_date_is_a_problem(release_check, checkout):
    replace(checkout / "CHANGELOG.md", " – 2026-11-18", "")
    commit(checkout)
    (problem,) = release_check.list_problems(checkout)
    assert "heading" in problem


def test_a_changed_tree_is_a_problem(release_check, checkout):
    (checkout / "new.txt").write_text("new")
    (problem,) = release_check.list_problems(checkout)
    assert "new.txt" in problem

"""Provenance: the commit of the checkout, the versions and the processor."""

import subprocess

from locations import ROOT

from sweeps.run import provenance
from sweeps.run.provenance import collect_versions, read_git_state


def test_the_commit_is_that_of_the_checkout():
    head = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    assert read_git_state()[0] == head.stdout.strip()


def test_code_outside_a_checkout_has_no_commit(monkeypatch, tmp_path):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert read_git_state() == ("", False)


def test_a_change_of_the_code_is_noticed_and_a_change_of_results_is_not(monkeypatch, tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    (tmp_path / "results").mkdir()
    for name in ("code.py", "results/table.md"):
        (tmp_path / name).write_text("one")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    (tmp_path / "results" / "table.md").write_text("two")
    assert read_git_state()[1] is False
    (tmp_path / "code.py").write_text("two")
    assert read_git_state()[1] is True


def test_packages_that_are_not_installed_are_left_out(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("numpy", "no-such-package"))
    assert collect_versions().keys() == {"python", "numpy"}

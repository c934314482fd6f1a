"""`vera data`: output and exit codes of list, fetch and check."""

import re
import subprocess
import sys

import pytest

from bench.cli.main import main
from vera.data.digits import mnist_files
from vera.spec.registry import datasets

PLUGIN = '''
from vera.data import Moons
from vera.spec.registry import datasets


@datasets.register("crescents")
class Crescents(Moons):
    """Moons under another name.

    Not this line.
    """
'''
MNIST_SETS = "mnist-logit, mnist-pixels, mnist-table, stacked-mnist"


@pytest.fixture(autouse=True)
def empty_data_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "nothing"))


def test_list_names_every_data_set_and_what_is_missing(capsys, tmp_path):
    assert main(["data", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    status = {line.split()[0]: line for line in lines[: lines.index("")]}
    assert set(status) >= {"moons", "circles", "rings", "mnist-logit", "mnist5k-logit", "hepmass", "crop"}
    assert set(status) >= {"human", "mnist-table", "mnist5k-table", "wine", "csv", "parquet"}
    assert "needs no files" in status["moons"]
    assert "your own file" in status["parquet"]
    assert datasets.get("moons").__doc__.strip().splitlines()[0] in status["moons"]
    assert " here " in status["mnist5k-logit"]
    assert " missing " in status["mnist-logit"]
    assert " here (mnist5k) " in status["stacked-mnist"]
    assert "missing" in status["celeba-test"]
    assert "photos" in status
    remedies = dict(line.split(": ", 1) for line in lines[lines.index("") :] if line)
    assert str(tmp_path / "nothing") in remedies[MNIST_SETS]
    for names, source in {
        MNIST_SETS: "mnist",
        "hepmass": "hepmass",
        "cifar10, cifar10-16x16, cifar10-test": "cifar10",
        "svhn, svhn-test": "svhn",
        "celeba-test": "celeba",
    }.items():
        assert f"vera data fetch {source}`" in remedies[names]


def test_list_searches_the_given_directory(capsys, small_mnist, tmp_path):
    small_mnist.write(tmp_path / "here")
    assert main(["data", "list", "--data-dir", str(tmp_path / "here")]) == 0
    missing = [line.split()[0] for line in capsys.readouterr().out.splitlines() if " missing " in line]
    unseen = ["celeba-test", "cifar10-test", "cifar100-test", "svhn-test"]
    assert missing == ["cifar10", "cifar10-16x16", "cifar100", "crop", "hepmass", "human", "svhn", *unseen]


def test_list_shows_the_data_set_of_a_plugin(capsys, tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    assert main(["data", "list", "--plugin", str(plugin)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^crescents +needs no files +Moons under another name\.$", out, re.MULTILINE)
    assert "Not this line" not in out


def test_check_exit_codes(capsys, small_mnist, tmp_path):
    assert main(["data", "check"]) == 0
    assert main(["data", "check", "mnist"]) == 1
    folder = small_mnist.write(tmp_path / "here") / "MNIST" / "raw"
    assert main(["data", "check", "mnist", "--data-dir", str(tmp_path / "here")]) == 0
    (folder / f"{mnist_files.TEST_LABELS}.gz").write_bytes(b"")
    capsys.readouterr()
    assert main(["data", "check", "--data-dir", str(tmp_path / "here")]) == 1
    lines = capsys.readouterr().out.splitlines()
    of_archives, of_images = 3, 12
    states = ["ok", "ok", "ok", "corrupt", "ok"] + ["missing"] * (of_archives + of_images)
    assert [line.split()[0] for line in lines[: lines.index("")]] == states


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("wine", "comes with vera"),
        ("digits32", "comes with vera"),
        ("moons", "no files"),
        ("csv", "your own file"),
    ],
)
def test_data_set_without_files_to_fetch_names_its_source(capsys, name, fact):
    for action in ("fetch", "check"):
        assert main(["data", action, name]) == 0
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith(f"{name} ")
        assert fact in line
        assert f"nothing to {action}" in line


def test_fetch_keeps_files_that_are_here(capsys, small_mnist, tmp_path):
    small_mnist.write(tmp_path / "here")
    assert main(["data", "fetch", "mnist", "--data-dir", str(tmp_path / "here")]) == 0
    assert "nothing to fetch" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["data", "fetch", "minst"], ("'minst'", "Did you mean mnist")),
        (["data", "list", "--plugin", "absent.py"], ("absent.py",)),
    ],
)
def test_mistake_is_one_line_and_exit_code_2(capsys, words, facts):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert all(fact in captured.err for fact in facts)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_bug_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr("vera.data.files.fetch.check", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["data", "check"])


@pytest.mark.parametrize("words", [[], ["data"], ["data", "fetch"], ["date"]])
def test_incomplete_command_names_its_help_in_one_line(capsys, words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert re.fullmatch(
        r"vera( data( fetch)?)?: .* See: vera( data( fetch)?)? --help\n", capsys.readouterr().err
    )


def test_help_needs_no_torch():
    code = (
        "import sys\nfrom bench.cli.main import main\n"
        "try: main(['data', '--help'])\nfinally: print('torch' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout.endswith("False\n"), run.stderr
    assert all(action in run.stdout for action in ("list", "fetch", "check"))

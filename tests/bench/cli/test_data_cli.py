"""`vera data ...`: what is printed, where, and with which exit code."""

import re
import subprocess
import sys

import pytest

from bench.cli.main import main
from vera.data.digits import sources as digits
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


@pytest.fixture(autouse=True)
def empty_data_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "nothing"))


def test_list_names_every_data_set_and_what_is_missing(capsys, tmp_path):
    assert main(["data", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    status = {line.split()[0]: line for line in lines[: lines.index("")]}
    assert set(status) >= {"moons", "circles", "rings", "mnist-logit", "mnist5k-logit"}
    assert set(status) >= {
        "hepmass",
        "crop",
        "human",
        "mnist-table",
        "mnist5k-table",
        "wine",
        "csv",
        "parquet",
    }
    assert "needs no files" in status["moons"]
    assert "your own file" in status["parquet"]
    assert "half circles" in status["moons"]
    assert " here " in status["mnist5k-logit"]
    assert " missing " in status["mnist-logit"]
    assert " here (mnist5k) " in status["stacked-mnist"], "laptop needs no more"
    assert "missing" in status["celeba-test"]
    assert "Unseen" in status["photos"]
    remedies = dict(line.split(": ", 1) for line in lines[lines.index("") :] if line)
    assert str(tmp_path / "nothing") in remedies["mnist-logit, mnist-pixels, mnist-table, stacked-mnist"]
    for names, source in {
        "mnist-logit, mnist-pixels, mnist-table, stacked-mnist": "mnist",
        "hepmass": "hepmass",
        "cifar10, cifar10-test": "cifar10",
        "svhn, svhn-test": "svhn",
        "celeba-test": "celeba",
    }.items():
        assert f"vera data fetch {source}`" in remedies[names]


def test_list_looks_into_the_named_directory(capsys, small_mnist, tmp_path):
    small_mnist.write(tmp_path / "here")
    assert main(["data", "list", "--data-dir", str(tmp_path / "here")]) == 0
    missing = [line.split()[0] for line in capsys.readouterr().out.splitlines() if " missing " in line]
    unseen = ["celeba-test", "cifar10-test", "cifar100-test", "svhn-test"]
    assert missing == ["cifar10", "cifar100", "crop", "hepmass", "human", "svhn", *unseen]


def test_list_shows_a_plugin_s_data_set(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "_known", dict(datasets._entries))
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    assert main(["data", "list", "--plugin", str(plugin)]) == 0
    out = capsys.readouterr().out
    assert "crescents       needs no files  Moons under another name.\n" in out
    assert "Not this line" not in out


def test_check_exit_codes(capsys, small_mnist, tmp_path):
    assert main(["data", "check"]) == 0
    assert main(["data", "check", "mnist"]) == 1
    folder = small_mnist.write(tmp_path / "here") / "MNIST" / "raw"
    assert main(["data", "check", "mnist", "--data-dir", str(tmp_path / "here")]) == 0
    (folder / f"{digits.TEST_LABELS}.gz").write_bytes(b"")
    capsys.readouterr()
    assert main(["data", "check", "--data-dir", str(tmp_path / "here")]) == 1
    lines = capsys.readouterr().out.splitlines()
    states = ["ok", "ok", "ok", "corrupt", "ok"] + ["missing"] * (
        3 + 12
    )  # of the UCI archive, and of the image sets
    assert [line.split()[0] for line in lines[: lines.index("")]] == states


@pytest.mark.parametrize(
    ("name", "why"),
    [("wine", "comes with scikit-learn"), ("digits32", "comes with a package that is installed"), ("moons", "needs no files"),
     ("csv", "is your own file")],
)  # fmt: skip
def test_what_nobody_has_to_fetch_says_where_it_comes_from(capsys, name, why):
    for action in ("fetch", "check"):
        assert main(["data", action, name]) == 0
        assert capsys.readouterr().out == f"{name} {why}; nothing to {action}.\n"


def test_fetch_says_when_there_is_nothing_to_do(capsys, small_mnist, tmp_path):
    small_mnist.write(tmp_path / "here")
    assert main(["data", "fetch", "mnist", "--data-dir", str(tmp_path / "here")]) == 0
    assert "nothing to fetch" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["data", "fetch", "minst"], "vera: There are no files to fetch for 'minst'. Did you mean mnist"),
        (["data", "list", "--plugin", "absent.py"], "vera: There is no plug-in file absent.py."),
    ],
)
def test_a_user_s_mistake_is_one_line_and_exit_code_2(capsys, argv, message):
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_bug_shows_itself(monkeypatch):
    monkeypatch.setattr("vera.data.files.fetch.check", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["data", "check"])


@pytest.mark.parametrize("argv", [[], ["data"], ["data", "fetch"], ["date"]])
def test_an_incomplete_command_names_its_help_in_one_line(capsys, argv):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert re.fullmatch(
        r"vera( data( fetch)?)?: .* See: vera( data( fetch)?)? --help\n", capsys.readouterr().err
    )


def test_help_needs_no_torch():
    code = "import sys\nfrom bench.cli.main import main\ntry: main(['data', '--help'])\nfinally: print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout.endswith("False\n"), run.stderr
    assert all(action in run.stdout for action in ("list", "fetch", "check"))

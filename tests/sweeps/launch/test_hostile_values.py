"""No value of a launcher's flag breaks out of its place: it is refused, or it arrives as it was typed."""

import json
import shlex

import pytest
import yaml
from launch_helpers import RUN

from bench.cli.main import main

HOSTILE = ("a\nb: c", "a\r#SBATCH --x", "$(id)", "`id`", "a'; id; '", 'a"; id; "', "a\u2028b", "é 🙂: {0}")
SHARED = ("--results-dir", "/shared")
SYSTEMS = {
    "slurm": ((*SHARED, "--setup", ":"), "partition name time token-dir sbatch results-dir data-dir output"),
    "ray-up": (
        SHARED,
        "name hosts ssh-user ssh-key image region instance setup output working-dir instance-profile "
        "results-dir data-dir",
    ),
    "kuberay": (
        (*SHARED, "--image", "me/vera", "--results-claim", "c", "--data-dir", "/data", "--data-claim", "d"),
        "name image memory-per-node results-claim data-claim secret time service-account namespace "
        "results-dir data-dir output",
    ),
    "job": (SHARED, "address name working-dir results-dir data-dir"),
}
CASES = [(system, f"--{flag}") for system, (_, flags) in SYSTEMS.items() for flag in flags.split()]


def list_differences(script, value, plain, plain_value):
    """Lines whose words, as a shell reads them, differ in more than the value."""
    lines, expected = script.splitlines(), plain.splitlines()
    if len(lines) != len(expected):
        return [f"{len(lines)} lines"]
    pairs = [(line, other) for line, other in zip(lines, expected, strict=True) if line != other]
    return [line for line, other in pairs if split_words(line, value) != split_words(other, plain_value)]


def split_words(line, value):
    words = shlex.split(line.rstrip("\\ &"))
    return [word.replace(json.dumps(value)[1:-1], "V").replace(value, "V") for word in words]


def find_structure(value):
    """Nested data without the texts."""
    if isinstance(value, dict):
        return {key: find_structure(item) for key, item in value.items()}
    return [find_structure(item) for item in value] if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize(("system", "flag"), CASES)
def test_a_hostile_value_is_refused_or_stays_in_its_place(system, flag, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lead = "/shared/" if flag in ("--results-dir", "--data-dir") else ""

    def launch(value):
        code = main(["launch", system, *SYSTEMS[system][0], f"{flag}={value}", "--", *RUN])
        printed = capsys.readouterr().out
        if flag != "--output" or code:
            return code, printed
        (file,) = tmp_path.iterdir()
        assert file.name == value
        return code, file.rename(tmp_path.with_name("written")).read_text()

    _, plain = launch(f"{lead}plain")
    for hostile in HOSTILE:
        value = f"{lead}{hostile}"
        code, text = launch(value)
        assert (code, list(tmp_path.iterdir())) in ((0, []), (2, []))
        if code == 2:
            continue
        if system in ("slurm", "job") or flag == "--output":
            assert list_differences(text, value, plain, f"{lead}plain") == []
        else:
            assert find_structure(yaml.safe_load(text)) == find_structure(yaml.safe_load(plain))


def test_most_hostile_values_are_refused_where_a_name_is_expected(capsys):
    for flag in ("--partition", "--token-dir", "--name", "--time", "--sbatch"):
        for value in HOSTILE:
            assert main(["launch", "slurm", *SHARED, f"{flag}={value}", "--", *RUN]) == 2, (flag, value)
    assert capsys.readouterr().out == ""

"""Oversights in a plug-in are noted on stderr, and the command continues."""

from engine_helpers import vera

BARE = """
from dataclasses import dataclass

from vera.methods import Method
from vera.spec.registry import methods


@dataclass(eq=False)
class Odd(Method):
    def setup(self): ...
    def step(self, x): ...
"""


def plan_table2(folder, file):
    return vera("plan", "table2", "--profile", "smoke", "--results-dir", folder, "--plugin", file)


def test_unregistered_method_is_noted(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(BARE)
    code, out, err = plan_table2(tmp_path, file)
    assert code == 0
    (note,) = err.splitlines()
    assert all(fact in note for fact in (str(file), "Odd", '@methods.register("NAME")'))
    assert "12 trials" in out


def test_base_class_of_a_registered_method_is_not_noted(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(BARE + '\n\n@methods.register("even")\n@dataclass(eq=False)\nclass Even(Odd): ...\n')
    code, out, err = plan_table2(tmp_path, file)
    assert (code, err) == (0, "")
    assert "13 trials" in out


def test_method_with_a_required_setting_is_noted_and_in_no_table(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        BARE.replace("@dataclass", '@methods.register("odd")\n@dataclass').replace(
            "    def setup", "    rate: float\n\n    def setup"
        )
    )
    for command in (("plan", "table10", "--profile", "smoke"), ("list",)):
        code, out, err = vera(*command, "--results-dir", tmp_path, "--plugin", file)
        assert code == 0
        (note,) = err.splitlines()
        assert all(fact in note for fact in ("'odd'", "rate", "default"))
        assert " odd " not in out

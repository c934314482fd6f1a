"""What is odd about a plug-in and need not be a mistake is said, and the command goes on."""

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


def test_a_method_that_is_not_registered_is_named(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(BARE)
    code, out, err = vera("plan", "table2", "--profile", "smoke", "--results-dir", tmp_path, "--plugin", file)
    assert (code, err) == (
        0,
        f'vera: {file} does not register its method Odd: write @methods.register("NAME") above it.\n',
    )
    assert "11 trials" in out


def test_a_base_of_one_that_is_registered_is_none_of_these(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(BARE + '\n\n@methods.register("even")\n@dataclass(eq=False)\nclass Even(Odd): ...\n')
    code, out, err = vera("plan", "table2", "--profile", "smoke", "--results-dir", tmp_path, "--plugin", file)
    assert (code, err) == (0, "")
    assert "12 trials" in out


def test_a_method_without_a_default_is_in_no_table_and_harms_none(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        BARE.replace("@dataclass", '@methods.register("odd")\n@dataclass').replace(
            "    def setup", "    rate: float\n\n    def setup"
        )
    )
    for command in (("plan", "table10", "--profile", "smoke"), ("list",)):
        code, out, err = vera(*command, "--results-dir", tmp_path, "--plugin", file)
        assert (code, err) == (0, "vera: no table takes the method 'odd': it has no default for rate.\n")
        assert " odd " not in out

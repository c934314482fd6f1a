"""What is odd about a plug-in and need not be a mistake is said, and the command goes on."""

from engine_helpers import vera

BARE = """
from dataclasses import dataclass

from vera.methods import Method
from vera.registry import methods


@dataclass(eq=False)
class Odd(Method):
    def setup(self): ...
    def step(self, x): ...
"""


def test_a_plug_in_that_registers_nothing_is_named(tmp_path):
    """In a process of its own: that importing ours registers ours does not count."""
    file = tmp_path / "odd.py"
    file.write_text(BARE)
    code, out, err = vera("plan", "table2", "--profile", "smoke", "--results-dir", tmp_path, "--plugin", file)
    assert (code, err) == (0, f'vera: {file} registers nothing; is @methods.register("NAME") missing above its class?\n')
    assert "11 trials" in out


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

"""LaTeX: every text is escaped, every line has all cells, and TeX compiles it if TeX is installed."""

import os
import re
import shutil
import subprocess

import pytest
from bench_helpers import GOLDEN, PROFILES
from hypothesis import given
from hypothesis import strategies as st
from toys_helpers import record_of, results_of

from bench.artifact import Column, Sheet
from bench.catalogue import catalogue
from bench.judging.results import Results, open_store
from bench.render import latex as module
from bench.render.latex import escape_latex, render_latex

COMPILERS = {
    "pdflatex": ["-draftmode", "-interaction=nonstopmode", "-halt-on-error"],
    "tectonic": ["--only-cached"],
}
DOCUMENT = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n%s\\end{document}\n"
COMMAND = re.compile(r"\\(?:[A-Za-z]+|[{}$&#%_,`])")


def table(*texts):
    """A sheet with one column and a line for each text."""
    return Sheet(
        "t", "Table [T]", "Caption.", (Column("a", "*a"),), tuple({"a": text} for text in texts), "laptop"
    )


def body(text):
    """The lines between the rules."""
    lines = [line.strip() for line in text.splitlines()]
    return lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a_b & 50% #1", r"a\_b \& 50\% \#1"),
        ("{x} $y$ ~ ^", r"\{x\} \$y\$ \textasciitilde{} \textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("−1.5 ± 0.2", r"$-$1.5 $\pm$ 0.2"),
        ("λ=1 Σ", r"$\lambda$=1 $\Sigma$"),
        ("a < b | c > d", "a $<$ b $|$ c $>$ d"),
        ("[1] *", "{[}1{]} {*}"),
        ("--x ---y", "-{}-x -{}-{}-y"),
        ("Müller–Ω", r"Müller\textendash{}$\Omega$"),
        ("e\u0301", "é"),
        ("two\nlines\tand  more", "two lines and more"),
        ("☃", "{[}U+2603{]}"),
        ("\x07", "{[}U+0007{]}"),
    ],
)
def test_a_text_is_escaped(text, made):
    assert escape_latex(text) == made


@given(st.text())
def test_no_text_contains_a_command_of_its_own(text):
    """Without the commands that escaping adds, only paired braces and dollars are left."""
    rest = COMMAND.sub("", escape_latex(text))
    assert not re.search(r"[\\&#%_]|\^(?!\d)", re.sub(r"\$[^$]*\$", "", rest))
    assert rest.count("{") == rest.count("}")
    assert rest.count("$") % 2 == 0
    assert "\n" not in rest


@pytest.mark.parametrize("profile", PROFILES)
def test_every_line_of_the_table_has_all_cells(golden, profile):
    made = render_latex(golden["golden-table"].render(Results(open_store(GOLDEN), profile)))
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", made).group(1)
    assert len(body(made)) == 7
    for line in body(made):
        assert line.endswith(r"\\")
        assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
    for environment in ("table", "tabular"):
        assert made.count(f"\\begin{{{environment}}}") == made.count(f"\\end{{{environment}}}") == 1
    assert f"({profile} profile)" in made


def test_a_bracket_at_the_start_of_a_line_is_not_an_option_of_the_line_break():
    assert [line[0] for line in body(render_latex(table("[x]", "*")))] == ["{", "{"]


def compile_document(compiler, folder, content):
    (folder / "all.tex").write_text(DOCUMENT % content, encoding="utf-8")
    command = [compiler, *COMPILERS[compiler], "all.tex"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)


@pytest.fixture
def compiler(tmp_path):
    found = next((name for name in COMPILERS if shutil.which(name)), None)
    needed = bool(os.environ.get("VERA_NEEDS_TEX"))  # set in CI
    if found is None and not needed:
        pytest.skip("neither pdflatex nor tectonic is installed")
    if not needed and compile_document(found, tmp_path, "plain words\n").returncode:
        pytest.skip(f"{found} cannot compile a plain document with booktabs")
    return found


def test_tex_compiles_it(golden, tmp_path, compiler):
    every_character = "".join([*module._MATHS, *module._TEXT])
    sheets = [golden["golden-table"].render(Results(open_store(GOLDEN), profile)) for profile in PROFILES]
    awkward = table("[x]", "*", every_character, "àéîöüñçÅ", "☃ \x07", "?` !` -- --- ''")
    done = compile_document(compiler, tmp_path, "".join(map(render_latex, (*sheets, awkward))))
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("name", ["table2", "table6", "table10"])
def test_the_papers_tables_fit_the_page(tmp_path, compiler, name):
    """With values as wide as real ones, and diverged trials."""
    metrics = {
        "test_log_likelihood": -1234.5,
        "best_test_log_likelihood": -1234.5,
        "best_of_ten_batches": -12.345,
        "ceiling": -2.39,
    }
    metrics |= {
        "test_accuracy": 0.98,
        "best_test_accuracy": 0.99,
        "brier": 0.123,
        "calibration_error": 0.12,
        "auroc": 0.987,
    }
    artifact = catalogue.artifact(name)
    outcomes = ("ok", "ok", "diverged")
    made = [record_of(trial, seed, outcome, **(metrics if outcome == "ok" else {}))
            for trial in artifact.trials("laptop") for seed, outcome in enumerate(outcomes)]  # fmt: skip
    done = compile_document(compiler, tmp_path, render_latex(artifact.render(results_of(tmp_path, made))))
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"Overfull \\hbox|Float too large", done.stdout)

"""A sheet as a LaTeX table with booktabs, for use with \\input.

Every text is escaped; Greek letters and signs are set in math mode. Two traps. pdfTeX stops at a character
that it has no glyph for, so characters that are not known here are written as their code points. TeX reads a
bracket or a star at the start of a line as an option of the preceding line break, so both are put in braces.
A table wider than the page is scaled down.
"""

import re
import unicodedata
from textwrap import wrap

from bench.artifact import Sheet
from bench.render.layout import PrintedColumn, collect_notes, lay_out, make_file_stem, make_heading

HEADER_WIDTH = 16
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
_SIGNS = {
    "−": "-", "±": r"\pm", "×": r"\times", "·": r"\cdot", "<": "<", ">": ">", "|": "|", "≤": r"\le",
    "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "∞": r"\infty", "∈": r"\in", "∇": r"\nabla",
    "∂": r"\partial", "√": r"\surd", "→": r"\to", "‖": r"\|", "²": "^2", "³": "^3", "°": r"^\circ",
    "†": r"\dagger", "‡": r"\ddagger", "ℓ": r"\ell", "∑": r"\sum", "✓": r"\surd", "⁰": "^0", "¹": "^1",
    "⁴": "^4", "⁵": "^5", "⁶": "^6", "₀": "_0", "₁": "_1", "₂": "_2", "✗": r"\times", "µ": r"\mu",
    "↑": r"\uparrow", "↓": r"\downarrow",
}  # fmt: skip
_TEXT = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "`": r"\`{}", "…": r"\dots{}",
    "–": r"\textendash{}", "—": r"\textemdash{}", "’": "'", "‘": "`", "“": "``", "”": "''", '"': "''",
    "\u00a0": "~", "\u202f": r"\,", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip


def render_latex(sheet: Sheet) -> str:
    columns = lay_out(sheet)
    body = [
        r" & ".join(escape_latex(text) for text in line) + r" \\"
        for line in zip(*(column.texts for column in columns), strict=True)
    ]
    header = r" & ".join(map(_stack_header, columns)) + r" \\"
    table = [r"\toprule", header, r"\midrule", *body, r"\bottomrule"]
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs,graphicx}.",
            r"\begin{table}",
            r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"  \caption{{{escape_latex(make_heading(sheet))}. {escape_latex(sheet.caption)}}}",
            rf"  \label{{tab:{make_file_stem(sheet)}}}",
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"  \begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in columns)}}}",
            *(f"    {line}" for line in table),
            r"  \end{tabular}}",
            *(
                rf"  \par\smallskip{{\footnotesize {escape_latex(note)}\par}}"
                for note in collect_notes(sheet)
            ),
            r"\end{table}",
            "",
        ]
    )


def _stack_header(column: PrintedColumn) -> str:
    """The header, broken into several lines if it is long, aligned as its column."""
    lines = [escape_latex(line) for line in wrap(column.header, HEADER_WIDTH, break_long_words=False)]
    stacked = r" \\ ".join(lines)
    return rf"\shortstack[{'r' if column.numeric else 'l'}]{{{stacked}}}" if len(lines) > 1 else stacked


def escape_latex(text: str) -> str:
    """The text on one line, every character escaped; two hyphens stay two hyphens."""
    line = unicodedata.normalize("NFC", re.sub(r"[ \t\r\n]+", " ", text))
    return re.sub("-(?=-)", "-{}", "".join(map(_escape_character, line)))


def _escape_character(character: str) -> str:
    if character in _TEXT:
        return _TEXT[character]
    if character in _MATHS:
        return f"${_MATHS[character]}$"
    return character if _is_known(character) else f"{{[}}U+{ord(character):04X}{{]}}"


def _is_known(character: str) -> bool:
    """ASCII, or an accented letter of Latin-1, which every TeX font can compose."""
    base = unicodedata.normalize("NFD", character)[0]
    return (character.isascii() and character.isprintable()) or (
        base.isascii() and base.isalpha() and character < "\u0100"
    )


def _name_command(letter: str) -> str:
    """The command of a Greek letter: \\lambda for λ, which Unicode names LAMDA, and \\Lambda for Λ."""
    name = unicodedata.name(letter).rsplit(" ", 1)[1].replace("LAMDA", "LAMBDA")
    return f"\\{name.title() if letter.isupper() else name.lower()}"


_MATHS = {letter: _name_command(letter) for letter in _GREEK} | _SIGNS

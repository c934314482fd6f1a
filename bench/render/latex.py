"""A sheet as a LaTeX table with booktabs, to be taken in with \\input.

Every text is escaped: what TeX would read as a command is shown as itself, Greek letters and signs are set as
mathematics. Two traps: pdfTeX stops at a character that it has no glyph for, so one that is not known here is
written as its code point; and a line that begins with a bracket or a star would be read as an option of the
line break before it, so both are put in braces. A table that is wider than the page is set smaller.
"""

import re
import unicodedata
from textwrap import wrap

from bench.artifact import Sheet
from bench.render.headings import heading, notes, stem
from bench.render.layout import Strip, spread

HEADER_WIDTH = 16
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
_SIGNS = {
    "−": "-", "±": r"\pm", "×": r"\times", "·": r"\cdot", "<": "<", ">": ">", "|": "|", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "≈": r"\approx", "∞": r"\infty", "∈": r"\in", "∇": r"\nabla", "∂": r"\partial", "√": r"\surd", "→": r"\to", "‖": r"\|",
    "²": "^2", "³": "^3", "°": r"^\circ", "†": r"\dagger", "‡": r"\ddagger", "ℓ": r"\ell", "∑": r"\sum", "✓": r"\surd",
    "⁰": "^0", "¹": "^1", "⁴": "^4", "⁵": "^5", "⁶": "^6", "₀": "_0", "₁": "_1", "₂": "_2", "✗": r"\times", "µ": r"\mu",
    "↑": r"\uparrow", "↓": r"\downarrow",
}  # fmt: skip
_TEXT = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "`": r"\`{}", "…": r"\dots{}", "–": r"\textendash{}",
    "—": r"\textemdash{}", "’": "'", "‘": "`", "“": "``", "”": "''", '"': "''", "\u00a0": "~", "\u202f": r"\,",
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip


def latex(sheet: Sheet) -> str:
    strips = spread(sheet)
    body = [
        r" & ".join(escaped(text) for text in line) + r" \\"
        for line in zip(*(strip.texts for strip in strips), strict=True)
    ]
    table = [r"\toprule", r" & ".join(map(_header, strips)) + r" \\", r"\midrule", *body, r"\bottomrule"]
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs,graphicx}.",
            r"\begin{table}",
            r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"  \caption{{{escaped(heading(sheet))}. {escaped(sheet.caption)}}}",
            rf"  \label{{tab:{stem(sheet)}}}",
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"  \begin{{tabular}}{{{''.join('r' if strip.numeric else 'l' for strip in strips)}}}",
            *(f"    {line}" for line in table),
            r"  \end{tabular}}",
            *(rf"  \par\smallskip{{\footnotesize {escaped(note)}\par}}" for note in notes(sheet)),
            r"\end{table}",
            "",
        ]
    )


def _header(strip: Strip) -> str:
    """A long header on several lines, set flush as its column is."""
    lines = [escaped(line) for line in wrap(strip.header, HEADER_WIDTH, break_long_words=False)]
    stacked = r" \\ ".join(lines)
    return rf"\shortstack[{'r' if strip.numeric else 'l'}]{{{stacked}}}" if len(lines) > 1 else stacked


def escaped(text: str) -> str:
    """On one line, every character as TeX shows it, two hyphens as two hyphens."""
    line = unicodedata.normalize("NFC", re.sub(r"[ \t\r\n]+", " ", text))
    return re.sub("-(?=-)", "-{}", "".join(map(_character, line)))


def _character(character: str) -> str:
    if character in _TEXT:
        return _TEXT[character]
    if character in _MATHS:
        return f"${_MATHS[character]}$"
    return character if _is_known(character) else f"{{[}}U+{ord(character):04X}{{]}}"


def _is_known(character: str) -> bool:
    """ASCII, and the accented letters of Latin-1, which every font of TeX composes."""
    base = unicodedata.normalize("NFD", character)[0]
    return (character.isascii() and character.isprintable()) or (
        base.isascii() and base.isalpha() and character < "\u0100"
    )


def _command(letter: str) -> str:
    """λ, which Unicode calls lamda, as \\lambda; a capital as \\Lambda."""
    name = unicodedata.name(letter).rsplit(" ", 1)[1].replace("LAMDA", "LAMBDA")
    return f"\\{name.title() if letter.isupper() else name.lower()}"


_MATHS = {letter: _command(letter) for letter in _GREEK} | _SIGNS

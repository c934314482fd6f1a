"""Markdown for the API reference, from the source alone: nothing is imported."""

import ast
import re
import textwrap
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

from bench.publishing.markdown import render_grid

WIDTH = 88
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef | ast.Assign | ast.AnnAssign


def describe_module(name: str, root: Path) -> str:
    """The docstring of a module and all its public definitions."""
    module = _parse_module(name, root)
    parts = [f"## `{name}`", _format_text(ast.get_docstring(module) or "")]
    parts += [_describe(own, found, module.body) for own, found in _list_definitions(module)]
    return _join(parts)


def describe_name(package: str, name: str, root: Path) -> str:
    """A name that a package exports, from the module that defines it."""
    module = _parse_module(package, root)
    for statement in ast.walk(module):
        if isinstance(statement, ast.ImportFrom) and name in {
            alias.asname or alias.name for alias in statement.names
        }:
            module = _parse_module(statement.module or "", root)
    found = dict(_list_definitions(module))[name]
    return _describe(name, found, module.body)


def _parse_module(name: str, root: Path) -> ast.Module:
    path = root.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def _list_definitions(module: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Public functions and classes, and the constants that have a docstring."""
    for statement in module.body:
        name = _find_name(statement)
        documented = isinstance(statement, Function | ast.ClassDef) or _find_note(statement, module.body)
        if name and not name.startswith("_") and documented and isinstance(statement, Definition):
            yield name, statement


def _find_name(statement: ast.stmt) -> str:
    if isinstance(statement, Function | ast.ClassDef):
        return statement.name
    target = (
        statement.target
        if isinstance(statement, ast.AnnAssign)
        else statement.targets[0]
        if isinstance(statement, ast.Assign)
        else None
    )
    return target.id if isinstance(target, ast.Name) else ""


def _find_note(statement: ast.stmt, body: list[ast.stmt]) -> str:
    """The string below an assignment."""
    after = body[body.index(statement) + 1 :][:1]
    if after and isinstance(after[0], ast.Expr) and isinstance(after[0].value, ast.Constant):
        value = after[0].value.value
        return cleandoc(value) if isinstance(value, str) else ""
    return ""


def _describe(name: str, found: Definition, body: list[ast.stmt]) -> str:
    heading = f"### `{name}`"
    if isinstance(found, ast.ClassDef):
        return _join([heading, *_describe_class(found)])
    if isinstance(found, Function):
        return _join([heading, _fence(_spell_signature(found)), _format_text(ast.get_docstring(found) or "")])
    return _join([heading, _fence(ast.unparse(found)), _format_text(_find_note(found, body))])


def _describe_class(found: ast.ClassDef) -> Iterator[str]:
    bases = ", ".join(map(ast.unparse, found.bases))
    yield _fence(f"class {found.name}({bases})" if bases else f"class {found.name}")
    yield _format_text(ast.get_docstring(found) or "")
    if fields := [_describe_field(field, found.body) for field in found.body if _is_field(field)]:
        yield render_grid(("field", "type", "default", "meaning"), fields)
    for method in found.body:
        if isinstance(method, Function) and _is_shown(method):
            yield f"#### `{method.name}`"
            yield _fence(_spell_signature(method))
            yield _format_text(ast.get_docstring(method) or "")


def _is_shown(method: Function) -> bool:
    """Whether a method is documented, or is the constructor."""
    if method.name == "__init__":
        return True
    return not method.name.startswith("_") and ast.get_docstring(method) is not None


def _is_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and not _find_name(statement).startswith("_")


def _describe_field(field: ast.stmt, body: list[ast.stmt]) -> tuple[str, str, str, str]:
    assert isinstance(field, ast.AnnAssign)
    kind, meaning = _split_annotation(field.annotation)
    default = f"`{ast.unparse(field.value)}`" if field.value else ""
    note = meaning or " ".join(_find_note(field, body).split())
    return f"`{_find_name(field)}`", f"`{kind}`", default, _escape(note)


def _split_annotation(annotation: ast.expr) -> tuple[str, str]:
    """(type, help) of Annotated[type, "help"]."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple)
        kind, *notes = annotation.slice.elts
        texts = [note.value for note in notes if isinstance(note, ast.Constant)]
        return ast.unparse(kind), next((text for text in texts if isinstance(text, str)), "")
    return ast.unparse(annotation), ""


def _spell_signature(function: Function) -> str:
    """The line that defines a function, one argument a line if it is long."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
    if decorators & {"property", "cached_property"}:
        return f"{function.name}{returns}"
    line = f"{function.name}({ast.unparse(function.args)}){returns}"
    if len(line) <= WIDTH:
        return line
    arguments = "".join(f"    {argument},\n" for argument in _split_arguments(ast.unparse(function.args)))
    return f"{function.name}(\n{arguments}){returns}"


def _split_arguments(text: str) -> Iterator[str]:
    """The parts between commas that are in no bracket."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _format_text(text: str) -> str:
    """A docstring as Markdown: only what looks like HTML is escaped, outside of code."""
    return _escape(textwrap.dedent(text))


def _escape(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def _fence(code: str) -> str:
    return f"```python\n{code}\n```"


def _join(parts: list[str]) -> str:
    return "\n\n".join(filter(None, parts)) + "\n"

"""Checks of what is read: a stored row may have been damaged, edited or made up.

Every rule that code which reads rows relies on is checked again: types, known outcomes, finite numbers, ids
that are usable as file names, and JSON of the expected shape. The rules of `check_record` on privacy and on
the order of keys concern writing only. Columns are checked as a whole with Arrow, and a JSON text that occurs
often is parsed once, so that a hundred thousand rows take about a second.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from math import isfinite
from typing import Any, Literal, NoReturn, get_args, get_origin

import pyarrow as pa
import pyarrow.compute as pc

from sweeps.store.row import SCHEMA_VERSION, CurvePoint, Row
from sweeps.store.schema import Kind, StoredArray, read_column_types

MOST_NESTED = 30
"""Nesting of JSON beyond this would exceed the recursion limit of code that reads it."""
MOST_SHOWN = 60
"""Characters of a bad value that are shown."""
_TRIAL_ID = "^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"
_LARGE_EXPONENT = re.compile(r"[eE]\+?\d{3}")
_CLASSES: dict[Kind, type] = {"rows": Row, "curves": CurvePoint, "arrays": StoredArray}


def find_bad_rows(table: pa.Table, kind: Kind) -> dict[int, str]:
    """Index → what is wrong, for the rows that break a rule. Only the table's columns are checked."""
    bad: dict[int, str] = {}
    if not table.num_rows:
        return bad
    if not _is_valid_arrow(table):
        bad |= {i: "a text is not UTF-8" for i in range(len(table)) if not _is_valid_arrow(table.slice(i, 1))}
        kept = [i for i in range(len(table)) if i not in bad]
        found = find_bad_rows(table.take(kept), kind) if kept else {}
        return bad | {kept[i]: reason for i, reason in found.items()}
    ruled = _list_ruled_columns(kind)
    for name in table.column_names:
        column = table.column(name)
        if name in ruled or column.null_count:
            for i, reason in _find_bad_values(name, column.combine_chunks(), kind):
                bad.setdefault(i, reason)
    return bad


@cache
def _list_ruled_columns(kind: Kind) -> frozenset[str]:
    """The columns that have a rule beyond their Arrow type."""
    columns = read_column_types(_CLASSES[kind])
    typed = {name for name, (hint, _) in columns.items() if hint is float or get_origin(hint) is Literal}
    return frozenset(
        typed | {"trial_id", "attempt", "schema_version", *(_JSON_RULES if kind == "rows" else ())}
    )


def describe_id(table: pa.Table, index: int) -> str:
    """The trial id of a row, safe to print."""
    raw = table.column("trial_id")[index].cast(pa.binary()).as_py() or b""
    return _shorten(raw.decode(errors="replace"))


def _is_valid_arrow(table: pa.Table) -> bool:
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _find_bad_values(name: str, column: Any, kind: Kind) -> Iterator[tuple[int, str]]:
    if column.null_count:
        yield from ((i, f"{name} is missing") for i in _list_where(pc.is_null(column)))
        column = column.fill_null("" if pa.types.is_string(column.type) else 0)
    for is_bad, wanted in _check_column(name, column, kind):
        yield from (
            (i, f"{name} must be {wanted}, got {_shorten(column[i].as_py())}") for i in _list_where(is_bad)
        )
    if kind == "rows" and name in _JSON_RULES:
        yield from _find_bad_json(name, column, _JSON_RULES[name])


def _check_column(name: str, column: Any, kind: Kind) -> Iterator[tuple[Any, str]]:
    """Masks of the values that break a rule, and the rule."""
    if name == "trial_id":
        fits = pc.match_substring_regex(column, _TRIAL_ID)
        yield pc.or_(pc.invert(fits), pc.starts_with(column, "compacted")), "usable as a file name"
    elif name == "attempt":
        yield pc.less(column, 1), "1 or more"
    elif name == "schema_version":
        yield pc.not_equal(column, SCHEMA_VERSION), str(SCHEMA_VERSION)
    columns = read_column_types(_CLASSES[kind])
    annotation = columns[name][0] if name in columns else None
    if get_origin(annotation) is Literal:
        known = pa.array(get_args(annotation), pa.string())
        yield pc.invert(pc.is_in(column, known)), f"one of {', '.join(get_args(annotation))}"
    elif annotation is float:
        yield pc.invert(pc.is_finite(column)), "a finite number"


def _find_bad_json(name: str, column: Any, check: Callable[[Any], str]) -> Iterator[tuple[int, str]]:
    known: dict[str, str] = {}
    for i, text in enumerate(column.to_pylist()):
        if text not in known:
            known[text] = _check_json(text, check)
        if known[text]:
            yield i, f"{name} {known[text]}"


def _check_json(text: str, check: Callable[[Any], str]) -> str:
    """What is wrong with a JSON text; empty if nothing is."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        return check(value) or _check_numbers(text, value) or _check_nesting(text)
    except RecursionError:
        return "is nested too deeply"
    except (ValueError, OverflowError) as error:
        return f"is not valid JSON ({_shorten(error)})"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not finite")


def _check_numbers(text: str, value: Any) -> str:
    """A number such as 1e999 is read as infinite."""
    if not _LARGE_EXPONENT.search(text):
        return ""
    return (
        "" if all(isfinite(leaf) for leaf in _iterate_floats(value)) else "holds a number that is not finite"
    )


def _iterate_floats(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _iterate_floats(item)
    elif isinstance(value, float):
        yield value


def _check_nesting(text: str) -> str:
    if text.count("{") + text.count("[") <= MOST_NESTED:
        return ""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return f"is nested {deepest} deep, at most {MOST_NESTED} is allowed" if deepest > MOST_NESTED else ""


def check_metrics(value: Any) -> str:
    """What is wrong with the parsed metrics of a row; empty if nothing is."""
    if not isinstance(value, dict):
        return "is not an object"
    for name, number in value.items():
        is_number = isinstance(number, int | float) and not isinstance(number, bool) and isfinite(number)
        if not is_number:
            return f"has {_shorten(name)}: {_shorten(number)}, which is not a finite number"
    return ""


def check_spec(value: Any) -> str:
    """What is wrong with the parsed spec: its components must be objects, and names texts."""
    if not isinstance(value, dict):
        return "is not an object"
    networks = value.get("networks", {})
    if not isinstance(networks, dict):
        return "has networks that are not an object"
    parts = {name: value[name] for name in ("dataset", "method") if name in value} | networks
    for name, component in parts.items():
        if not isinstance(component, dict) or not isinstance(component.get("name", ""), str):
            return f"has a {_shorten(name)} that is not an object with a name"
    return ""


def check_versions(value: Any) -> str:
    """What is wrong with the parsed versions of a row; empty if nothing is."""
    if not isinstance(value, dict):
        return "is not an object"
    return "holds lists or objects" if any(isinstance(v, dict | list) for v in value.values()) else ""


def check_restarts(value: Any) -> str:
    """What is wrong with the parsed restarts of a row; empty if nothing is."""
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return "is not a list of objects"
    return (
        "" if all(type(entry.get("step", 0)) is int for entry in value) else "has a step that is no integer"
    )


_JSON_RULES: dict[str, Callable[[Any], str]] = {
    "metrics": check_metrics,
    "spec": check_spec,
    "versions": check_versions,
    "restarts": check_restarts,
}


def _list_where(mask: Any) -> list[int]:
    return [] if not pc.any(mask).as_py() else list(pc.indices_nonzero(mask).to_pylist())


def _shorten(value: Any) -> str:
    """The value with control characters escaped, and at most MOST_SHOWN characters of it."""
    text = repr(str(value)[: MOST_SHOWN + 1])
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"

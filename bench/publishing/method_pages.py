"""The generated parts of the pages in docs/methods: settings, numbers and commands of each method.

Settings come from the signature of the class, numbers from the published tables. Loads torch, which the
method classes need.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.publishing.markdown import render_template
from bench.publishing.quoted_tables import describe_table
from bench.publishing.quotes import QuotedTable
from vera.spec.registry import Registry, joint_methods, methods
from vera.spec.settings import Setting, settings_of

NOTE = (
    "At `laptop` the experiment is smaller than the paper's: its values are not comparable with the paper's "
    "column."
)


def list_methods() -> list[str]:
    """The methods that need a page: all but those of plug-ins."""
    plugins = {*methods.plugin_names(), *joint_methods.plugin_names()}
    return sorted({*methods, *joint_methods} - plugins)


def render_knobs(name: str) -> str:
    """Every setting of the method. If a joint method has the same name, also its additional or different
    settings."""
    own = _list_settings(methods, name) or _list_settings(joint_methods, name)
    joint = None
    if name in methods and name in joint_methods:
        defaults = {setting.name: setting.default for setting in own}
        joint = [
            _describe_setting(setting)
            for setting in _list_settings(joint_methods, name)
            if defaults.get(setting.name, ...) != setting.default
        ]
    return render_template("knobs", knobs=[_describe_setting(setting) for setting in own], joint_knobs=joint)


def _list_settings(registry: Registry[Any], name: str) -> list[Setting]:
    if name not in registry:
        return []
    factory = registry.get(name)
    networks = factory.network_names()
    return [setting for setting in settings_of(factory).values() if setting.name not in networks]


def _describe_setting(setting: Setting) -> tuple[str, str, str]:
    return f"`{setting.name}`", _spell_default(setting.default), setting.help


def _spell_default(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple):
        return f"({', '.join(map(_spell_default, value))})"
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def render_numbers(tables: Iterable[QuotedTable], labels: Mapping[str, Sequence[str]]) -> str:
    """The lines of a method in these tables, next to the paper's values. `labels` are its lines by table."""
    described = []
    for quoted in tables:
        own = labels.get(quoted.table, ())
        lines = [line for line in quoted.lines if line["method"] in own] if own else []
        if lines or (own and quoted.profile != "paper"):
            described.append(describe_table(quoted, lines))
    return render_template("numbers", tables=described, note=NOTE)


def render_command(name: str, tables: Sequence[str]) -> str:
    """The commands that train the method and render every table that has it."""
    return render_template("command", method=name, tables=tables)

"""Model cards: one Markdown page per model, with the front matter that model hubs read."""

from collections.abc import Iterable, Mapping
from typing import Any

from vera.saved.facts import ModelFacts, write_json

FRONT_MATTER = """---
library_name: vera
tags:
- energy-based-model
---"""
USAGE = """```python
import vera

{lines}
```"""


def render_card(facts: ModelFacts, sizes: Mapping[str, int], has_direct_samples: bool) -> str:
    """The card of a model whose networks have these numbers of weights.

    Without direct samples, the example samples by MALA.
    """
    title = facts.label or f"{facts.method['name']} on {facts.data['name']}"
    sections = [
        FRONT_MATTER,
        f"# {_escape(title)}",
        f"An energy-based model of the data set {_escape(facts.data['name'])}, trained with the method "
        f"`{_escape(facts.method['name'])}` for {facts.step:,} steps (seed {facts.seed}).",
        "## Use",
        USAGE.format(lines="\n".join(_list_calls(facts, has_direct_samples))),
        *_render_metrics(facts),
        "## Networks",
        _render_table(("network", "name", "settings", "weights"), _list_networks(facts, sizes)),
        "## Training",
        _render_table(("setting", "value"), [(k, _show(v)) for k, v in facts.method.items()]),
        "## Data",
        _render_table(("fact", "value"), [(k, _show(v)) for k, v in facts.data.items()]),
        "## Provenance",
        _render_table(("fact", "value"), _list_provenance(facts)),
    ]
    return "\n\n".join(sections) + "\n"


def _list_calls(facts: ModelFacts, has_direct_samples: bool) -> list[str]:
    modules = [role for role, component in facts.networks.items() if component is None]
    arguments = "".join(f", {role}=..." for role in modules)
    calls = [
        f'model = vera.load_model("model.safetensors"{arguments})',
        "model.score(x)  # f(x): high where data are likely",
        "model.sample(64)" if has_direct_samples else "model.sample(64, refine=1000)",
    ]
    return [*calls, "model.predict(x)"] if "classes" in facts.data else calls


def _render_metrics(facts: ModelFacts) -> list[str]:
    if not facts.metrics:
        return []
    rows = [(name, f"{value:.6g}") for name, value in sorted(facts.metrics.items())]
    return ["## Metrics", _render_table(("metric", "value"), rows)]


def _list_networks(facts: ModelFacts, sizes: Mapping[str, int]) -> Iterable[tuple[str, ...]]:
    for role, component in facts.networks.items():
        settings = {key: value for key, value in (component or {}).items() if key != "name"}
        name = "a module of its author" if component is None else component["name"]
        yield role, name, _show(settings) if settings else "", f"{sizes.get(role, 0):,}"


def _list_provenance(facts: ModelFacts) -> list[tuple[str, str]]:
    texts = {"trial": facts.trial_id, "commit": facts.commit}
    known = [(name, text) for name, text in texts.items() if text]
    return [*known, *sorted(facts.versions.items())]


def _render_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(_escape(cell) for cell in line)} |" for line in lines)


def _show(value: Any) -> str:
    return value if isinstance(value, str) else write_json(value)


def _escape(text: str) -> str:
    """The text on one line, without the characters that end a table cell or start HTML."""
    line = " ".join(text.split())
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")

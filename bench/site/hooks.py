"""What MkDocs calls while it builds the site (`hooks` in mkdocs.yml)."""

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from bench.site.help_texts import write_help
from bench.site.links import (
    ALIASES,
    DOCS,
    IMAGES,
    PAGES,
    find_site_path,
    list_linked_files,
    rewrite_links,
)
from bench.site.mathematics import render_formulas
from bench.site.reference import list_reference_places, write_reference

HELP = "reference/options.md"
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".md": "markdown", "": "text"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill in the pages of methods and of the API reference, so that a new one needs no entry."""
    root = _find_root(config)
    methods = sorted(path.name for path in (root / DOCS / "methods").glob("*.md"))
    lists: dict[str, list[Any]] = {
        "METHODS": ["methods/README.md", *(f"methods/{name}" for name in methods if name != "README.md")],
        "REFERENCE": [
            {"Commands": "commands.md"},
            {"All options": HELP},
            {"Python": list_reference_places()},
        ],
    }
    config.nav = [_fill_section(entry, lists) for entry in config.nav or []]
    return config


def _fill_section(entry: Any, lists: dict[str, list[Any]]) -> Any:
    if isinstance(entry, dict):
        return {
            title: lists.get(value, value) if isinstance(value, str) else value
            for title, value in entry.items()
        }
    return entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside of docs/, the files that pages link to, and the API reference."""
    root = _find_root(config)
    for source in ALIASES:
        if found := files.get_file_from_path(source.removeprefix(f"{DOCS}/")):
            files.remove(found)
    pages = [f"{DOCS}/{file.src_uri}" for file in files.documentation_pages()] + list(PAGES)
    linked = {
        target
        for page in pages
        for target in list_linked_files((root / page).read_text(encoding="utf-8"), page)
    }
    for source in sorted({*PAGES, *linked}):
        place = find_site_path(source)
        if (root / source).is_file() and files.get_file_from_path(place) is None:
            files.append(_make_file(root / source, source, place, config))
    for place, text in [*write_reference(root), (HELP, write_help())]:
        files.append(File.generated(config, place, content=text))
    return files


def _make_file(path: Path, source: str, place: str, config: MkDocsConfig) -> File:
    if source in PAGES or path.suffix in IMAGES:
        return File.generated(config, place, abs_src_path=str(path))
    language = LANGUAGES.get(path.suffix, "text")
    text = path.read_text(encoding="utf-8")
    content = f"# `{source}`\n\n````{language}\n{text}````\n"
    return File.generated(config, place, content=content)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to places on the site."""
    place = page.file.src_uri
    sources = {site: source for source, site in PAGES.items()}
    source = sources.get(place, f"{DOCS}/{place}")
    root = _find_root(config)
    return rewrite_links(markdown, source, root) if (root / source).is_file() else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Render the formulas."""
    return render_formulas(html)


def _find_root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent

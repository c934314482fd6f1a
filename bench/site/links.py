"""Links between files of the repository, as pages of the site.

Markdown in this repository links to files relative to itself, so that it can be read beside the code. On the
site a page of `docs/` keeps its place, a few pages from elsewhere get one (`PAGES`), images are copied, and
every other file that a page links to becomes a page that shows its text.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

DOCS = "docs"
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "DEVIATIONS.md": "deviations.md",
    "results/README.md": "results.md",
}
"""Pages outside of docs/ and their places on the site."""
ALIASES = {"docs/README.md": "README.md", "docs/methods": "docs/methods/README.md"}
"""Targets of links that another page stands for on the site."""
IMAGES = {".png", ".svg"}
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^[ ]*```.*?^[ ]*```[^\n]*$", re.DOTALL | re.MULTILINE)


def find_site_path(source: str) -> str:
    """The place on the site of a file of the repository, both relative to their roots."""
    source = ALIASES.get(source, source)
    path = PurePosixPath(source)
    if source in PAGES:
        return PAGES[source]
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return source if path.suffix in IMAGES else f"source/{source}.md"


def list_linked_files(text: str, source: str) -> Iterator[str]:
    """The files of the repository that the page `source` links to, relative to the repository."""
    for target in _find_targets(text):
        yield _resolve(target, source)


def _find_targets(text: str) -> Iterator[str]:
    for match in LINK.finditer(FENCE.sub("", text)):
        if not _is_address(match[1]):
            yield match[1]


def rewrite_links(text: str, source: str, root: Path) -> str:
    """The page with links to places on the site; a link to no file of the repository is left as it is, which
    MkDocs reports."""
    here = str(PurePosixPath(find_site_path(source)).parent)

    def rewrite(match: re.Match[str]) -> str:
        target = _resolve(match[1], source)
        if _is_address(match[1]) or not (root / target).exists():
            return match[0]
        return f"{relpath(find_site_path(target), here)}{match[2] or ''}"

    return _replace_outside_fences(text, lambda part: LINK.sub(rewrite, part))


def _is_address(target: str) -> bool:
    return ":" in target


def _resolve(target: str, source: str) -> str:
    return normpath(str(PurePosixPath(source).parent / target))


def _replace_outside_fences(text: str, replace: Callable[[str], str]) -> str:
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [replace(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, replace(text[end:])])

"""Is this checkout ready to be released? Checks versions, changelog and tree, then builds the wheel and
installs it in new environments.

`make release-check` runs it. `python .ci/release_check.py --fast` skips the build.
"""

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def read_versions(root: Path) -> dict[str, str]:
    """The version that each file states; an empty text where it states none."""
    package = ast.parse((root / "vera" / "__init__.py").read_text(encoding="utf-8"))
    assigned = {
        ast.unparse(each.targets[0]): each.value for each in package.body if isinstance(each, ast.Assign)
    }
    return {
        "pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "version"
        ],
        "vera/__init__.py": str(ast.literal_eval(assigned["__version__"])),
        "CITATION.cff": _find(r"^version: (\S+)$", root / "CITATION.cff"),
        "apptainer.def": _find(r"^ +Version (\S+)$", root / "apptainer.def"),
        "CHANGELOG.md": _find(r"^## (\d\S*)", root / "CHANGELOG.md"),
    }


def _find(pattern: str, file: Path) -> str:
    found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def list_problems(root: Path) -> Iterator[str]:
    """Why the checkout cannot be released as it is, one line each."""
    versions = read_versions(root)
    if len(set(versions.values())) > 1:
        stated = ", ".join(f"{file} {version or 'none'}" for file, version in versions.items())
        yield f"The versions differ: {stated}."
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if re.search(r"^- ", changelog.partition("## Unreleased")[2].partition("\n## ")[0], re.MULTILINE):
        yield "CHANGELOG.md has entries under Unreleased. Move them below a heading with version and date."
    if not re.search(r"^## \d\S* – \d{4}-\d\d-\d\d$", changelog, re.MULTILINE):
        yield "CHANGELOG.md has no heading such as '## 1.2.0 – 2026-11-30'."
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True
    )
    if changed.stdout:
        yield f"The tree is not clean: {', '.join(line[3:] for line in changed.stdout.splitlines())}."


def build_and_install(root: Path) -> None:
    """Build sdist and wheel and install the wheel in new environments; CalledProcessError if a step fails."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "build", "--outdir", folder, root], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        subprocess.run([root / ".ci" / "install", wheel], check=True)


def main() -> int:
    """The exit code: 0 if the checkout can be released."""
    problems = list(list_problems(ROOT))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    if "--fast" not in sys.argv:
        build_and_install(ROOT)
    print(f"Version {read_versions(ROOT)['pyproject.toml']} can be released.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

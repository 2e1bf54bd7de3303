"""The gallery: every file of examples/, run as a reader would, with what it prints and the picture it draws."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
LONGEST = 300
"""Seconds for one example."""


@dataclass(frozen=True)
class Shown:
    """An example that was run: its title and text from the docstring, its code, what it printed, and its picture."""

    name: str
    title: str
    text: str
    code: str
    printed: str
    picture: bytes | None

    @property
    def page(self) -> str:
        """Markdown."""
        picture = f"![{self.title}]({self.name}.png)\n\n" if self.picture else ""
        printed = f"```text\n{self.printed}```\n" if self.printed else ""
        return f"# {self.title}\n\n{self.text}\n\n{picture}```python\n{self.code}\n```\n\n## What it prints\n\n{printed}"


def on_config(config: Any) -> Any:
    """Fill the navigation."""
    section = next(part for part in config.nav if "Gallery" in part)
    section["Gallery"] = ["gallery/index.md", *(f"gallery/{path.stem}.md" for path in EXAMPLES)]
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Run all examples, two at a time, and add their pages and pictures."""
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(executed, EXAMPLES))
    for one in shown:
        files.append(File.generated(config, f"gallery/{one.name}.md", content=one.page))
        if one.picture:
            files.append(File.generated(config, f"gallery/{one.name}.png", content=one.picture))
    files.append(File.generated(config, "gallery/index.md", content=overview(shown)))
    return files


def executed(path: Path) -> Shown:
    """Run a file with the name of a picture as its argument, which those that draw nothing ignore."""
    with tempfile.TemporaryDirectory() as directory:
        picture = Path(directory) / f"{path.stem}.png"
        done = subprocess.run(
            [sys.executable, str(path), picture.name], cwd=directory, env=os.environ | {"PYTHONUTF8": "1"},
            capture_output=True, encoding="utf-8", timeout=LONGEST, check=False,
        )  # fmt: skip
        if done.returncode:
            raise PluginError(f"examples/{path.name} failed, so there is no gallery:\n{done.stderr}")
        drawn = picture.read_bytes() if picture.exists() else None
    source = path.read_text(encoding="utf-8")
    title, text = described(source)
    printed = done.stdout.replace(f"drawn: {picture.name}\n", "")
    return Shown(path.stem, title, text, without_docstring(source), printed, drawn)


def described(source: str) -> tuple[str, str]:
    """Title and text: the first line of the docstring up to its colon or full stop, then everything but the command line."""
    first, _, rest = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    title, _, remark = first.partition(":")
    paragraphs = [remark.strip()[:1].upper() + remark.strip()[1:], *rest.split("\n\n")]
    kept = [text.strip() for text in paragraphs if text.strip() and not text.strip().startswith("python ")]
    return title.strip().rstrip("."), "\n\n".join(kept)


def without_docstring(source: str) -> str:
    """The code below the module's docstring."""
    end = ast.parse(source).body[0].end_lineno or 0
    return "\n".join(source.splitlines()[end:]).strip()


def overview(shown: list[Shown]) -> str:
    """The first page: titles, with pictures where there are some."""
    parts = ["# Gallery", "The files of `examples/`, run when this site was built."]
    for one in sorted(shown, key=lambda one: one.picture is None):
        picture = f"\n\n[![{one.title}]({one.name}.png){{ width=480 }}]({one.name}.md)" if one.picture else ""
        first = one.text.split("\n\n")[0]
        parts.append(f"## [{one.title}]({one.name}.md)\n\n{first}{picture}")
    return "\n\n".join(parts) + "\n"

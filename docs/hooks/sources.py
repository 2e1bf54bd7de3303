"""Pages that are files of the repository, CHANGELOG.md and CONTRIBUTING.md, and links from pages to such files.

A file is written once and reads well where it lies: its links are relative to it. On the site the same links lead to the
page that shows the file, and are plain text where no page does.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
SHOWN = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Files of the repository that are pages; CONTRIBUTING.md joins the navigation where there is one."""
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Add CONTRIBUTING.md to the section that says how to extend dcprog."""
    if (ROOT / "CONTRIBUTING.md").exists():
        section = next(pages for part in config.nav for title, pages in part.items() if title == "Algorithms and solvers")
        section.insert(-1, {"Contributing": SHOWN["CONTRIBUTING.md"]})
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Add the repository's own pages, with links that hold on the site."""
    for source, page in SHOWN.items():
        if (ROOT / source).exists():
            text = for_site((ROOT / source).read_text(encoding="utf-8"), source, page)
            files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lead links that leave docs/ to pages; generated pages were written for the site."""
    if page.file.generated_by is not None:
        return markdown
    uri = page.file.src_uri
    return for_site(markdown, f"docs/{uri}", uri)


def for_site(markdown: str, source: str, page: str) -> str:
    """Links of the text of file ``source`` as they have to be on ``page``."""

    def changed(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        home = _page_of(path)
        if home is not None:
            return f"[{text}]({posixpath.relpath(home, posixpath.dirname(page) or '.')}{anchor})"
        return text if (ROOT / path).exists() else match[0]  # a link that leads nowhere stays, and MkDocs refuses it

    return LINK.sub(changed, markdown)


def _page_of(path: str) -> str | None:
    """The page that shows a file of the repository, by its path from the root."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path in SHOWN and (ROOT / path).exists():
        return SHOWN[path]
    if PurePosixPath(path).match("examples/*.py") and (ROOT / path).exists():
        return f"gallery/{PurePosixPath(path).stem}.md"
    return None

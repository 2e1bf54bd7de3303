"""Blocks of Python on the pages are run when the site is built, and show what they print.

- A block of ``python`` is run. The blocks of one page share their names and a directory of their own; what one prints stands
  below it.
- A block of ``python picture TEXT`` draws the matplotlib figure called ``figure``: the picture, with TEXT as its caption,
  stands where the block is, and the code below it, folded. Those who type a page at a prompt leave these out.
- Blocks with ``>>>`` have to print what they show.

A block that fails stops the build, with the line of the page.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import tempfile
import textwrap
import traceback
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

FENCE = re.compile(r"^```python(?: picture ([^\n]+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Run the blocks of a page that was written by hand; pages made by another hook were run by it."""
    if page.file.generated_by is not None:
        return markdown
    run = Page(page.file.src_uri, config, files)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            return FENCE.sub(run.block, markdown)
        finally:
            os.chdir(here)


class Page:
    """A page whose blocks are run from top to bottom."""

    def __init__(self, uri: str, config: Any, files: Any) -> None:
        self.uri, self.config, self.files = uri, config, files
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.pictures = 0

    def block(self, match: re.Match[str]) -> str:
        """A block and what it came to, as Markdown."""
        caption, code = match[1], match[2]
        line = match.string.count("\n", 0, match.start()) + 1
        printed = self._run(code, line)
        if caption is None:
            return match[0] + (f"\n\n``` {{ .text .printed }}\n{printed.rstrip()}\n```" if printed.strip() else "")
        folded = textwrap.indent(f"```python\n{code}```", "    ")
        return f'{self._picture(caption, line)}\n\n??? example "The code of this picture"\n\n{folded}\n'

    def _run(self, code: str, line: int) -> str:
        """What the code prints; its tracebacks have the lines of the page."""
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                if ">>>" in code:
                    self._doctest(code, line)
                    return ""
                exec(compile("\n" * line + code, self.uri, "exec"), self.names)
        except Exception as error:
            raise PluginError(f"{self.uri}, the block in line {line} failed:\n{traceback.format_exc()}") from error
        return printed.getvalue()

    def _doctest(self, code: str, line: int) -> None:
        test = doctest.DocTestParser().get_doctest(code, self.names, self.uri, self.uri, line)
        said = io.StringIO()
        if doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.write, clear_globs=False).failed:
            raise AssertionError(said.getvalue())
        self.names |= test.globs

    def _picture(self, caption: str, line: int) -> str:
        """The figure as a file of the site, and its place on the page."""
        figure = self.names.pop("figure", None)
        if figure is None:
            raise PluginError(f"{self.uri}, the picture in line {line}: the block has to leave a figure called figure")
        self.pictures += 1
        name = f"{os.path.splitext(self.uri)[0]}-{self.pictures}.png"
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=150)
        self.files.append(File.generated(self.config, f"pictures/{name}", content=drawn.getvalue()))
        up = "../" * self.uri.count("/")
        return (
            f"<figure markdown>\n![{caption}]({up}pictures/{name})\n<figcaption markdown>{caption}</figcaption>\n</figure>"
        )

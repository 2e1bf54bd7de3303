"""Formulas between dollars become MathML when the site is built, so that a browser needs no script and no network for them.

The font is STIX Two Math, taken from the package ziamath where it is installed: many systems have no font for formulas.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import ziamath
from latex2mathml.converter import convert
from mkdocs.structure.files import File

FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
BELOW = {"min", "max", "argmin"}
"""Operators that have their set below them where a formula stands by itself; latex2mathml sets it beside them."""

BARS = {"|", "∣", "‖"}
"""Browsers take a bar for an operator between two things, with space about it."""


def on_files(files: Any, *, config: Any) -> Any:
    """Add the font."""
    files.append(File.generated(config, "assets/formulas.ttf", abs_src_path=str(FONT)))
    return files


def on_page_content(page_html: str, **_: Any) -> str:
    """Replace what the Markdown extension arithmatex has marked."""
    page_html = DISPLAY.sub(lambda match: f'<div class="formula">{mathml(match[1], "block")}</div>', page_html)
    return INLINE.sub(lambda match: mathml(match[1], "inline"), page_html)


def mathml(latex: str, display: str) -> str:
    """A formula, with its LaTeX as the label that a screen reader finds."""
    source = html.unescape(latex).strip()
    formula = ElementTree.fromstring(convert(source, xmlns="", display=display))
    formula.set("aria-label", " ".join(source.split()))
    for bar in formula.iter("mo"):
        if bar.text in BARS:
            bar.attrib |= {"lspace": "0", "rspace": "0", "stretchy": "false"}
    if display == "block":
        for part in formula.iter("msub"):
            if part[0].text in BELOW:
                part.tag = "munder"
    return ElementTree.tostring(formula, encoding="unicode")

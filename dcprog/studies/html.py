"""Pages of one file, for the screen and for paper: tables with aligned numbers, pictures inside, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1a1a1a; background: #fff; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .93rem; font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .15rem .6rem; text-align: right; vertical-align: baseline; border-bottom: 1px solid #ccc; }
thead th { vertical-align: bottom; border-bottom: 2px solid #555; }
tbody th { font-weight: normal; min-width: 8.5rem; }
.text { text-align: left; } td.text:nth-child(2) { white-space: nowrap; }
.outside { background: #fde9c9; font-weight: 600; }
.verdict { font-weight: 600; }
.note { color: #444; font-size: .9rem; max-width: 50rem; }
figure { margin: 1.5rem 0; } img { display: block; max-width: 100%; height: auto; } figcaption { color: #444; }
td { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
@page { size: A4; margin: 15mm; }
@media print {
  :root { font-size: 10pt; } body { margin: 0; max-width: none; padding: 0; } .wide { overflow: visible; }
  h1, h2, caption { break-after: avoid; } thead { display: table-header-group; }
  tr, figure { break-inside: avoid; } figure { margin: 4mm 0; }
  img { max-width: 150mm; max-height: 230mm; } p { orphans: 3; widows: 3; }
  table { font-size: 8.5pt; } th, td { padding: .1rem .35rem; }
}
"""


class Entry(NamedTuple):
    """A cell of a table: its text, whether it is marked, and how dark its ground is, from 0 to 1."""

    text: str
    marked: bool = False
    shade: float = 0.0


Row = Sequence[str | Entry]


def page(title: str, body: Sequence[str]) -> str:
    """The whole file."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    content = f"<h1>{escape(title)}</h1>\n" + "\n".join(body)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body><main>\n{content}\n</main></body></html>\n'


def table(caption: str, header: Sequence[str], rows: Sequence[Row], words: int = 2) -> str:
    """The first ``words`` columns are text, and name the row; the others are numbers, aligned on the right.

    >>> print(table("Errors", ["method", "error"], [["FSV", Entry("3.1", marked=True)]], words=1))
    <div class="wide"><table><caption>Errors</caption>
    <thead><tr><th scope="col" class="text">method</th><th scope="col">error</th></tr></thead>
    <tbody>
    <tr><th scope="row" class="text">FSV</th><td class="outside">3.1</td></tr>
    </tbody></table></div>
    """
    head = "".join(f'<th scope="col"{_class("text" * (i < words))}>{escape(name)}</th>' for i, name in enumerate(header))
    body = "\n".join(f"<tr>{''.join(_cell(i, entry, words) for i, entry in enumerate(row))}</tr>" for row in rows)
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def figure(uri: str, caption: str, alt: str) -> str:
    """A picture as a data URI; ``alt`` says what it shows to those who do not see it."""
    return f'<figure><img src="{uri}" alt="{escape(alt)}"><figcaption>{escape(caption)}</figcaption></figure>'


def paragraph(text: str, style: str = "") -> str:
    """Plain text; as a style a "note" is smaller, and a "verdict" bold."""
    return f"<p{_class(style)}>{escape(text)}</p>"


def heading(text: str) -> str:
    """The title of a part."""
    return f"<h2>{escape(text)}</h2>"


def _cell(i: int, entry: str | Entry, words: int) -> str:
    text, marked, shade = entry if isinstance(entry, Entry) else Entry(entry)
    if i == 0 and words:
        return f'<th scope="row" class="text">{escape(text)}</th>'
    names = " ".join(name for name, holds in (("text", i < words), ("outside", marked)) if holds)
    ground = f' style="background: rgba(31, 119, 180, {0.45 * shade:.2f})"' if shade > 0 else ""
    return f"<td{_class(names)}{ground}>{escape(text)}</td>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""

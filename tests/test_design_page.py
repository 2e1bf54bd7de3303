"""docs/design.md names files and rooms that there are, and every room that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
SOURCES = [path.relative_to(ROOT) for home in ("dcprog", "models") for path in (ROOT / home).rglob("*.py")]
LINES = [line for line in PAGE.splitlines() if re.search(r"`[\w./]+(?:\.py|/)`", line)]


def named(line):
    """The files and directories of a line: `program/claims.py`, `refute.py`, `curvature/`, …"""
    return re.findall(r"`([\w./]+(?:\.py|/))`", line)


def places(name, rooms):
    """What a name may mean: a path in dcprog/ or beside it, or in a room named before in the line."""
    homes = [ROOT, ROOT / "dcprog", *rooms]
    return [home / name for home in homes if (home / name).exists()]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:40])
def test_what_is_named_is_there(line):
    rooms = []
    for name in named(line):
        found = places(name, rooms)
        assert found, f"{name} is neither in dcprog/, nor in the rooms that the line names before it"
        place = found[0]
        rooms += [place, place.parent] if place.is_dir() else [place.parent]


def test_pictures_of_the_flow_name_files_that_there_are():
    (picture,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    names = re.findall(r"[\w/]+\.py", picture)
    assert len(names) >= 5
    assert [name for name in names if not places(name, [])] == []


def test_every_room_has_its_line():
    """In the table of the rooms, in which those of dcprog/ stand without it."""
    table = PAGE[PAGE.index("## The rooms") : PAGE.index("## Where to look")]
    listed = set(named(table))
    rooms = {f"{path.name}/" for path in (ROOT / "dcprog").iterdir() if (path / "__init__.py").exists()}
    files = {path.name for path in (ROOT / "dcprog").glob("*.py") if not path.name.startswith("_")}
    assert (rooms | files) - listed == set()


def test_rooms_stand_in_the_order_in_which_they_import():
    """The same order that import-linter holds."""
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r"^layers = \[\n(.*?)^\]", contract, re.DOTALL | re.MULTILINE)[1]
    depth = {name: i for i, line in enumerate(re.findall(r'"(.*)"', layers)) for name in line.split(" | ")}
    table = PAGE[PAGE.index("## The rooms") : PAGE.index("## Where to look")]
    first = [re.match(r"\| `(\w+)(?:/|\.py)", line)[1] for line in table.splitlines() if line.startswith("| `")]
    order = [depth[name] for name in first]
    assert order == sorted(order, reverse=True)

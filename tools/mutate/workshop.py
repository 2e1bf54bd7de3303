"""The copy that faults are put into, and the map from its lines to the tests that run them.

The copy has two parts: ``tree``, the checkout with its tests, and ``site``, the package as an install lays it out. What is
tested is ``site``: tests/conftest.py takes the checkout off the path.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.mutate.probes import Block, probe_package

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".mutation"
LITTER = shutil.ignore_patterns(".git", ".mutation", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")
NEAR = 6
"""Files of tests in the first look."""


def environment(site: Path) -> dict[str, str]:
    """Where dcprog comes from, and one thread for each BLAS: faults are tried side by side."""
    return os.environ | {"PYTHONPATH": str(site), "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def pytest_words(*options: str) -> list[str]:
    """Started in ``tree``, whose paths the names of tests begin with; any path among the options could move that root."""
    plugins = ["-p", "tools.mutate.plugin", "-p", "no:cacheprovider"]
    return [sys.executable, "-m", "pytest", "--rootdir=.", *plugins, "-q", *options]


def build(home: Path = HOME) -> None:
    """The copy, made anew."""
    for part in ("tree", "site"):
        shutil.rmtree(home / part, ignore_errors=True)
    shutil.copytree(ROOT, home / "tree", ignore=LITTER)
    shutil.copytree(ROOT / "dcprog", home / "site" / "dcprog", ignore=LITTER)
    shutil.copytree(ROOT / "models", home / "site" / "dcprog" / "models", ignore=LITTER)


def clone_site(home: Path, number: int) -> Path:
    """A package of its own for each of the faults that are tried side by side."""
    site = home / f"site-{number}"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(home / "site", site)
    return site


def measure(home: Path, workers: int, rooms: tuple[str, ...], tests: list[str]) -> None:
    """Run the tests on a site with probes, each solver alone, and then what fails so once more with its rescuers."""
    for old in home.glob("*.json"):
        old.unlink()
    probing = home / "probing"
    shutil.rmtree(probing, ignore_errors=True)
    shutil.copytree(home / "site", probing)
    blocks = probe_package(probing / "dcprog", rooms)
    alone, failed, rescued = home / "alone.json", home / "failed.json", home / "rescued.json"
    for options in (["--alone", f"--outcomes={alone}"], [f"--only={failed}", f"--outcomes={rescued}"]):
        words = pytest_words("-n", str(workers), *options, *tests)
        subprocess.run(words, cwd=home / "tree", env=environment(probing), check=False)
        failing = [name for name, (passed, *_) in json.loads(alone.read_text(encoding="utf-8")).items() if not passed]
        failed.write_text(json.dumps(failing), encoding="utf-8")
    write_map(home, blocks)


def write_map(home: Path, blocks: dict[str, list[Block]]) -> None:
    """What :class:`Lines` reads: of each file its digest and its blocks, of each block the tests that run it."""
    outcomes = [json.loads((home / f"{name}.json").read_text(encoding="utf-8")) for name in ("rescued", "alone")]
    names = sorted(name for name, (passed, *_) in (outcomes[1] | outcomes[0]).items() if passed)
    ran: dict[int, list[int]] = {}
    for number, name in enumerate(names):
        for block in {b for those in outcomes for b in those.get(name, [0, 0, ()])[2]}:
            ran.setdefault(block, []).append(number)
    files = {
        path: {"digest": digest(home / "site" / path), "blocks": [[*block, ran.get(block[2], [])] for block in those]}
        for path, those in blocks.items()
    }
    tests = {path.name: digest(path) for path in (home / "tree" / "tests").glob("*.py")}
    (home / "map.json").write_text(json.dumps({"names": names, "files": files, "tests": tests}), encoding="utf-8")


def digest(path: Path) -> str:
    """Of the file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Lines:
    """The map, as it was measured."""

    home: Path

    @cached_property
    def _map(self) -> dict[str, dict]:
        found: dict[str, dict] = json.loads((self.home / "map.json").read_text(encoding="utf-8"))
        return found

    @cached_property
    def _outcomes(self) -> dict[str, dict[str, list]]:
        return {name: json.loads((self.home / f"{name}.json").read_text(encoding="utf-8")) for name in ("rescued", "alone")}

    def stale(self, path: str, source: Path) -> bool:
        """Whether the file has changed since."""
        return path not in self._map["files"] or self._map["files"][path]["digest"] != digest(source)

    def near_and_rest(self, path: str, first: int, last: int, look: float, budget: float) -> tuple[list[str], list[str]]:
        """The tests that run one of the lines, those to begin with apart, and no more of them than the budget allows.

        Thousands of tests run the lines that every solve runs. Near are tests that run little else; of the files that
        have them the cheapest test comes first, then the second cheapest of each: those of one file look at the same.
        """
        names = self.tests_of(path, first, last)
        focus: dict[str, int] = {}
        for name in names:
            file = name.split("::")[0]
            focus[file] = min(focus.get(file, self.footprints[name]), self.footprints[name])
        files = sorted(focus, key=lambda file: (focus[file], file))
        close = set(files[:NEAR])
        near = affordable(_in_turn([n for n in names if n.split("::")[0] in close], files, self.seconds), self, look)
        left = _in_turn(sorted(set(names) - set(near)), files, self.seconds)
        return near, affordable(left, self, budget) if left else []

    def tests_of(self, path: str, first: int, last: int) -> list[str]:
        """The passing tests that run the block of these lines; for lines that run on import alone, those of the file."""
        blocks = self._map["files"][path]["blocks"]
        around = [block for block in blocks if block[0] <= first and last <= block[1]]
        chosen = [min(around, key=lambda block: block[1] - block[0])] if around else blocks
        return [self._map["names"][number] for number in sorted({n for block in chosen for n in block[3]})]

    @cached_property
    def footprints(self) -> dict[str, int]:
        """How many blocks of the package each test runs."""
        counts = Counter(n for file in self._map["files"].values() for block in file["blocks"] for n in block[3])
        return {name: counts[number] for number, name in enumerate(self._map["names"])}

    @property
    def files(self) -> list[str]:
        """All files of tests that the map knows."""
        return sorted({name.split("::")[0] for name in self._map["names"]})

    def seconds(self, name: str) -> float:
        """What the test took."""
        known = [self._outcomes[kind][name][1] for kind in self._outcomes if name in self._outcomes[kind]]
        return float(min(known, default=1.0))

    def holds_alone(self, name: str) -> bool:
        """Whether the test passes where no solver is rescued."""
        return bool(self._outcomes["alone"].get(name, [False])[0])

    def changed_tests(self) -> list[str]:
        """Files of tests that are new or were changed since: of these every test is run."""
        old = self._map["tests"]
        return sorted(
            f"tests/{p.name}" for p in (self.home / "tree" / "tests").glob("test_*.py") if old.get(p.name) != digest(p)
        )


def _in_turn(names: list[str], files: list[str], seconds: Callable[[str], float]) -> list[str]:
    """The cheapest test of every file, then the second cheapest of each, and so on; files in the order that is given."""
    order = {file: number for number, file in enumerate(files)}
    ranks: Counter[str] = Counter()
    place = {}
    for name in sorted(names, key=lambda name: (seconds(name), name)):
        file = name.split("::")[0]
        place[name] = (ranks[file], order[file])
        ranks[file] += 1
    return sorted(place, key=place.__getitem__)


def affordable(names: Iterable[str], lines: Lines, seconds: float) -> list[str]:
    """The first of ``names`` that take so long together, the first one in any case."""
    chosen, total = [], 0.0
    for name in names:
        total += lines.seconds(name)
        if chosen and total > seconds:
            break
        chosen.append(name)
    return chosen


def copy_tests(home: Path) -> None:
    """The tests as they are now: new ones have to show what they notice."""
    for path in (ROOT / "tests").glob("*.py"):
        shutil.copy2(path, home / "tree" / "tests" / path.name)

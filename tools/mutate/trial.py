"""One fault: put it in, run the tests that run its line, take it out again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.mutate.mutants import Mutant
from tools.mutate.plugin import UNABLE
from tools.mutate.swap import is_in_a_body
from tools.mutate.workshop import Lines, clone_site, environment

STARTUP = 8.0
"""Seconds of CPU that a run may take beyond what its tests are known to take."""
SLOWER = 3.0
"""A fault that makes the tests so many times slower has been noticed."""
LOOK = 3.0
"""Seconds of tests in the first look, which imports few files of tests: most faults are noticed there."""


@dataclass(frozen=True)
class Verdict:
    """What became of a fault."""

    outcome: str
    seconds: float
    tests: int
    by: str = ""


class Process:
    """One :mod:`tools.mutate.bench`, with files of tests collected or without."""

    def __init__(self, home: Path, site: Path, files: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.mutate.bench", *files],
            cwd=home / "tree",
            env=environment(site),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def asked(self, run: dict[str, Any]) -> tuple[str, int]:
        """The test that fails first, if any, and how many ran."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(run) + "\n")
        self.process.stdin.flush()
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply["failed"], reply["ran"]

    def close(self) -> None:
        """The process ends with its input."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


@dataclass
class Bench:
    """A site with two warm processes beside it. It learns which tests fail without a fault."""

    home: Path
    number: int
    lines: Lines
    steady: set[str] = field(default_factory=set)
    shaky: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.site = clone_site(self.home, self.number)
        self.anew, self.collected = (Process(self.home, self.site, files) for files in ([], self.lines.files))

    def close(self) -> None:
        """No process is left."""
        self.anew.close()
        self.collected.close()

    def first_failure(self, names: list[str], whole: list[str], mutant: Mutant | None = None) -> tuple[str, int]:
        """The test that fails first, if any, and how many ran; with the fault in the package."""
        seconds = STARTUP + SLOWER * sum(map(self.lines.seconds, names)) + 60.0 * len(whole)
        tests = [(name, self.lines.holds_alone(name)) for name in names if name not in self.shaky]
        run = {"tests": tests, "whole": whole, "without": sorted(self.shaky), "seconds": seconds, "fault": None}
        if mutant is None:
            return self.anew.asked(run)
        before = (self.home / "site" / mutant.path).read_text(encoding="utf-8")
        after = mutant.applied(before)
        with self._fault(mutant.path, after):  # processes that tests start see it in the file
            if not whole and is_in_a_body(before, mutant.line, mutant.last):
                failed, ran = self.collected.asked(run | {"fault": [str(self.site / mutant.path), before, after]})
                if failed != UNABLE:
                    return failed, ran
            failed, ran = self.anew.asked(run)
        if failed == UNABLE:
            raise RuntimeError(f"pytest could not run its tests: {run}")
        return failed, ran

    def is_steady(self, name: str) -> bool:
        """Whether the test passes without a fault, here and now: one of clocks may fail on a busy machine."""
        if "::" not in name:
            return True  # a module that cannot be imported, or a process that ended
        if name not in self.steady | self.shaky:
            failed, ran = self.first_failure([name], [])
            (self.shaky if failed or not ran else self.steady).add(name)
        return name in self.steady

    @contextmanager
    def _fault(self, path: str, text: str) -> Iterator[None]:
        original, victim = self.home / "site" / path, self.site / path
        victim.write_text(text, encoding="utf-8")
        _forget(victim)
        try:
            yield
        finally:
            shutil.copy2(original, victim)
            _forget(victim)


def tried(mutant: Mutant, bench: Bench, budget: float) -> Verdict:
    """A first look at the tests nearest to the line, then all that the budget allows; the first that fails ends it."""
    began = time.perf_counter()
    count = 0
    near, rest = bench.lines.near_and_rest(mutant.path, mutant.line, mutant.last, LOOK, budget)
    for names, whole in ((near, []), (rest, bench.lines.changed_tests())):
        while names or whole:
            failed, ran = bench.first_failure(names, whole, mutant)
            count += ran
            if failed and bench.is_steady(failed):
                return Verdict("killed", time.perf_counter() - began, count, failed)
            if not failed:
                break
    return Verdict("survived" if count else "not covered", time.perf_counter() - began, count)


def _forget(source: Path) -> None:
    """The compiled file: it may be as old, to the second, and as long as the one that comes."""
    for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
        compiled.unlink()

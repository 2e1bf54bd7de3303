"""One fault: put it in, run the tests that run its line, take it out again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tools.mutate.mutants import Mutant
from tools.mutate.workshop import Lines, affordable, environment, pytest_words

STARTUP = 60.0
"""Seconds that a test run may take beyond what its tests are known to take."""
SLOWER = 5.0
"""A fault that makes the tests so many times slower has been noticed."""
ENDED = {0: "survived", 1: "killed", 2: "killed", 3: "killed", 5: "not covered"}
"""By pytest's exit code: 2 and 3 are modules that cannot be imported any more."""


@dataclass(frozen=True)
class Verdict:
    """What became of a fault."""

    outcome: str
    seconds: float
    tests: int
    by: str = ""


def tried(mutant: Mutant, home: Path, site: Path, lines: Lines, budget: float) -> Verdict:
    """Solvers alone first, then the tests that need rescuers; the first that fails ends it."""
    began = time.perf_counter()
    names = affordable(lines.tests_of(mutant.path, mutant.line, mutant.last), lines, budget)
    changed = lines.changed_tests()
    runs = {True: [n for n in names if lines.holds_alone(n)], False: [n for n in names if not lines.holds_alone(n)]}
    original, victim = home / "site" / mutant.path, site / mutant.path
    victim.write_text(mutant.applied(original.read_text(encoding="utf-8")), encoding="utf-8")
    _forget(victim)
    outcome, by = "not covered", ""
    try:
        for alone, chosen in runs.items():
            whole = [] if alone else changed
            if chosen or whole:
                outcome, by = _run(chosen, whole, alone, home, site, sum(map(lines.seconds, chosen)))
            if outcome not in ("survived", "not covered"):
                break
    finally:
        shutil.copy2(original, victim)
        _forget(victim)
    return Verdict(outcome, time.perf_counter() - began, len(names), by)


def _run(chosen: list[str], whole: list[str], alone: bool, home: Path, site: Path, expected: float) -> tuple[str, str]:
    """How the tests ended, and which of them failed."""
    listed = site / "chosen.json"
    listed.write_text(json.dumps(chosen), encoding="utf-8")
    files = sorted({name.split("::")[0] for name in chosen} | set(whole))
    options = ["-n", "0", "-x", "--tb=no", f"--chosen={listed}", *(["--alone"] if alone else [])]
    words = pytest_words(*options, *files, "--whole", *whole)
    limit = STARTUP + SLOWER * expected + 60.0 * len(whole)
    process = subprocess.Popen(
        words,
        cwd=home / "tree",
        env=environment(site),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        process.communicate()
        return "killed", "time limit"
    if process.returncode not in ENDED and process.returncode > 0:
        raise RuntimeError(f"pytest could not run its tests:\n{said[-2000:]}")
    failed = next((line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    return ENDED.get(process.returncode, "killed"), failed[:200] or f"exit code {process.returncode}"


def _end(process: subprocess.Popen[str]) -> None:
    """Pytest, and the processes that its tests started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _forget(source: Path) -> None:
    """The compiled file: it may be as old, to the second, and as long as the one that comes."""
    for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
        compiled.unlink()

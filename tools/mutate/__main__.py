"""Mutation testing of dcprog by one command; what is done already is not done again.

    python -m tools.mutate [--sample 300] [--seed 0] [--rooms functions convex …] [--jobs 1] [--budget 60]
                           [--map] [--tests FILE …] [--again] [--list]

The first run copies the checkout to .mutation/ and runs the whole suite there, to learn which tests run which lines,
what they cost, and which of them hold with solvers that nobody rescues. Then each fault of the sample is tried with the
tests that run its line. Verdicts are kept in .mutation/verdicts.jsonl, so that an interrupted run goes on and a larger
sample adds to a smaller one of the same seed; the kill rate and the list of survivors are in .mutation/survivors.md.
After a change of the package, --map measures anew; new or changed tests are run against every fault that is still to try,
and --again tries the survivors once more.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from queue import Queue

from tools.mutate.mutants import Mutant, mutants
from tools.mutate.trial import Bench, Verdict, tried
from tools.mutate.workshop import HOME, ROOT, Lines, build, copy_tests, measure

ROOMS = ("functions", "convex", "solvers", "program", "algorithms")


def sample(rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """The first ``count`` faults in an order that the seed makes of their keys: it does not depend on other files."""
    found = [
        mutant
        for room in rooms
        for path in sorted((ROOT / "dcprog" / room).rglob("*.py"))
        for mutant in mutants(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    return sorted(found, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())[:count]


def known(home: Path) -> dict[str, dict]:
    """The verdicts until now, the last one of each fault."""
    path = home / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def try_all(todo: list[Mutant], home: Path, lines: Lines, jobs: int, budget: float) -> None:
    """Try them, so many side by side, and write each verdict down at once."""
    benches: Queue[Bench] = Queue()
    for number in range(jobs):
        benches.put(Bench(home, number, lines))

    def one(mutant: Mutant) -> tuple[Mutant, Verdict]:
        bench = benches.get()
        try:
            return mutant, tried(mutant, bench, budget)
        finally:
            benches.put(bench)

    with ThreadPoolExecutor(jobs) as pool, (home / "verdicts.jsonl").open("a", encoding="utf-8") as file:
        for done in as_completed([pool.submit(one, mutant) for mutant in todo]):
            mutant, verdict = done.result()
            file.write(json.dumps({"key": mutant.key, **asdict(verdict)}, ensure_ascii=False) + "\n")
            file.flush()
            shown = f"{mutant.path}:{mutant.line} {mutant.before[:40]} → {mutant.after[:40]}"
            print(f"{verdict.outcome:11} {verdict.seconds:6.1f} s  {shown}", flush=True)
    while not benches.empty():
        benches.get().close()


def report(chosen: list[Mutant], home: Path) -> None:
    """The kill rate, by room and as a whole, and the survivors."""
    verdicts = known(home)
    done = [mutant for mutant in chosen if mutant.key in verdicts]
    killed = [mutant for mutant in done if verdicts[mutant.key]["outcome"] == "killed"]
    of, noticed = (Counter(mutant.path.split("/")[1] for mutant in those) for those in (done, killed))
    text = [f"{len(killed)} of {len(done)} faults killed: {100 * len(killed) / max(len(done), 1):.1f} %", ""]
    text += [f"- {room}: {noticed[room]} of {count}" for room, count in sorted(of.items())]
    print("\n".join(text))
    text += ["", "| where | before | after | outcome |", "|---|---|---|---|"]
    for mutant in sorted(set(done) - set(killed), key=lambda mutant: (mutant.path, mutant.line)):
        before, after = (words.replace("|", "\\|")[:150] for words in (mutant.before, mutant.after))
        outcome = verdicts[mutant.key]["outcome"]
        text.append(f"| {mutant.path}:{mutant.line} `{mutant.where}` | `{before}` | `{after}` | {outcome} |")
    (home / "survivors.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print(f"survivors: {home / 'survivors.md'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="how many faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), choices=ROOMS, metavar="ROOM")
    parser.add_argument("--jobs", type=int, default=1, help="faults tried side by side")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests for each fault, cheap ones first")
    parser.add_argument("--tests", nargs="+", default=[], help="files of tests to map: fewer are faster, and notice less")
    parser.add_argument("--map", action="store_true", help="measure the map from lines to tests anew")
    parser.add_argument("--again", action="store_true", help="try survivors once more")
    parser.add_argument("--list", action="store_true", help="show the sample and end")
    wanted = parser.parse_args()
    chosen = sample(wanted.rooms, wanted.sample, wanted.seed)
    if wanted.list:
        print("\n".join(mutant.key for mutant in chosen))
        return
    if wanted.map or not (HOME / "map.json").exists():
        build(HOME)
        measure(HOME, max(wanted.jobs, 2), ROOMS, wanted.tests)
    copy_tests(HOME)
    lines = Lines(HOME)
    stale = {path for path in {mutant.path for mutant in chosen} if lines.stale(path, ROOT / path)}
    if stale:
        sys.exit(f"{len(stale)} files changed since the map was measured ({min(stale)} …): run with --map")
    verdicts = known(HOME)
    again = {key for key, entry in verdicts.items() if entry["outcome"] != "killed"} if wanted.again else set()
    try:
        try_all([m for m in chosen if m.key not in verdicts or m.key in again], HOME, lines, wanted.jobs, wanted.budget)
    finally:
        report(chosen, HOME)


if __name__ == "__main__":
    main()

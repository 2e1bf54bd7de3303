"""A study is a set of cells, each computed on its own: one method on one split of one data set."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.datasets import Dataset

Result = dict[str, Any]
"""What a cell found, in plain JSON types."""


UNSAFE = '%/\\:*?"<>|'
"""Characters that have a meaning in paths on some system, and %, which escapes them."""
LONGEST_NAME = 200
"""Bytes; file systems take 255, and temporary files add a few."""


@dataclass(frozen=True, order=True)
class Cell:
    """The name of a cell.

    >>> str(Cell("tenfold", "liver", "fsv", 3))
    'tenfold/liver/fsv/3'
    """

    protocol: str
    data: str
    method: str
    split: int

    def __str__(self) -> str:
        return f"{self.protocol}/{self.data}/{self.method}/{self.split}"


@dataclass(frozen=True, eq=False)
class Task:
    """A cell and how to compute it: ``work`` goes to another process, and takes nothing from this one but its arguments.

    ``key`` is everything that the result depends on, and ``cost`` a guess at the work, in any unit: long tasks start first.
    """

    cell: Cell
    key: dict[str, Any]
    work: Callable[[], Result]
    cost: float = 1.0


def generator(*words: object) -> np.random.Generator:
    """Random numbers that depend on names alone: not on order, number of processes or interruptions.

    >>> int(generator("tenfold", "liver", 3).integers(1000)) == int(generator("tenfold", "liver", 3).integers(1000))
    True
    """
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def file_name(word: str) -> str:
    """A word as the name of a file or directory: no two words share one, and none leads elsewhere.

    >>> file_name("liver"), file_name("ℓ2 10%"), file_name("../evil"), file_name("..")
    ('liver', 'ℓ2 10%25', '..%2Fevil', '%2E%2E')
    """
    safe = "".join(f"%{ord(c):02X}" if c in UNSAFE or not c.isprintable() else c for c in word)
    if not safe.strip("."):
        safe = safe.replace(".", "%2E") or "%"
    if len(safe.encode()) > LONGEST_NAME:
        safe = f"{safe[:40]}%{hashlib.sha256(word.encode(errors='surrogatepass')).hexdigest()[:24]}"
    return safe


def fingerprint(data: Dataset) -> str:
    """A short hash of the samples and labels."""
    digest = hashlib.sha256(repr(data.X.shape).encode())
    digest.update(np.asarray(data.X, dtype=float).tobytes())
    digest.update(np.asarray(data.y, dtype=float).tobytes())
    return digest.hexdigest()[:16]

"""Finished cells on disk, a small JSON file each, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dcprog
from dcprog.errors import DataError
from dcprog.studies.cells import Cell, Result, Task, file_name

MANIFEST = "study.json"
FORMAT = 2


class StudyWarning(UserWarning):
    """Something about a study's files that does not keep it from going on."""


class Store:
    """The directory of one study: ``study.json`` says which, ``cells/`` holds what is finished.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "out", "demo")
    >>> task = Task(Cell("tenfold", "liver", "fsv", 0), {"seed": 0}, dict)
    >>> store.read(task) is None
    True
    >>> store.write(task, {"error": 0.25})
    >>> store.read(task)
    {'error': 0.25}
    """

    def __init__(self, directory: Path, study: str) -> None:
        self.directory = directory
        self.study = study
        manifest = {"study": study, "format": FORMAT}
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _check_owner(directory, study)
            _write(directory / MANIFEST, manifest)
        except OSError as error:
            raise _unwritable(directory, error) from None

    def read(self, task: Task) -> Result | None:
        """The result of a finished cell, if it was computed from what ``task`` would be; a corrupted file is no result."""
        path = self.path(task.cell)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            key, result = content["key"], content["result"]
            if content["digest"] != _digest(result):
                raise ValueError
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError):
            warnings.warn(f"{path} is corrupted: the cell {task.cell} is computed again", StudyWarning, stacklevel=2)
            return None
        if key != _plain(_key(task)):
            warnings.warn(
                f"{path} comes from other data, parameters or another version: the cell is computed again",
                StudyWarning,
                stacklevel=2,
            )
            return None
        return dict(result)

    def write(self, task: Task, result: Result) -> None:
        """Keep the result of a finished cell."""
        path = self.path(task.cell)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, {"key": _key(task), "result": result, "digest": _digest(_plain(result))})
        except OSError as error:
            raise _unwritable(path, error) from None

    def path(self, cell: Cell) -> Path:
        protocol, data, method = map(file_name, (cell.protocol, cell.data, cell.method))
        return self.directory / "cells" / protocol / data / f"{method}-{cell.split:03d}.json"


def _key(task: Task) -> dict[str, Any]:
    return {"cell": str(task.cell), "dcprog": dcprog.__version__, **task.key}


def _digest(result: Any) -> str:
    """A hash of what was found, by which a damaged file is known."""
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]


def _check_owner(directory: Path, study: str) -> None:
    """A directory is ours if it is empty or says so; another run may be about to say so, or was killed before it did."""
    if all(path.name.startswith(f".{MANIFEST}.") for path in directory.iterdir()):
        return
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        owner, version = manifest["study"], manifest["format"]
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        raise DataError(f"{directory} holds files, and no {MANIFEST} of a study: pass an empty or a new directory") from None
    if owner != study:
        raise DataError(f"{directory} belongs to the study {owner!r}, not to {study!r}: pass another directory")
    if version != FORMAT:
        raise DataError(f"{directory} was written by another version of dcprog (format {version}): pass another directory")


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all: os.replace is atomic, and a reader sees the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _plain(value: Any) -> Any:
    """As JSON gives it back: tuples are lists."""
    return json.loads(json.dumps(value))


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} cannot be written ({error.strerror}): pass a directory that can, by --out")

"""Downloads of the data sets: checked by their SHA-256, into a cache that :func:`load` looks into."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.request
from pathlib import Path
from typing import NamedTuple

from dcprog.datasets.uci import RECIPES
from dcprog.errors import DataError, unknown_name

SECONDS = 10.0
"""How long to wait for a server."""


def cache() -> Path:
    """The directory of downloads: ``DCPROG_CACHE``, else ``dcprog`` in the user's cache directory."""
    named = os.environ.get("DCPROG_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dcprog"


def offline() -> bool:
    """Whether ``DCPROG_OFFLINE`` forbids to download what was not asked for by name."""
    return os.environ.get("DCPROG_OFFLINE", "0") not in ("", "0")


class Copy(NamedTuple):
    """A file on the web: what it is called here, where it lies, which bytes are expected, and who publishes it."""

    file: str
    url: str
    sha256: str
    source: str

    def here(self) -> Path | None:
        """The file of an earlier download, if it is there and as it was."""
        path = cache() / self.file
        return path if path.is_file() and _sha256(path.read_bytes()) == self.sha256 else None

    def fetch(self) -> Path:
        """The file in the cache, downloaded if it is not there. Other bytes than those expected are refused."""
        return self.here() or self._kept(self._content())

    def _content(self) -> bytes:
        try:
            with urllib.request.urlopen(self.url, timeout=SECONDS) as response:
                content: bytes = response.read()
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise DataError(
                f"{self.url} cannot be downloaded ({error}): get {self.file} from {self.source}, and put it into the "
                "directory that DCPROG_DATA names"
            ) from None
        if _sha256(content) != self.sha256:
            raise DataError(f"{self.url} has changed: its SHA-256 is {_sha256(content)}, expected {self.sha256}")
        return content

    def _kept(self, content: bytes) -> Path:
        path = cache() / self.file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            temporary.write_bytes(content)
            os.replace(temporary, path)
        except OSError as error:
            raise DataError(
                f"{path} cannot be written ({error.strerror}): let DCPROG_CACHE name a directory that can"
            ) from None
        return path


def copy_of(name: str) -> Copy:
    """The copy that the data set ``name`` is downloaded from."""
    if name not in RECIPES:
        raise unknown_name("data set that can be downloaded", name, RECIPES)
    recipe = RECIPES[name]
    return Copy(recipe.file, recipe.url, recipe.sha256, recipe.source)


def download(name: str) -> Path:
    """Fetch the file of a data set into the cache, unless it is there.

    A file whose SHA-256 is not that of the copy the recipes were checked with is refused: nothing is left behind.
    """
    return copy_of(name).fetch()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

"""The papers whose tables can be reproduced, by name. A new one is a module here with a ``STUDY``, and a CSV of figures."""

from __future__ import annotations

from importlib import import_module

from dcprog.errors import unknown_name
from dcprog.studies.study import Study

NAMES = ("neumann2005", "weston2003", "fung2004", "weston2001", "fortuna2005")


def find(name: str) -> Study:
    """The study called ``name``.

    >>> find("neumann2005").citation
    'Neumann, Schnörr & Steidl, Machine Learning 61 (2005), 129–150'
    """
    if name not in NAMES:
        raise unknown_name("study", name, NAMES)
    study: Study = import_module(f"dcprog.studies.papers.{name}").STUDY
    return study

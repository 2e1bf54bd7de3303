"""The papers' data sets, where the directory in DCPROG_DATA has them."""

from __future__ import annotations

import os

import pytest

from dcprog import datasets

needs_data = pytest.mark.skipif("DCPROG_DATA" not in os.environ, reason="DCPROG_DATA does not name a directory of data sets")


def load_real(name):
    data = datasets.load(name, standardise=True)
    return data.X, data.y

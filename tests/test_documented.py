"""help() of a public function says what each of its parameters is."""

from __future__ import annotations

import inspect
import re

import pytest

from dcprog import models
from dcprog.methods import filters, nlpsvm, radius_margin, zero_norm

PUBLIC = [getattr(home, name) for home in (filters, nlpsvm, radius_margin, zero_norm) for name in home.__all__]
AROM = [models.arom, models.l2_arom, models.multiclass_arom]
FUNCTIONS = {f"{item.__module__}.{item.__name__}": item for item in (*PUBLIC, *AROM) if inspect.isfunction(item)}


def documented(function):
    """The names at the beginning of lines "name, name : type" in the section Parameters."""
    section = re.search(r"Parameters\n-{10}\n(.*?)(?=\n\n\S|\Z)", inspect.getdoc(function), re.DOTALL)
    heads = re.findall(r"^(\S.*)$", section[1], re.MULTILINE) if section else []
    return [name.lstrip("*") for head in heads for name in head.split(" : ")[0].split(", ")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented_in_order(name):
    assert documented(FUNCTIONS[name]) == list(inspect.signature(FUNCTIONS[name]).parameters)

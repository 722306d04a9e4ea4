"""The examples in the docstrings run, and give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import dtl

pytestmark = pytest.mark.alone("the examples show what one rank prints")

MODULES = ["dtl", *(module.name for module in pkgutil.walk_packages(dtl.__path__, "dtl."))]
MODULES = [name for name in MODULES if name != "dtl._native._dtl" and not name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    shown = {test.name for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples}
    assert {
        "dtl.containers.sequences.DistributedVector",
        "dtl.runtime.context.Context",
        "dtl.comm.reductions.allreduce",
    } <= shown

"""The examples in the docstrings run, and give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from types import ModuleType
from typing import Iterator

import pytest
from older_numpy import VERSION

import dtl

pytestmark = pytest.mark.alone("the examples show what one rank prints")


def examples() -> Iterator[doctest.DocTest]:
    """Yield the examples of what is public by its public name, and those of modules."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in dir(dtl):
        if not isinstance(getattr(dtl, name), (ModuleType, str, tuple)):
            yield from finder.find(getattr(dtl, name), f"dtl.{name}", module=False, globs={})
    for module in ["dtl", *(module.name for module in pkgutil.walk_packages(dtl.__path__, "dtl."))]:
        if module != "dtl._native._dtl" and not module.endswith("__main__"):
            yield from finder.find(importlib.import_module(module), globs={})


EXAMPLES = {test.name: test for test in examples() if test.examples}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    test = EXAMPLES[name]
    if VERSION < "2.0.0":  # whose numbers do not show their types
        for example in test.examples:
            example.want = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", example.want)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_there_are_examples() -> None:
    assert {"dtl.DistributedVector", "dtl.Context.split_by_node", "dtl.allreduce", "dtl.observe"} <= set(EXAMPLES)
    assert len(EXAMPLES) > 100

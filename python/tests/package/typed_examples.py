"""The examples of public functions' docstrings as one program, which ``make test-types`` has ``mypy --strict`` read."""

from __future__ import annotations

import doctest
import inspect

import dtl


def program() -> str:
    """Return a function for each public function whose docstring calls it."""
    parser = doctest.DocTestParser()
    lines = ["import numpy as np", "", "import dtl"]
    for name in sorted(dir(dtl)):
        function = getattr(dtl, name)
        text = inspect.getdoc(function) or ""
        if callable(function) and f"dtl.{name}(" in text:
            source = "".join(example.source for example in parser.get_examples(text))
            lines += ["", "", f"def example_of_{name}() -> None:", *(f"    {line}" for line in source.splitlines())]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(program(), end="")

"""The typed program runs; that mypy passes on it, and on the examples of docstrings, is checked with the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import typed_examples
import typed_program

import dtl


def test_it_runs(ctx: dtl.Context, capsys: pytest.CaptureFixture[str]) -> None:
    typed_program.main()
    printed = capsys.readouterr().out
    assert "sum 499500" in printed
    assert "vector: size -1 is negative" in printed


def test_it_uses_every_public_function() -> None:
    programs = (Path(typed_program.__file__).read_text(), typed_examples.program())
    used = {node.attr for text in programs for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    functions = {name for name in dir(dtl) if callable(getattr(dtl, name)) and name.islower()}
    assert functions <= used

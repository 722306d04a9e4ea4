"""The expressions of typed_expressions.py: values are of the types that checkers are told, and pyright agrees."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
import typed_expressions

import dtl

PATH = Path(typed_expressions.__file__)
TREE = ast.parse(PATH.read_text())


def expressions() -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield the function, the expression and the type of each line of the table."""
    for function in TREE.body:
        if isinstance(function, ast.FunctionDef):
            for line in function.body:
                if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call):
                    value, kind = line.value.args
                    yield function.name, value, kind


def is_of(value: Any, kind: Any) -> bool:
    """Say whether a value is of a type, as far as its outermost parts say."""
    if kind is None or kind is Any:
        return kind is Any or value is None
    origin = typing.get_origin(kind)
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        return any(is_of(value, each) for each in typing.get_args(kind))
    if origin is None:
        return isinstance(value, kind) and (kind is not dtl.DistributedVector or type(value) is kind)
    parts = typing.get_args(kind)
    return isinstance(value, origin) and all(is_of(each, parts[0]) for each in value)


def test_values_are_of_the_types(ctx: dtl.Context) -> None:
    """Other ranks evaluate the same, so calls that are collective meet."""
    names: dict[str, Any] = {**vars(typed_expressions), "ctx": ctx, "xp": dtl.array_api(ctx)}
    names.update(v=dtl.arange(ctx, 6.0), a=dtl.DistributedArray(ctx, 6, fill=2.0), t=dtl.ones(ctx, (4, 4)))
    names["rng"] = dtl.random.Generator(ctx, 5)
    names["s"] = dtl.DistributedSpan(names["v"]).subspan(0, 4)
    count = 0
    for _, value, kind in expressions():
        expected = eval(compile(ast.Expression(kind), str(PATH), "eval"), names)
        if isinstance(expected, str):
            expected = eval(expected, names)
        with np.errstate(all="ignore"):
            got = eval(compile(ast.Expression(value), str(PATH), "eval"), names)
        assert is_of(got, expected), f"{PATH.name}:{value.lineno}: {ast.dump(value)} is a {type(got).__name__}"
        count += 1
    assert count > 200


@pytest.mark.jobs("starts pyright")
def test_pyright_agrees() -> None:
    """That mypy does is checked with the package."""
    pytest.importorskip("pyright", reason="needs pyright, which the extra test brings from Python 3.10 on")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(PATH)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PATH.parents[3])
    assert found.returncode == 0, found.stdout

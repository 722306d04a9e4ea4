"""Conditions and formulas as text, such as ``"price > 1 and what == 'fig'"``: a part of Python, which nothing runs.

A text is parsed by Python, and its tree is computed here: columns, constants, ``@name`` for variables of the caller,
operators, a few functions of NumPy's, and methods of columns that give columns or numbers.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from .making import fingerprint, in_any_order, is_scalar
from .operators import Operators
from .rows import Rows, as_column, unknown_column
from .text import Texts
from .times import Times

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitXor: operator.xor,
}

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: lambda value: value,
    ast.Not: lambda value: not value if isinstance(value, bool) else ~value,
    ast.Invert: operator.invert,
}

_FUNCTIONS = {
    "abs": np.abs,
    **{
        name: getattr(np, name)
        for name in ("sqrt", "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "floor", "ceil")
    },
    **{name: getattr(np, name) for name in ("arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh")},
}

#: Texts in quotes, names in backticks, variables of the caller, and the operators that pandas reads as words.
_TOKENS = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`|@([A-Za-z_]\w*)|(&&?)|(\|\|?)""")

#: The bits of the longest integers of columns, and the deepest formulas that are computed.
_BITS, _DEEPEST = 64, 200

_COLUMN, _VARIABLE = "_column_", "_variable_"


class Formula:
    """A text with the columns of some rows and variables.

    Parameters
    ----------
    what
        The name of the call, for errors.
    text
        The condition or formula.
    variables
        What ``@name`` may stand for.
    """

    def __init__(self, what: str, text: Any, variables: Mapping[str, Any]) -> None:
        if not isinstance(text, str):
            raise InvalidTypeError(f"{what} takes text such as \"price > 1 and what == 'fig'\", not {text!r}")
        self.what, self.text = what, text
        self.quoted: list[str] = []
        self.used: dict[str, Any] = {}
        self._variables = variables
        try:
            self.statements = ast.parse(_TOKENS.sub(self._token, text).strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InvalidArgumentError(f"{what} does not understand {text!r}: {error}") from None
        if not self.statements:
            raise InvalidArgumentError(f"{what} takes a formula, not {text!r}")
        if _depth(self.statements) > _DEEPEST:
            raise InvalidArgumentError(f"{what} {text:.60}… is nested more than {_DEEPEST} deep")

    def _token(self, found: re.Match[str]) -> str:
        text, quoted, variable, both, _ = found.groups()
        if text is not None:
            return text
        if quoted is not None:
            self.quoted.append(quoted)
            return f"{_COLUMN}{len(self.quoted) - 1}"
        if variable is None:
            return " and " if both else " or "
        if variable not in self._variables:
            raise KeyNotFoundError(f"there is no variable {variable!r} where {self.what} is called")
        self.used[variable] = self._variables[variable]
        return f"{_VARIABLE}{variable}"

    def words(self) -> str:
        """Return the formula and its variables, as the ranks must have them alike."""
        return f"{self.text!r} {', '.join(f'{name}={_worded(value)}' for name, value in self.used.items())}"

    def name_of(self, node: ast.expr) -> str:
        """Return the name of the column that a formula assigns to."""
        if not isinstance(node, ast.Name):
            raise self.refusal(node)
        return self.quoted[int(node.id[len(_COLUMN) :])] if node.id.startswith(_COLUMN) else node.id

    def refusal(self, node: ast.AST) -> InvalidArgumentError:
        """Return the error of a part of Python that formulas do not have."""
        return InvalidArgumentError(
            f"{self.what} {self.text!r} has a {type(node).__name__}; it may have columns, constants, @variables, "
            "operators, and methods of columns"
        )

    def value(self, node: ast.AST, rows: Rows) -> Any:
        """Return what a part of the formula is: a column, a constant, or a list of constants."""
        ways: dict[type[ast.AST], Callable[[Any, Rows], Any]] = {
            ast.Name: lambda node, rows: self._named(node.id, rows),
            ast.List: self._listed,
            ast.Tuple: self._listed,
            ast.Set: self._listed,
            ast.UnaryOp: lambda node, rows: _UNARY[type(node.op)](self.value(node.operand, rows)),
            ast.BinOp: self._binary,
            ast.BoolOp: self._joined,
            ast.Compare: self._compared,
            ast.Subscript: self._part,
            ast.Attribute: self._attribute,
            ast.Call: self._called,
        }
        if isinstance(node, ast.Constant) and is_scalar(node.value):
            return node.value
        if type(node) not in ways:
            raise self.refusal(node)
        return ways[type(node)](node, rows)

    def _listed(self, node: ast.List, rows: Rows) -> list[Any]:
        return [self.value(each, rows) for each in node.elts]

    def _joined(self, node: ast.BoolOp, rows: Rows) -> Any:
        join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
        return functools.reduce(join, [self.value(each, rows) for each in node.values])

    def _named(self, name: str, rows: Rows) -> Any:
        if name.startswith(_VARIABLE):
            return self.used[name[len(_VARIABLE) :]]
        if name.startswith(_COLUMN):
            name = self.quoted[int(name[len(_COLUMN) :])]
        if name not in rows.names:
            raise unknown_column(name, rows.names)
        return as_column(rows.chosen([name]))

    def _binary(self, node: ast.BinOp, rows: Rows) -> Any:
        if type(node.op) not in _BINARY:
            raise self.refusal(node.op)
        left, right = self.value(node.left, rows), self.value(node.right, rows)
        if isinstance(left, Operators) or isinstance(right, Operators):
            return _BINARY[type(node.op)](left, right)
        for each in (left, right):
            if isinstance(each, bool) or not isinstance(each, (int, float, np.number, np.datetime64, np.timedelta64)):
                raise InvalidTypeError(f"{self.what} {self.text!r}: {each!r} is computed with no column")
        try:
            if isinstance(node.op, ast.Pow) and not _is_short_power(left, right):
                left, right = float(left), float(right)
            return _BINARY[type(node.op)](left, right)
        except OverflowError:
            raise InvalidArgumentError(
                f"{self.what} {self.text!r}: what is made of {left!r} and {right!r} is larger than the largest "
                f"float64, {sys.float_info.max:.1e}"
            ) from None
        except (ArithmeticError, TypeError) as error:
            raise InvalidArgumentError(f"{self.what} {self.text!r}: {error}") from None

    def _compared(self, node: ast.Compare, rows: Rows) -> Any:
        values = [self.value(each, rows) for each in (node.left, *node.comparators)]
        made: Any = None
        for op, left, right in zip(node.ops, values, values[1:]):
            one = self._one_compared(node, op, left, right)
            made = one if made is None else made & one
        return made

    def _one_compared(self, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> Any:
        among = isinstance(op, (ast.In, ast.NotIn))
        if among or (isinstance(op, (ast.Eq, ast.NotEq)) and isinstance(right, (list, tuple, set, frozenset))):
            if not isinstance(left, Operators):
                raise InvalidTypeError(f"{self.what} {self.text!r}: columns are in lists, and not {left!r}")
            column: Any = left
            found = column.isin(right)
            return ~found if isinstance(op, (ast.NotIn, ast.NotEq)) else found
        if type(op) not in _COMPARISONS:
            raise self.refusal(op)
        return _COMPARISONS[type(op)](left, right)

    def _part(self, node: ast.Subscript, rows: Rows) -> Any:
        """Return a part of texts."""
        texts = self.value(node.value, rows)
        if not isinstance(texts, Texts):
            raise self.refusal(node)
        return texts[self._key(node.slice, rows)]

    def _called(self, node: ast.Call, rows: Rows) -> Any:
        """Return a function of columns, or a method of one."""
        given = [self.value(each, rows) for each in node.args]
        words = {each.arg: self.value(each.value, rows) for each in node.keywords if each.arg is not None}
        if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and len(words) == len(node.keywords):
            return _FUNCTIONS[node.func.id](*given, **words)
        if not isinstance(node.func, ast.Attribute) or len(words) < len(node.keywords):
            raise self.refusal(node)
        try:
            made = self._attribute(node.func, rows)(*given, **words)
        except TypeError as error:
            raise InvalidTypeError(f"{self.what} {self.text!r}: {error}") from None
        if isinstance(made, Operators) or is_scalar(made):
            return made
        raise self.refusal(node)

    def _attribute(self, node: ast.Attribute, rows: Rows) -> Any:
        thing = self.value(node.value, rows)
        if not isinstance(thing, (Operators, Texts, Times)) or node.attr.startswith(("_", "to_", "pipe")):
            raise self.refusal(node)
        try:
            return getattr(thing, node.attr)
        except AttributeError as error:
            raise InvalidArgumentError(f"{self.what} {self.text!r}: {error}") from None

    def _key(self, node: Any, rows: Rows) -> Any:
        node = getattr(node, "value", node) if type(node).__name__ == "Index" else node  # of Python 3.8
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if each is None else self.value(each, rows) for each in parts))
        return self.value(node, rows)


def _is_short_power(base: Any, exponent: Any) -> bool:
    """Say whether a power of constants is an integer of at most 64 bits; others are floats, as those have a largest."""
    if not (isinstance(base, int) and isinstance(exponent, int) and exponent >= 0):
        return False
    return abs(base) < 2 or (exponent <= _BITS and abs(base) ** exponent < 1 << _BITS)


def _depth(nodes: Sequence[ast.AST]) -> int:
    """Return how deep a tree is."""
    made, level = 0, list(nodes)
    while level:
        made, level = made + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return made


def _worded(value: Any) -> str:
    """Return a variable in words, in which two arrays differ if their values do."""
    if is_scalar(value):
        return repr(value)
    if isinstance(value, Operators):
        return "a column"
    given = in_any_order("a variable", value)
    return f"{len(given)} values with fingerprint {fingerprint(given):08x}"

"""Texts of a column as numbers and times, each read once where several are equal."""

from __future__ import annotations

import datetime
from typing import Any, Callable

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import is_number, is_text
from .mapping import mapped
from .rows import Rows, arrow, arrows_errors

_ERRORS = ("raise", "coerce")


def numbers(rows: Rows, op: str, errors: Any) -> Rows:
    """Return texts as int64 if all are integers, else as float64. Collective."""
    if is_number(rows.schema.types[0]):
        _check(rows, op, errors, None)
        return rows
    return _read(rows, op, errors, None, _number, arrow().int64())


def times(rows: Rows, op: str, form: Any, errors: Any) -> Rows:
    """Return texts as times, given their form; None for ISO 8601. Collective."""
    if form is not None and not isinstance(form, str):
        raise InvalidTypeError(f"format must be text, not {form!r:.60}")
    pa = arrow()

    def read(text: str) -> Any:
        if form is not None:
            return datetime.datetime.strptime(text.strip(), form)
        found = pa.scalar(text.strip()).cast(pa.timestamp("us", "UTC" if text.strip()[-1:] == "Z" else None))
        return found.as_py()

    if arrow().types.is_timestamp(rows.schema.types[0]):
        _check(rows, op, errors, form)
        return rows
    return _read(rows, op, errors, form, read, pa.timestamp("us"))


def _check(rows: Rows, op: str, errors: Any, form: Any) -> None:
    """Raise an error if an argument is wrong, or ranks pass others. Collective."""
    with local_step(rows.context, op):
        if errors not in _ERRORS:
            raise InvalidArgumentError(f"errors must be one of {', '.join(_ERRORS)}, not {errors!r}")
        if not (is_text(rows.schema.types[0]) or is_number(rows.schema.types[0]) or form is None):
            raise InvalidTypeError(f"the column {rows.names[0]!r} of {rows.schema.types[0]} is not of text")
    agree(rows.context, op, f"{rows.names[0]!r}, {form!r}, {errors}")


def _read(rows: Rows, op: str, errors: Any, form: Any, read: Callable[[str], Any], empty: Any) -> Rows:
    """Return what is read of texts, of a type where none is. Collective."""
    pa, name, kind = arrow(), rows.names[0], rows.schema.types[0]
    _check(rows, op, errors, form)
    if not (is_text(kind) or pa.types.is_null(kind)):
        raise InvalidTypeError(f"the column {name!r} of {kind} is not of text")

    def known(text: str) -> Any:
        try:
            return read(text)
        except (ValueError, OverflowError, pa.ArrowException):
            if errors == "coerce":
                return None
            raise InvalidArgumentError(f"the column {name!r} has {text!r:.60}: errors='coerce' makes it null") from None

    made = mapped(rows, op, known)
    if not pa.types.is_null(made.schema.types[0]):
        return made
    with local_step(rows.context, op), arrows_errors(op):
        return made.like(made.local.cast(pa.schema([(name, empty)])))


def _number(text: str) -> Any:
    """Return a number as text has it, without the underscores that Python takes."""
    if "_" in text:
        raise ValueError(text)
    try:
        found = int(text)
    except ValueError:
        return float(text)
    return found if -(2**63) <= found < 2**63 else float(found)

"""Named tuples with other values."""

from __future__ import annotations

from typing import Any, TypeVar

Named = TypeVar("Named")


def replaced(value: Named, /, **fields: Any) -> Named:
    """Return a named tuple with other values of some fields."""
    made: Named = value._replace(**fields)  # type: ignore[attr-defined]  # of every named tuple
    return made

"""Values of NumPy's keywords that say how NumPy computes, or where elements lie: checked as NumPy checks them."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidArgumentError, InvalidTypeError


def memory_order(value: Any, default: str = "C") -> str:
    """Return an order of elements in memory: "C", "F", "A" or "K", in which NumPy takes lower case, too."""
    if value is None:
        return default
    order = _text("order", value).upper()
    if order not in ("C", "F", "A", "K"):
        raise InvalidArgumentError(f"order must be one of 'C', 'F', 'A', or 'K' (got {value!r})")
    return order


def check_sort_kind(kind: Any, stable: Any = None, descending: Any = None) -> None:
    """Refuse ways to sort that NumPy does not have. Of these it knows the first letter."""
    if kind is None:
        return
    if _text("sort kind", kind)[:1].lower() not in ("q", "h", "m", "s"):
        raise InvalidArgumentError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    if stable is not None or descending is not None:
        raise InvalidArgumentError("`kind` and keyword parameters can't be provided at the same time: give one of them")


def check_select_kind(kind: Any) -> None:
    """Refuse ways to select that NumPy does not have."""
    if _text("select kind", kind) != "introselect":
        raise InvalidArgumentError(f"select kind must be 'introselect' (got {kind!r})")


def index_mode(mode: Any) -> str:
    """Return what happens to indices outside: "raise", "wrap" or "clip", for which NumPy has numbers, too."""
    if mode is None:
        return "raise"
    if isinstance(mode, int) and 0 <= mode < len(_MODES):
        return _MODES[mode]
    if mode not in _MODES:
        raise InvalidArgumentError(f"mode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return str(mode)


_MODES = ("clip", "wrap", "raise")


def _text(name: str, value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be str, not {type(value).__name__}")
    return value


def refuse_no_copy(op: str, copy: Any) -> None:
    """Refuse copy=False of a function whose result never shares elements with its argument."""
    if isinstance(copy, str):
        raise InvalidArgumentError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    if copy is not None and not copy:
        raise InvalidArgumentError(f"{op}: copy=False: the result never shares elements with the container")

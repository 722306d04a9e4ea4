"""Dtypes that other libraries register with NumPy, such as bfloat16 of ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kind import Array, Moved


class Other(Moved):
    """Elements of another library's dtype. Those that NumPy's kind calls "V", as bytes, are held."""

    is_closed = has_missing = True
    key_class = ""  # how their library makes equal ones the same bytes is not known

    def carrier(self, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
        """Return the type of as many bytes; None of those that their library takes for a kind of NumPy's."""
        return super().carrier(dtype) if dtype.kind == "V" else None

    def check_held(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype for its size."""
        if dtype.kind == "V":
            super().check_held(dtype)

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return numbers as float64, in which each of them is one."""
        return [part.astype(np.float64)] if np.can_cast(part.dtype, np.float64) else super().order_keys(part, reverse)

    def search(self, part: Array, values: Array, side: Any, reverse: Any) -> Array:
        """Return where numbers belong, by their keys: NumPy does not place their NaNs last."""
        part, values = self.order_keys(part, False)[0], self.of(values.dtype).order_keys(values, False)[0]
        return self.of(part.dtype).search(part, values, side, reverse)

    missing = Moved.unequal

"""Floats of half precision, which the core moves, and NumPy and the GPU compute in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kind import Array, Moved, too_large
from .numbers import Real


class Half(Moved, Real):
    """float16."""

    is_ordered_by_core = False
    key_class = "HalfKeys"
    advice = "; astype makes numbers of them"

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return the numbers as float32."""
        return [part.astype(np.float32)]

    def computed_in(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return float32."""
        return np.dtype(np.float32)

    def fit(self, name: str, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return numbers in half precision. A finite number does not become infinite."""
        array = self.array(name, value, dtype)
        made = Moved.fit(self, name, array, dtype)
        if (np.isinf(made) & ~np.isinf(array)).any():
            raise too_large(name, dtype)
        return made

    truths, fill = Moved.truths, Moved.fill

    def plain(self, keys: Array) -> Array:
        """Return the bits."""
        return keys.view(np.uint16)

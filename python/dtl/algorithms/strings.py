"""numpy.strings: functions of text, each element by itself.

Those that are ufuncs, such as str_len, need nothing here.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..containers.broadcasting import elementwise
from .statistics import max as greatest

#: NumPy before 2.0 has the functions in numpy.char.
_MODULE: Any = getattr(np, "strings", np.char)


def _as_wide(name: str) -> Callable[..., Any]:
    """Return a function whose results have the dtype of its first argument."""
    function = getattr(_MODULE, name)

    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        return elementwise(f"np.strings.{name}", lambda part: function(part, *args, **kwargs), (a,), a.dtype)

    call.__name__ = call.__qualname__ = name
    return call


def _wide_enough(name: str) -> Callable[..., Any]:
    """Return a function whose results have room for the longest of all ranks. Collective.

    Each rank computes its part twice: NumPy, too, looks for the length first, but of one part it would be another one.
    """
    function = getattr(_MODULE, name)

    def made(*parts: Any, **kwargs: Any) -> Any:
        """Return NumPy's result, which it does not have of no elements."""
        shape = np.broadcast(*parts).shape
        return function(*parts, **kwargs) if 0 not in shape else np.empty(shape, "U1")

    def call(*args: Any, **kwargs: Any) -> Any:
        def lengths(*parts: Any) -> Any:
            return _MODULE.str_len(made(*parts, **kwargs))

        found = elementwise(f"np.strings.{name}", lengths, args, np.int64)
        longest = int(greatest(found)) if found.global_size else 0
        kind = np.asarray(function(*(np.ones(1, a.dtype) if hasattr(a, "dtype") else a for a in args), **kwargs)).dtype
        dtype = np.dtype(f"{kind.char}{max(longest, 1)}")
        return elementwise(f"np.strings.{name}", lambda *parts: made(*parts, **kwargs), args, dtype)

    call.__name__ = call.__qualname__ = name
    return call


capitalize = _as_wide("capitalize")
lower = _as_wide("lower")
swapcase = _as_wide("swapcase")
title = _as_wide("title")
translate = _as_wide("translate")
upper = _as_wide("upper")
center = _wide_enough("center")
decode = _wide_enough("decode")
encode = _wide_enough("encode")
expandtabs = _wide_enough("expandtabs")
ljust = _wide_enough("ljust")
multiply = _wide_enough("multiply")
replace = _wide_enough("replace")
rjust = _wide_enough("rjust")
zfill = _wide_enough("zfill")

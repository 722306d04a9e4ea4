"""Calls on containers of float16, which the core does not know: they are made on a copy in float32."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import stored_number


def in_float32(f: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function makes of a container of float16, in float16 where it makes floats. Collective."""
    with a.astype(np.float32) as wider:
        made = f(wider, *args, **kwargs)
    with np.errstate(over="ignore"):  # where warnings are errors, a part's would raise on some ranks only
        return made.astype(np.float16) if made.dtype.kind == "f" else made


def reduced_in_float32(reduce: Callable[[Any, Any], Any], a: Any, dtype: Any) -> Any:
    """Return what a reduction makes of float16: float16, or the dtype that was asked for. Collective."""
    if dtype is not None:
        stored_number(dtype)
    if dtype is None or np.dtype(dtype) == np.float16:
        return in_float32(reduce, a, None)
    with a.astype(np.float32) as wider:
        return reduce(wider, dtype)

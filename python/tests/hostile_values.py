"""Values that are wrong for most arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

if TYPE_CHECKING:
    from hostile import Stage


def _fails(*args: Any) -> Any:
    raise RuntimeError("the user's function fails")


def _endless() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def _read_only() -> Any:
    array = np.ones(9)
    array.flags.writeable = False
    return array


#: Made anew for each use: some are changed by a call that takes them.
VALUES: dict[str, Callable[[Stage], Any]] = {
    "None": lambda s: None,
    "an object": lambda s: object(),
    "text": lambda s: "text",
    "text with NUL": lambda s: "a\0b",
    "a surrogate": lambda s: "\ud800",
    "bytes": lambda s: b"bytes",
    "True": lambda s: True,
    "-1": lambda s: -1,
    "2**50": lambda s: 2**50,
    "2**63": lambda s: 2**63,
    "-2**63": lambda s: -(2**63),
    "-2**63 - 1": lambda s: -(2**63) - 1,
    "0.5": lambda s: 0.5,
    "nan": lambda s: float("nan"),
    "1j": lambda s: 1j,
    "a list of nothing": lambda s: [],
    "a dictionary": lambda s: {"key": 1},
    "a ragged list": lambda s: [[1, 2], [3]],
    "a list of None": lambda s: [None] * s.ctx.size,
    "a list of -2**63": lambda s: [-(2**63)] * s.ctx.size,
    "a list that holds itself": lambda s: _endless(),
    "a type": lambda s: np.float64,
    "a function that fails": lambda s: _fails,
    "a module": lambda s: np,
    "a generator": lambda s: (number for number in range(3)),
    "an array of objects": lambda s: np.array([None, 1], object),
    "an array of dates": lambda s: np.array(["2020-01-01"], "datetime64[D]"),
    "an array of records": lambda s: np.zeros(3, [("x", "f8")]),
    "a float16 array": lambda s: np.zeros(9, np.float16),
    "a complex array": lambda s: np.ones(9, complex),
    "an array of int8": lambda s: np.ones(9, np.int8),
    "an array in the other byte order": lambda s: np.ones(9, np.dtype(float).newbyteorder()),
    "an array with strides": lambda s: np.ones((9, 2))[:, 0],
    "an array of no dimensions": lambda s: np.array(2.0),
    "a read-only array": lambda s: _read_only(),
    "an array too large to copy": lambda s: np.broadcast_to(np.float64(0), (2**59,)),
    "an array of 2 dimensions": lambda s: np.ones((2, 3)),
    "a complex memoryview": lambda s: memoryview(np.ones(3, complex)),
    "a date": lambda s: np.datetime64("2020-01-01"),
    "a masked array": lambda s: np.ma.array([1.0, 2.0], mask=[True, False]),
    "a closed container": lambda s: s.closed,
    "a container of another context": lambda s: s.foreign,
    "a closed container of another context": lambda s: s.foreign_closed,
    "a container of this process alone": lambda s: s.private,
    "a context": lambda s: s.ctx,
    "a closed context": lambda s: s.gone,
    "a halo": lambda s: s.halo,
    "a window": lambda s: s.window,
    "a request": lambda s: s.request,
    "a future": lambda s: s.future,
}

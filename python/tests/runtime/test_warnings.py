"""Warnings name the line of the user's program, whoever issues them: DTL, or NumPy for it."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
import pytest
from older_numpy import VERSION
from programs import alone, succeeded

import dtl

pytestmark = pytest.mark.alone("each rank warns of its own part, of which several have less")

CALLS: dict[str, Callable[[dtl.Context], Any]] = {
    "function": lambda ctx: dtl.mean(dtl.DistributedVector(ctx, 0)),
    "method": lambda ctx: dtl.DistributedVector(ctx, 0).mean(),
    "NumPy's function": lambda ctx: np.mean(dtl.DistributedVector(ctx, 0)),
    "all elements, on the way of axes": lambda ctx: dtl.mean(dtl.DistributedVector(ctx, 0), keepdims=True),
    "degrees of freedom": lambda ctx: dtl.std(dtl.DistributedVector(ctx, 1), ddof=1),
    "asynchronous": lambda ctx: dtl.mean(dtl.DistributedVector(ctx, 0, execution=dtl.EXEC_ASYNC)).wait(),
    "operator": lambda ctx: 1 / dtl.DistributedVector(ctx, 3),
    "operator in place": lambda ctx: dtl.DistributedVector(ctx, 3).__itruediv__(0),
    "ufunc": lambda ctx: np.log(dtl.DistributedVector(ctx, 3)),
    "cast": lambda ctx: dtl.DistributedVector(ctx, 3, fill=np.nan).astype(np.int64),
    "transform": lambda ctx: dtl.transform(vec := dtl.DistributedVector(ctx, 3), vec, np.log),
    "transform_reduce": lambda ctx: dtl.transform_reduce(dtl.DistributedVector(ctx, 3), np.log),
    "reduce": lambda ctx: dtl.reduce(dtl.DistributedVector(ctx, 3, fill=1e200), "prod"),
    "norm": lambda ctx: dtl.norm(dtl.DistributedVector(ctx, 3, fill=1e200), 3),
    "cumprod": lambda ctx: dtl.cumprod(dtl.DistributedTensor(ctx, (3, 3), fill=1e200), axis=0),
}


@pytest.mark.parametrize("name", CALLS)
def test_warnings_name_the_users_line(ctx: dtl.Context, name: str) -> None:
    if name in ("cast", "cumprod") and VERSION < "1.24.0":
        pytest.skip("NumPy says nothing of these before 1.24; it runs with later ones")
    call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = call(ctx)
        getattr(made, "views_out", 0)  # uses it: an expression may not have been computed before
    assert caught
    where = {(warning.filename, warning.lineno) for warning in caught}
    assert where == {(__file__, call.__code__.co_firstlineno)}


def test_a_warning_is_shown_once_a_line(ctx: dtl.Context) -> None:
    """NumPy's warnings are remembered where the user's own are, in the user's module."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            np.log(dtl.DistributedVector(ctx, 3))
            dtl.mean(dtl.DistributedVector(ctx, 0))
    assert len(caught) == 2


@pytest.mark.jobs("starts a program, whose destructors nobody watches")
def test_destructors_name_the_users_line() -> None:
    program = """\
        import warnings
        import dtl
        ctx = dtl.Context()
        warnings.simplefilter("always")
        warnings.showwarning = lambda text, kind, file, line, *_: print(kind.__name__, file, line)
        request = dtl.irecv(ctx, source=0)
        del request
        """
    assert succeeded(alone(program)).splitlines() == ["ResourceWarning <string> 7"]

"""Arrays that differ between ranks, beside a container, in each place of a call: an error on every rank.

Which calls take each rank's own is said in their docstrings: ``searchsorted`` of an array of values, and ``get``.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.runtime import hang_monitor

v = np.arange(6.0)
i = np.array([0, 1, 2, 3, 2, 1])
b = v > 2
t = np.arange(12.0).reshape(6, 2)
s = np.diag(np.arange(1.0, 7.0)) + 0.1
words = np.array(list("abcdef"))


def changed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call that has a function change a copy."""

    def call(c: Any, *args: Any) -> Any:
        c = c.copy()
        function(c, *args)
        return c

    return call


def _quantile(a: Any, w: Any) -> Any:
    return np.quantile(a, 0.5, weights=w, method="inverted_cdf")


ARITHMETIC = "add sub mul truediv floordiv mod pow lt eq"

#: A function, the values of the container that comes first, and the arrays.
CALLS: dict[str, tuple[Any, ...]] = {
    **{name: (getattr(operator, name), v + 1, v + 2) for name in ARITHMETIC.split()},
    "radd": (lambda c, a: a + c, v, v),
    "iadd": (changed(operator.iadd), v, v),
    "divmod": (divmod, v, v + 1),
    "and": (operator.and_, i, i),
    "matmul": (operator.matmul, s, v),
    "rmatmul": (lambda c, a: a @ c, s, v),
    "equal text": (operator.eq, words, words),
    "maximum": (np.maximum, v, v),
    "spread": (np.add, t, t[:1]),
    "ufunc where": (lambda c, m: np.sqrt(c, where=m), v, b),
    "ufunc out where": (lambda c, a, m: np.add(c, a, out=c.copy(), where=m), v, v, b),
    "where": (lambda c, m, a: np.where(m, c, a), v, b, v),
    "where of containers": (np.where, b, v, -v),
    "clip": (np.clip, v, v - 1, v + 1),
    "isclose": (np.isclose, v, v),
    "select": (lambda c, m, a: np.select([m], [c], a), v, b, v),
    "piecewise": (lambda c, m: np.piecewise(c, [m], [1, 2]), v, b),
    "sum where": (lambda c, m: np.sum(c, where=m), v, b),
    "mean where along": (lambda c, m: np.mean(c, axis=0, where=m), t, t > 2),
    "max where": (lambda c, m: np.max(c, where=m, initial=0), v, b),
    "nansum where": (lambda c, m: np.nansum(c, where=m), v, b),
    "var mean": (lambda c, a: dtl.var(c, axis=0, mean=a), t, t.mean(0, keepdims=True)),
    "indices": (operator.getitem, v, i),
    "mask": (operator.getitem, v, b),
    "indices beside a number": (lambda c, k: c[k, 0], t, i),
    "set all": (changed(lambda c, a: operator.setitem(c, ..., a)), v, v),
    "set a row": (changed(lambda c, a: operator.setitem(c, 2, a)), t, t[0]),
    "set indices": (changed(operator.setitem), v, i, v),
    "set a mask": (changed(lambda c, m: operator.setitem(c, m, 9)), v, b),
    "take": (np.take, v, i),
    "take along": (lambda c, k: np.take(c, k, axis=0), t, i),
    "put": (changed(np.put), v, i, v),
    "place": (changed(np.place), v, b, v),
    "putmask": (changed(np.putmask), v, b, v),
    "copyto": (changed(lambda c, a, m: np.copyto(c, a, where=m)), v, v, b),
    "fill_diagonal": (changed(np.fill_diagonal), s, v),
    "einsum": (lambda c, a: np.einsum("ij,j->i", c, a), s, v),
    "tensordot": (lambda c, a: np.tensordot(c, a, 1), s, v),
    "solve": (np.linalg.solve, s, v),
    "insert": (np.insert, v, i, v),
    "delete": (np.delete, v, i[:3]),
    "repeat": (np.repeat, v, i),
    "pad": (lambda c, a: np.pad(c, 1, constant_values=a), v, np.array([[3, 4]])),
    "quantile": (np.quantile, v, v / 10),
    "quantile along": (lambda c, q: np.quantile(c, q, axis=0), t, v / 10),
    "weights": (_quantile, v, v + 1),
    "average": (lambda c, w: np.average(c, weights=w), v, v + 1),
    "gradient": (np.gradient, v, v**2 + v),
    "convolve": (np.convolve, v, v[:3]),
    "interp": (np.interp, v, v, v),
    "digitize": (np.digitize, v, v),
    "polyval": (lambda c, p: np.polyval(p, c), v, v[:3]),
    "histogram": (np.histogram, v, v),
    "isin": (np.isin, v, v),
    "concatenate": (lambda c, a: np.concatenate([c, a]), v, v),
    "compress": (lambda c, m: np.compress(m, c, axis=0), t, b),
    "kron": (np.kron, v, v),
}


def other(a: Any) -> Any:
    """Return an array with another last element, with which the call would still be a right one."""
    a = a.copy()
    last = a.reshape(-1)
    if a.dtype.kind == "b":
        last[-1] = not last[-1]
    elif a.dtype.kind == "U":
        last[-1] = "z"
    else:
        last[-1] = last[-1] + 0.5 if a.dtype.kind == "f" else (0 if last[-1] else 1)
    return a


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(("name", "place"), [(name, k) for name, call in CALLS.items() for k in range(len(call) - 2)])
def test_in_each_place(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str, place: int) -> None:
    if name == "weights" and not hasattr(np, "unstack"):
        pytest.skip("NumPy before 2.1 has no weights of quantiles")
    monkeypatch.setitem(hang_monitor.state, "compares_arrays", True)
    function, first, *arrays = CALLS[name]
    c = dtl.asarray(ctx, first)
    function(c, *arrays)
    given = [other(a) if k == place and ctx.rank == 1 else a for k, a in enumerate(arrays)]
    with pytest.raises(dtl.CollectiveMismatchError):
        function(c, *given)


#: Calls with a word or number of which rank 1 passes the second, and the others the first.
WORDS: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "pad mode": (lambda c, word: np.pad(c, 1, mode=word), "edge", "wrap"),
    "pad of the same length": (lambda c, word: np.pad(c, word, mode="edge"), (1, 2), (2, 1)),
    "pad end_values": (lambda c, word: np.pad(c, 2, mode="linear_ramp", end_values=word), 1, 2),
    "pad reflect_type": (lambda c, word: np.pad(c, 2, mode="reflect", reflect_type=word), "even", "odd"),
    "nanvar ddof": (lambda c, word: np.nanvar(c, ddof=word), 0, 1),
}


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("name", WORDS)
def test_words_that_differ(ctx: dtl.Context, name: str) -> None:
    """They are compared in any case, if the call waits for other ranks."""
    function, first, second = WORDS[name]
    c = dtl.asarray(ctx, v)
    function(c, first)
    with pytest.raises(dtl.CollectiveMismatchError):
        function(c, second if ctx.rank == 1 else first)

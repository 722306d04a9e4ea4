"""A plugin of pytest that keeps the calls of SciPy's sparse arrays, solvers and graphs which tests make.

``REPLAY_RECORD`` names the file that calls are appended to, each as a pickle of its name and arguments.
"""

from __future__ import annotations

import functools
import os
import pickle
import threading
from collections import Counter
from typing import Any, Callable

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg

#: Of calls that have the name and the kinds of arguments in common, this many are kept.
ALIKE = 2

#: Arrays of more elements are not kept.
LARGE = 5000

_METHODS = """
__neg__ __abs__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __pow__ __lt__ __le__ __gt__
__ge__ __eq__ __ne__ __matmul__ __rmatmul__ multiply astype conj sum mean trace diagonal dot transpose toarray
__getitem__ copy tocsr tocsc __round__ argmax argmin max min nanmax nanmin maximum minimum power nonzero
count_nonzero conjugate sqrt sign sin expm1 floor rint todense asformat
"""
_FUNCTIONS = {
    scipy.sparse.linalg: "cg bicgstab gmres minres lsqr lsmr eigsh svds lobpcg spsolve norm expm_multiply onenormest "
    "matrix_power is_sptriangular spbandwidth",
    scipy.sparse.csgraph: "connected_components breadth_first_order dijkstra bellman_ford minimum_spanning_tree "
    "laplacian reverse_cuthill_mckee shortest_path johnson floyd_warshall breadth_first_tree depth_first_order "
    "depth_first_tree reconstruct_path maximum_flow yen maximum_bipartite_matching structural_rank "
    "min_weight_full_bipartite_matching",
    sp: "eye_array diags_array kron kronsum hstack vstack block_array block_diag tril triu find",
}

_inside = threading.local()
_seen: Counter[Any] = Counter()


class UnkeptError(Exception):
    """Says that an argument is none that is kept."""


def plain(value: Any) -> Any:
    """Return an argument as it is kept: matrices of any format by rows."""
    if sp.issparse(value):
        if value.ndim != 2 or max(value.shape) > LARGE:
            raise UnkeptError
        return sp.csr_array(value)
    if isinstance(value, np.ndarray) and value.size <= LARGE and not value.dtype.hasobject:
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else value
    if value is None or isinstance(value, (np.generic, int, float, complex, str, slice, np.dtype, type, type(...))):
        return value
    raise UnkeptError


def _kind(value: Any) -> Any:
    """Return what calls that are alike have in common of an argument."""
    if sp.issparse(value):
        return value.dtype.char, value.shape[0] == value.shape[1], 0 in value.shape
    if isinstance(value, np.ndarray):
        return value.dtype.char, value.ndim
    if isinstance(value, slice):
        return value.start is None, value.stop is None, value.step is None
    if isinstance(value, (list, tuple)):
        return tuple(map(_kind, value[:4]))
    return value if isinstance(value, (str, type)) else type(value).__name__


def _keep(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        given, options = plain(args), {key: plain(value) for key, value in kwargs.items()}
    except UnkeptError:
        return
    alike = name, _kind(given), tuple(sorted((key, str(_kind(value))) for key, value in options.items()))
    _seen[alike] += 1
    if _seen[alike] <= ALIKE:
        with open(os.environ["REPLAY_RECORD"], "ab") as file:
            file.write(pickle.dumps((name, given, options)))


def _recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if getattr(_inside, "a_call", False):
            return function(*args, **kwargs)
        _inside.a_call = True
        try:
            _keep(name, args, kwargs)
            return function(*args, **kwargs)
        finally:
            _inside.a_call = False

    return call


for _format in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr"):
    _class = getattr(sp, f"{_format}_array")
    for _name in _METHODS.split():
        if hasattr(_class, _name):
            setattr(_class, _name, _recorded(_name, getattr(_class, _name)))
for _home, _names in _FUNCTIONS.items():
    for _name in _names.split():
        if hasattr(_home, _name):  # what is newer is not in an old SciPy
            _module = _home.__name__[len("scipy.sparse.") :]
            setattr(_home, _name, _recorded(f"{_module}.{_name}", getattr(_home, _name)))

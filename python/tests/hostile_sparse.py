"""Sparse matrices with right arguments, in the manner of hostile.py."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from hostile_draws import Rows

import dtl

#: Functions of dtl.sparse that make a matrix on a context, and their arguments.
MAKERS: dict[str, dict[str, Any]] = {
    "csr_array": {"arg": np.eye(9), "shape": None, "dtype": None, "copy": False, "partition": "block"},
    "csr_array.from_local": {"rows": np.eye(9)},
    "csr_array.from_scipy": {"matrix": np.eye(9), "root": 0, "partition": "block"},
    "diags_array": {"diagonals": np.ones(9), "offsets": 0, "shape": (9, 9), "format": None, "dtype": None},
    "eye_array": {"m": 9, "n": 9, "k": 0, "dtype": np.float64, "format": "csr"},
    "random_array": {
        **{"shape": (9, 9), "density": 0.5, "format": "csr", "dtype": np.float64, "rng": 1},
        "data_sampler": None,
    },
    "stencil_grid": {"stencil": np.ones((3, 3)), "grid": (3, 3), "dtype": None, "periodic": False},
}

#: Methods of a matrix, and their arguments.
METHODS: dict[str, dict[str, Any]] = {
    "__getitem__": {"key": (1, 2)},
    "__matmul__": {"other": np.ones(9)},
    "__add__": {"other": 0},
    "__mul__": {"other": 2.0},
    "__pow__": {"power": 2},
    "argmax": {"axis": 0, "out": None, "explicit": False},
    "argmin": {"axis": 1, "out": None, "explicit": True},
    "asformat": {"format": "csc", "copy": False},
    "astype": {"dtype": np.float32, "casting": "unsafe", "copy": True},
    "count_nonzero": {"axis": 0},
    "diagonal": {"k": 0},
    "dot": {"other": np.ones(9), "semiring": "min_plus"},
    "gather_to": {"root": 0},
    "max": {"axis": 0, "out": None, "explicit": False},
    "maximum": {"other": 0},
    "mean": {"axis": 0, "dtype": np.float32, "out": None},
    "min": {"axis": 1, "out": None, "explicit": False},
    "minimum": {"other": 0},
    "multiply": {"other": np.ones(9)},
    "nanmax": {"axis": 0, "out": None, "explicit": False},
    "nanmin": {"axis": 1, "out": None, "explicit": False},
    "permute": {"order": np.arange(9), "partition": "block"},
    "power": {"n": 2, "dtype": np.float64},
    "setdiag": {"values": 1.0, "k": 0},
    "sum": {"axis": 0, "dtype": np.float32, "out": None},
    "trace": {"offset": 0},
}

#: Functions of a graph, and their other arguments.
GRAPHS: dict[str, dict[str, Any]] = {
    "bellman_ford": {"directed": True, "indices": 0, "return_predecessors": True, "unweighted": False},
    "breadth_first_order": {"i_start": 0, "directed": True, "return_predecessors": True},
    "connected_components": {"directed": True, "connection": "weak", "return_labels": True},
    "dijkstra": {"directed": True, "indices": 0, "return_predecessors": True, "limit": 9.0, "min_only": True},
    "laplacian": {
        **{"normed": False, "return_diag": False, "use_out_degree": False, "copy": True, "form": "lo"},
        **{"dtype": np.float32, "symmetrized": True},
    },
    "breadth_first_tree": {"i_start": 0, "directed": True},
    "depth_first_order": {"i_start": 0, "directed": True, "return_predecessors": True},
    "depth_first_tree": {"i_start": 0, "directed": True},
    "floyd_warshall": {"directed": True, "return_predecessors": True, "unweighted": False, "overwrite": False},
    "johnson": {"directed": True, "indices": 0, "return_predecessors": True, "unweighted": False},
    "maximum_bipartite_matching": {"perm_type": "row"},
    "maximum_flow": {"source": 0, "sink": 1, "method": "dinic"},
    "min_weight_full_bipartite_matching": {"maximize": False},
    "minimum_spanning_tree": {"overwrite": False},
    "part_graph": {"nparts": 2, "balance": "nnz", "method": "spectral"},
    "reconstruct_path": {"predecessors": np.zeros(9, np.int64), "directed": True},
    "reverse_cuthill_mckee": {"symmetric_mode": False},
    "shortest_path": {"method": "auto", "directed": True, "unweighted": False, "indices": 0},
    "structural_rank": {},
    "yen": {
        **{"source": 0, "sink": 1, "K": 2, "directed": True, "return_predecessors": True},
        "unweighted": False,
    },
}

#: Functions of a matrix, or of several, and their other arguments.
COMBINING: dict[str, dict[str, Any]] = {
    "find": {},
    "kron": {"B": np.eye(2), "format": "csr"},
    "kronsum": {"B": np.eye(2), "format": "csr"},
    "tril": {"k": 0, "format": "csr"},
    "triu": {"k": 0, "format": "csr"},
}
STACKING = ("block_diag", "hstack", "vstack")

#: Functions of files.
FILES = ("load_npz", "mmread", "mmwrite", "save_npz")


def names() -> set[str]:
    """Return the names of what has a row."""
    methods = {f"sparse.csr_array.{name}" for name in METHODS}
    return methods | {f"sparse.{name}" for name in (*MAKERS, *GRAPHS, *COMBINING, *STACKING, *FILES)}


def rows(ctx: dtl.Context, folder: str) -> Rows:
    """Return calls that make a matrix, or compute with one, the same for each."""
    try:
        matrix = dtl.sparse.eye_array(ctx, 9)
    except dtl.BackendUnavailableError:  # without SciPy, all calls of them fail
        return {}
    made: Rows = {}
    for name, options in MAKERS.items():
        make: Any = dtl.sparse
        for part in name.split("."):
            make = getattr(make, part)
        made[f"sparse.{name}"] = (functools.partial(make, ctx), options)
    for name, options in METHODS.items():
        made[f"sparse.csr_array.{name}"] = (_positional(getattr(matrix, name), name), options)
    for name, options in GRAPHS.items():
        graph = matrix.astype(np.int32) if name == "maximum_flow" else matrix  # which takes integers alone
        made[f"sparse.{name}"] = (functools.partial(getattr(dtl.sparse.csgraph, name), graph), options)
    for name, options in COMBINING.items():
        made[f"sparse.{name}"] = (functools.partial(getattr(dtl.sparse, name), matrix), options)
    for name in STACKING:
        stack = functools.partial(getattr(dtl.sparse, name), [matrix, matrix])
        made[f"sparse.{name}"] = (stack, {"format": "csr", "dtype": np.float64})
    packed, text = f"{folder}/sparse.npz", f"{folder}/sparse.mtx"
    dtl.sparse.save_npz(packed, matrix)
    dtl.sparse.mmwrite(text, matrix)
    made["sparse.load_npz"] = (functools.partial(dtl.sparse.load_npz, ctx), {"file": packed, "partition": "block"})
    made["sparse.mmread"] = (functools.partial(dtl.sparse.mmread, ctx), {"source": text, "partition": "block"})
    made["sparse.save_npz"] = (functools.partial(dtl.sparse.save_npz, packed, matrix), {})
    made["sparse.mmwrite"] = (functools.partial(dtl.sparse.mmwrite, text, matrix), {"comment": ""})
    return made


def _positional(method: Any, name: str) -> Any:
    """Return a method whose argument has a name here, if Python calls it by position."""
    return (lambda **given: method(*given.values())) if name.startswith("__") else method

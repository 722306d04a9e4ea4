"""Linear algebra and orders of random numbers, with right arguments, in the manner of hostile.py."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
from hostile_draws import Rows

import dtl

#: The functions of dtl.linalg that are of no other name, by name: their arguments besides the matrix.
OPTIONS: dict[str, dict[str, Any]] = {
    "cholesky": {"upper": False},
    "cond": {},
    "det": {},
    "diagonal": {"offset": 0},
    "eig": {},
    "eigh": {"UPLO": "L"},
    "eigvals": {},
    "eigvalsh": {"UPLO": "L"},
    "inv": {},
    "matrix_norm": {"keepdims": False, "ord": "fro"},
    "matrix_power": {"n": 2},
    "matrix_rank": {"tol": None, "rtol": None},
    "pinv": {"rtol": None},
    "qr": {"mode": "reduced"},
    "slogdet": {},
    "svd": {"full_matrices": True, "compute_uv": True},
    "svd_lowrank": {"k": 2, "oversampling": 1, "power_iterations": 1, "seed": 0},
    "svdvals": {},
    "vector_norm": {"axis": 0, "keepdims": False, "ord": 2},
}

#: Those whose other arguments are not of the matrix.
OTHERS = ("cross", "lstsq", "multi_dot", "solve")

#: The solvers of dtl.sparse.linalg, and their arguments besides the matrix and what all have.
SOLVERS: dict[str, dict[str, Any]] = {
    "bicgstab": {"atol": 0.0},
    "cg": {"atol": 0.0, "single_reduction": False},
    "gmres": {"atol": 0.0, "restart": 3, "callback_type": "x", "flexible": False},
    "minres": {"shift": 0.0, "show": False, "check": True},
}

#: What approximates an inverse, and its arguments besides the matrix.
INVERSES: dict[str, dict[str, Any]] = {
    "additive_schwarz": {"overlap": 1, "factor": "lu", "restricted": False},
    "aslinearoperator": {},
    "block_jacobi": {"factor": "lu"},
    "chebyshev": {"degree": 2, "ratio": 30.0},
    "jacobi": {},
    "smoothed_aggregation": {"theta": 0.0, "degree": 2},
}

#: What a generator does besides drawing.
ORDERS = ("permutation", "shuffle", "spawn")


def names() -> set[str]:
    """Return the names of what has a row."""
    rest = (
        "LinearOperator",
        "eigsh",
        "expm_multiply",
        "factorized",
        "is_sptriangular",
        "lobpcg",
        "lsmr",
        "lsqr",
        "matrix_power",
        "norm",
        "onenormest",
        "spbandwidth",
        "spsolve",
        "svds",
    )
    solvers = {f"sparse.linalg.{name}" for name in (*SOLVERS, *INVERSES, *rest)}
    others = {f"linalg.{name}" for name in (*OPTIONS, *OTHERS)} | {f"random.{name}" for name in ORDERS}
    return others | solvers | {"np.polyfit"}


def rows(ctx: dtl.Context) -> Rows:
    """Return what computes with a small matrix, the same for each call, which only shuffle changes, in a copy."""
    whole = 4 * np.eye(4) + np.arange(16).reshape(4, 4) / 16
    square = dtl.asarray(ctx, whole + whole.T)
    three = dtl.asarray(ctx, np.ones((4, 3)))
    column = dtl.asarray(ctx, np.arange(4.0))
    made: Rows = {
        f"linalg.{name}": (functools.partial(getattr(dtl.linalg, name), square), options)
        for name, options in OPTIONS.items()
    }
    made.update(_solvers(ctx, whole + whole.T, column))
    made["linalg.cross"] = (dtl.linalg.cross, {"a": three, "b": three, "axis": -1})
    made["linalg.lstsq"] = (functools.partial(dtl.linalg.lstsq, three), {"b": column, "rcond": None})
    made["linalg.multi_dot"] = (lambda **given: dtl.linalg.multi_dot([square, given["second"]]), {"second": square})
    options = {"deg": 1, "rcond": None, "full": False, "w": None, "cov": False}
    made["np.polyfit"] = (functools.partial(np.polyfit, column, column), options)
    made["linalg.solve"] = (functools.partial(dtl.linalg.solve, square), {"b": column})

    def of_generator(name: str) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            return getattr(dtl.random.Generator(ctx, 1), name)(**given)

        return call

    made["random.permutation"] = (of_generator("permutation"), {"x": 9, "axis": 0})
    made["random.shuffle"] = (of_generator("shuffle"), {"x": square.copy(), "axis": 0})
    made["random.spawn"] = (of_generator("spawn"), {"n_children": 2})
    return made


def _solvers(ctx: dtl.Context, whole: Any, column: Any) -> Rows:
    """Return what solves with a small sparse matrix."""
    of, matrix = dtl.sparse.linalg, dtl.sparse.csr_array(ctx, whole)
    common = {"b": column, "x0": None, "rtol": 1e-5, "maxiter": 3, "M": None, "callback": None}
    made: Rows = {
        f"sparse.linalg.{name}": (functools.partial(getattr(of, name), matrix), {**common, **more})
        for name, more in SOLVERS.items()
    }
    made["sparse.linalg.LinearOperator"] = (
        functools.partial(of.LinearOperator, ctx),
        {"shape": (4, 4), "matvec": abs, "rmatvec": None, "dtype": np.float64, "partition": "block"},
    )
    for name, more in INVERSES.items():
        made[f"sparse.linalg.{name}"] = (functools.partial(getattr(of, name), matrix), more)
    times = {"B": column, "start": 0.0, "stop": 1.0, "num": 2, "endpoint": True, "traceA": 1.0}
    made["sparse.linalg.expm_multiply"] = (functools.partial(of.expm_multiply, matrix), times)
    estimate = {"t": 2, "itmax": 3, "compute_v": False, "compute_w": False}
    made["sparse.linalg.onenormest"] = (functools.partial(of.onenormest, matrix), estimate)
    made["sparse.linalg.spsolve"] = (
        functools.partial(of.spsolve, matrix),
        {"b": column, "permc_spec": "NATURAL", "use_umfpack": False},
    )
    least = {"b": column, "damp": 0.0, "atol": 1e-6, "btol": 1e-6, "conlim": 1e8, "show": False, "x0": None}
    made["sparse.linalg.lsmr"] = (functools.partial(of.lsmr, matrix), {**least, "maxiter": 3})
    made["sparse.linalg.lsqr"] = (functools.partial(of.lsqr, matrix), {**least, "iter_lim": 3, "calc_var": False})
    search = {"k": 2, "which": "LM", "v0": None, "ncv": 3, "maxiter": 9, "tol": 0.0}
    made["sparse.linalg.eigsh"] = (
        functools.partial(of.eigsh, matrix),
        {
            **{**search, "return_eigenvectors": True, "M": np.eye(4), "Minv": np.eye(4), "sigma": None, "OPinv": None},
            "mode": "normal",
        },
    )
    made["sparse.linalg.svds"] = (
        functools.partial(of.svds, matrix),
        {**search, "return_singular_vectors": True, "solver": "arpack"},
    )
    large = dtl.sparse.csr_array(ctx, np.diag(np.arange(1.0, 13.0)))
    made["sparse.linalg.lobpcg"] = (
        functools.partial(of.lobpcg, large),
        {
            **{"X": np.eye(12)[:, :2] + 0.1, "B": None, "M": None, "Y": None, "tol": 1e-3, "maxiter": 3},
            **{"largest": True, "retLambdaHistory": False, "retResidualNormsHistory": False, "verbosityLevel": 0},
            "restartControl": 20,
        },
    )
    made["sparse.linalg.norm"] = (functools.partial(of.norm, matrix), {"ord": None, "axis": 0})
    made["sparse.linalg.matrix_power"] = (functools.partial(of.matrix_power, matrix), {"power": 2})
    for name in ("factorized", "is_sptriangular", "spbandwidth"):
        made[f"sparse.linalg.{name}"] = (functools.partial(getattr(of, name), matrix), {})
    return made

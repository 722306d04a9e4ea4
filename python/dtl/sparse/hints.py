"""What to use in place of SciPy's names that sparse matrices, solvers and functions of graphs do not have."""

from __future__ import annotations

from typing import Callable

_ONE_RANK = "call SciPy's on one rank, with the whole matrix that matrix.gather_to(0) returns there"
_LOCAL = "each rank has its own rows: matrix.to_scipy() returns them"
_STORED = "matrices are stored by rows, and matrix.T by columns; matrix.to_scipy() is this rank's rows"
_ARRAY = "matrices are csr_array(ctx, ...), and csc_array as matrix.T"
_ASSEMBLE = "csr_array(ctx, (values, (rows, columns))) takes triplets of any rank, as does matrix.assemble()"
_DIMENSIONS = "matrices have two dimensions; matrix.T transposes"
_KRYLOV = "use gmres or bicgstab, or minres for symmetric matrices"

#: For each thing that lacks them, SciPy's names and what to use.
HINTS: dict[str, dict[str, str]] = {
    "matrix": {
        "data": _LOCAL,
        "indices": _LOCAL,
        "indptr": _LOCAL,
        "maxprint": _LOCAL,
        "tocoo": "dtl.sparse.find(matrix) returns rows, columns and values; matrix.to_scipy() this rank's rows",
        "tobsr": _STORED,
        "todia": _STORED,
        "todok": _ASSEMBLE,
        "tolil": _ASSEMBLE,
        "reshape": _DIMENSIONS,
        "resize": "use matrix[:m, :n] for less, and dtl.sparse.block_array for more",
        "getnnz": "use matrix.nnz, or matrix.count_nonzero(axis)",
        "getrow": "use matrix[[i]]",
        "getcol": "use matrix[:, [j]]",
        "getformat": "use matrix.format",
        "get_shape": "use matrix.shape",
        "set_shape": _DIMENSIONS,
        "asfptype": "use matrix.astype(numpy.float64)",
        "getmaxprint": _LOCAL,
        "getH": "use matrix.conj().T",
        "A": "use matrix.toarray()",
        "H": "use matrix.conj().T",
    },
    "dtl.sparse": {
        **dict.fromkeys(("coo_array", "coo_matrix", "dok_array", "dok_matrix", "lil_array", "lil_matrix"), _ASSEMBLE),
        **dict.fromkeys(("bsr_array", "bsr_matrix", "csc_matrix", "csr_matrix", "sparray", "spmatrix"), _ARRAY),
        "dia_array": "use diags_array(ctx, diagonals, offsets=offsets)",
        "dia_matrix": "use diags_array(ctx, diagonals, offsets=offsets)",
        "diags": "use diags_array(ctx, diagonals, offsets=offsets)",
        "spdiags": "use diags_array(ctx, diagonals, offsets=offsets)",
        "eye": "use eye_array(ctx, n)",
        "identity": "use eye_array(ctx, n)",
        "rand": "use random_array(ctx, shape)",
        "random": "use random_array(ctx, shape)",
        "bmat": "use block_array(blocks)",
        "isspmatrix": "use issparse(x)",
        **{f"isspmatrix_{kind}": "use issparse(x), and x.format" for kind in ("bsr", "coo", "csc", "csr", "dia")},
        **{f"isspmatrix_{kind}": "use issparse(x), and x.format" for kind in ("dok", "lil")},
        **dict.fromkeys(("expand_dims", "permute_dims", "swapaxes"), _DIMENSIONS),
        "get_index_dtype": "indices have 32 bits where these suffice",
        "safely_cast_index_arrays": "indices have 32 bits where these suffice",
        "SparseWarning": "it is scipy.sparse.SparseWarning; what would be slow is in the ledger of slow paths",
        "SparseEfficiencyWarning": "what would be slow is in the ledger of slow paths, dtl.slow_paths",
    },
    "dtl.sparse.linalg": {
        **dict.fromkeys(("bicg", "cgs", "gcrotmk", "lgmres", "qmr", "tfqmr"), _KRYLOV),
        "spsolve_triangular": _ONE_RANK,
        "expm": f"expm_multiply multiplies vectors by the exponential; for the whole matrix, {_ONE_RANK}",
        "inv": f"spsolve and factorized solve without it; for the whole matrix, {_ONE_RANK}",
        "eigs": f"eigsh takes symmetric matrices; for others, {_ONE_RANK}",
        "spilu": "block_jacobi(A, factor='ilu') and additive_schwarz factorize each rank's block",
        "splu": "use factorized(A), which returns a function that solves",
        "SuperLU": "use factorized(A), which returns a function that solves",
        "use_solver": "spsolve and factorized take SciPy's own solver",
        "funm_multiply_krylov": "expm_multiply multiplies vectors by the exponential",
        "LaplacianNd": "use dtl.sparse.stencil_grid(ctx, stencil, grid)",
        "ArpackError": "eigsh and svds raise dtl.linalg.LinAlgError",
        "ArpackNoConvergence": "eigsh and svds raise dtl.linalg.LinAlgError",
        "MatrixRankWarning": "it is scipy.sparse.linalg.MatrixRankWarning, of which rank 0 warns",
    },
    "dtl.sparse.csgraph": {
        **dict.fromkeys(
            ("csgraph_from_dense", "csgraph_from_masked"),
            "csr_array(ctx, (weights, (rows, columns))) has the edges that are given, also those of weight zero; "
            "csr_array(ctx, array) those that are not zero, with infinity and NaN among them",
        ),
        **dict.fromkeys(
            ("csgraph_to_dense", "csgraph_to_masked", "csgraph_masked_from_dense"),
            "matrix.toarray() is a container, with 0 where there is no edge",
        ),
        "construct_dist_matrix": "dijkstra and the others return lengths beside predecessors",
    },
}


def missing_attribute(name: str) -> AttributeError:
    """Return the error of an attribute that matrices do not have."""
    hint = HINTS["matrix"].get(name)
    return AttributeError(f"a sparse matrix has no attribute {name!r}{f': {hint}' if hint else ''}")


def named(package: str, name: str, load: Callable[[str], object]) -> object:
    """Return a name of a package, or raise what says what to use in its place."""
    hint = HINTS[package].get(name)
    if hint is None:
        return load(name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}: {hint}")

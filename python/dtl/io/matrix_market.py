"""Matrix Market: text of sparse matrices, which ``dtl.sparse`` reads and writes."""

from __future__ import annotations

from ..exceptions import InvalidArgumentError
from .formats import Format, Options, Source


class MatrixMarket(Format):
    """The format of sparse matrices alone."""

    name = "mtx"
    suffixes = (".mtx",)
    has_matrices = True

    def check(self, options: Options) -> None:
        """Refuse containers."""
        raise InvalidArgumentError(
            "the format mtx is of sparse matrices; save dtl.sparse.csr_array(ctx, c), or c in another format"
        )

    def holds_matrix(self, path: str) -> bool:
        """Say whether a file is a sparse matrix: each is."""
        return True

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Refuse files that are elsewhere."""
        raise InvalidArgumentError(f"a sparse matrix is read from a file of this machine, not from {path!r}")

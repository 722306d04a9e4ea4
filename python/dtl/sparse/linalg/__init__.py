"""Solvers and norms of sparse matrices: the names of ``dtl.sparse.linalg``, which are those of SciPy."""

from __future__ import annotations

from typing import Any

from ..._lazy import attach
from ..hints import named

_load, __all__ = attach(__name__)


def __getattr__(name: str) -> Any:
    return named(__name__, name, _load)


def __dir__() -> list[str]:
    return sorted(__all__)

"""NumPy's protocols on containers: what their operators, methods and NumPy's functions call.

Containers, and the algorithms on them, know nothing of this package. It names what each method calls, and gives the
methods to the class of all containers when that is made: programs that make none import nothing of this.
"""

from __future__ import annotations

from typing import Any

from .._lazy import explain, extensions, late, readers


def _extend_deferrable(cls: Any) -> None:
    cls.__dtl_submit__ = staticmethod(late(".asynchronous.submit", "submitted"))
    cls.__dtl_reduce__ = late(".algorithms.reduce", "reduce_container")


extensions["Deferrable"] = _extend_deferrable
extensions["DistributedContainer"] = late(".protocol.methods", "install")
extensions["ZeroDimensional"] = late(".protocol.array_object", "extend_zero_dimensional")
explain["unknown name"] = late(".runtime.hints", "unknown_name")
readers["table"] = late(".tables.functions", "loaded")
readers["matrix"] = late(".sparse.files", "loaded")
readers["sparse matrix"] = late(".sparse.files", "restored")

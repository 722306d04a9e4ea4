"""Slow paths by kind, and the faster way of each."""

from __future__ import annotations

from .._native import slow_paths as told

# The kinds that are found among the calls of a trace; the others are told of where they happen.
ONE_BY_ONE = "elements one by one"
STAGED = "elements of a GPU taken through the host"

#: What a trace calls the operations that take an element as well as many.
ELEMENTS = {
    "getitem": "take a range, or a list of indices, by one subscript: c[a:b], c[[i, j]]; or work on local_view()",
    "setitem": "assign to a range, or to a list of indices, by one subscript: c[[i, j]] = values; or write to "
    "local_view()",
    "get": "pass all indices in one call",
    "put": "pass all indices and values in one call",
    "insert": "pass all keys and values in one call: insert_many",
    "find": "pass all keys in one call: find_many",
    "contains": "pass all keys in one call: contains_many",
    "erase": "pass all keys in one call: erase_many",
    "update": "pass all keys and values in one call",
    "rma_get": "get a range of elements in one access",
    "rma_put": "put a range of elements in one access",
    "rma_accumulate": "accumulate a range of elements in one access",
}

_FASTER = {
    STAGED: "make the container on the host, or keep to what runs on the GPU; the guide to devices has a table",
    told.MOVED: "divide both operands alike when they are made, or redistribute one of them once, before the loop",
    told.EVERYWHERE: "divide the operand as the other one, make it with partition='replicated', or combine parts",
    told.SECOND_TABLE: "before the join, select the rows and columns of it that the result needs",
    told.UNEVEN: "aggregates such as sum, mean, std and count, of which only results of each rank travel; or more keys",
    told.GATHERED: "of a tall matrix, dtl.linalg.svd or qr works on all ranks, and for sparse equations the solvers of "
    "dtl.sparse.linalg; else there is no distributed way",
    told.BY_ELEMENTS: "pass a function of arrays: np.sqrt for math.sqrt, np.where for a condition",
    told.OBJECTS: "pass a NumPy array to the function of arrays: send, broadcast, gather, allgather, scatter",
    told.READ_AGAIN: "combine passes into one expression or call, such as all aggregates into one, raise the limit of "
    "memory, or load what is mapped with placement='disk', whose pages the system keeps",
    told.CONVERTED: "make a NumPy array of the numbers where they come from",
}


def advice(kind: str, operation: str) -> str:
    """Return the faster way."""
    return ELEMENTS[operation] if kind == ONE_BY_ONE else _FASTER[kind]

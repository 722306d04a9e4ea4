"""What calls say of arguments that they refuse: the class, its code, and a text that names the value and the bound.

Each row is of calls of hostile.py and one of their parameters, which gets each of some values. The other arguments are
those of hostile.py, but for what a row gives.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from divisions import assert_holds, vector
from older_numpy import VERSION
from refusals import ARGUMENT, BOUNDS, TYPE

import dtl

OVERFLOW, MEMORY = dtl.OverflowError, dtl.MemoryError

CODES = {ARGUMENT: 100, TYPE: 101, BOUNDS: 103, OVERFLOW: 105, MEMORY: 200}


@dataclasses.dataclass(frozen=True)
class Row:
    """Values that some calls refuse as a parameter. A text may name ``value``, its ``dtype``, ``size`` and ``n`` ranks.

    Where values are a function, it gets the number of ranks and that of the elements that the call returns here.
    """

    calls: str
    parameter: str
    values: Sequence[Any] | Callable[[int, int], Sequence[Any]]
    error: type[dtl.DTLError]
    texts: tuple[str, ...]
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    code: int = 0
    #: Whether the error names the call.
    named: bool = False
    #: Whether one rank alone is wrong, too, of which all hear: "each" in turn, or "root", which each is in turn.
    alone: str = ""

    def __str__(self) -> str:
        return f"{self.parameter} of {self.calls.split()[0]}: {self.texts[0]}"

    def chosen(self, ranks: int, size: int) -> Sequence[Any]:
        return self.values(ranks, size) if callable(self.values) else self.values


#: How many elements each of these calls returns, of those that hostile.py gives it.
RESULTS: dict[str, Callable[[int], int]] = {
    **dict.fromkeys(("allreduce", "reduce", "broadcast"), lambda n: 3),
    **dict.fromkeys(("gather", "allgather", "allgatherv", "gatherv"), lambda n: 3 * n),
    **dict.fromkeys(("scatter", "scatterv"), lambda n: 2),
    **dict.fromkeys(("alltoall", "alltoallv"), lambda n: 2 * n),
}

_VECTOR = "OneDimensional.__init__"
_ROOTED = "reduce broadcast gather scatter"
_VALUE = "allreduce reduce broadcast gather allgather"
_OUT = "allreduce reduce broadcast gather allgather scatter"
_ALIKE = "allreduce reduce"

#: Accesses to windows that combine what is there.
_COMBINED = "rma_accumulate rma_fetch_and_add rma_fetch_and_op rma_compare_and_swap"
_ROLES = " ".join(f"RoleManager.{ask}" for ask in ("has_role", "role_size", "role_rank", "role_context"))

#: Dtypes that no container holds and no message has.
NOT_HELD = ("longdouble", "clongdouble", ">f8", ">i4", "object")
_NO_ARRAYS = (None, "text", object(), {1: 2}, {3}, len, [None, 1], ["a"])


#: What the containers of integer_calls hold, and what selects every second of these.
_TWELVE = np.arange(12, dtype=np.int32)
_MASK = _TWELVE % 2 == 0


def integer_calls(ctx: dtl.Context) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return calls on twelve int32, dealt in turn, that check themselves that an error leaves these as they are."""

    def on_twelve(use: Callable[..., Any]) -> Callable[..., Any]:
        def call(**arguments: Any) -> None:
            with vector(ctx, _TWELVE, "cyclic") as vec:
                try:
                    use(vec, **arguments)
                except dtl.DTLError:
                    assert vec.partition_policy is dtl.PARTITION_CYCLIC
                    assert_holds(vec, _TWELVE)
                    raise

        return call

    def subscript(vec: Any, key: Any) -> None:
        vec[key]

    def assign(vec: Any, key: Any, value: Any) -> None:
        vec[key] = value

    kind = dtl.DistributedVector
    return {
        "int32[]": (on_twelve(subscript), {"key": 3}),
        "int32[]=": (on_twelve(assign), {"key": 3, "value": 5}),
        "int32.get": (on_twelve(kind.get), {"indices": [1]}),
        "int32.put": (on_twelve(kind.put), {"indices": [1], "values": 1}),
        "int32.gather_to": (on_twelve(kind.gather_to), {"root": 0}),
        "int32.resize": (on_twelve(kind.resize), {"size": 12}),
        "int32.redistribute": (
            on_twelve(kind.redistribute),
            {"partition": dtl.PARTITION_BLOCK, "max_extra_bytes": 0},
        ),
    }


def _wide(n: int, size: int) -> list[Any]:
    return [np.zeros((n, 3), dtype) for dtype in NOT_HELD if np.dtype(dtype).isnative]


def _frozen(n: int, size: int) -> list[Any]:
    out = np.zeros(size)
    out.flags.writeable = False
    return [out]


def _rows_of_gaps(n: int, size: int) -> list[Any]:
    return [np.zeros(2 * size)[::2], np.zeros((size, 2)).T, np.zeros(max(size, 2))[::-1]]


def _masked(n: int, size: int) -> list[Any]:
    return [np.ma.array(np.ones((n, 2)), mask=np.arange(2 * n).reshape(n, 2) % 2), np.ma.masked]


_MESSAGES = (
    ("send isend", "dest", "tag", "data"),
    ("recv", "source", "tag", ""),
    ("sendrecv", "dest", "send_tag", "send_data"),
    ("sendrecv", "source", "recv_tag", ""),
)
_SENT = [(calls, parameter) for calls, _, _, parameter in _MESSAGES if parameter]
_VALUES = [(_VALUE, "value"), ("scatter", "values"), *_SENT]

_INTEGERS = [("send", "dest"), ("send", "tag"), *(("recv", name) for name in ("source", "tag", "count"))]
_INTEGERS.append(("sendrecv", "source"))
_V_VALUES: list[tuple[str, str, Any]] = [("alltoallv", "send_data", "each"), ("allgatherv", "value", "each")]
_V_VALUES += [("gatherv", "data", "each"), ("scatterv", "data", "root")]
_COUNTED: list[tuple[str, str, Any]] = [("alltoallv", "send_counts", "each"), ("alltoallv", "recv_counts", "each")]
_COUNTED.append(("gatherv", "recvcounts", "root"))

#: Counts of what each rank sends or gets.
_COUNTS: tuple[tuple[Callable[[int, int], Sequence[Any]], type[dtl.DTLError], str], ...] = (
    (lambda n, size: [[1] * (n + 1)], ARGUMENT, "entries for"),
    (lambda n, size: [[]], ARGUMENT, "has 0 entries for"),
    (lambda n, size: [[1] * (n - 1) + [-1]], ARGUMENT, "has a negative entry"),
    (lambda n, size: [[1.0] * n, [object()] * n, [2**64] * n], TYPE, "must be integers"),
    (lambda n, size: ["1" * n, [[1] * n]], ARGUMENT, "must be a sequence"),
    (lambda n, size: [[[1], [1, 2]]], TYPE, "are no integers" if VERSION >= "1.24.0" else "dtype object"),
    (lambda n, size: [np.full(n, 2**63, np.uint64)], ARGUMENT, "outside [0, 2**63)"),
)

#: Before, NumPy warns of it, which is an error in tests.
_RAGGED = [([[1], [2, 3]], TYPE, "no array")] if VERSION >= "1.24.0" else []

ROWS = [
    # ---- Dtypes ----
    Row(_VECTOR, "dtype", ("float65", "no dtype", object(), 42, 1.5, "f3", {"names": 3}), ARGUMENT,
        ("unknown dtype {value!r}",), alone="each"),
    Row(_VECTOR, "dtype", ("O",), ARGUMENT, ("object",), alone="each"),
    Row(f"{_VECTOR} recv", "dtype", NOT_HELD, ARGUMENT, ("dtype {of} is not held", "float64", "complex128")),
    Row(_VECTOR, "dtype", ("U4194305", "S16777217", "V0"), ARGUMENT,
        ("dtype {of} has {of.itemsize} bytes", "1 to 16777216 bytes")),
    *(Row(calls, name, _wide, TYPE, (name, "{value.dtype}", "complex128")) for calls, name in _VALUES),
    Row("allreduce", "value", _wide, TYPE, ("value", "{value.dtype}", "complex128"), {"out": np.zeros(3)}),
    Row(f"{_OUT} recv sendrecv", "out", _wide, TYPE, ("out has dtype {value.dtype}", "complex128")),
    # ---- Values ----
    Row(_ALIKE, "value", (*_NO_ARRAYS, np.datetime64("2020")), TYPE, ("of type {type}", "float64")),
    Row("allreduce", "value", _NO_ARRAYS, TYPE, ("of type {type}", "float64"), {"out": np.zeros(1)}),
    Row("gather allgather", "value", _NO_ARRAYS, TYPE, ("of type {type}", "float64")),
    *(Row(calls, name, _NO_ARRAYS, TYPE, ("of type {type}", "float64")) for calls, name in _SENT),
    *(
        Row(calls, name, (2**63, -(2**63) - 1, 10**25), ARGUMENT, ("{value} outside [-2**63, 2**63)",))
        for calls, name in ((_VALUE, "value"), ("send", "data"))
    ),
    *(Row(calls, name, _masked, ARGUMENT, ("masked elements",)) for calls, name in _VALUES),
    *(
        Row(_ALIKE, "value", (1j, np.complex64(1), np.zeros(3, "complex64"), np.zeros(0, "complex128")), ARGUMENT,
            (f"{op.upper()} is not defined for {{dtype}}, which has no order",), {"op": op}, 104, named=True)
        for op in ("min", "max")
    ),
    *(
        Row("allreduce", "value", (np.array([True]), np.bool_(True), [True, False]), ARGUMENT,
            (f"{op.upper()} is not defined for bool",), {"op": op}, 104, named=True)
        for op in ("sum", "prod")
    ),
    *(
        Row(calls, name, *refused, alone=alone)
        for calls, name, alone in _V_VALUES
        for refused in (
            (("text", object()), TYPE, ("cannot be sent",)),
            ((np.zeros(3, np.longdouble),), TYPE, ("which cannot be sent",)),
            (
                ([[1], [1, 2]],),
                *((ARGUMENT, ("is no array",)) if VERSION >= "1.24.0" else (TYPE, ("dtype object",))),
            ),
            ((np.ma.masked_array([1.0, 2.0], [True, False]),), ARGUMENT, ("masked",)),
        )
    ),
    Row("alltoall", "values", lambda n, size: [np.zeros(shape) for shape in ((), (0,), (99,), (99, 2))], ARGUMENT,
        ("must have one entry along the first dimension for each of {n} ranks",)),
    # ---- Outputs ----
    Row(f"{_OUT} sendrecv", "out", ([0.0] * 6, "x", 5, b"bytes", object(), (), np.float64(1)), TYPE,
        ("out must be a NumPy array, not {type}",)),
    Row(_OUT, "out", lambda n, size: [np.zeros(size, dtype) for dtype in ("float32", "int64", "complex128", "bool")],
        ARGUMENT, ("{value.dtype}", "float64"), named=True),
    Row(_OUT, "out", lambda n, size: [np.zeros(count) for count in (0, size - 1, size + 1)], ARGUMENT,
        ("out has {value.size} elements where the result has {size}",), named=True),
    Row("allreduce", "out", lambda n, size: [np.zeros(count) for count in (0, 5, 7)], ARGUMENT,
        ("{value.size} elements", "1"), {"value": 1.5}, named=True),
    Row(_OUT, "out", _frozen, ARGUMENT, ("out of shape {value.shape} is read-only",)),
    Row(_OUT, "out", _rows_of_gaps, ARGUMENT, ("not C-contiguous", "{value.shape}", "{value.strides}")),
    *(
        Row(calls, "out", values, error, (text,), alone=alone)
        for calls, alone in (("alltoallv allgatherv scatterv", "each"), ("gatherv", "root"), ("alltoall", ""))
        for values, error, text in (
            (lambda n, size: [np.zeros(99)], ARGUMENT, "out has 99 elements where the result has"),
            (lambda n, size: [np.zeros(size, np.int8)], ARGUMENT, "out has dtype int8 where the result has float64"),
            (lambda n, size: [np.zeros(20)[::2]], ARGUMENT, "is not C-contiguous"),
            (lambda n, size: [np.broadcast_to(np.float64(0), (4,))], ARGUMENT, "read-only"),
            (lambda n, size: [[0.0]], TYPE, "out must be a NumPy array, not list"),
            (lambda n, size: [np.zeros(3, np.longdouble)], TYPE, "cannot be received"),
        )
    ),
    # ---- Ranks, tags and counts ----
    Row(_ROOTED, "root", lambda n, size: [-1, n, n + 6, -(2**63), 2**63 - 1], BOUNDS,
        ("root {value} outside [0, {n})",), named=True),
    Row("gatherv scatterv", "root", lambda n, size: [-1, n, 2**40], BOUNDS, ("root {value} outside [0, {n})",),
        alone="each"),
    *(
        Row(calls, "root", ("0", 0.5, None, [0], 1j), TYPE, ("root must be an integer, not {value!r}",), alone=alone)
        for calls, alone in ((_ROOTED, ""), ("gatherv", "each"))
    ),
    Row(_ROOTED, "root", (np.array([0, 1]), np.zeros(2)), TYPE, ("root must be an integer",)),
    Row(_ROOTED, "root", (2**64,), ARGUMENT, ("root {value} outside [-2**63, 2**63)",)),
    *(
        Row(calls, peer, lambda n, size: [-3, n, 2**62], BOUNDS, (f"{peer} {{value}} outside [0, {{n}})",), named=True)
        for calls, peer, _, _ in _MESSAGES
    ),
    Row("send isend", "dest", (dtl.ANY_SOURCE,), BOUNDS, ("dest -1 outside [0, {n})",)),
    *(
        Row(calls, tag, (-2, -(2**63), 2**31, 2**62), BOUNDS, ("tag {value} outside [0, ",), named=True)
        for calls, _, tag, _ in _MESSAGES
    ),
    Row("send isend", "tag", (dtl.ANY_TAG,), BOUNDS, ("tag -1 outside [0, ",)),
    *(
        Row(calls, name, ("1", 1.0, None, [1]), TYPE, (f"{name} must be an integer, not {{value!r}}",))
        for calls, name in _INTEGERS
    ),
    Row("recv", "count", (-1, -(2**63)), ARGUMENT, ("count {value} is negative",), named=True),
    *(
        Row(call, name, values, error, (text,), alone=alone)
        for call, name, alone in _COUNTED
        for values, error, text in _COUNTS
    ),
    Row("alltoallv", "send_counts", lambda n, size: [[2] + [1] * (n - 1)], ARGUMENT,
        ("send_counts [2{ones}] do not add up to the {n} rows",), alone="each"),
    Row("scatterv", "sendcounts", lambda n, size: [[2] + [1] * (n - 1)], ARGUMENT,
        ("sendcounts [2{ones}] do not add up to the {n} rows",), alone="root"),
    Row("alltoallv", "recv_counts", lambda n, size: [[1] * (n - 1) + [4]], ARGUMENT,
        ("recv_counts [{ones}4], but the ranks send [", "] rows"), alone="each"),
    Row("gatherv", "recvcounts", lambda n, size: [[3] * (n - 1) + [4]], ARGUMENT,
        ("recvcounts [", "4], but the ranks send [", "] rows"), alone="root"),
    Row("alltoallv", "send_counts", (None,), ARGUMENT, ("there are no send_counts",), alone="each"),
    Row("scatterv", "data", (None,), ARGUMENT, ("root has no data",), {"sendcounts": None}, alone="root"),
    Row("scatterv", "sendcounts", (None,), ARGUMENT, ("root has no sendcounts",), alone="root"),
    # ---- Operators, colors and keys ----
    *(
        Row(_ALIKE, "op", ("sums", "", "Add", None, 1.0, [0], np.subtract, abs, b"sum"), ARGUMENT,
            ("unknown op {value!r}", "SUM, PROD, MIN, MAX"), given)
        for given in ({}, {"value": 1.0}, {"out": np.ones(3)})
    ),
    *(
        Row(calls, "op", (-1, 13, 99, 2**63 - 1), ARGUMENT, ("op number {value} outside [0, 11)",), given)
        for calls, given in (
            ("allreduce reduce scan exscan reduce_scatter", {}),
            ("allreduce reduce scan exscan", {"value": 1.0}),
        )
    ),
    *(
        Row("allreduce", "op", (2**63, 2**70, -(2**64)), ARGUMENT, ("op {value} outside",), given)
        for given in ({}, {"value": 1.0})
    ),
    Row("Context.split", "color", (-1, -2, -(2**63), 2**31, 2**62), ARGUMENT, ("color {value}",), named=True),
    Row("Context.split", "key", (2**31, -(2**31), 2**62), ARGUMENT, ("key {value}",), named=True),
    Row("DeviceRanks.nccl_supports_native", "op", (99, -1, "x"), ARGUMENT, ("operation", "ALLREDUCE")),
    # ---- Containers ----
    Row(_VECTOR, "size", (-1, -1000, -(2**63)), ARGUMENT, ("vector: size {value} is negative",)),
    Row(_VECTOR, "size", (-1,), ARGUMENT, ("size -1 is negative",), alone="each"),
    Row(_VECTOR, "size", (1.0, 2.5, "10", None, [3], np.float64(3), 1j, np.array([1, 2])), TYPE,
        ("size must be an integer, not {value!r}",), alone="each"),
    Row(_VECTOR, "size", (2**60,), MEMORY, ("bytes",), alone="each"),
    Row(_VECTOR, "size", (2**63, -(2**63) - 1, 10**30), ARGUMENT, ("size {value} outside [-2**63, 2**63)",)),
    *(
        Row(_VECTOR, "size", (size,), MEMORY, ("vector: ", *texts), {"dtype": dtype})
        for size, dtype, texts in (
            (2**45, "float64", (str(2**48),)),
            (2**47, "int8", ("{value}",)),
            (2**60, "float64", ("{value}", "float64")),
            (2**63 - 1, "int8", ("{value}",)),
            (2**63 - 1, "complex128", ("{value}", "complex128")),
        )
    ),
    *(
        Row(_VECTOR, "fill", values, error, (f"fill {{value!r}} does not fit {dtype}",), {"dtype": dtype}, alone="each")
        for dtype, error, values in (
            ("float64", ARGUMENT, ("x", [1, 2], object(), np.complex128(1j))),
            ("int64", ARGUMENT, (1j,)),
            ("int8", ARGUMENT, ("a",)),
            ("int16", ARGUMENT, (np.nan,)),
            ("int32", ARGUMENT, (1.5,)),
            ("int64", OVERFLOW, (2**63, -(2**63) - 1)),
            ("uint64", OVERFLOW, (2**64, np.int64(-1))),
            ("uint8", OVERFLOW, (np.int64(300),)),
            ("int32", OVERFLOW, (np.float64(1e30), -np.inf)),
            ("int8", OVERFLOW, (np.array(128),)),
            ("float32", OVERFLOW, (1e300, np.float64(-1e300))),
            ("float64", OVERFLOW, (10**400,)),
            ("bool", OVERFLOW, (2,)),
        )
    ),
    *(
        Row(_VECTOR, "fill", ("1.5", b"1", "False", np.ma.masked, np.datetime64(1, "ns")), ARGUMENT, ("no number",),
            {"dtype": dtype})
        for dtype in ("float64", "int64", "bool")
    ),
    Row(_VECTOR, "fill", (200,), OVERFLOW, ("outside [-128, 127]",), {"dtype": "i1"}, alone="each"),
    Row(_VECTOR, "partition", (9,), ARGUMENT, ("partition 9",), alone="each"),
    Row(_VECTOR, "partition", lambda n, size: [[-1] + [11] * (n - 1)], ARGUMENT, ("negative",), alone="each"),
    Row(_VECTOR, "placement", ("here", 9), ARGUMENT, ("placement {value!r}",), alone="each"),
    Row(_VECTOR, "execution", ("fast",), ARGUMENT, ("execution 'fast'",), alone="each"),
    Row(_VECTOR, "block_size", (0,), ARGUMENT, ("block",), {"partition": dtl.PARTITION_BLOCK_CYCLIC}, alone="each"),
    Row(_VECTOR, "block_size", (3,), ARGUMENT, ("block_size 3 is for",), alone="each"),
    Row("placement_available", "placement", (7, "here", None), ARGUMENT, ("placement {value!r}",)),
    # ---- Accesses to elements ----
    *(
        Row("int32[]", "key", (value,), error, (text,), {"key": right}, alone="each")
        for right, value, error, text in (
            (3, 12, BOUNDS, "index 12 outside [-12, 12)"),
            (3, -13, BOUNDS, "index -13 outside [-12, 12)"),
            (3, 2**64, BOUNDS, "index {value} outside"),
            (3, 1.0, TYPE, "1.0 of type float"),
            (3, "x", TYPE, "'x'"),
            ([3, 4], [3, 12], BOUNDS, "index 12 outside"),
            ([3, 4], [3.0, 4.0], TYPE, "float64"),
            ([3, 4], np.array([2**63], np.uint64), BOUNDS, str(2**63)),
            ([3, 4], [3, None], TYPE, "object"),
            (slice(1, 5), slice(1, 5, 0), ARGUMENT, "step"),
            (slice(1, 5), slice(1.0, 5), TYPE, "slice"),
            (_MASK, _MASK[:-1], BOUNDS, "mask of shape (11,)"),
            (3, (3, 4), BOUNDS, "2 indices for 1 dimension"),
            (..., (..., ...), BOUNDS, "more than once"),
            *(([3, 4], *ragged) for ragged in _RAGGED),
        )
    ),
    *(
        Row("int32[]=", "key", (value,), BOUNDS, (text,), {"key": right}, alone="each")
        for right, value, text in (
            (3, 12, "index 12 outside"),
            ([3, 4], [3, -13], "index -13 outside"),
            (_MASK, _MASK[:-1], "mask of shape"),
        )
    ),
    *(
        Row("int32[]=", "value", (value,), error, (text,), {"key": key, "value": right}, alone="each")
        for key, right, value, error, text in (
            (3, 5, 5.5, TYPE, "float64"),
            (3, 5, 2**31, OVERFLOW, str(2**31)),
            (slice(3), 5, "a", TYPE, "<U1"),
            (slice(3), [1, 2, 3], [1, 2], ARGUMENT, "shape (2,) do not spread over shape (3,)"),
            ([1, 2, 3], [1, 2, 3], [1, 2], ARGUMENT, "do not spread"),
            (_MASK, np.arange(6), np.arange(5), ARGUMENT, "do not spread"),
            *((slice(2), [3, 4], *ragged) for ragged in _RAGGED),
        )
    ),
    *(
        Row("int32.get", "indices", (value,), error, (text,), alone="each")
        for value, error, text in (
            ([12], BOUNDS, "index 12 outside"),
            ([0.5], TYPE, "float64"),
            (slice(2), TYPE, "slice"),
            (_MASK, TYPE, "integers"),
        )
    ),
    Row("int32.put", "indices", ([12],), BOUNDS, ("index 12 outside",), alone="each"),
    Row("int32.put", "values", (1.5,), TYPE, ("float64",), alone="each"),
    Row("int32.put", "values", ([1, 2, 3],), ARGUMENT, ("do not spread",), {"indices": [1, 2], "values": [1, 2]},
        alone="each"),
    Row("int32.put", "values", (-(2**31) - 1,), OVERFLOW, ("does not fit int32",), {"indices": [1, 2]}, alone="each"),
    Row("int32.gather_to", "root", (99,), BOUNDS, ("root 99 outside",), alone="each"),
    Row("int32.gather_to", "root", (1.5,), TYPE, ("root",), alone="each"),
    Row("int32.resize", "size", (-1,), ARGUMENT, ("size -1 is negative",), alone="each"),
    Row("int32.resize", "size", (2.5,), TYPE, ("size must be an integer",), alone="each"),
    *(
        Row("int32.redistribute", "partition", (value,), error, (text,), alone="each")
        for value, error, text in (
            (77, ARGUMENT, "partition 77"),
            ("blocks", ARGUMENT, "'blocks'"),
            (dtl.PARTITION_EXPLICIT, ARGUMENT, "local size"),
            ([], ARGUMENT, "0 local sizes were given for"),
            ([1.0], TYPE, "partition must be an integer"),
        )
    ),
    Row("int32.redistribute", "max_extra_bytes", (-1,), ARGUMENT, ("max_extra_bytes -1 is negative",), alone="each"),
    Row("int32.redistribute", "max_extra_bytes", (0.5,), TYPE, ("max_extra_bytes must be",), alone="each"),
    # ---- Grids of ranks ----
    *(
        Row("Cart.__init__", "dims", values, error, (text,), alone="each")
        for values, error, text in (
            (lambda n, size: [[n + 1], [n, 2], [n + 1, 0], [2**62, 4]], ARGUMENT, "do not multiply to the {n} rank"),
            (lambda n, size: [[-n]], ARGUMENT, "axis 0 has {value[0]}"),
            ([[2**63]], ARGUMENT, "{value[0]}"),
            (lambda n, size: [n], ARGUMENT, "dims of shape () must be a sequence, with one entry an axis"),
            ([[0] * 33], ARGUMENT, "33 axes; there can be at most 32"),
            ([["1"]], TYPE, "dims of type list"),
            ([[1.0]], TYPE, "dims of type list have dtype float64"),
            ((None,), TYPE, "dims must be a sequence of integers"),
        )
    ),
    *(
        Row("Cart.__init__", "periods", (value,), error, (text,), alone="each")
        for value, error, text in (
            ([True, False], ARGUMENT, "periods of shape (2,) must have one entry for each of 1 axes"),
            ([], ARGUMENT, "periods of shape (0,)"),
            (1, ARGUMENT, "periods of shape ()"),
            (["yes"], TYPE, "periods of type list"),
            (None, TYPE, "periods of type NoneType"),
        )
    ),
    Row("Cart.__init__", "reorder", ("x", 1, None, [True]), TYPE, ("reorder must be True or False, not {value!r}",),
        alone="each"),
    Row("RoleManager.__init__", "ctx", (None, 3, "ctx", object()), TYPE, ("dtl.Context",)),
    Row("Cart.sub", "remain", ([],), ARGUMENT, ("remain of shape",), alone="each"),
    Row("Cart.coords", "rank", lambda n, size: [-1, n, 2**62], BOUNDS, ("rank {value} outside [0, {n})",)),
    Row("Cart.coords", "rank", (2**64,), ARGUMENT, ("outside",)),
    Row("Cart.coords", "rank", ("x",), TYPE, ("rank must be an integer",)),
    Row("Cart.rank", "coords", lambda n, size: [[n]], BOUNDS, ("coordinate {n} outside [0, {n}) along axis 0",)),
    Row("Cart.rank", "coords", ([0, 0],), ARGUMENT, ("coords has 2 entries for 1 axes",)),
    Row("Cart.rank", "coords", (0,), ARGUMENT, ("coords of shape ()",)),
    Row("Cart.rank", "coords", (None,), TYPE, ("coords must be a sequence",)),
    Row("Cart.shift", "axis", (-1, 1), BOUNDS, ("axis {value} outside [0, 1)",)),
    # ---- Windows ----
    Row("Window.__init__", "base", (np.zeros(1),), ARGUMENT, ("either size=",)),
    *(
        Row("Window.__init__", "size", (value,), error, (text,), alone="each")
        for value, error, text in (
            (None, ARGUMENT, "either size="),
            (-1, ARGUMENT, "size -1 is negative"),
            (2**60, ARGUMENT, "outside [0, 2**48]"),
            (1.5, TYPE, "size must be an integer"),
        )
    ),
    *(
        Row("Window.__init__", "base", values, error, (text,), {"size": None})
        for values, error, text in (
            (([1.0],), TYPE, "base must be a NumPy array"),
            ((np.ma.masked_equal(np.arange(4), 2),), ARGUMENT, "masked"),
            ((np.zeros(8)[::2],), ARGUMENT, "not C-contiguous"),
            (_frozen, ARGUMENT, "read-only"),
            ((np.array([None]),), TYPE, "dtype object"),
        )
    ),
    *(
        row
        for calls, given in ((f"{_COMBINED} rma_put rma_rput", {}), ("rma_get rma_rget", {"size": 8}))
        for row in (
            Row(calls, "target", lambda n, size: [-1, n, 2**40], BOUNDS, ("target {value}",), given),
            Row(calls, "target", ("0",), TYPE, ("target must be an integer",), given),
            Row(calls, "offset", (-8, 64, 2**62, -(2**63)), BOUNDS, ("outside [0, 64)",), given),
            Row(calls, "offset", (0.5,), TYPE, ("offset must be an integer",), given),
            Row(calls, "offset", (2**64,), ARGUMENT, ("offset",), given),
        )
    ),
    Row(_COMBINED, "offset", (4,), ARGUMENT, ("no multiple of 8",)),
    Row("Epochs.lock Epochs.unlock Epochs.flush Epochs.flush_local", "target", lambda n, size: [-1, n], BOUNDS,
        ("target {value} outside [0, {n})",), named=True),
    Row("Epochs.lock Epochs.unlock Epochs.flush Epochs.flush_local", "target", (None,), TYPE,
        ("target must be an integer",)),
    Row("rma_get", "size", (-8,), ARGUMENT, ("size -8",)),
    Row("rma_get", "size", (12,), ARGUMENT, ("no whole number",)),
    Row("rma_get", "size", (2**50,), BOUNDS, ("outside [0, 64)",)),
    Row("rma_get", "dtype", (object,), ARGUMENT, ("not held",), {"size": 8}),
    Row("rma_get", "out", (np.zeros(1),), ARGUMENT, ("8 bytes",), {"size": 4}),
    Row("rma_get", "out", ([1],), TYPE, ("out must be",), {"size": 8}),
    Row("rma_put", "data", ("text", None), TYPE, ("data",)),
    Row("rma_put", "data", (np.zeros(33),), BOUNDS, ("264 bytes",)),
    Row("rma_accumulate", "op", (99,), ARGUMENT, ("op number 99",)),
    Row("rma_accumulate", "op", ("plus",), ARGUMENT, ("unknown op",)),
    Row("rma_accumulate", "op", (dtl.MINLOC,), ARGUMENT, ("MINLOC",), code=104),
    Row("rma_fetch_and_add", "addend", (1.5,), TYPE, ("float64",)),
    Row("rma_fetch_and_add", "addend", (300,), OVERFLOW, ("300",), {"dtype": np.int8}),
    Row("rma_compare_and_swap", "compare", ([1, 2],), ARGUMENT, ("one number, not 2",)),
    # ---- Roles ----
    Row("RoleManager.add_role", "num_ranks", (0,), ARGUMENT, ("num_ranks 0 of role 'new' is less than 1",)),
    Row("RoleManager.add_role", "num_ranks", (-(2**62),), ARGUMENT, ("is less than 1",)),
    Row("RoleManager.add_role", "num_ranks", (2**70,), ARGUMENT, ("outside",)),
    Row("RoleManager.add_role", "num_ranks", (1.5, None, "worker"), TYPE, ("num_ranks must be an integer",)),
    Row("RoleManager.add_role", "name", ("",), ARGUMENT, ("cannot be empty",)),
    Row("RoleManager.add_role", "name", (7, None, ["a"]), TYPE, ("name must be a string",)),
    Row(_ROLES, "name", ("All",), ARGUMENT, ("no role 'All'", "'all'"), named=True),
    Row(_ROLES, "name", (0, ["all"]), TYPE, ("a role's name is a string",)),
    Row("intergroup_broadcast intergroup_gather", "root", (None, 0, "all", ("all",), ("all", 0, 0), {"all": 0}), TYPE,
        ("root must be a role and a rank",), alone="each"),
]  # fmt: skip

"""What somebody gets wrong in the first hour, and the words that say what to write instead."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np
import pytest

import dtl


@pytest.fixture(scope="module")
def vec(ctx: dtl.Context) -> dtl.DistributedVector:
    made = dtl.DistributedVector(ctx, 10, dtype="int64")
    dtl.iota(made)
    return made


MISTAKES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a vector without a context": (lambda ctx, vec: dtl.DistributedVector(10), "ctx, the context, is missing"),
    "an array without a context": (lambda ctx, vec: dtl.DistributedArray(10), "ctx, the context, is missing"),
    "a tensor without a context": (lambda ctx, vec: dtl.DistributedTensor((2, 5)), "ctx, the context, is missing"),
    "zeros without a context": (
        lambda ctx, vec: dtl.zeros(10),
        r"zeros: ctx, the context, is missing, which comes first: \(ctx, 10\)",
    ),
    "a range without a context": (lambda ctx, vec: dtl.arange(10), r"\(ctx, 10\)"),
    "a sum without a context": (lambda ctx, vec: dtl.allreduce(5), "allreduce: ctx, the context, is missing"),
    "a sum without a context, by keyword": (lambda ctx, vec: dtl.allreduce(value=5), r"\(ctx, value=5\)"),
    "a message without a context": (lambda ctx, vec: dtl.send([1], 0), r"send: ctx, .* \(ctx, \[1\], 0\)"),
    "a started message without a context": (lambda ctx, vec: dtl.isend([1], 0), "isend: ctx, the context, is missing"),
    "an object without a context": (
        lambda ctx, vec: dtl.send_object({"a": 1}, 0),
        "send_object: ctx, the context, is missing",
    ),
    "a receive without a context": (lambda ctx, vec: dtl.recv(0), "recv: ctx, the context, is missing"),
    "a look for messages without a context": (
        lambda ctx, vec: dtl.iprobe(0),
        r"ctx must be a dtl\.Context, not int; it comes first",
    ),
    "a file without a context": (lambda ctx, vec: dtl.load("x.npy"), r"load: ctx, .* \(ctx, 'x.npy'\)"),
    "a map without a context": (
        lambda ctx, vec: dtl.DistributedMap("i8", "i8"),
        "DistributedMap: ctx, the context, is missing",
    ),
    "a sum of a vector without a context": (
        lambda ctx, vec: dtl.allreduce(vec),
        "allreduce: ctx, the context, is missing",
    ),
    "a whole call without a context": (
        lambda ctx, vec: dtl.zeros(10, "int32"),
        r"ctx must be a dtl\.Context, not int; it comes first",
    ),
    "the class in place of a context": (lambda ctx, vec: dtl.allreduce(dtl.Context, 5), "this is the class"),
    "a context beside a container": (dtl.sum, "a container knows its context"),
    "the sum of a list": (lambda ctx, vec: dtl.sum([1, 2]), r"dtl\.asarray\(ctx, values\)"),
    "a vector of a list": (lambda ctx, vec: dtl.DistributedVector(ctx, [1, 2]), r"dtl\.asarray\(ctx, values\)"),
    "a vector of several extents": (lambda ctx, vec: dtl.DistributedVector(ctx, (2, 3)), r"dtl\.DistributedTensor"),
    "a context of so many ranks": (lambda ctx, vec: dtl.Context(4), r"dtl run -n 4"),
    "a context on a backend": (lambda ctx, vec: dtl.Context("mpi"), r"backend='mpi'"),
    "a checkpoint of a vector alone": (lambda ctx, vec: dtl.checkpoint("x", vec), r"such as \{'x': x\}"),
    "a message of a dict": (lambda ctx, vec: dtl.send(ctx, {"a": 1}, ctx.rank), "send_object"),
    "a message of a dict, not waited for": (lambda ctx, vec: dtl.isend(ctx, {"a": 1}, ctx.rank), "send_object"),
    "a broadcast of a dict": (lambda ctx, vec: dtl.broadcast(ctx, {"a": 1}), "broadcast_object"),
    "a sum of dicts": (lambda ctx, vec: dtl.allreduce(ctx, {"a": 1}), "broadcast_object"),
    "a loop over a vector": (lambda ctx, vec: list(vec), r"iterate local_view\(\), or what gather_to\(root\) returns"),
    "Python's sum of a vector": (lambda ctx, vec: builtins.sum(vec), "a message for each element"),
    "an array of a vector": (lambda ctx, vec: np.asarray(vec), r"this rank's part with local_view\(\)"),
}


@pytest.mark.parametrize(("mistake", "says"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_says_what_to_write(
    ctx: dtl.Context, vec: dtl.DistributedVector, mistake: Callable[[Any, Any], Any], says: str
) -> None:
    with pytest.raises(TypeError, match=says) as caught:
        mistake(ctx, vec)
    assert isinstance(caught.value, dtl.InvalidTypeError)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("alreduce", "did you mean 'allreduce'"),
        ("Allreduce", r"it is dtl\.allreduce"),
        ("bcast", r"dtl\.broadcast"),
        ("array", r"dtl\.asarray\(ctx, values\)"),
        ("COMM_WORLD", r"dtl\.Context\(\)"),
        ("float64", r"np\.float64"),
        ("quite_another", "attribute 'quite_another'$"),
    ],
)
def test_a_name_of_another_library(name: str, says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        getattr(dtl, name)


def test_numbers_of_another_library() -> None:
    with pytest.raises(AttributeError, match=r"methods of dtl\.random\.Generator\(ctx, seed\)"):
        dtl.random.normal  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("allreduce", r"dtl\.allreduce\(ctx, \.\.\.\)"),
        ("Bcast", r"dtl\.broadcast"),
        ("Get_rank", r"ctx\.rank"),
        ("sum", "attribute 'sum'$"),
        ("_hidden", "attribute '_hidden'$"),
    ],
)
def test_an_attribute_of_a_communicator(ctx: dtl.Context, name: str, says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        getattr(ctx, name)
    assert not hasattr(ctx, name)


def test_several_extents_are_one_argument(ctx: dtl.Context) -> None:
    with pytest.raises(ValueError, match=r"several extents are one argument, such as \(2, 3\)"):
        dtl.zeros(ctx, 2, 3)  # type: ignore[call-overload]


@pytest.mark.mpi(min_size=2)
def test_one_rank_forgets_its_context(ctx: dtl.Context, vec: dtl.DistributedVector) -> None:
    """Where its arguments say who the others are, they hear of it."""
    with pytest.raises(TypeError, match="ctx, the context, is missing"):
        dtl.allreduce(vec) if ctx.is_root else dtl.allreduce(ctx, 5)  # type: ignore[call-overload]


@pytest.mark.parametrize("op", ["add", "sum", "SUM", np.add, builtins.sum, dtl.SUM], ids=str)
def test_sums_by_their_names(ctx: dtl.Context, vec: dtl.DistributedVector, op: Any) -> None:
    assert dtl.allreduce(ctx, 2, op=op) == 2 * ctx.size
    assert dtl.reduce(vec, op=op) == 45


@pytest.mark.parametrize("op", ["max", "maximum", "MAX", np.maximum, builtins.max], ids=str)
def test_largest_by_its_names(ctx: dtl.Context, vec: dtl.DistributedVector, op: Any) -> None:
    assert dtl.allreduce(ctx, ctx.rank, op=op) == ctx.size - 1
    assert dtl.reduce(vec, op=op) == 9


def test_a_star_import_leaves_pythons_names_alone() -> None:
    names: dict[str, Any] = {}
    exec("from dtl import *", names)
    assert not [name for name in names if not name.startswith("__") and hasattr(builtins, name)]
    assert names["DistributedVector"] is dtl.DistributedVector


def test_completion_lists_the_api_alone() -> None:
    assert [name for name in dir(dtl) if name.startswith("_")] == ["__version__"]
    assert not set(dir(dtl)) & {"Any", "annotations", "attach", "builtins", "late", "sys"}

"""Methods of containers take the parameters of ndarray's methods of the installed NumPy, by name and by position."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from divisions import part
from older_numpy import VERSION

import dtl

#: Methods of arrays that are about their memory, of which a container has no one piece.
ABOUT_MEMORY = {"byteswap", "dump", "dumps", "getfield", "resize", "setfield", "setflags", "tobytes", "tofile", "view"}

#: What NumPy's methods take beyond what their signatures say, which have **kwargs. One that is not here fails.
MORE: dict[str, tuple[str, ...]] = {
    "clip": ("where", "casting", "dtype", "order", "subok"),
    "max": ("keepdims", "initial", "where"),
    "min": ("keepdims", "initial", "where"),
    "sum": ("keepdims", "initial", "where"),
    "prod": ("keepdims", "initial", "where"),
    "mean": ("keepdims", "where"),
    "var": ("keepdims", "where", "mean", "correction"),
    "std": ("keepdims", "where", "mean", "correction"),
}

#: The arguments of methods that have to be given.
GIVEN: dict[str, tuple[Any, ...]] = {
    "argpartition": (1,),
    "astype": (np.float32,),
    "choose": ([np.full((3, 4), k) for k in range(12)],),
    "clip": (2, 5),
    "compress": ([True, False, True],),
    "dot": (np.eye(4, dtype=np.int64),),
    "fill": (3,),
    "item": (2,),
    "partition": (1,),
    "put": ([1, 2], [8, 9]),
    "repeat": (2,),
    "reshape": ((4, 3),),
    "searchsorted": ([2, 3],),
    "swapaxes": (0, 1),
    "take": ([0, 1],),
    "to_device": ("cpu",),
}

MASK = np.arange(12).reshape(3, 4) % 3 > 0

#: The values of each keyword. One that is not here fails the test of its method.
VALUES: dict[str, list[Any]] = {
    "axis": [0, 1, -1, None],
    "axis1": [0, 1],
    "axis2": [0, 1],
    "casting": ["no", "equiv", "safe", "same_kind", "unsafe", "other", None],
    "copy": [True, False, None],
    "correction": [0, 1],
    "ddof": [0, 1],
    "decimals": [0, -1],
    "descending": [True, False, None],
    "dtype": [None, np.float64, np.int32],
    "initial": [0, 7],
    "keepdims": [True, False],
    "kind": [None, "quicksort", "stable", "heap", "Q", "introselect", "other", "", 1],
    "max": [4, None],
    "mean": [np.array(2.5)],
    "min": [3, None],
    "mode": ["raise", "wrap", "clip", "other", 0, 1, 2],
    "offset": [1, -1],
    "order": [None, "C", "F", "A", "K", "c", "f", "a", "k", "other", 1],
    "side": ["left", "right", "other"],
    "sorter": [None, np.array([2, 0, 1])],
    "stable": [True, False, None],
    "stream": [None],
    "subok": [True, False],
    "where": [True, MASK],
}

#: Of which a container has no elements in that order, or has to copy what an array views.
DIFFERENT = {("reshape", "copy", False)}


def methods() -> list[str]:
    """Return the names of ndarray's methods that have to do with its elements."""
    names = [name for name in dir(np.ndarray) if not name.startswith("_") and callable(getattr(np.ndarray, name))]
    return [name for name in names if name not in ABOUT_MEMORY]


def array_of(name: str) -> Any:
    """Return the array whose method is called."""
    if name in ("put", "searchsorted"):
        return np.array([1, 3, 4])
    return np.array([[3, 1, 2, 9], [0, 11, 6, 5], [8, 4, 7, 10]])


def outcome(method: str, a: Any, args: Any, words: dict[str, Any]) -> Any:
    """Return what a call returns or writes to, or the error that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = getattr(a, method)(*args, **words)
    except (TypeError, ValueError, IndexError) as error:
        return error
    return a if result is None else result


def whole(ctx: dtl.Context, a: Any) -> Any:
    """Return a container of the elements of an array of one dimension or more."""
    return dtl.asarray(ctx, a) if isinstance(a, np.ndarray) and a.ndim else a


def check(got: Any, want: Any, call: str) -> None:
    if isinstance(want, Exception):
        kinds = (TypeError, ValueError, IndexError)
        same = any(isinstance(got, kind) and isinstance(want, kind) for kind in kinds)
        assert same or (isinstance(got, ValueError) and "shape" in str(want)), f"{call}: {got!r} for {want!r}"
        return
    assert not isinstance(got, Exception), f"{call}: {got!r}"
    if isinstance(want, tuple):
        assert len(got) == len(want), call
        for one, other in zip(got, want):
            check(one, other, call)
        return
    divided = isinstance(got, dtl.DistributedContainer)
    elements, expected = (got.local_view(), part(got, want)) if divided else (np.asarray(got), np.asarray(want))
    assert got.shape == np.shape(want) if divided else elements.shape == np.shape(want), call
    assert elements.dtype == np.asarray(want).dtype, call
    np.testing.assert_allclose(elements, expected, 1e-12, err_msg=call)


def parameters(name: str) -> Any:
    """Return the parameters of ndarray's method other than the array, by their names."""
    found = dict(inspect.signature(getattr(np.ndarray, name)).parameters)
    return {word: each for word, each in found.items() if word != "self"}


said = pytest.mark.skipif(VERSION < "2.4.0", reason="ndarray's methods say their signatures from NumPy 2.4 on")


@said
@pytest.mark.parametrize("name", methods())
def test_signatures(name: str) -> None:
    """Each parameter of NumPy's method is at its place and has its name.

    That of choose takes further choices by position, whatever its signature says.
    """
    own = list(inspect.signature(getattr(dtl.DistributedTensor, name)).parameters.values())[1:]
    theirs = list(parameters(name).values())
    for place, wanted in enumerate(theirs):
        if wanted.kind is wanted.VAR_KEYWORD:
            assert name in MORE
        elif wanted.kind in (wanted.VAR_POSITIONAL, wanted.KEYWORD_ONLY):
            assert any(each.kind is wanted.kind and each.name == wanted.name for each in own) or name == "item"
        elif not (name == "choose" and place):
            assert own[place].kind in (wanted.POSITIONAL_ONLY, wanted.POSITIONAL_OR_KEYWORD), wanted.name
            optional = wanted.default is not wanted.empty
            assert not optional or own[place].default is not wanted.empty, wanted.name
            assert wanted.kind is wanted.POSITIONAL_ONLY or own[place].name == wanted.name


@said
@pytest.mark.parametrize("name", methods())
def test_each_keyword_with_its_values(ctx: dtl.Context, name: str) -> None:
    theirs = parameters(name)
    given = GIVEN.get(name, ())
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    words = [word for word, each in theirs.items() if each.kind in named and each.default is not each.empty]
    for word in (*words, *MORE.get(name, ())):
        place = list(theirs).index(word) if word in theirs else len(theirs)
        keyword_only = word not in theirs or theirs[word].kind is inspect.Parameter.KEYWORD_ONLY
        for value in _values(name, word, given):
            _compare(ctx, name, given if keyword_only or place >= len(given) else given[:place], {word: value})
        if not keyword_only and place >= len(given):
            _by_position(ctx, name, list(theirs)[len(given) : place + 1], given)


def _values(name: str, word: str, given: Any) -> list[Any]:
    if (name, word) == ("clip", "where"):
        return [True]  # without out, the elements where it is false are anything
    if word != "out":
        return VALUES[word]
    made = np.asarray(outcome(name, array_of(name), given, {}))
    return [None, np.zeros(made.shape, made.dtype), np.zeros((*made.shape, 2), made.dtype)]


def _compare(ctx: dtl.Context, name: str, args: Any, words: dict[str, Any]) -> None:
    word, value = next(iter(words.items()), ("", None))
    array = array_of(name)
    want = outcome(
        name, array.copy(), args, {key: np.copy(v) if key == "out" and v is not None else v for key, v in words.items()}
    )
    got = outcome(
        name, whole(ctx, array), args, {key: whole(ctx, v) if key == "out" else v for key, v in words.items()}
    )
    if isinstance(value, (str, int, type(None))) and (name, word, value) in DIFFERENT:
        assert isinstance(got, ValueError)
        return
    check(got, want, f"{name}{args}, {words}")


def _by_position(ctx: dtl.Context, name: str, words: list[str], given: Any) -> None:
    """The defaults of NumPy's method as arguments by position are the same as none."""
    theirs = parameters(name)
    defaults = [theirs[word].default for word in words]
    if name not in ("all", "any", "choose") and inspect.Parameter.empty not in defaults:  # out=None is refused there
        _compare(ctx, name, (*given, *defaults), {})


@pytest.mark.parametrize("word", ["f", "C", "K", "A", None])
def test_orders_of_any_version(ctx: dtl.Context, word: Any) -> None:
    a = np.arange(6).reshape(2, 3)
    c = dtl.asarray(ctx, a)
    for text in (
        "x.copy(word)",
        "x.astype('f4', word)",
        "x.flatten(word)",
        "np.copy(x, word)",
        "x.astype('i4', order=word)",
    ):
        space = {"np": np, "word": word}
        check(eval(text, {**space, "x": c}), eval(text, {**space, "x": a}), text)


@pytest.mark.parametrize("bounds", [(2, 5), (None, 5), (2, None)])
def test_clip_where_something_is_true(ctx: dtl.Context, bounds: Any) -> None:
    a, want = array_of("clip"), np.full((3, 4), -1)
    c, got = dtl.asarray(ctx, a), dtl.asarray(ctx, want)
    assert c.clip(*bounds, out=got, where=MASK) is got
    a.clip(*bounds, out=want, where=MASK)
    check(got, want, f"clip{bounds}")


@pytest.mark.parametrize("kind", ["sort", "table", None])
def test_kinds_of_isin(ctx: dtl.Context, kind: Any) -> None:
    a = np.arange(6)
    check(dtl.isin(dtl.asarray(ctx, a), [1, 7], kind=kind), np.isin(a, [1, 7]), str(kind))
    with pytest.raises(ValueError, match="kind"):
        dtl.isin(dtl.asarray(ctx, a), [1, 7], kind="other")
    with pytest.raises(ValueError, match="table"):
        dtl.isin(dtl.asarray(ctx, a), [1.5], kind="table")


def test_kind_and_stable_exclude_each_other(ctx: dtl.Context) -> None:
    c = dtl.asarray(ctx, [3, 1, 2])
    functions: list[Any] = [lambda **words: np.sort(c, **words)] if VERSION >= "2.0.0" else []
    for call in (c.sort, c.argsort, *functions):
        with pytest.raises(ValueError, match="same time"):
            call(kind="stable", stable=True)


def test_choices_are_a_sequence_or_the_arguments(ctx: dtl.Context) -> None:
    a = np.array([1, 0, 2, 1])
    c = dtl.asarray(ctx, a)
    check(c.choose(10, 11, 12), a.choose(10, 11, 12), "choose(10, 11, 12)")
    check(c.choose([10, 11, 12], mode="wrap"), a.choose([10, 11, 12], mode="wrap"), "choose([10, 11, 12])")
    out = dtl.zeros(ctx, 4, dtype=np.int64)
    assert c.choose(10, a, c, out=out) is out
    check(out, a.choose(10, a, a), "choose(10, a, c)")

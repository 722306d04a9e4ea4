"""What a container shows of its values: this rank's by itself, those of all ranks together, and nothing to pickle."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, division, vector

import dtl


def values_of(text: str) -> str:
    """Return what is printed below a container's description."""
    return text.partition("\n")[2]


# ---- This rank's own ----


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", [0, 7, 5000])
def test_print_shows_own_values(ctx: dtl.Context, name: str, size: int) -> None:
    x = vector(ctx, np.arange(size) / 4, name)
    part = x.to_numpy()
    assert str(x) == (f"{x!r}\n{part}" if part.size else repr(x))


def test_print_of_a_tensor(ctx: dtl.Context) -> None:
    table = dtl.full(ctx, (2 * ctx.size, 3), 1.5)
    assert values_of(str(table)) == "[[1.5 1.5 1.5]\n [1.5 1.5 1.5]]"
    assert "[[1.5 1.5 1.5]\n [1.5 1.5 1.5]]" in table._repr_html_()


def test_print_of_a_span(ctx: dtl.Context) -> None:
    span = dtl.DistributedSpan(dtl.arange(ctx, 20 * ctx.size)).subspan(2, 3)
    assert values_of(str(span)) == ("[2 3 4]" if ctx.is_root else "")


def test_one_rank_prints_alone(ctx: dtl.Context) -> None:
    x = dtl.arange(ctx, 10 * ctx.size)
    if ctx.is_root:  # nothing is communicated, so nobody waits
        assert values_of(str(x)) == "[0 1 2 3 4 5 6 7 8 9]"
        assert "[0 1 2 3" in x._repr_html_()
    ctx.barrier()


def test_print_of_a_closed_one(ctx: dtl.Context) -> None:
    x = dtl.arange(ctx, 3)
    x.close()
    assert str(x) == repr(x) == "<dtl.DistributedVector, closed>"


def test_print_while_a_call_is_under_way(ctx: dtl.Context) -> None:
    x = dtl.ones(ctx, 40 * ctx.size)
    future = dtl.async_for_each(x, lambda a: str(x))
    assert str(x).count("\n") <= 2
    future.get()
    assert values_of(str(x))


def test_markup_is_escaped(ctx: dtl.Context) -> None:
    assert "<pre>[0]</pre>" in dtl.zeros(ctx, ctx.size, int)._repr_html_()


def test_views_are_let_go(ctx: dtl.Context) -> None:
    x = dtl.arange(ctx, 100)
    str(x)
    x._repr_html_()
    assert x.views_out == 0


# ---- Those of all ranks ----


def shown(x: Any, capsys: pytest.CaptureFixture[str], root: int = 0) -> list[str]:
    """Return what show prints on root: the description, the values, and the ranks."""
    capsys.readouterr()
    assert x.show(root) is None
    text = capsys.readouterr().out
    if x.context.rank != root:
        assert text == ""
        return []
    head, _, rest = text.partition("\n")
    values, _, ranks = rest.partition("\nrank 0: ")
    return [head, values, f"rank 0: {ranks}"]


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", [0, 7, 1001])
def test_show(ctx: dtl.Context, capsys: pytest.CaptureFixture[str], name: str, size: int) -> None:
    array = np.arange(size) / 4
    x = vector(ctx, array, name)
    parts = shown(x, capsys, root=ctx.size - 1)
    if parts:
        assert repr(x).startswith(parts[0][:-1])
        assert parts[1] == str(array)
        assert parts[2].count("rank ") == ctx.size


@pytest.mark.parametrize("shape", [(3, 4), (100, 200), (2, 600), (40, 30, 5), (0, 3)])
@pytest.mark.parametrize("dtype", ["i4", "f8", "c16", "?"])
def test_show_a_tensor(ctx: dtl.Context, capsys: pytest.CaptureFixture[str], shape: Any, dtype: str) -> None:
    array = (np.arange(np.prod(shape)) % 7).reshape(shape).astype(dtype)
    x = dtl.asarray(ctx, array)
    parts = shown(x, capsys)
    assert not parts or parts[1] == str(array)


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]", "U3", "S5", "f2", [("n", "i4"), ("x", "S2")]])
def test_show_dates_text_and_records(ctx: dtl.Context, capsys: pytest.CaptureFixture[str], dtype: Any) -> None:
    array = np.arange(7).astype(dtype) if isinstance(dtype, str) else np.array([(3, b"a"), (4, b"bc")], dtype)
    for x, whole in (
        (dtl.asarray(ctx, array), array),
        (dtl.asarray(ctx, np.stack([array] * 2)), np.stack([array] * 2)),
    ):
        parts = shown(x, capsys)
        assert not parts or parts[1] == str(whole)


def test_show_follows_numpy_options(ctx: dtl.Context, capsys: pytest.CaptureFixture[str]) -> None:
    array = np.arange(50) / 3
    with np.printoptions(threshold=10, edgeitems=2, precision=2):
        parts = shown(dtl.asarray(ctx, array), capsys)
        assert not parts or parts[1] == str(array)


def test_show_of_a_span(ctx: dtl.Context, capsys: pytest.CaptureFixture[str]) -> None:
    span = dtl.DistributedSpan(dtl.arange(ctx, 20)).subspan(5, 6)
    parts = shown(span, capsys)
    assert not parts or parts[1] == "[ 5  6  7  8  9 10]"


def test_show_says_what_ranks_hold(ctx: dtl.Context, capsys: pytest.CaptureFixture[str]) -> None:
    parts = shown(dtl.zeros(ctx, (2 * ctx.size, 3)), capsys)
    if parts:
        lines = [f"rank {r}: [{2 * r}, {2 * r + 2}) x [0, 3)" for r in range(ctx.size)]
        assert parts[2].splitlines() == lines


@pytest.mark.parametrize(("root", "error"), [(99, dtl.BoundsError), (-1, dtl.BoundsError), ("a", dtl.InvalidTypeError)])
def test_bad_roots(ctx: dtl.Context, root: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="root"):
        dtl.ones(ctx, 3).show(root)


def test_closed_ones_are_not_shown(ctx: dtl.Context) -> None:
    x = dtl.ones(ctx, 3)
    x.close()
    with pytest.raises(dtl.InvalidHandleError):
        x.show()


# ---- Pickles ----


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickling_says_how_to_save(ctx: dtl.Context, protocol: int) -> None:
    vec = dtl.ones(ctx, 4)
    made = [vec, dtl.DistributedArray(ctx, 3), dtl.zeros(ctx, (2, 2)), dtl.DistributedSpan(vec).subspan(0, 2)]
    for x in made:
        with pytest.raises(TypeError, match=rf"a {type(x).__name__} is not pickled.*dtl\.save.*dtl\.checkpoint"):
            pickle.dumps(x, protocol)
        with pytest.raises(TypeError, match="is not pickled"):
            pickle.dumps({"x": [x]}, protocol)
    refused = pytest.raises(TypeError, match=r"a DistributedMap is not pickled.*dtl\.checkpoint")
    with dtl.DistributedMap(ctx, np.int64, np.float64) as table, refused:
        pickle.dumps(table, protocol)


def test_objects_with_containers_are_not_sent(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=r"dtl\.save"):
        dtl.allgather_object(ctx, {"x": dtl.ones(ctx, 3)})


def test_copies_are_no_pickles(ctx: dtl.Context) -> None:
    x = dtl.arange(ctx, 5)
    for made in (copy.copy(x), copy.deepcopy([x])[0]):
        assert made is not x
        assert bool((made == x).all())


def test_a_division_by_name(ctx: dtl.Context, capsys: pytest.CaptureFixture[str]) -> None:
    x = dtl.DistributedTensor(ctx, (6, 2), np.int8, **division("cyclic", 6, ctx.size))
    parts = shown(x, capsys)
    assert not parts or parts[0].startswith("<dtl.DistributedTensor of 6 x 2 int8, CYCLIC over ")

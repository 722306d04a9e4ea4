"""A kind of elements that is only moved, compared and sorted is one class: whatever asks for kinds takes it."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
import pytest

import dtl
from dtl._native import kinds
from dtl._native.kinds.kind import Moved

LONG = np.dtype(np.longdouble)
#: Between the bytes of a long float there are some of no value.
VALUE = np.finfo(LONG).nmant // 8 + 3

pytestmark = pytest.mark.skipif(LONG.itemsize == 8, reason="needs long floats of more than 64 bits; runs on x86")


class Long(Moved):
    """Floats of more than 64 bits."""

    is_listed = has_missing = True
    reductions = frozenset({"min", "max", "argmin", "argmax"})

    def order_keys(self, part: Any, reverse: bool) -> list[Any]:
        high = part.astype(np.float64)
        return [high, (part - high).astype(np.float64)]

    def missing(self, elements: Any) -> Any:
        return np.isnan(elements)

    def extreme(self, dtype: Any, least: bool) -> Any:
        return np.inf if least else -np.inf

    def alike(self, keys: Any) -> Any:
        made = np.where(np.isnan(keys), LONG.type("nan"), keys + LONG.type(0)).astype(LONG)
        made.view(np.uint8).reshape(-1, LONG.itemsize)[:, VALUE:] = 0
        return made


@pytest.fixture
def long() -> Iterator[None]:
    """Have containers hold long floats."""
    number, before = LONG.num, kinds.kind_of(LONG)
    made = kinds._KINDS[number] = Long()
    made.of = kinds.kind_of
    yield
    kinds._KINDS[number] = before


def numbers(n: int) -> Any:
    """Return long floats in no order, some of which differ by less than float64 tells apart."""
    near = (np.arange(n) % 3).astype(LONG) * np.finfo(LONG).eps
    return Long().alike((np.arange(n) * 7 % 5 + 1).astype(LONG) * (1 + near))


def whole(c: Any) -> Any:
    """Return all elements, on every rank."""
    return c.get(np.arange(c.global_size))


@pytest.mark.usefixtures("long")
def test_moves_compares_and_sorts(ctx: dtl.Context) -> None:
    data = numbers(23)
    with dtl.DistributedVector.from_numpy(ctx, data) as vec:
        assert vec.dtype == LONG
        np.testing.assert_array_equal(whole(vec[3:20:2]), data[3:20:2])
        np.testing.assert_array_equal(whole(vec == vec[4]), data == data[4])
        np.testing.assert_array_equal(whole(np.sort(vec)), np.sort(data))
        np.testing.assert_array_equal(whole(np.unique(vec)), np.unique(data))
        assert (vec.min(), vec.max()) == (data.min(), data.max())
        assert (np.argmin(vec), np.argmax(vec)) == (data.argmin(), data.argmax())
        with pytest.raises(dtl.InvalidTypeError, match="moved, compared and sorted"):
            vec.sum()


@pytest.mark.usefixtures("long")
def test_is_a_key_of_maps(ctx: dtl.Context) -> None:
    keys = np.unique(numbers(23))
    with dtl.DistributedMap(ctx, LONG, np.int64) as m:
        m.insert_many(keys if ctx.rank == 0 else keys[:0], np.arange(len(keys)) if ctx.rank == 0 else [])
        assert m.global_size == len(keys)
        values, found = m.find_many(keys[::-1])
        assert found.all()
        np.testing.assert_array_equal(values, np.arange(len(keys))[::-1])

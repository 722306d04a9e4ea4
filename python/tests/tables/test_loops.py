"""The core's loops over rows, compared with NumPy's functions and Python's dictionaries."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import dtl
from dtl.tables import loops

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

SEEDS = st.integers(0, 2**32 - 1)
ROWS = st.sampled_from([0, 1, 7, 300, 100_000])


def chunked(draw: np.random.Generator, values: Any, null: Any) -> Any:
    """Return values as a column of several arrays that begin in the midst of others."""
    whole = pa.array(values, mask=null)
    cuts = np.sort(draw.integers(0, len(whole) + 1, draw.integers(0, 4))).tolist()
    return pa.chunked_array([whole.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, len(whole)])], whole.type)


def met(values: list[Any]) -> tuple[list[int], list[int]]:
    """Return the numbers of values by the order in which they are met, -1 of None, and the rows in which they are."""
    known: dict[Any, int] = {}
    codes, rows = [], []
    for row, value in enumerate(values):
        if value is not None and value not in known:
            known[value] = len(known)
            rows.append(row)
        codes.append(-1 if value is None else known[value])
    return codes, rows


@hypothesis.settings(max_examples=15)
@hypothesis.given(seed=SEEDS, rows=ROWS, distinct=st.sampled_from([1, 20, 10**9]), threads=st.integers(1, 3))
def test_numbers(seed: int, rows: int, distinct: int, threads: int) -> None:
    draw = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "get_num_threads", lambda: threads)
        words = draw.integers(0, distinct, rows)
        texts = ["é" * (word % 11) + str(word) for word in words.tolist()]
        null = draw.random(rows) < 0.1
        column = chunked(draw, texts, null)
        codes, first = loops.numbered_texts(column)
        assert (codes.tolist(), first.tolist()) == met(column.to_pylist())
        codes, first = loops.numbered_words(words)
        assert (codes.tolist(), first.tolist()) == met(words.tolist())
        known = rows // 2
        codes, _ = loops.numbered_words(words, known)
        number = dict(zip(words[:known].tolist(), codes[:known].tolist()))
        assert codes[known:].tolist() == [number.get(word, -1) for word in words[known:].tolist()]
        for numbers in (words, -words.astype(np.int32), words / 7, words.astype(np.uint64)):
            codes, distinct = loops.numbered_in_order(numbers)
            found, inverse = np.unique(numbers, return_inverse=True)
            np.testing.assert_array_equal(codes, inverse)
            np.testing.assert_array_equal(distinct, found)


@hypothesis.settings(max_examples=15)
@hypothesis.given(
    seed=SEEDS,
    rows=ROWS,
    width=st.sampled_from([1, 9, 5000]),
    kind=st.sampled_from(["i1", "u2", "i4", "u8", "f4", "f8"]),
)
def test_folds(seed: int, rows: int, width: int, kind: str) -> None:
    draw = np.random.default_rng(seed)
    values = (draw.random(rows) * 200 - (100 if kind[0] != "u" else 0)).astype(kind)
    codes, null = draw.integers(0, width, rows), draw.random(rows) < 0.2
    column, there = chunked(draw, values, null), ~null
    counts = np.bincount(codes[there], minlength=width)
    np.testing.assert_array_equal(loops.counted(codes, width, column), counts)
    of_sum = np.dtype("f8" if kind[0] == "f" else kind[0] + "8")
    for threads in (1, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loops, "get_num_threads", lambda threads=threads: threads)
            made = [
                loops.folded(fold, codes, width, column, out)
                for fold, out in [(loops.SUM, of_sum), (loops.TOTAL, "f8"), (loops.LEAST, kind), (loops.MOST, kind)]
            ]
            about = np.arange(width) / 3
            made.append(loops.folded(loops.SQUARES, codes, width, column, "f8", about))
        if threads == 1:
            alone = made
        for one, other in zip(made, alone):
            np.testing.assert_array_equal(one, other)
    away = values[there].astype("f8") - about[codes[there]]
    sums = [np.bincount(codes[there], w, width) for w in (values[there], values[there], away * away, away)]
    np.testing.assert_allclose(made[0], sums[0])
    np.testing.assert_allclose(made[1], sums[1])
    np.testing.assert_allclose(made[4], np.concatenate(sums[2:]), atol=1e-9)
    for group in np.flatnonzero(counts)[:50]:
        mine = values[there & (codes == group)]
        assert (made[2][group], made[3][group]) == (mine.min(), mine.max())


@hypothesis.settings(max_examples=15)
@hypothesis.given(seed=SEEDS, rows=ROWS, width=st.sampled_from([1, 9, 5000]), descending=st.booleans())
def test_orders(seed: int, rows: int, width: int, descending: bool) -> None:
    draw = np.random.default_rng(seed)
    codes, values = draw.integers(0, width, rows), draw.integers(-20, 20, rows) / 4
    order, ends = loops.ordered(codes, width, values, descending)
    np.testing.assert_array_equal(order, np.lexsort((-values if descending else values, codes)))
    np.testing.assert_array_equal(ends, np.cumsum(np.bincount(codes, minlength=width)))
    np.testing.assert_array_equal(loops.ordered(codes, width)[0], np.argsort(codes, kind="stable"))
    np.testing.assert_array_equal(loops.sorted_values(codes, width, values), values[np.lexsort((values, codes))])
    places = loops.places_in_groups(codes, width, values, descending)
    np.testing.assert_array_equal(places[order], np.arange(rows) - np.append(0, ends[:-1])[codes[order]])
    first = loops.foremost(codes, width, values, 2, descending).reshape(width, 2)
    np.testing.assert_array_equal(np.sort(first[first >= 0]), np.flatnonzero(places < 2))


@pytest.mark.parametrize("codes", [[-1, 0], [0, 5]])
def test_groups_that_there_are_not(codes: list[int]) -> None:
    with pytest.raises(dtl.DTLError):
        loops.counted(np.array(codes), 2)

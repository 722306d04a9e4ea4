"""Joins of two tables that are more than may be in memory: beside the same calls in memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from test_table import everywhere
from test_table_files import same

import dtl
from dtl.tables import joining, on_disk

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

KEYS: dict[str, Any] = {
    "two": ["k", "text"],
    "floats": ["f"],
    "texts": ["text"],
    "times": ["t"],
    "categories": ["c", "k"],
    "integers far apart": ["far"],
    "integers that are close": ["k"],
    "of one value": ["one"],
    "integers and floats": ["k", "halves"],
    "integers of two widths": ["short", "k"],
    "categories and texts": ["c", "text"],
    "categories in two orders": ["ordered", "turned"],
}

#: The keys that have two names, of which the second table has the latter.
TWO = ("integers and floats", "integers of two widths", "categories and texts", "categories in two orders")


def keyed_rows(seed: int, count: int) -> Any:
    """Return rows with keys of several types, null among them, NaN, and zeros of both signs."""
    random = np.random.default_rng(seed)
    k = random.integers(-50, 50, count)
    floats = np.where(k % 7 == 0, np.nan, k / 2)
    floats[(k == 0) & (random.random(count) < 0.5)] = -0.0
    texts = pa.array([None if i % 9 == 0 else f"text {i}" for i in k.tolist()])
    return pa.table(
        {
            "k": pa.array(k, mask=k % 11 == 0),
            "f": pa.array(floats, mask=k % 10 == 3),
            "text": texts,
            "t": pa.array(k**3 * 10**9, mask=k % 11 == 0).cast(pa.timestamp("ns")),
            "c": texts.dictionary_encode(),
            "far": k.astype(np.int64) ** 9,
            "one": np.zeros(count, np.int64),
            "halves": pa.array(k / 2, mask=k % 11 == 0),
            "short": pa.array(k.astype(np.int16), mask=k % 11 == 0),
            "ordered": pa.DictionaryArray.from_arrays(k % 4, ["b", "d", "a", "c"], ordered=True),
            "turned": pa.DictionaryArray.from_arrays(k % 3, ["c", "e", "b"], ordered=True),
        }
    )


@pytest.mark.parametrize(
    ("keys", "how"),
    [
        (keys, how)
        for keys in KEYS
        for how in (("right", "outer", "semi") if keys in TWO else ("inner", "left", "right", "outer", "semi", "anti"))
    ],
)
def test_joins_of_two_tables_that_are_more_than_memory(
    folder: str, monkeypatch: pytest.MonkeyPatch, keys: str, how: str
) -> None:
    with dtl.Context(scratch=folder) as ctx:
        alone = keys == "of one value"
        one, other = (keyed_rows(ctx.rank + seed, 40 if alone else 500) for seed in (0, 9))
        one, other = (
            table.append_column(name, pa.array(np.arange(len(table)) + 10**6 * ctx.rank))
            for name, table in zip("vu", (one, other))
        )
        divisions, divided_alike = [], joining.divided_alike

        def watched(*args: Any) -> Any:
            made = divided_alike(*args)
            divisions.append(min(sum(length > 0 for length in each.lengths) for each in made))
            return made

        left = dtl.from_arrow(ctx, one)
        of_left, of_right = (KEYS[keys][:1], KEYS[keys][1:]) if keys in TWO else (KEYS[keys], KEYS[keys])
        right = dtl.from_arrow(ctx, other.select([*of_right, "u"]))
        with monkeypatch.context() as less:
            less.setattr(on_disk.library, "memory_limit", lambda: 512 << 10)
            less.setattr(joining, "_ROOM", 1 if keys == "two" else 0)
            less.setattr(joining, "divided_alike", watched)
            found = everywhere(left.merge(right, how=how, left_on=of_left, right_on=of_right))
        assert len(divisions) == 1
        assert ctx.size > 1 or alone or divisions[0] > 1
        assert os.listdir(folder) == []
        assert same(found, everywhere(left.merge(right, how=how, left_on=of_left, right_on=of_right)))


def test_both_tables_say_where_ranges_begin(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second table has nearly all of its keys among few of the first one's, and in three places at a time."""
    with dtl.Context(scratch=folder) as ctx:
        rows = 3000
        first = np.arange(rows) + rows * ctx.rank
        second = np.where(first % 50 == 0, first, first * 1003 % 3000 // 30)
        left = dtl.from_arrow(ctx, pa.table({"k": first**3, "v": first}))
        right = dtl.from_arrow(ctx, pa.table({"k": second**3, "u": first}))
        lengths, divided_alike = [], joining.divided_alike

        def watched(*args: Any) -> Any:
            made = divided_alike(*args)
            lengths.append(np.array([each.lengths for each in made]))
            return made

        with monkeypatch.context() as less:
            less.setattr(on_disk.library, "memory_limit", lambda: 1 << 20)
            less.setattr(joining, "_ROOM", 0)
            less.setattr(joining, "divided_alike", watched)
            found = everywhere(left.merge(right, on="k"))
        (of_both,) = lengths
        assert of_both.shape[1] > 4
        assert of_both.max() < 4 * of_both.mean()
        assert same(found, everywhere(left.merge(right, on="k")))

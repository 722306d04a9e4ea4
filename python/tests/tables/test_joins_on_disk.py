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
}


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
        }
    )


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
@pytest.mark.parametrize("keys", KEYS)
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
        right = dtl.from_arrow(ctx, other.select([*KEYS[keys], "u"]))
        with monkeypatch.context() as less:
            less.setattr(on_disk.library, "memory_limit", lambda: 512 << 10)
            less.setattr(joining, "_ROOM", 1 if keys == "two" else 0)
            less.setattr(joining, "divided_alike", watched)
            found = everywhere(left.merge(right, how=how, on=KEYS[keys]))
        assert len(divisions) == 1
        assert ctx.size > 1 or alone or divisions[0] > 1
        assert os.listdir(folder) == []
        assert same(found, everywhere(left.merge(right, how=how, on=KEYS[keys])))

"""Rows with the same keys, found by loops of this package, compared with dictionaries of lists."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dtl._native.library import bridge
from dtl.exceptions import InvalidArgumentError
from dtl.tables import gather, matching

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

#: Types of integers, and the least of the keys that are drawn of each.
INTEGERS = {
    "int8": -5, "int16": -5, "int32": -(2**31), "int64": 2**63 - 40, "uint8": 0, "uint32": 2**31 - 9,
    "uint64": 2**63 - 9, "date32": -5, "timestamp": -(2**63) + 1, "time32": 0,
}  # fmt: skip


def keys_of(kind: str, rows: int, distinct: bool, nulls: bool, rng: Any) -> Any:
    """Return a table of keys in two chunks, of some thirty values, or of more where they are distinct."""
    drawn = rng.permutation(40)[:rows] if distinct else rng.integers(0, 30, rows)
    mask = (rng.random(rows) < 0.1) if nulls and not distinct else (drawn == 7) if nulls else None
    values = [int(n) + INTEGERS[kind] for n in drawn] if kind in INTEGERS else drawn.tolist()
    if kind in {"date32", "time32"}:
        array = pa.array(values, pa.int32(), mask=mask).view(pa.date32() if kind == "date32" else pa.time32("s"))
    elif kind == "timestamp":
        array = pa.array(values, pa.int64(), mask=mask).view(pa.timestamp("ns"))
    elif kind == "text":
        array = pa.array([f"key{n}" for n in values], mask=mask)
    elif kind == "float64":
        array = pa.array([n / 4 - 3 for n in values], mask=mask)
    elif kind == "sparse":
        array = pa.array([n * 10**15 for n in values], mask=mask)
    else:
        array = pa.array(values, kind, mask=mask)
    cut = rows // 3
    return pa.table({"k0": pa.chunked_array([array.slice(0, cut), array.slice(cut)])})


def places(table: Any) -> dict[Any, list[int]]:
    """Return the rows of each key."""
    found: dict[Any, list[int]] = {}
    for number, key in enumerate(zip(*(column.to_numpy(zero_copy_only=False).tolist() for column in bits(table)))):
        found.setdefault(key, []).append(number)
    return found


def bits(table: Any) -> list[Any]:
    """Return keys as texts, whatever their types; NaN and null are each equal to itself."""
    return [pa.chunked_array([pa.array([repr(value.value if hasattr(value, "value") else value.as_py())
                                        for value in column])]) for column in table.columns]  # fmt: skip


def check(first: Any, second: Any) -> None:
    matches = matching.Matches(first, second)
    theirs = places(second)
    wanted = [theirs.get(key, []) for key in list(zip(*(c.to_pylist() for c in bits(first))))]
    assert matches.has_partner().tolist() == [bool(rows) for rows in wanted]
    ours = places(first)
    assert matches.met_of_second().tolist() == [key in ours for key in zip(*(c.to_pylist() for c in bits(second)))]
    for all_of_first in (False, True):
        pairs = []
        for begin in range(0, len(first), 16):
            end = min(begin + 16, len(first))
            of_first, of_second = matches.pairs(begin, end, all_of_first)
            rows = range(end - begin) if of_first is None else of_first.tolist()
            pairs += [(begin + row, other) for row, other in zip(rows, of_second.tolist())]
            assert of_first is None or len(of_first) == len(of_second)
        none = [-1] if all_of_first else []
        assert pairs == [(row, other) for row, others in enumerate(wanted) for other in others or none]
        assert matches.rows(all_of_first) == len(pairs)
    assert matches.at_most() in {-1, len(first)}


@pytest.mark.parametrize("kind", [*INTEGERS, "bool", "text", "float64", "sparse"])
def test_pairs_are_those_of_a_dictionary(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(matching, "ROWS", 16)
    monkeypatch.setattr(gather, "ROWS", 16)
    rng = np.random.default_rng(5)
    for distinct, nulls, more in itertools.product((False, True), (False, True), (False, True)):
        if kind == "bool":
            first, second = (pa.table({"k0": pa.array([True, None, False, False][:n])}) for n in (4, 2 + more))
        else:
            first = keys_of(kind, 50, False, more, rng)
            second = keys_of(kind, 35, distinct, nulls, rng)
        check(first, second)
        check(first, second.slice(0, 0))
        check(first.slice(0, 0), second)
        check(first.append_column("k1", first["k0"]), second.append_column("k1", second["k0"]))


def test_rows_that_places_cannot_number(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = pa.table({"k0": [1, 2, 3, 9]}), pa.table({"k0": [3, 2, 2, 3]})
    monkeypatch.setattr(matching, "_MOST", 2)
    check(first, second)
    with pytest.raises(InvalidArgumentError, match="a rank has 3 keys of the second table; at most 2"):
        matching.Matches(first, pa.table({"k0": [1, 2, 3, 3]}))


def test_loops_refuse_memory_that_is_too_small() -> None:
    rows, words = np.zeros(5, np.int32), np.zeros(4, np.int64)
    places = (rows, 0, 4, False)
    for refused in (
        lambda: bridge.find_rows((rows, 0, 4, True), (words, 8, None, 0, 3), None, words),
        lambda: bridge.find_rows(places, (words, 8, None, 0, 5), None, np.zeros(9, np.int64)),
        lambda: bridge.find_rows(places, (words, 8, rows, 1, 128), None, words),
        lambda: bridge.find_rows(places, (words, 8, None, 0, 4), None, words),
        lambda: bridge.find_rows(places, (words, 8, None, 0, 3), words[:3], words),
        lambda: bridge.place_rows(places, (words, 8, None, 0, 5), 0),
    ):
        with pytest.raises(ValueError, match="bytes"):
            refused()

"""What columns and tables have under a name of its own, such as ``column.str``, with right arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from hostile_draws import Rows
from hostile_tables import table_of

import dtl

#: Calls without an argument that may be wrong, and those that make these calls known, which have tests of their own.
WITHOUT = {
    *(f"{name}.__init__" for name in ("Texts", "Times", "Categories", "Locator", "PlaceLocator", "Explained")),
    "Explained.__getitem__",
    *(
        f"Texts.{name}"
        for name in (
            "lower", "upper", "capitalize", "title", "swapcase", "casefold", "len", "isalnum", "isalpha", "isascii",
            "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper",
        )
    ),
    *(f"Times.{name}" for name in ("day_name", "month_name", "isocalendar", "normalize", "total_seconds")),
    *(f"Categories.{name}" for name in ("as_ordered", "as_unordered", "remove_unused_categories")),
}  # fmt: skip


def classes() -> list[type]:
    """Return the classes of what has these calls, which the package itself does not name."""
    from dtl.tables.category_methods import Categories
    from dtl.tables.explaining import Explained
    from dtl.tables.locating import Locator, PlaceLocator
    from dtl.tables.text import Texts
    from dtl.tables.times import Times

    return [Texts, Times, Categories, Locator, PlaceLocator, Explained]


def _columns(ctx: dtl.Context) -> tuple[Any, Any, Any]:
    """Return a table, a column of categories and one of times; without pyarrow, nothing, of which all calls fail."""
    t = table_of(ctx)
    if not isinstance(t, dtl.Table):
        return t, t, t
    return t, t["text"].astype("category"), t.assign(time=np.datetime64("2024-01-01T00:30:00"))["time"]


def rows(ctx: dtl.Context) -> Rows:
    """Return the collective calls."""
    t, kinds, times = _columns(ctx)
    if not isinstance(t, dtl.Table):
        return {}
    return {
        "Categories.set_categories": (kinds.cat.set_categories, {"new_categories": ["b", "c"], "ordered": True}),
        "Categories.reorder_categories": (
            kinds.cat.reorder_categories,
            {"new_categories": ["b", "a"], "ordered": True},
        ),
        "Categories.add_categories": (kinds.cat.add_categories, {"new_categories": ["c"]}),
        "Categories.remove_categories": (kinds.cat.remove_categories, {"removals": ["a"]}),
        "Categories.rename_categories": (kinds.cat.rename_categories, {"new_categories": ["x", "y"]}),
        "Texts.split": (
            lambda **words: t["text"].str.split(expand=True, **words),
            {"pat": "a", "n": 1, "regex": False},
        ),
        "Texts.rsplit": (lambda **words: t["text"].str.rsplit(expand=True, **words), {"pat": "a", "n": 1}),
        "Times.as_unit": (times.dt.as_unit, {"unit": "ms"}),
        "Times.tz_localize": (
            times.dt.tz_localize,
            {"tz": "Europe/Berlin", "ambiguous": "earliest", "nonexistent": "latest"},
        ),
        "Locator.__getitem__": (lambda key: t.loc[key], {"key": t["n"] > 1}),
        "Locator.__setitem__": (
            t.copy().loc.__setitem__,
            {"key": (t["n"] > 1, "v"), "value": 0.5},
        ),
        "PlaceLocator.__getitem__": (lambda key: t.iloc[key], {"key": slice(0, 2)}),
    }


def local(ctx: dtl.Context) -> Rows:
    """Return the calls that are not collective."""
    t, _, times = _columns(ctx)
    if not isinstance(t, dtl.Table):
        return {}
    text = t["text"].str
    pattern = {"pat": "a", "flags": 0}
    padded = {"width": 3, "fillchar": "-"}
    calls: Rows = {
        "__getitem__": (text.__getitem__, {"key": 0}),
        **{name: (getattr(text, name), {"to_strip": "a"}) for name in ("strip", "lstrip", "rstrip")},
        "contains": (text.contains, {**pattern, "case": True, "na": False, "regex": True}),
        "match": (text.match, {**pattern, "case": True, "na": False}),
        "fullmatch": (text.fullmatch, {**pattern, "case": True, "na": False}),
        "startswith": (text.startswith, {"pat": ("a", "b"), "na": False}),
        "endswith": (text.endswith, {"pat": "a", "na": False}),
        "find": (text.find, {"sub": "a", "start": 0, "end": 1}),
        "rfind": (text.rfind, {"sub": "a", "start": 0, "end": 1}),
        "count": (text.count, {**pattern, "regex": True}),
        "findall": (text.findall, pattern),
        "extract": (text.extract, {"pat": "(a)", "flags": 0, "expand": True}),
        "partition": (text.partition, {"sep": "a", "expand": True}),
        "rpartition": (text.rpartition, {"sep": "a", "expand": True}),
        "replace": (
            text.replace,
            {"pat": "a", "repl": "b", "n": 1, "case": True, "flags": 0, "regex": True},
        ),
        "removeprefix": (text.removeprefix, {"prefix": "a"}),
        "removesuffix": (text.removesuffix, {"suffix": "a"}),
        "repeat": (text.repeat, {"repeats": 2}),
        "cat": (text.cat, {"others": t["text"], "sep": "-", "na_rep": "?"}),
        "join": (text.join, {"sep": "-"}),
        "normalize": (text.normalize, {"form": "NFC"}),
        "translate": (text.translate, {"table": {97: "b"}}),
        "pad": (text.pad, {"side": "both", **padded}),
        **{name: (getattr(text, name), padded) for name in ("center", "ljust", "rjust")},
        "zfill": (text.zfill, {"width": 3}),
        "slice": (text.slice, {"start": 0, "stop": 1, "step": 1}),
        "slice_replace": (text.slice_replace, {"start": 0, "stop": 1, "repl": "b"}),
        "get": (text.get, {"i": 0}),
    }
    return {
        **{f"Texts.{name}": row for name, row in calls.items()},
        **{f"Times.{name}": (getattr(times.dt, name), {"freq": "h"}) for name in ("floor", "ceil", "round")},
        "Times.strftime": (times.dt.strftime, {"date_format": "%Y"}),
        "Times.tz_convert": (times.dt.tz_localize("UTC").dt.tz_convert, {"tz": "Asia/Tokyo"}),
    }

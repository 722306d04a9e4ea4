"""numpy.strings on containers of text: NumPy's results, with one dtype on all ranks."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector

import dtl

strings: Any = getattr(np, "strings", np.char)

#: The longest is on one rank alone.
NAMES = np.array(["ada", "Grace Hopper", "", "ümlaut", "a\tb", "x", "12"])

CASES: dict[str, Callable[[Any], Any]] = {
    "capitalize": strings.capitalize,
    "lower": strings.lower,
    "swapcase": strings.swapcase,
    "title": strings.title,
    "upper": strings.upper,
    "translate": lambda c: strings.translate(c, {ord("a"): "b"}),
    "center": lambda c: strings.center(c, 8, "*"),
    "ljust": lambda c: strings.ljust(c, 2),
    "rjust": lambda c: strings.rjust(c, np.arange(7) * 3),
    "zfill": lambda c: strings.zfill(c, 4),
    "expandtabs": lambda c: strings.expandtabs(c).astype("U16"),  # NumPy's has more room than it needs
    "encode": lambda c: strings.encode(c, "utf-8"),
    "decode": lambda c: strings.decode(strings.encode(c, "utf-8"), "utf-8"),
    "multiply": lambda c: strings.multiply(c, 3),
    "replace": lambda c: strings.replace(c, "a", "long"),
    "str_len": strings.str_len,
    "find": lambda c: strings.find(c, "a"),
    "strip": lambda c: strings.strip(c, "ax"),
    **({"slice": lambda c: strings.slice(c, 1, 3)} if hasattr(strings, "slice") else {}),
}


@pytest.mark.skipif(not hasattr(np, "strings"), reason="numpy.char before NumPy 2.0 makes some results wider")
@pytest.mark.parametrize("name", CASES)
def test_as_numpy_does(ctx: dtl.Context, name: str) -> None:
    for partition in DIVISIONS:
        c = dtl.asarray(ctx, NAMES, **division(partition, len(NAMES), ctx.size))
        assert_holds(CASES[name](c), CASES[name](NAMES))


@pytest.mark.skipif(not hasattr(np, "strings"), reason="numpy.char before NumPy 2.0 makes some results wider")
def test_nothing(ctx: dtl.Context) -> None:
    assert strings.replace(dtl.asarray(ctx, NAMES[:0]), "a", "bb").shape == (0,)


def test_a_wrong_argument(ctx: dtl.Context) -> None:
    with pytest.raises(TypeError):
        strings.center(dtl.asarray(ctx, NAMES), 1.5)


@pytest.mark.parametrize("divided", DIVISIONS)
@pytest.mark.parametrize(
    "texts",
    [["1970-01-12", "1970"], ["2020-01-01T12", "NaT", "2021"], ["2020-01-01T12:00:00.5", "2000-01", "1999"], []],
)
def test_dates_without_a_unit_get_that_of_their_text(ctx: dtl.Context, divided: str, texts: list[str]) -> None:
    """The finest of all ranks, as with NumPy."""
    whole = np.array(texts, "U25")
    assert_holds(vector(ctx, whole, divided).astype("M8"), whole.astype("M8"))


def test_all_ranks_hear_of_text_that_is_no_date(ctx: dtl.Context) -> None:
    with pytest.raises(ValueError, match="Error parsing datetime string"):
        dtl.asarray(ctx, np.array(["2020", "x", "1999"])).astype("M8")
    assert dtl.allreduce(ctx, 1) == ctx.size

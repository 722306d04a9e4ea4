"""What a container says of itself, in words and as a picture. Nothing of it communicates."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, division, vector

import dtl
from dtl.containers import display


def drawn(container: Any) -> dict[tuple[int, int], int]:
    """Return the rank of each element in the picture."""
    shown = display.picture(container)
    elements = {}
    for tile in shown.tiles:
        for row in range(*tile.rows):
            for column in range(*tile.columns):
                assert (row, column) not in elements, "two tiles show one element"
                elements[row, column] = tile.rank
    assert len(elements) == shown.rows * shown.columns
    return elements


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", [0, 1, 2, 7, 40])
def test_picture_shows_owners(ctx: dtl.Context, name: str, size: int) -> None:
    x = vector(ctx, np.arange(size), name)
    every = name == "replicated"
    assert drawn(x) == {(0, i): display.EVERY if every else x.owner(i) for i in range(size)}
    assert display.picture(x).whole


@pytest.mark.parametrize("name", DIVISIONS)
def test_picture_of_a_span(ctx: dtl.Context, name: str) -> None:
    span = dtl.DistributedSpan(vector(ctx, np.arange(40), name)).subspan(4, 23)
    every = name == "replicated"
    assert drawn(span) == {(0, i): display.EVERY if every else span.owner(i) for i in range(23)}


def test_picture_of_a_tensor(ctx: dtl.Context) -> None:
    for shape, grid in (((5, 7), (1, ctx.size)), ((9, 4, 3), (ctx.size, 1)), ((3, 2), None), ((4, 0), None)):
        tensor = dtl.DistributedTensor(ctx, shape, grid=grid)
        rest = (0,) * (len(shape) - 2)
        assert drawn(tensor) == {
            (i, j): tensor.owner(i, j, *rest) for i in range(shape[0]) for j in range(shape[1]) if 0 not in shape
        }


def test_picture_of_a_grid_of_four(ctx: dtl.Context) -> None:
    if ctx.size == 4:
        tensor = dtl.DistributedTensor(ctx, (4, 6), grid=(2, 2))
        tiles = display.picture(tensor).tiles
        assert [(str(tile.rows), str(tile.columns), tile.rank) for tile in tiles] == [
            ("[0, 2)", "[0, 3)", 0),
            ("[0, 2)", "[3, 6)", 1),
            ("[2, 4)", "[0, 3)", 2),
            ("[2, 4)", "[3, 6)", 3),
        ]


@pytest.mark.parametrize("name", DIVISIONS)
def test_large_containers_are_small_pictures(ctx: dtl.Context, name: str) -> None:
    size = 100_000
    x = dtl.DistributedVector(ctx, size, dtype=np.int8, **division(name, size, ctx.size))
    shown = display.picture(x)
    assert len(shown.tiles) <= 64
    assert len(x._repr_html_()) < 30_000
    if name in ("block", "explicit", "replicated"):
        assert shown.whole
    for tile in shown.tiles:
        for i in (tile.columns.start, tile.columns.stop - 1):
            assert tile.rank in (x.owner(i), display.EVERY)
    shown = display.picture(dtl.DistributedTensor(ctx, (1000, 1000), np.int8, **division(name, 1000, ctx.size)))
    assert len(shown.tiles) <= 16


class Checker(HTMLParser):
    """Keeps the tags that are open, and the names and texts that were met."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.met.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.met.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert not {"script", "img", "link", "style"} & set(checker.met)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    return checker


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", [0, 1, 10, 1000])
def test_html(ctx: dtl.Context, name: str, size: int) -> None:
    x = vector(ctx, np.arange(size), name)
    html = x._repr_html_()
    checker = checked(html)
    assert repr(x) in checker.text
    assert ("svg" in checker.met) is (size > 0)
    if size:
        drawing = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + len("</svg>")])
        space = "{http://www.w3.org/2000/svg}"
        assert len(drawing.findall(f"{space}g/{space}rect")) == len(display.picture(x).tiles)
    for shape in ((3, 4), (2, 3, 4)):
        assert "svg" in checked(dtl.DistributedTensor(ctx, shape)._repr_html_()).met


def test_html_escapes(ctx: dtl.Context) -> None:
    kind = type("Vector<b>", (dtl.DistributedVector,), {})
    html = kind(ctx, 3)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "Vector<b>" in checked(html).text


def test_what_is_closed_or_stale(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10))
    span = dtl.DistributedSpan(x)
    x.resize(12)
    assert repr(span).startswith("<dtl.DistributedSpan, ")
    assert "stale" in repr(span)
    x.close()
    assert repr(x) == "<dtl.DistributedVector, closed>"
    assert "closed" in repr(span)
    for container in (x, span):
        assert repr(container) in checked(container._repr_html_()).text


def test_words(ctx: dtl.Context) -> None:
    def says(container: Any) -> str:
        return repr(container).partition(", rank ")[0]

    ranks = f"{ctx.size} rank{'s' if ctx.size > 1 else ''}"
    x = vector(ctx, np.arange(10 * ctx.size, dtype=np.int16))
    start = 10 * ctx.rank
    assert repr(x) == (
        f"<dtl.DistributedVector of {10 * ctx.size} int16, BLOCK over {ranks}, "
        f"rank {ctx.rank} holds [{start}, {start + 10})>"
    )
    assert says(vector(ctx, np.arange(9.0), "block_cyclic")) == (
        f"<dtl.DistributedVector of 9 float64, BLOCK_CYCLIC of 3 over {ranks}"
    )
    assert says(dtl.DistributedArray(ctx, 5, dtype=bool)) == f"<dtl.DistributedArray of 5 bool, BLOCK over {ranks}"
    assert says(dtl.DistributedTensor(ctx, (3, 4))) == f"<dtl.DistributedTensor of 3 x 4 float64, BLOCK over {ranks}"
    assert says(vector(ctx, np.arange(9.0), "hash")) == f"<dtl.DistributedVector of 9 float64, HASH over {ranks}"
    if ctx.size > 1:
        tensor = dtl.DistributedTensor(ctx, (3, 4), grid=(1, ctx.size))
        assert says(tensor) == f"<dtl.DistributedTensor of 3 x 4 float64, BLOCK over 1 x {ctx.size} ranks"
        cyclic = vector(ctx, np.arange(3 * ctx.size), "cyclic")
        assert repr(cyclic).endswith(f"holds {{{ctx.rank}, {ctx.rank + ctx.size}, {ctx.rank + 2 * ctx.size}}}>")
        cyclic = vector(ctx, np.arange(9 * ctx.size), "cyclic")
        assert repr(cyclic).endswith(f"holds {{{ctx.rank}, {ctx.rank + ctx.size}, {ctx.rank + 2 * ctx.size}, …}}>")
        empty = repr(dtl.DistributedVector(ctx, 1))
        assert empty.endswith("holds [0, 1)>" if ctx.rank == 0 else "holds nothing>")


@pytest.mark.parametrize("name", DIVISIONS)
def test_words_agree_with_local_indices(ctx: dtl.Context, name: str) -> None:
    for size in (0, 1, 5, 100, 10_000):
        x = vector(ctx, np.arange(size), name)
        indices = x.local_indices().tolist()
        held = repr(x).partition(" holds ")[2].rstrip(">")
        if held == "nothing":
            assert indices == []
        elif held.startswith("["):
            assert indices == list(range(*map(int, held.strip("[)").split(", "))))
        else:
            words = held.strip("{}").split(", ")
            assert [int(word) for word in words if word != "…"] == indices[: len(words) - ("…" in words)]
            assert ("…" in words) == (len(indices) > len(words) - ("…" in words))


def test_one_rank_by_itself(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(100), "hash")
    if ctx.is_root:
        assert "HASH" in repr(x)
        assert "svg" in x._repr_html_()
    ctx.barrier()


def test_plot(ctx: dtl.Context) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="no matplotlib; runs with the extra plot")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for name in DIVISIONS:
        x = vector(ctx, np.arange(10), name)
        ax = dtl.plot_partition(x)
        shown = display.picture(x)
        assert len(ax.patches) == len(shown.tiles)
        for patch, tile in zip(ax.patches, shown.tiles):
            assert (patch.get_x(), patch.get_width()) == (tile.columns.start, tile.columns.stop - tile.columns.start)
        assert [text.get_text() for text in ax.texts] == [display.label(tile.rank) for tile in shown.tiles]
        assert ax.get_title() == repr(x)
        ax.figure.canvas.draw()
        pyplot.close(ax.figure)
    given = pyplot.figure().subplots()
    assert dtl.plot_partition(dtl.DistributedTensor(ctx, (4, 5)), ax=given) is given
    dtl.plot_partition(dtl.DistributedVector(ctx, 0), given)
    pyplot.close("all")
    x.close()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.plot_partition(x)


def test_plot_without_matplotlib(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        dtl.plot_partition(dtl.DistributedVector(ctx, 3))

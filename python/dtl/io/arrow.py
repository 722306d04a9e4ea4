"""Arrow's arrays of columns, and the vectors that are made of them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any, Iterator, TypeVar

import numpy as np

from .._native.named_tuples import replaced
from ..comm.objects import allgather_object
from ..containers.interior import division_of
from ..containers.layout import Division
from ..containers.making import divide
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .formats import Array, needs
from .meaning import (
    Meaning,
    add_column,
    held,
    is_ordered,
    is_run_end_encoded,
    is_text,
    named_vectors,
    time_of,
    values_type,
)
from .names import names_in

Table = TypeVar("Table", bound=Any)

Strings = Any  # bool, or the names of columns: a tuple of str


def pyarrow(what: str) -> Any:
    """Return the package, of which each part is there."""
    try:
        import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.compute  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.csv  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.feather  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("pyarrow", what, error) from None
    return pyarrow


_lock, _borrowed = threading.Lock(), []  # type: ignore[var-annotated]


@contextmanager
def given_back() -> Iterator[None]:
    """Have Arrow's memory come from the system, and go back there at once.

    Its own pools keep what is freed, which is as much as a rank's part and more.
    """
    pa = pyarrow("Arrow")
    with _lock:
        _borrowed.append(pa.default_memory_pool())
        pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        with _lock:
            pool = _borrowed.pop()
            if not _borrowed:
                pa.set_memory_pool(pool)


class Column:
    """The values of a column on this rank, while they are read.

    Strings says of which columns of text the elements are to be str, in place of codes: of all, or of those it names.
    """

    def __init__(self, name: str, kind: Any, rows: int, pa: Any, strings: Strings = False, out: Array = None) -> None:
        self.name = name
        self._pa = pa
        text = is_text(pa, kind)
        named = not isinstance(strings, bool) and name in strings
        if named and not text:
            raise InvalidTypeError(f"strings names the column {name!r}, which is of {kind}")
        self.strings = text and (named or strings is True)
        self.text = text and not self.strings
        self.ordered = self.text and is_ordered(pa, kind)
        self.orders: list[list[str]] = []  # of ordered texts: those that the parts of the column have
        self._parts: list[Any] = []  # of strings
        self.kind = kind if text else values_type(pa, kind)
        self.time = "" if text else time_of(pa, self.kind)
        zone = self.kind.tz if self.time and pa.types.is_timestamp(self.kind) else None
        self.meaning = Meaning(time=self.time, zone=zone or "", nothing=pa.types.is_null(kind))
        self.dtype = np.dtype(np.int32 if text else np.int64 if self.time else held(pa, name, self.kind))
        self.out = np.empty(rows, self.dtype) if out is None else out
        self.mask: Array = None
        self.codes: dict[str, int] = {}
        self.rows = 0

    def add(self, array: Any) -> None:
        """Take further values, an Arrow array."""
        if is_run_end_encoded(self._pa, array.type):
            array = self._pa.compute.run_end_decode(array)
        if self.strings:
            self._add_strings(array)
        elif self.text:
            self._add_text(array)
        else:
            self._add_numbers(array)
        self.rows += len(array)

    def _add_missing(self, missing: Array) -> None:
        """Note which of further values are missing."""
        if missing.any():
            if self.mask is None:
                self.mask = np.zeros(len(self.out), np.bool_)
            self.mask[self.rows : self.rows + len(missing)] = missing

    def _add_strings(self, array: Any) -> None:
        pa = self._pa
        if pa.types.is_dictionary(array.type):
            array = self._without_views(array.dictionary).take(array.indices)
        array = self._without_views(array)
        if array.null_count:
            self._add_missing(array.is_null().to_numpy(zero_copy_only=False))
        self._parts.append(array)

    def _without_views(self, array: Any) -> Any:
        """Return texts as an array of the kinds that all of Arrow's functions take."""
        pa = self._pa
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            return array
        try:
            return array.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # of an old version
            return pa.array(array.to_pylist(), pa.large_string())

    def _add_text(self, array: Any) -> None:
        pa, known = self._pa, self.codes
        if not pa.types.is_dictionary(array.type):
            array = self._without_views(array).dictionary_encode()
        texts = array.dictionary.to_pylist()
        if self.ordered:
            order = [text for text in texts if text is not None]
            self.orders += [] if order in self.orders else [order]
        # A dictionary may have a null, and its indices may be too narrow for a number that no text has.
        places = np.array(
            [-1 if text is None else known.setdefault(text, len(known)) for text in [*texts, None]], np.int32
        )
        indices = array.indices.cast(pa.int32()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
        found = places[indices]
        self._add_missing(found < 0)
        self.out[self.rows : self.rows + len(array)] = found

    def _add_numbers(self, array: Any) -> None:
        pa, lo, hi = self._pa, self.rows, self.rows + len(array)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_null(array.type):
            self._add_missing(np.ones(len(array), np.bool_))
            self.out[lo:hi] = 0
            return
        if array.type != self.kind:
            array = array.cast(self.kind)
        if array.null_count:
            self._add_missing(array.is_null().to_numpy(zero_copy_only=False))
        if self.time:
            array = array.cast(pa.int32()) if pa.types.is_date32(array.type) else array
            array = array.cast(pa.int64())
        if array.null_count:
            array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
        self.out[lo:hi] = array.to_numpy(zero_copy_only=False)

    def longest(self) -> int:
        """Return how many characters the longest of the strings has."""
        compute = self._pa.compute
        return max((compute.max(compute.utf8_length(part)).as_py() or 0 for part in self._parts), default=0)

    def as_strings(self, length: int) -> Array:
        """Return the strings as an array of str of a length, "" where one is missing, and let the others go."""
        out, row = np.empty(self.rows, f"U{length}"), 0
        while self._parts:
            part = self._parts.pop(0)
            if self._pa.compute.any(self._pa.compute.ends_with(part, "\0")).as_py():
                raise InvalidTypeError(f"the column {self.name!r} has text that ends in NUL, which str of NumPy lose")
            out[row : row + len(part)] = part.fill_null("").to_numpy(zero_copy_only=False)
            row += len(part)
        return out


def strings_of(strings: Any) -> bool | tuple[str, ...]:
    """Return which columns of text become vectors of str: all, or those of some names."""
    if strings is None or isinstance(strings, (bool, np.bool_)):
        return bool(strings)
    return tuple(names_in("strings", strings))


def check_strings(strings: Strings, names: list[str]) -> None:
    """Refuse names of columns that are not read."""
    missing = [] if isinstance(strings, bool) else [name for name in strings if name not in names]
    if missing:
        raise InvalidArgumentError(f"strings names the column {missing[0]!r}; the columns are {names}")


def _in_order(name: str, orders: list[list[str]]) -> list[str]:
    """Return the texts of a column in the longest of their orders, of which the others must be parts."""
    longest = max(orders, key=len, default=[])
    for order in orders:
        left = iter(longest)
        if not all(text in left for text in order):
            raise InvalidArgumentError(f"the column {name!r} has ordered texts in two orders, {longest} and {order}")
    return longest


def completed(
    ctx: Context, op: str, read: list[Column], vectors: dict[str, Any], divided: Division, made: Table
) -> Table:
    """Return columns, given as empty ones, of what the ranks have read: alike but for text and missing values.

    Collective. Where vectors are given, their memory is what was read to.
    """
    with local_step(ctx, op):
        mine = {each.name: (each.mask is not None, list(each.codes), each.longest(), each.orders) for each in read}
    agree(ctx, op)
    found = allgather_object(ctx, mine)
    try:
        for each in read:
            meaning = each.meaning
            if each.text:
                texts = sorted({text for of_rank in found for text in of_rank[each.name][1]})
                if each.ordered:
                    texts = _in_order(each.name, [order for of_rank in found for order in of_rank[each.name][3]])
                place = {text: number for number, text in enumerate(texts)}
                remap = np.array([*(place[text] for text in each.codes), -1], np.int32)
                each.out[: each.rows] = remap[each.out[: each.rows]]
                meaning = replaced(meaning, texts=texts, ordered=each.ordered)
            vec = vectors.pop(each.name, None)
            if each.strings:
                if vec is not None:
                    vec.close()
                with local_step(ctx, op):
                    text = each.as_strings(max(1, *(of_rank[each.name][2] for of_rank in found)))
                vec = from_parts(DistributedVector, ctx, text)
                del text
            if vec is None:
                vec = from_parts(DistributedVector, ctx, each.out[: each.rows])
            add_column(made, each.name, vec, meaning)
            each.out = np.empty(0, each.dtype)
            if any(of_rank[each.name][0] for of_rank in found):
                mask = np.zeros(each.rows, np.bool_) if each.mask is None else each.mask[: each.rows]
                made.masks[each.name] = from_parts(DistributedVector, ctx, mask)
                each.mask = None
        del vec
        for vec in (*named_vectors(made).values(), *made.masks.values()):
            if division_of(vec) != divided:
                divide(vec, divided)
        agree(ctx, op)
    except BaseException:
        made.close()
        raise
    return made

"""Arrow's arrays of columns, and the vectors that are made of them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any, Iterator, TypeVar

import numpy as np

from .._native.arguments import dtype_number
from ..comm.objects import allgather_object
from ..containers.layout import Division
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .formats import Array, needs

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
        text = _is_text(pa, kind)
        named = not isinstance(strings, bool) and name in strings
        if named and not text:
            raise InvalidTypeError(f"strings names the column {name!r}, which is of {kind}")
        self.strings = text and (named or strings is True)
        self.text = text and not self.strings
        self._parts: list[Any] = []  # of strings
        if pa.types.is_dictionary(kind) and not text:
            kind = kind.value_type
        self.kind = kind
        self.time = _time_of(pa, kind)
        self.dtype = np.dtype(np.int32 if text else np.int64 if self.time else _held(name, kind, pa))
        self.out = np.empty(rows, self.dtype) if out is None else out
        self.mask: Array = None
        self.codes: dict[str, int] = {}
        self.rows = 0

    def add(self, array: Any) -> None:
        """Take further values, an Arrow array."""
        pa, lo, hi = self._pa, self.rows, self.rows + len(array)
        if array.null_count:
            if self.mask is None:
                self.mask = np.zeros(len(self.out), np.bool_)
            self.mask[lo:hi] = array.is_null().to_numpy(zero_copy_only=False)
        if self.strings:
            self._parts.append(array.dictionary_decode() if pa.types.is_dictionary(array.type) else array)
        elif self.text:
            if not pa.types.is_dictionary(array.type):
                array = array.dictionary_encode()
            known = self.codes
            places = [known.setdefault(text, len(known)) for text in array.dictionary.to_pylist()]
            found = array.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)
            self.out[lo:hi] = np.array([*places, -1], np.int32)[found]
        elif pa.types.is_null(array.type):
            self.out[lo:hi] = 0
        else:
            if array.type != self.kind:
                array = array.cast(self.kind)
            if self.time:
                array = array.cast(pa.int32()) if pa.types.is_date32(array.type) else array
                array = array.cast(pa.int64())
            if array.null_count:
                array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
            self.out[lo:hi] = array.to_numpy(zero_copy_only=False)
        self.rows = hi

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


def check_strings(strings: Strings, names: list[str]) -> None:
    """Refuse names of columns that are not read."""
    missing = [] if isinstance(strings, bool) else [name for name in strings if name not in names]
    if missing:
        raise InvalidArgumentError(f"strings names the column {missing[0]!r}; the columns are {names}")


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _time_of(pa: Any, kind: Any) -> str:
    """Return the NumPy dtype of a column of dates or times; "" of another one."""
    if pa.types.is_timestamp(kind):
        return f"datetime64[{kind.unit}]"
    if pa.types.is_date32(kind):
        return "datetime64[D]"
    if pa.types.is_date64(kind):
        return "datetime64[ms]"
    return f"timedelta64[{kind.unit}]" if pa.types.is_duration(kind) else ""


def _held(name: str, kind: Any, pa: Any) -> np.dtype[Any]:
    """Return the dtype of a column of numbers."""
    if pa.types.is_null(kind):
        return np.dtype(np.float64)
    if pa.types.is_float16(kind):
        return np.dtype(np.float32)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        dtype_number(dtype)
        return dtype
    raise InvalidTypeError(f"the column {name!r} of {kind} is not held: name those that are wanted with columns=")


def completed(
    ctx: Context, op: str, read: list[Column], vectors: dict[str, Any], divided: Division, made: Table
) -> Table:
    """Return columns, given as empty ones, of what the ranks have read: alike but for text and missing values.

    Collective. Where vectors are given, their memory is what was read to.
    """
    with local_step(ctx, op):
        mine = {each.name: (each.mask is not None, list(each.codes), each.longest()) for each in read}
    found = allgather_object(ctx, mine)
    try:
        for each in read:
            if each.text:
                texts = sorted({text for of_rank in found for text in of_rank[each.name][1]})
                place = {text: number for number, text in enumerate(texts)}
                remap = np.array([*(place[text] for text in each.codes), -1], np.int32)
                each.out[: each.rows] = remap[each.out[: each.rows]]
                made.categories[each.name] = texts
            if each.time:
                made.times[each.name] = each.time
            vec = vectors.pop(each.name, None)
            if each.strings:
                if vec is not None:
                    vec.close()
                with local_step(ctx, op):
                    text = each.as_strings(max(1, *(of_rank[each.name][2] for of_rank in found)))
                vec = DistributedVector._from_parts(ctx, text)
                del text
            if vec is None:
                vec = DistributedVector._from_parts(ctx, each.out[: each.rows])
            made._vectors[each.name] = vec
            each.out = np.empty(0, each.dtype)
            if any(of_rank[each.name][0] for of_rank in found):
                mask = np.zeros(each.rows, np.bool_) if each.mask is None else each.mask[: each.rows]
                made.masks[each.name] = DistributedVector._from_parts(ctx, mask)
                each.mask = None
        del vec
        for vec in (*made._vectors.values(), *made.masks.values()):
            _divide(vec, divided)
        agree(ctx, op)
    except BaseException:
        made.close()
        raise
    return made


def _divide(vec: DistributedVector, divided: Division) -> None:
    """Divide a vector as the caller wants it. Collective."""
    if vec._division != divided:
        vec._divide(divided)

"""The formats of one array: NumPy's .npy, and elements without anything else."""

from __future__ import annotations

import ast
import builtins
import io
import math
import os
import struct
import tokenize
from token import NAME, NUMBER
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..exceptions import FileError, InvalidArgumentError
from .flat import FlatSink, FlatSource, make_room, opened, write_at
from .formats import Format, Options, Source, Spec
from .fortran import FortranSource
from .remote import stream_of
from .steps import open_file

_MAGIC = b"\x93NUMPY"

#: The longest header that is read and written: NumPy reads no longer ones either, as what they say is parsed as Python.
_LONGEST = 10_000


def header(spec: Spec) -> bytes:
    """Return what stands before the elements."""
    out = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(spec.dtype), "fortran_order": False, "shape": spec.shape}
    try:
        np.lib.format.write_array_header_1_0(out, described)
    except ValueError as error:
        raise InvalidArgumentError(f"elements of {spec.dtype} have no place in the header of a file: {error}") from None
    return out.getvalue()


def padded(head: bytes, multiple: int) -> bytes:
    """Return a header of version 1.0 with more blanks, so that the elements begin at a multiple of a number."""
    size = -(-len(head) // multiple) * multiple
    if size - 10 > 0xFFFF:
        return head
    return head[:8] + struct.pack("<H", size - 10) + head[10:-1] + b" " * (size - len(head)) + b"\n"


def readable_header(spec: Spec) -> bytes:
    """Return what stands before the elements, of a length that is read again."""
    head = header(spec)
    if len(head) > _LONGEST:
        raise InvalidArgumentError(
            f"the header of an array of {len(spec.dtype.names or ())} fields has {len(head)} bytes; "
            f"NumPy reads headers of {_LONGEST}, and checkpoints have any"
        )
    return head


def read_header(file: BinaryIO) -> tuple[Spec, bool]:
    """Return what the header before the elements says, and whether they are in Fortran order."""
    start = file.read(8)
    if len(start) < 8 or start[:6] != _MAGIC:
        raise FileError(f"the file begins with {start[:6]!r}, not with {_MAGIC!r} as an array of NumPy's does")
    form = {1: "<H", 2: "<I", 3: "<I"}.get(start[6])
    if form is None:
        raise FileError(f"version {start[6]}.{start[7]} of the format is not known")
    length = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    if length > _LONGEST:
        raise FileError(f"a header of {length} bytes; the longest has {_LONGEST}")
    text = file.read(length)
    if len(text) < length:
        raise FileError(f"the file ends in the header, after {len(text)} bytes of {length}")
    described = _described(text.decode("utf-8" if start[6] == 3 else "latin-1").strip())
    shape, descr, fortran = described["shape"], described["descr"], described["fortran_order"]
    if not isinstance(shape, tuple) or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise FileError(f"the header says shape {shape!r}")
    return Spec(shape, np.lib.format.descr_to_dtype(descr)), bool(fortran)


def _described(text: str) -> Any:
    """Return what the text of a header says, also one by Python 2, which writes an integer as ``6L``."""
    try:
        try:
            return ast.literal_eval(text)
        except SyntaxError:
            tokens = [token[:2] for token in tokenize.generate_tokens(io.StringIO(text).readline)]
            longs = {at for at in range(1, len(tokens)) if tokens[at - 1][0] == NUMBER and tokens[at] == (NAME, "L")}
            return ast.literal_eval(tokenize.untokenize(t for at, t in enumerate(tokens) if at not in longs).strip())
    except (builtins.MemoryError, RecursionError, tokenize.TokenError) as error:  # too deep for Python's parser
        raise FileError(f"its header is not that of an array: {error or text[:60]!r}") from None


class Growing(NamedTuple):
    """A file that rows are appended to, open on the root: its size before, and the header that counts the new rows."""

    descriptor: int
    size: int
    header: bytes


class Appended(NamedTuple):
    """Where every rank is to write rows that are appended, and the number of the file that has the path."""

    places: dict[str, tuple[int, Spec]]
    inode: int


class _OneArray(Format):
    """A file of one array, whose elements lie side by side. It may be replaced while rows are appended to it."""

    def extend(self, path: str, arrays: dict[str, Spec]) -> tuple[Any, Any, Any]:
        """Return where further elements go, and the file, which is open until they are there."""
        descriptor = open_file(path, write=True)
        try:
            end, head = self._end(path, descriptor, arrays[""])
            growing = Growing(descriptor, end, head)
            return Appended({"": (end, arrays[""])}, os.fstat(descriptor).st_ino), growing, growing
        except BaseException:
            os.close(descriptor)
            raise

    def _end(self, path: str, descriptor: int, spec: Spec) -> tuple[int, bytes]:
        """Return where the elements of a file end, and the header of a file with more of them, if it has one."""
        raise NotImplementedError

    def withdraw(self, path: str, before: Growing) -> None:
        """Give the file the size that it had."""
        try:
            os.ftruncate(before.descriptor, before.size)
        finally:
            os.close(before.descriptor)

    def confirm(self, path: str, after: Growing) -> None:
        """Write the header that counts the new rows, if there is one."""
        try:
            if not os.path.samestat(os.fstat(after.descriptor), os.stat(path)):
                raise FileError(f"{path!r} was replaced while rows were appended to it")
            write_at(after.descriptor, after.header, 0)
            os.fsync(after.descriptor)
        finally:
            os.close(after.descriptor)

    def sink(self, path: str, layout: Any) -> FlatSink:
        """Return what this rank writes to."""
        if not isinstance(layout, Appended):
            return FlatSink(path, layout)
        sink = FlatSink(path, layout.places)
        if sink.inode != layout.inode:
            sink.close()
            raise FileError(f"{path!r} was replaced while rows were appended to it")
        return sink


class Npy(_OneArray):
    """NumPy's format of one array."""

    name = "npy"
    suffixes = (".npy",)
    of_any_dtype = True

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the array of a file."""
        file = opened(path)
        try:
            with stream_of(file) as stream:
                spec, fortran = read_header(stream)
                offset = stream.tell()
        except BaseException:
            file.close()
            raise
        kind = FortranSource if fortran and len(spec.shape) > 1 and not spec.dtype.hasobject else FlatSource
        return {"": kind(path, file, offset, spec)}

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Write the header."""
        spec = arrays[""]
        head = readable_header(spec)
        make_room(path, head, len(head) + math.prod(spec.shape) * spec.dtype.itemsize)
        return {"": (len(head), spec)}

    def _end(self, path: str, descriptor: int, spec: Spec) -> tuple[int, bytes]:
        """Return where the rows end, and the header that says how many they are then."""
        with open(descriptor, "rb", closefd=False) as file:
            old, fortran = read_header(file)
            offset = file.tell()
            file.seek(offset + _size(old))
            follows = file.read(len(_MAGIC))
        if follows == _MAGIC:  # other bytes there are what an append that was killed has left
            raise FileError(f"{path!r} has several arrays, one after the other, the second of which would be lost")
        if (
            (fortran and len(old.shape) > 1)
            or old.dtype != spec.dtype
            or old.shape[1:] != spec.shape[1:]
            or not old.shape
        ):
            raise InvalidArgumentError(
                f"{path!r} has an array of {old.dtype} of shape {old.shape}{' in Fortran order' * fortran}, to which "
                f"{spec.dtype} of shape {spec.shape} cannot be appended"
            )
        head = readable_header(Spec((old.shape[0] + spec.shape[0], *old.shape[1:]), old.dtype))
        if len(head) != offset:
            raise FileError(
                f"the header of {path!r}, of {offset} bytes, has no room for the new shape; load and save it"
            )
        return offset + _size(old), head


def _size(spec: Spec) -> int:
    return math.prod(spec.shape) * int(spec.dtype.itemsize)


class Raw(_OneArray):
    """Elements in C order and the machine's byte order, and nothing else."""

    name = "raw"
    suffixes = (".bin", ".raw", ".dat")
    of_any_dtype = True
    loads = ("dtype", "shape", "offset")

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the elements of a file, of the shape that the caller says, or as many as there are."""
        if options.dtype is None:
            raise InvalidArgumentError("dtype is missing: a file of raw elements does not say it")
        dtype, shape = np.dtype(options.dtype), options.shape
        file = opened(path)
        if shape is None:
            size = file.size - options.offset
            if size < 0 or size % dtype.itemsize:
                file.close()
                raise FileError(
                    f"{path!r} has {size} bytes from {options.offset} on, which is no number of {dtype} elements"
                )
            shape = (size // dtype.itemsize,)
        return {"": FlatSource(path, file, options.offset, Spec(shape, dtype))}

    def _end(self, path: str, descriptor: int, spec: Spec) -> tuple[int, bytes]:
        """Return where the elements end."""
        end = os.fstat(descriptor).st_size
        if end % spec.dtype.itemsize:
            raise InvalidArgumentError(f"{path!r} has {end} bytes, which is no number of {spec.dtype} elements")
        return end, b""

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Give the file its size."""
        spec = arrays[""]
        make_room(path, b"", math.prod(spec.shape) * spec.dtype.itemsize)
        return {"": (0, spec)}

"""The exceptions, and the numbers that the core and the package share."""

from __future__ import annotations

import builtins
import copy
import errno
import pickle

import numpy as np
import pytest
from oracle import DTYPES

import dtl
from dtl import _numbers, exceptions
from dtl._native import library
from dtl.runtime.agreement import agree, local_step

pytestmark = pytest.mark.few("looks at classes")

BUILTINS = {
    dtl.DTLError: Exception,
    dtl.InvalidArgumentError: ValueError,
    dtl.InvalidTypeError: TypeError,
    dtl.InvalidHandleError: ValueError,
    dtl.BoundsError: IndexError,
    dtl.AxisError: getattr(np, "exceptions", np).AxisError,
    dtl.OverflowError: builtins.OverflowError,
    dtl.FloatingPointError: builtins.FloatingPointError,
    dtl.BufferError: builtins.BufferError,
    dtl.KeyNotFoundError: KeyError,
    dtl.MemoryError: builtins.MemoryError,
    dtl.CommunicationError: RuntimeError,
    dtl.CollectiveMismatchError: RuntimeError,
    dtl.BackendError: RuntimeError,
    dtl.BackendUnavailableError: RuntimeError,
    dtl.FileError: OSError,
    dtl.FileNotFoundError: builtins.FileNotFoundError,
}

#: The class of each failure that the core has a number of.
CLASSES = {
    "INTERNAL": dtl.DTLError,
    "INVALID_ARGUMENT": dtl.InvalidArgumentError,
    "INVALID_TYPE": dtl.InvalidTypeError,
    "INVALID_HANDLE": dtl.InvalidHandleError,
    "OUT_OF_BOUNDS": dtl.BoundsError,
    "NO_SUCH_AXIS": dtl.AxisError,
    "UNSUPPORTED": dtl.InvalidArgumentError,
    "OVERFLOW": dtl.OverflowError,
    "FLOATING_POINT": dtl.FloatingPointError,
    "LINEAR_ALGEBRA": dtl.linalg.LinAlgError,
    "VIEWS_OUT": dtl.BufferError,
    "KEY_NOT_FOUND": dtl.KeyNotFoundError,
    "OUT_OF_MEMORY": dtl.MemoryError,
    "COMMUNICATION": dtl.CommunicationError,
    "MISMATCH": dtl.CollectiveMismatchError,
    "BACKEND": dtl.BackendError,
    "BACKEND_UNAVAILABLE": dtl.BackendUnavailableError,
    "FILE": dtl.FileError,
    "FILE_MISSING": dtl.FileNotFoundError,
}


@pytest.mark.parametrize("error", BUILTINS, ids=lambda error: error.__name__)
def test_each_is_the_builtin_that_a_user_would_catch(error: type[dtl.DTLError]) -> None:
    assert issubclass(error, dtl.DTLError)
    assert issubclass(error, BUILTINS[error])
    assert getattr(dtl, error.__name__) is error
    assert error.__module__ == "dtl.exceptions"
    assert error.__doc__


def test_handles_and_types_are_arguments_and_unavailable_backends_backends() -> None:
    assert issubclass(dtl.InvalidTypeError, dtl.InvalidArgumentError)
    assert issubclass(dtl.InvalidHandleError, dtl.InvalidArgumentError)
    assert issubclass(dtl.BackendUnavailableError, dtl.BackendError)
    assert issubclass(dtl.OverflowError, dtl.InvalidArgumentError)
    assert issubclass(dtl.CollectiveMismatchError, dtl.InvalidArgumentError)
    assert issubclass(dtl.CollectiveMismatchError, dtl.CommunicationError)
    assert not issubclass(dtl.BoundsError, dtl.InvalidArgumentError)
    assert issubclass(dtl.AxisError, dtl.BoundsError)
    assert issubclass(dtl.AxisError, ValueError)


def test_every_exception_is_listed() -> None:
    named = [*vars(exceptions).values(), exceptions.AxisError]  # which is made when it is asked for
    kinds = {kind for kind in named if isinstance(kind, type) and issubclass(kind, dtl.DTLError)}
    assert kinds == set(BUILTINS)
    assert sorted(exceptions.__all__) == sorted(kind.__name__ for kind in kinds)


def test_every_code_of_the_core_has_its_class() -> None:
    codes = {name: code for name, code in vars(_numbers.STATUS).items() if name.isupper()}
    assert (codes.pop("FILE_ERRNO"), codes.pop("OK")) == (1000, 0)
    assert set(codes) == set(CLASSES), "a code without a class, or a class without a code"
    assert len(set(codes.values())) == len(codes)
    for name, number in codes.items():
        error = exceptions.from_text(f"[{number} allreduce] the cause")
        assert type(error) is CLASSES[name], name
        assert (error.code, error.op, str(error)) == (number, "allreduce", "allreduce: the cause")
    for kind in BUILTINS:
        assert kind.code in codes.values()


def test_errors_of_files_keep_their_errno() -> None:
    full = dtl.FileError("cannot write 'a': No space left on device")
    assert exceptions.code_of(full) == dtl.FileError.code
    full.errno = errno.ENOSPC
    heard = exceptions.from_text(f"[{exceptions.code_of(full)} save] {full}")
    assert (type(heard), heard.code, heard.errno) == (dtl.FileError, dtl.FileError.code, errno.ENOSPC)
    missing = dtl.FileNotFoundError("no file")
    heard = exceptions.from_text(f"[{exceptions.code_of(missing)} load] {missing}")
    assert (type(heard), heard.errno, missing.errno) == (dtl.FileNotFoundError, errno.ENOENT, errno.ENOENT)


@pytest.mark.parametrize(
    ("text", "code", "op", "shown"),
    [
        ("[100 ] no operation", 100, "", "no operation"),
        ("[103 send] rank 7 outside [0, 4)", 103, "send", "send: rank 7 outside [0, 4)"),
        ("[1 ] two\nlines", 1, "", "two\nlines"),
        ("[999 x] a code of the future", 999, "x", "x: a code of the future"),
        ("no code", 1, "", "no code"),
        ("", 1, "", ""),
        ("[100 x]", 1, "", "[100 x]"),
    ],
)
def test_texts_of_the_core(text: str, code: int, op: str, shown: str) -> None:
    error = exceptions.from_text(text)
    assert (error.code, error.op, str(error)) == (code, op, shown)


@pytest.mark.parametrize("error", BUILTINS, ids=lambda error: error.__name__)
def test_pickles_and_copies_keep_everything(error: type[dtl.DTLError]) -> None:
    made = exceptions.from_text(f"[{error.code} send] rank 7 outside [0, 4)")
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made)):
        assert type(again) is error
        assert (again.code, again.op, again.args) == (error.code, "send", made.args)


def test_raised_exceptions_show_no_inner_one(alone: dtl.Context) -> None:
    for call in (lambda: dtl.DistributedVector(alone, -1), lambda: dtl.DistributedVector(alone, 3, fill="x")):
        with pytest.raises(dtl.InvalidArgumentError) as caught:
            call()
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        assert caught.value.__cause__ is None


def test_operators_are_the_cores() -> None:
    for op in dtl.ops.Op:
        assert library.op_name(op) == op.name
        assert getattr(dtl, op.name) is op
    assert library.op_name(len(dtl.ops.Op)) == library.op_name(-1) == ""


def test_dtypes_are_the_cores() -> None:
    names = []
    while name := library.dtype_name(len(names) + 1):
        names.append(name)
    assert sorted(names) == sorted(DTYPES)
    assert [library.dtype_name(number) for number in (0, -1, len(names) + 1, 2**62)] == [""] * 4
    assert all(np.dtype(name).name == name for name in names)


def test_numbers_of_the_policies_and_constants() -> None:
    assert [
        int(getattr(dtl, "PARTITION_" + name)) for name in ("BLOCK", "CYCLIC", "BLOCK_CYCLIC", "HASH", "REPLICATED")
    ] == [*range(5)]
    assert [int(getattr(dtl, "PLACEMENT_" + name)) for name in ("HOST", "DEVICE", "UNIFIED", "DEVICE_PREFERRED")] == [
        *range(4)
    ]
    assert [int(getattr(dtl, "EXEC_" + name)) for name in ("SEQ", "PAR", "ASYNC")] == [*range(3)]
    assert (dtl.ANY_SOURCE, dtl.ANY_TAG, dtl.PROC_NULL) == (-1, -1, -2)
    assert (dtl.THREAD_SINGLE, dtl.THREAD_FUNNELED, dtl.THREAD_SERIALIZED, dtl.THREAD_MULTIPLE) == (0, 1, 2, 3)


def test_everything_public_is_there() -> None:
    for name in dir(dtl):
        assert getattr(dtl, name) is not None
    assert dtl.__version__ == "0.1.0a1"
    assert dtl.version_info == (0, 1, 0)
    assert len(set(dir(dtl))) == len(dir(dtl))


@pytest.mark.parametrize(
    "kind", [ValueError, TypeError, IndexError, KeyError, OverflowError, FloatingPointError, MemoryError, OSError]
)
def test_each_rank_raises_what_a_user_would_catch(ctx: dtl.Context, kind: type[Exception]) -> None:
    """One rank alone has an error that is not DTL's, such as one of NumPy's."""

    def call() -> None:
        with local_step(ctx, "some call"):
            if ctx.rank == ctx.size - 1:
                raise kind("seven")
        agree(ctx, "some call")

    with pytest.raises(kind, match="seven"):
        call()

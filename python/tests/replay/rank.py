"""Replays calls on a rank: ``rank.py CORPUS FOLDER FIRST [once]``. Each writes the class of each evaluation to a file.

The environment's DTL_REPLAY_ON_DISK has containers on disk, and what goes over them in pieces do so.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import answers
import numpy as np
import small_pieces
from calls import Call, read, shown, target
from variants import given, mapped, ways

import dtl


def evaluations(corpus: Path, on_disk: bool) -> list[tuple[int, Call, str]]:
    """Return what is evaluated: each call in each way, with the call's number."""
    return [(number, call, way) for number, call in enumerate(read(corpus)) for way in ways(call, on_disk)]


def _made(call: Call) -> tuple[Any, BaseException | None]:
    try:
        return target(call.kind, call.name)(*call.args, **call.kwargs), None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared with what NumPy raises
        return None, error


def evaluate(ctx: dtl.Context, call: Call, way: str, turn: int) -> tuple[str, str]:
    """Return the class of an evaluation, and what was wrong. Collective."""
    try:
        with_containers = given(ctx, call, way, turn)
    except dtl.DTLError as error:
        return "none", str(error)[:60]
    mine = Call(call.kind, call.name, mapped(call.args, np.array), mapped(call.kwargs, np.array))
    expected, expected_error = _made(mine)
    got, error = _made(with_containers)
    if error is None:
        try:
            got = answers.whole(got)
            changed = (
                []
                if _unchanged(mine, call)
                else answers.whole([with_containers.args, *with_containers.kwargs.values()])
            )
        except Exception as late:  # noqa: BLE001 - an error of the elements, which were computed only now
            error = late
    if error is not None:
        found = answers.error_class(error, expected_error)
        return found, "" if found == "same" else _told(error)[:240] + (
            f" (NumPy: {_told(expected_error)})"[:160] if expected_error else ""
        )
    if expected_error is not None:
        return "accepted", f"NumPy: {_told(expected_error)}"
    scale = answers.scale_of(expected, call.args, [*call.kwargs.values()])
    if "linalg" in call.name:
        scale *= 1e3  # the rounding of factors grows with the condition of a matrix
    if call.name.rpartition(":")[2] in ("nanvar", "nanstd") and getattr(call.args[0], "dtype", None) == np.float32:
        scale *= 2.0**29  # NumPy rounds the differences from the mean to the input's dtype, whatever dtype= says
    if call.name.rpartition(":")[2] == "argsort" and getattr(got, "shape", None) == expected.shape:
        axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else -1)
        got, expected = (answers.in_order(call.args[0], order, axis) for order in (got, expected))
    wrong = answers.difference(got, expected, call.name, scale)
    if wrong is None and changed:
        wrong = answers.difference(changed, [mine.args, *mine.kwargs.values()], call.name, scale)
        wrong = wrong and f"changed argument: {wrong}"
    return ("same", "") if wrong is None else ("wrong", wrong)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]


def _unchanged(mine: Call, call: Call) -> bool:
    same: list[bool] = []
    before: list[Any] = []
    mapped([call.args, call.kwargs], lambda array: before.append(array) or array)
    mapped([mine.args, mine.kwargs], lambda array: same.append(_bytes(array) == _bytes(before[len(same)])) or array)
    return all(same)


def _bytes(array: Any) -> bytes:
    """Return the bytes of elements: of records without those between fields, which a copy does not keep."""
    if array.dtype.names is None:
        return array.tobytes()
    return b"".join(_bytes(array[name]) for name in array.dtype.names)


def main() -> None:
    """Evaluate the calls from the first on, or print one."""
    corpus, folder, first = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    faulthandler.enable()
    on_disk = bool(os.environ.get("DTL_REPLAY_ON_DISK"))
    every = evaluations(corpus, on_disk)
    with dtl.Context() as ctx:
        if on_disk:
            small_pieces.make_small()
        if sys.argv[4:] == ["once"]:
            _print(ctx, *every[first])
            return
        at = os.open(folder / f"at{ctx.rank}", os.O_RDWR | os.O_CREAT)
        with open(folder / f"found{ctx.rank}", "a", buffering=1) as file:
            for index, (number, call, way) in enumerate(every[first:], first):
                os.pwrite(at, f"{index:<12}".encode(), 0)
                found, told = evaluate(ctx, call, way, number)
                json.dump([index, found, told], file)
                file.write("\n")
                if found in ("disagree", "hang"):
                    file.flush()
                    os._exit(7)  # the ranks are no longer at the same call


def _print(ctx: dtl.Context, number: int, call: Call, way: str) -> None:
    if ctx.rank == 0:
        print(shown(call))
        np.set_printoptions(threshold=200)
        print(repr(call.args), repr(call.kwargs))
    found, told = evaluate(ctx, call, way, number)
    print(f"rank {ctx.rank}: {found}: {told}")
    _, error = _made(given(ctx, call, way, number))
    if error is not None and ctx.rank == 0:
        traceback.print_exception(type(error), error, error.__traceback__)


if __name__ == "__main__":
    main()

"""Try the calls of a library: ``tried.py xarray strict FILE``, or ``tried.py xarray block FILE`` on any ranks.

The file gets, from rank 0, what each call came to: "" where it gave NumPy's result, or else why it did not. Names of
calls after the file choose some, and these print what they end with.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import warnings
from typing import Any, Callable

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import array_api_strict
import calls
import numpy as np

import dtl


def _tried(call: calls.Call, make: calls.Make, whole: Callable[[Any], Any], tell: bool) -> str:
    """Return "" if a call gives what it gives for NumPy's arrays, or why not."""
    want = calls.flat(call(lambda array: array))
    try:
        got = [whole(x) for x in calls.flat(call(make))]
    except Exception as error:  # noqa: BLE001 - what a call ends with is what is looked for
        if tell:
            traceback.print_exc()
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"[:300]
    if len(got) != len(want) or not all(map(calls.same, got, want)):
        return f"another result: {got} for {want}"[:300].replace("\n", " ")
    return ""


def main(library: str, way: str, path: str, *names: str) -> None:
    """Try all calls of a library with one kind of arrays, or those of some names."""
    warnings.simplefilter("ignore")
    table: dict[str, calls.Call] = importlib.import_module(f"{library}_calls").CALLS
    chosen = {name: call for name, call in table.items() if not names or name in names}
    if way == "strict":
        _write(path, {name: _tried(call, array_api_strict.asarray, np.asarray, False) for name, call in chosen.items()})
        return
    with dtl.Context() as ctx:
        found = {}
        for name, call in chosen.items():
            mine = _tried(call, lambda a: dtl.asarray(ctx, a, partition=way), lambda x: _whole(ctx, x), bool(names))
            found[name] = next((reason for reason in dtl.allgather_object(ctx, mine) if reason), "")
        if ctx.is_root:
            _write(path, found)


def _whole(ctx: dtl.Context, x: Any) -> Any:
    """Return all elements, on every rank."""
    return dtl.broadcast_object(ctx, x.gather_to(0), root=0) if isinstance(x, dtl.DistributedContainer) else x


def _write(path: str, found: dict[str, str]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


main(*sys.argv[1:])

"""Write the page of NumPy's functions: what each does with containers, by calling it on three ranks.

The calls are those of the tests, python/tests/numpy_calls.py. ``python docs/coverage.py --dask`` makes the same calls
with dask.array, in an environment that holds Dask, and writes what came of them to coverage.json.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np

import dtl

DOCS = Path(__file__).resolve().parent
MEASURED = DOCS / "coverage.json"
sys.path.insert(0, str(DOCS.parent / "python" / "tests"))

import numpy_calls  # noqa: E402 - of the folder above

RANKS = 3
MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}

#: What became of a call with Dask's arrays.
WORKS, CONVERTS, FAILS = "works", "gives a NumPy array", "raises"
WHOLE = "works in one chunk"

Status = Dict[str, str]


def ufuncs() -> dict[str, list[numpy_calls.Case]]:
    """Return a call of each ufunc of NumPy with elements of a type that it takes."""
    found: dict[str, list[numpy_calls.Case]] = {}
    for name in sorted(vars(np)):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and ufunc.signature is None and ufunc.__name__ == name:
            for field in ("v", "i", "b", "z"):
                try:
                    with np.errstate(all="ignore"):
                        ufunc(*[getattr(numpy_calls.ARRAYS, field)] * ufunc.nin)
                except TypeError:
                    continue
                found[name] = [lambda g, f=ufunc, of=field: f(*[getattr(g, of)] * f.nin)]  # type: ignore[misc]
                break
    return found


def _text(error: BaseException) -> str:
    """Return what an error advises to use."""
    advice = re.search(r"; use (.*?), or give it", str(error))
    other = "`local_view()` or `gather_to(root)`"
    if advice is None:
        return other
    return re.sub(r"(dtl\.\w+|c\[\w+\] = \w+)", r"`\1`", advice[1])


def _of(ctx: dtl.Context) -> Status:
    """Return what each function does on these ranks: "" where it gives what NumPy gives, or what to use. Collective."""
    given, found = numpy_calls.held(ctx, "block"), {}
    calls = {f"np.{name}": cases for name, cases in {**numpy_calls.CASES, **ufuncs()}.items()}
    for name, cases in calls.items():
        with np.errstate(all="ignore"):
            for case in cases:
                numpy_calls.same(case(given), case(numpy_calls.ARRAYS), name[3:] in numpy_calls.EVERYWHERE)
        found[name] = ""
    for name, cases in numpy_calls.LINALG_CASES.items():
        for case in cases:
            numpy_calls.same(case(given), case(numpy_calls.ARRAYS))
        found[f"np.linalg.{name}"] = ""
    found.update({f"np.{name}": "" for name in numpy_calls.ELSEWHERE})
    for title, module in MODULES.items():
        for name, function in numpy_calls.dispatched(module).items():
            if f"{title}.{name}" not in found:
                square = dtl.asarray(ctx, np.array([[2.0, 1.0], [1.0, 3.0]]))
                result = numpy_calls.outcome(function, square)
                found[f"{title}.{name}"] = _text(result) if isinstance(result, BaseException) else ""
    return found


def ours() -> Status:
    """Return the same, of ranks that all found the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, *others = dtl.launch(_of, ranks=RANKS, in_process=True)
    if any(other != first for other in others):
        raise SystemExit("ranks differ in what NumPy's functions do")
    return first


def _with_dask(case: Callable[[Any], Any], given: Any, arrays: Any = numpy_calls.ARRAYS) -> str:
    import dask

    try:
        expected, got = case(arrays), case(given)
        lazy = any(dask.is_dask_collection(part) for part in (got if isinstance(got, (tuple, list)) else [got]))
        (computed,) = dask.compute(got)
        for one, other in zip(*([x] if not isinstance(x, (tuple, list)) else x for x in (computed, expected))):
            np.testing.assert_allclose(np.asarray(one, np.asarray(other).dtype), other, rtol=1e-9, atol=1e-9)
    except Exception:  # noqa: BLE001 - whatever a function of another library raises
        return FAILS
    of_matrices = arrays is not numpy_calls.ARRAYS  # whose functions compute even where they return a number
    eager = not lazy and (of_matrices or (isinstance(got, np.ndarray) and bool(np.ndim(got))))
    return CONVERTS if eager else WORKS


def _dispatched(title: str) -> list[str]:
    return [f"{title}.{name}" for name in numpy_calls.dispatched(MODULES[title])]


def _of_matrices(name: str, da: Any) -> str:
    """Return what a function of matrices does with Dask's: divided in both dimensions, in rows, or, at last, whole.

    Signs are not compared, because a decomposition may choose those of its vectors.
    """
    title, _, short = name.rpartition(".")
    function = getattr(MODULES[title], short)
    whole = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    if short in ("tensorinv", "tensorsolve"):
        whole = (np.arange(16.0) ** 2).reshape(2, 2, 2, 2) + np.eye(4).reshape(2, 2, 2, 2)
    elif short == "outer":
        whole = whole[0]
    calls = [lambda f, c: f(c, c[0, 0])] if short == "tensorsolve" else numpy_calls.CALLS
    call = next(call for call in calls if _is_right(call, function, whole))

    def case(a: Any) -> Any:
        made = call(function, a)
        return [abs(part) for part in made] if isinstance(made, tuple) else made

    both, rows = (1,) * whole.ndim, (1, *whole.shape[1:])
    divided = [_with_dask(case, da.from_array(whole, chunks=chunks), whole) for chunks in (both, rows)]
    if WORKS in divided:
        return WORKS
    one = _with_dask(case, da.from_array(whole, chunks=whole.shape), whole)
    return WHOLE if one == WORKS else min(divided, key=[CONVERTS, FAILS].index)


def _is_right(call: Callable[..., Any], function: Any, whole: Any) -> bool:
    try:
        call(function, whole)
    except (TypeError, ValueError, IndexError):
        return False
    return True


def dask_does() -> dict[str, Any]:
    """Return what each function does with Dask's arrays, in the same calls."""
    import dask
    import dask.array as da

    given = numpy_calls.Given(*(da.from_array(array, chunks=3) for array in numpy_calls.ARRAYS))
    found: dict[str, str] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, cases in {**numpy_calls.CASES, **ufuncs()}.items():
            results = [_with_dask(case, given) for case in cases]
            worst = max(results, key=[WORKS, CONVERTS, FAILS].index)
            part = f"{len(cases) - results.count(FAILS)} of {len(cases)} calls"
            found[f"np.{name}"] = worst if worst != FAILS or set(results) == {FAILS} else part
        for title in ("np.linalg", "np.fft"):
            found.update({name: _of_matrices(name, da) for name in _dispatched(title)})
    return {"dask": dask.__version__, "numpy": np.__version__, "functions": found}


def table(names: list[str], status: Status, dask: Status) -> list[str]:
    """Return the rows of some functions."""
    lines = ["| Function | Containers | Dask |", "|---|---|---|"]
    for name in names:
        text = f"raises; use {status[name]}" if status[name] else "works"
        lines.append(f"| `{name}` | {text} | {dask.get(name, '')} |")
    return lines


def page() -> str:
    """Return the page."""
    status, measured = ours(), json.loads(MEASURED.read_text(encoding="utf-8"))
    elementwise = [f"np.{name}" for name in ufuncs()]
    groups = {"Elementwise functions": elementwise}
    for title, module in MODULES.items():
        names = [name for name in status if name.rpartition(".")[0] == title and name not in elementwise]
        groups[f"Functions of `{module.__name__}`"] = sorted(names)
    works = sum(not text for text in status.values())
    lines = [
        "# Look up a function of NumPy's",
        "",
        f"Of {len(status)} functions of NumPy {np.__version__} that ask their arguments what to do, {works} take "
        "containers, and give what NumPy gives; the others raise `InvalidTypeError`, on any number of ranks, with what "
        f"to use. This page is made by calling each on {RANKS} ranks; the tests call them on one to four.",
        "",
        f"The last column is of the same calls with `dask.array` {measured['dask']}: *{CONVERTS}* where it is "
        f"computed at once, in one process; *{WHOLE}* where no dimension may be divided; *{FAILS}*, or the number of "
        "calls that work, where calls raise or give something else. Its linear algebra and transforms were given "
        "a matrix of three rows, in chunks of one element, in chunks of one row, and in one. "
        "Heat has no such column: its functions are not NumPy's, and it takes no part in NumPy's protocol.",
        "",
    ]
    for title, names in groups.items():
        lines += [f"## {title}", "", *table(names, status, measured["functions"]), ""]
    return "\n".join([*lines, *standard()])


def standard() -> list[str]:
    """Return the part about the array API standard: the functions of the namespace."""
    with dtl.Context() as ctx:
        xp: Any = dtl.array_api(ctx)
        spaces = {"xp": xp, "xp.linalg": xp.linalg, "xp.fft": xp.fft}
        names = {
            title: [name for name in dir(space) if name[0] != "_" and callable(getattr(space, name))]
            for title, space in spaces.items()
        }
    count = sum(map(len, names.values()))
    lines = [
        f"## Functions of the array API, {xp.__array_api_version__}",
        "",
        f"[The namespace](guide/array_api.md) has all functions of the standard and of its extensions, {count} with "
        "dtypes and constants that can be called. The tests call each on one to four ranks beside array-api-strict. "
        "Of the standard's own tests, those that do not pass are listed in `python/tests/array_api_xfails.txt`, each "
        "with its reason.",
        "",
    ]
    for title, of in names.items():
        lines += [f"**{title}**: " + ", ".join(f"`{name}`" for name in of) + ".", ""]
    return lines


def write() -> None:
    """Write the page beside the others, for Sphinx."""
    (DOCS / "coverage.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--dask"]:
        MEASURED.write_text(json.dumps(dask_does(), indent=1) + "\n", encoding="utf-8")
    else:
        print(page())

"""Records the calls of sparse arrays, solvers and graphs in SciPy's own tests, and replays them with ``dtl.sparse``.

``python python/tests/replay/matrices.py`` does so on one rank and on three, with the same matrices divided by stored
elements, and prints what differs from SciPy. It fails where that is not one of KNOWN.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

import dtl

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

#: The tests of SciPy that are run, with what chooses some of them.
TESTS = ("tests/test_base.py", "tests/test_construct.py", "tests/test_csr.py", "tests/test_extract.py", "csgraph/tests")
TESTS += ("linalg/tests", "linalg/_isolve/tests", "linalg/_eigen")
CHOSEN = "not Matrix and not matrix and (not test_base or TestCSR)"

#: What may differ: what DTL refuses, says in another type, or has in two dimensions.
KNOWN = (
    "not sparse|not be sparse",  # what SciPy makes dense
    "hold no (float128|complex256|object|longdouble|clongdouble)",
    "unexpected keyword argument|positional argument",
    "two dimensions|an integer, a slice, a mask|single elements|shape of .* 2 and not 1 dimensions",
    "multiply: shapes|not aligned|are incompatible|indices of shape|does not fit a system",
    "lsmr: float64 and not int64|reverse_cuthill_mckee: int32 and not int64|nonzero: int64 and not int32",
    "norm: float64 and not int",  # of integers
    "no out= for its result|format '.*'.* SciPy does it|of complex.* have no order|must be (in CSR format|sparse)",
    "method == 'FW'|support an 'axes' parameter|does it, SciPy .* negative",
)

#: Of results that have a sign of their own, or say how many iterations there were, the first alone is compared.
FIRST = ("eigsh", "svds", "lobpcg", "lsqr", "lsmr")


def main() -> int:
    """Record and replay, and return the exit code."""
    if "--calls" in sys.argv:
        return _replay(Path(sys.argv[-1]))
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder) / "calls"
        home = Path(str(scipy.sparse.__file__)).parent
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "matrix_recorder",
            "-p",
            "no:cacheprovider",
            "-k",
            CHOSEN,
        ]
        command += ["-c", os.devnull, f"--rootdir={folder}", "--tb=no", "-W", "ignore"]
        command += ["--continue-on-collection-errors", *(str(home / name) for name in TESTS)]
        environ = {**os.environ, "REPLAY_RECORD": str(calls), "PYTHONPATH": str(HERE)}
        subprocess.run(command, env=environ, cwd=folder, timeout=1200, check=False, stdout=subprocess.DEVNULL)
        again = [sys.executable, "-m", "dtl", "run", "-n"]
        codes = [
            subprocess.run([*again, ranks, __file__, "--calls", calls], timeout=1200, check=False).returncode
            for ranks in ("1", "3")
        ]
    return max(codes)


def _recorded(path: Path) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    with open(path, "rb") as file:
        while file.peek(1):
            yield pickle.load(file)


def _replay(path: Path) -> int:
    """Make the calls of a file with both, print how they differ, and return the exit code: the program of a rank."""
    same = 0
    differences: Counter[str] = Counter()
    with dtl.Context() as ctx:
        for number, (name, args, kwargs) in enumerate(_recorded(path)):
            difference = _difference(ctx, name, args, kwargs)
            same += difference is None
            if difference is not None:
                text = re.sub(r"[\d.]+", "#", " ".join(difference.split()))[:120]
                is_known = any(re.search(known, difference) for known in KNOWN)
                differences[f"{'known' if is_known else 'new, as in call ' + str(number)}: {text}"] += 1
        if ctx.is_root:
            for text, count in sorted(differences.items()):
                print(f"{count:5} {text}")
            print(f"replay: {same} calls as SciPy's, {sum(differences.values())} differ, on {ctx.size} ranks")
    return int(any(text.startswith("new") for text in differences))


def _difference(ctx: dtl.Context, name: str, args: Any, kwargs: Any) -> str | None:
    """Say how a call differs. Collective."""
    home, _, op = name.rpartition(".")
    of_scipy = getattr(scipy.sparse, home) if home else scipy.sparse
    of_dtl: Any = getattr(dtl.sparse, home) if home else dtl.sparse
    there, options = pickle.loads(pickle.dumps((args, kwargs)))  # which SciPy may change
    if op in ("argmax", "argmin") and options.get("explicit"):
        return None  # SciPy's place is one among what is stored

    def mine() -> Any:
        given, words = _divided(ctx, args), _divided(ctx, kwargs)
        if name == op:  # a method
            return getattr(given[0], op)(*given[1:], **words)
        if op in ("eye_array", "diags_array"):
            return getattr(of_dtl, op)(ctx, *given, **words)
        if op in ("hstack", "vstack", "block_array", "block_diag"):
            return getattr(of_dtl, op)(*given, **words)
        return getattr(of_dtl, op)(_matrix(ctx, given[0], op), *given[1:], **words)

    is_method = name == op
    want, refusal = _made(lambda: getattr(there[0] if is_method else of_scipy, op)(*there[is_method:], **options))
    got, own = _made(mine)
    if refusal and own:
        return None
    if refusal or own:
        return f"{op}: DTL {own or 'does it'}, SciPy {refusal or 'does it'}"
    return _unlike(got, want, op)


def _matrix(ctx: dtl.Context, given: Any, op: str) -> Any:
    """Return an array as a matrix: of a graph without the infinity that stands for no edge."""
    if hasattr(given, "context"):
        return given
    dense = np.asarray(given)
    is_graph = dense.dtype.kind == "f" and op != "laplacian" and hasattr(scipy.sparse.csgraph, op)
    return dtl.sparse.csr_array(ctx, np.where(np.isfinite(dense), dense, 0) if is_graph else dense)


def _divided(ctx: dtl.Context, value: Any) -> Any:
    """Return an argument with matrices of DTL. Collective."""
    if scipy.sparse.issparse(value):
        return dtl.sparse.csr_array(ctx, value, partition="nnz")
    if isinstance(value, dict):
        return {key: _divided(ctx, each) for key, each in value.items()}
    return type(value)(_divided(ctx, each) for each in value) if type(value) in (list, tuple) else value


def _made(call: Callable[[], Any]) -> tuple[Any, str]:
    """Return what a call returns, and how it is refused."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return call(), ""
    except Exception as error:  # noqa: BLE001 - of any class: it is what is compared
        return None, f"{type(error).__name__}: {error}"


def _unlike(got: Any, want: Any, op: str) -> str | None:
    """Say how a result differs from SciPy's. Collective."""
    want = (want.flow_value, want.flow) if hasattr(want, "flow") else want
    if callable(want) and callable(got) and not hasattr(want, "shape"):  # Laplacians as functions
        return None
    if isinstance(want, tuple) and isinstance(got, tuple):
        pairs = list(zip(got, want))[: 1 if op in FIRST else None]
        return next(filter(None, [_unlike(a, b, op) for a, b in pairs]), None)
    if got is NotImplemented or want is NotImplemented or want is None:
        return None if got is want else f"{op}: {got!r:.40} and not {want!r:.40}"
    found, whole = _whole(got), _whole(want)
    if found.ndim != whole.ndim:
        return f"{op}: shape of {type(got).__name__} {found.ndim} and not {whole.ndim} dimensions"
    if (found.shape, found.dtype) != (whole.shape, whole.dtype):
        return f"{op}: {found.dtype} and not {whole.dtype}, {found.shape} and not {whole.shape}"
    tolerance = 1e-3 if whole.dtype.char in "fF" or hasattr(scipy.sparse.linalg, op) else 1e-8
    return None if np.allclose(found, whole, tolerance, tolerance, equal_nan=True) else f"{op}: other elements"


def _whole(value: Any) -> Any:
    from matrix_calls import gathered  # of the folder above, which the program has found by now

    if hasattr(value, "matmat"):
        value = value @ np.eye(value.shape[1])
    if isinstance(value, dtl.sparse.csc_array):
        return gathered(value.T).T
    return value.toarray() if scipy.sparse.issparse(value) else gathered(value)


if __name__ == "__main__":
    sys.exit(main())

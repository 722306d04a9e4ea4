"""Exceptions that a program has handled, for which something calls ``sys.excepthook`` all the same: the job goes on.

Where an exception does end the program, the job ends at once, whatever hooks other libraries have put around DTL's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from job import on, on_mpi
from programs import ranks, run, succeeded

pytestmark = pytest.mark.jobs("starts ranks itself")

#: A console that is written in Python, hooks that are called by the program, and what never reaches them.
HANDLED = """
import code, sys, threading
{before}
import dtl

class Deleted:
    def __del__(self):
        raise ValueError("in a destructor")

def told():
    try:
        raise ValueError("caught")
    except ValueError:
        sys.excepthook(*sys.exc_info())

def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

with dtl.Context() as ctx:
    console = code.InteractiveInterpreter()
    for line in ("1 / 0", "def f(:", "raise KeyboardInterrupt"):
        console.runsource(line)
    told()
    in_thread(told)
    in_thread(lambda: console.runsource("raise SystemError"))
    in_thread(lambda: 1 / 0)
    Deleted()
    print("total", dtl.allreduce(ctx, 1), flush=True)
"""


MINE = "sys.excepthook = lambda *what: print('mine', what[0].__name__)"


@pytest.mark.parametrize(
    ("count", "backend", "before"),
    [
        on_mpi(2, "mpi", ""),
        pytest.param(3, "local", "", id="without MPI"),
        pytest.param(2, "local", MINE, id="with a hook before"),
    ],
)
def test_the_job_goes_on(count: int, backend: str, before: str, tmp_path: Path) -> None:
    ended = ranks(count, HANDLED.format(before=before), tmp_path, DTL_BACKEND=backend, DTL_TIMEOUT="20")
    out = succeeded(ended)
    assert out.count(f"total {count}") == count
    shown = out if before else ended.err
    for name in ("ZeroDivisionError", "KeyboardInterrupt", "ValueError", "SystemError"):
        assert shown.count(name) >= count, name


#: What error trackers do: tell somebody, and call the hook that was there.
HOOKS = {
    "a function": "sys.excepthook = lambda *what, old=sys.excepthook: (print('told'), old(*what))",
    "a method of an object": """
class Tracker:
    old = staticmethod(sys.excepthook)
    def __call__(self, *what):
        print("told")
        self.old(*what)
    def hook(self, *what):
        self(*what)
sys.excepthook = Tracker().hook""",
    "a partial of an object": """
import functools
class Tracker:
    def __call__(self, old, *what):
        print("told")
        old(*what)
sys.excepthook = functools.partial(Tracker(), sys.excepthook)""",
}


@pytest.mark.parametrize(
    ("hook", "when"),
    [
        ("a function", "before"),
        ("a function", "after"),
        ("a method of an object", "between"),
        ("a partial of an object", "after"),
    ],
)
def test_hooks_of_others(hook: str, when: str, tmp_path: Path) -> None:
    """The thread would keep the program from ending, if the hook did not."""
    parts = ["import sys", "import dtl", "ctx = dtl.Context()"]
    parts.insert(["before", "between", "after"].index(when) + 1, HOOKS[hook])
    program = "\n".join(
        [
            *parts,
            "import threading",
            "if ctx.rank == 1:",
            "    threading.Thread(target=threading.Event().wait).start()",
            "    raise ValueError('boom')",
            "dtl.recv(ctx, 1)",
        ]
    )
    ended = ranks(2, program, tmp_path, seconds=30, DTL_BACKEND="local")
    assert ended.code == 1
    assert "told" in ended.out
    assert ended.err.count("ValueError: boom\n") == (2 if when == "before" else 1)  # one by Python's own hook


def test_a_hook_in_place_of_ours(tmp_path: Path) -> None:
    """One that calls no other, as rich's: the rank ends by itself, and the others hear that it has."""
    program = """
    import sys
    import dtl

    ctx = dtl.Context()
    sys.excepthook = lambda kind, error, where: print("in colours:", error, file=sys.stderr)
    if ctx.rank == 1:
        raise ValueError("boom")
    dtl.recv(ctx, 1)
    """
    ended = ranks(2, program, tmp_path, seconds=30)
    assert ended.code == 1
    assert "in colours: boom" in ended.err


@pytest.mark.parametrize("count", [on(2)])
def test_a_handled_exception_does_not_hide_the_last_mismatch(count: int, tmp_path: Path) -> None:
    """A rank waits a moment at its end for those that make another call, unless an exception ends it."""
    program = """
    import code
    import dtl

    ctx = dtl.Context()
    code.InteractiveInterpreter().runsource("1 / 0")
    if ctx.rank == 0:
        dtl.broadcast(ctx, 1.0)
    else:
        try:
            dtl.allreduce(ctx, 1.0)
        except dtl.CollectiveMismatchError as error:
            print("heard:", error)
    """
    assert "rank 0 called broadcast" in succeeded(ranks(count, program, tmp_path, DTL_TIMEOUT="20"))


def test_an_interactive_session_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import dtl\nctx = dtl.Context()\n1 / 0\n")
    starter = tmp_path / "starter.py"
    starter.write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-i', sys.argv[1]], input=sys.argv[2], text=True, check=True)\n"
    )
    words = [sys.executable, "-m", "dtl", "run", "-n", "2", str(starter), str(script), "print(dtl.allreduce(ctx, 20))"]
    ended = run(words, DTL_BACKEND="local")
    assert ended.out.count("40") == 2
    assert ended.err.count("ZeroDivisionError") == 2

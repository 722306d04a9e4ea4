"""``python -m dtl trace``: the program runs as it would by itself, and then it is said what its calls came to."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import job
import pytest
from programs import Ended, run

pytestmark = pytest.mark.jobs("starts processes, and ranks, itself")

CALLS = """
import dtl, numpy as np
with dtl.Context() as ctx:
    for _ in range(3):
        dtl.allreduce(ctx, np.ones(1000))
"""

#: Prints what a program finds in its place.
LOOK = """
import sys
def shown(value):
    return repr(value) if isinstance(value, (str, list, dict, type(None))) else type(value).__name__
print("arguments", sys.argv)
print("path", sys.path[0], len(sys.path))
for name in sorted(globals()):
    if name not in ("shown", "sys", "name"):
        print(name, shown(globals()[name]))
print(__spec__ and __spec__.name, sys.modules["__main__"].__dict__ is globals())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, code: str) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(code))
    return name


def python(*arguments: str) -> Ended:
    return run([sys.executable, *arguments])


def trace(*arguments: str) -> Ended:
    return python("-m", "dtl", "trace", *arguments)


def table(text: str) -> list[list[str]]:
    """Return the words of the lines of the table, below its head."""
    lines = text[text.index("dtl trace: ") :].splitlines()
    assert re.fullmatch(r"dtl trace: \d+ ranks?, \d+ threads? each", lines[0])
    return [line.split() for line in lines[2:]]


# ---- Alone ----


def test_table(folder: Path) -> None:
    ended = trace(write("program.py", CALLS))
    assert (ended.code, ended.out) == (0, "")
    rows = {row[0]: row[1:4] for row in table(ended.err)}
    assert rows["allreduce"] == ["program.py:5", "3", "48000"]
    assert rows["total"][0] == "5"
    assert ended.err.startswith("dtl trace: 1 rank, ")


def test_file(folder: Path) -> None:
    program = write("program.py", "import os\nos.mkdir('sub')\nos.chdir('sub')\n" + CALLS)
    assert trace("-o", "calls.json", program) == (0, "", "")
    events = json.loads(Path("calls.json").read_text())["traceEvents"]
    assert sum(event["name"] == "allreduce" for event in events) == 3


def test_file_and_table(folder: Path) -> None:
    ended = trace("--table", "--output=calls.json", write("program.py", CALLS))
    assert table(ended.err)[-1][:2] == ["total", "5"]
    assert Path("calls.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["look.py"],
        ["look.py", "-o", "x", "--table", "-m"],
        ["./sub/../look.py", "a b"],
        ["sub/look.py"],
        ["link.py"],
        ["bare"],
        ["package"],
        ["look.zip", "x"],
        ["-m", "look"],
        ["-m", "sub.look", "-m", "x"],
        ["-m", "package"],
    ],
    ids=" ".join,
)
def test_program_finds_what_it_finds_by_itself(folder: Path, arguments: list[str]) -> None:
    for name in ("look.py", "sub/look.py", "bare", "package/__main__.py"):
        write(name, LOOK)
    write("package/__init__.py", "")
    Path("link.py").symlink_to("sub/look.py")
    with zipfile.ZipFile("look.zip", "w") as packed:
        packed.writestr("__main__.py", LOOK)
    python("-m", "sub.look")  # so that it is compiled for both
    expected, ended = python(*arguments), trace(*arguments)
    assert ended.out == expected.out
    assert (ended.code, expected.code) == (0, 0)


@pytest.mark.parametrize(
    "end",
    [
        "sys.exit()",
        "sys.exit(0)",
        "sys.exit(False)",
        "sys.exit(3)",
        "sys.exit('no such thing')",
        "sys.exit(256)",
        "raise ValueError('boom')",
        "raise KeyboardInterrupt",
        "exec('1 +')",
        "import missing_module",
        "import broken",
        "os._exit(7)",
        "sys.excepthook = lambda *what: print('hook', what[2].tb_frame.f_code.co_name); 1 / 0",
        "import atexit, threading; atexit.register(print, 'last')\n"
        "threading.Timer(0.2, lambda: print('thread')).start(); print('main')",
        "class C: pass\nimport pickle; print(type(pickle.loads(pickle.dumps(C()))))",
        "import warnings; warnings.simplefilter('ignore')\n"
        "if os.fork() == 0: sys.exit(4)\nprint(os.WEXITSTATUS(os.wait()[1]))",
    ],
    ids=lambda end: end[:30],
)
def test_program_ends_as_it_does_by_itself(folder: Path, end: str) -> None:
    write("broken.py", "1 / 0")
    program = write("program.py", "import os, sys\n" + end)
    expected, ended = python(program), trace("-o", os.devnull, program)
    assert ended == expected


def test_program_that_is_no_python(folder: Path) -> None:
    program = write("program.py", "print(1)\n1 +\n")
    expected, ended = python(program), trace("-o", os.devnull, program)
    assert ended == expected
    assert "SyntaxError" in ended.err


def test_tables_of_programs_that_fail_alone(folder: Path) -> None:
    """There is nobody to wait for."""
    ended = trace(write("program.py", CALLS + "1 / 0"))
    assert ended.code == 1
    assert "allreduce" in ended.err
    assert ended.err.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "_cli" not in ended.err


def test_calls_of_threads_that_go_on(folder: Path) -> None:
    program = write(
        "program.py",
        """
        import dtl, threading
        ctx = dtl.Context()
        threading.Timer(0.3, ctx.barrier).start()
        """,
    )
    assert "barrier" in [row[0] for row in table(trace(program).err)]


def test_children_say_nothing(folder: Path) -> None:
    program = write("program.py", CALLS + "import os\nif os.fork():\n    os.wait()")
    assert trace(program).err.count("dtl trace: ") == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "there is no program to run"),
        (["--table"], "there is no program to run"),
        (["-o"], "-o needs the name of a file"),
        (["-x", "program.py"], "there is no option '-x'"),
        (["missing.py"], "there is no file 'missing.py'"),
        (["."], "there is no __main__.py in '.'"),
        (["-m"], "-m needs the name of a module"),
        (["-m", "missing_module"], "there is no module 'missing_module'"),
        (["-m", "missing.module"], "there is no module 'missing.module'"),
        (["-m", "json"], "there is no module 'json.__main__'"),
        (["-m", ".x"], "there is no module '.x'"),
        (["-m", ""], "there is no module ''"),
    ],
)
def test_bad_usage(folder: Path, arguments: list[str], text: str) -> None:
    ended = trace(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"dtl trace: {text}")
    missing = re.match("there is no (file|module|__main__)", text)
    usage = (
        []
        if missing
        else ["usage: python -m dtl trace [-o FILE] [--table] (SCRIPT | -m MODULE) [arguments]; --help says more"]
    )
    assert ended.err.splitlines()[1:] == usage


def test_help() -> None:
    ended = trace("--help")
    assert ended.code == 0
    assert ended.out.startswith("usage: python -m dtl trace")


def test_file_that_cannot_be_written(folder: Path) -> None:
    ended = trace("-o", "no/folder/calls.json", write("program.py", CALLS))
    assert ended.code == 1
    assert re.match(r"dtl trace: .*no/folder/calls.json cannot be written: .*No such file", ended.err)
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("stream", ["sys.stderr.close()", "sys.stderr = None", "sys.stdout.close()"])
def test_programs_that_close_streams(folder: Path, stream: str) -> None:
    ended = trace(write("program.py", f"import sys\n{stream}\n{CALLS}"))
    assert ended.code == 0
    assert "Traceback" not in ended.err


# ---- On several ranks ----


@pytest.mark.parametrize("ranks", [job.on(1), job.on(2), job.on(3)])
def test_ranks(folder: Path, ranks: int) -> None:
    program = write("program.py", CALLS + "print('done')")
    done = job.run(ranks, "-m", "dtl", "trace", "-o", "calls.json", "--table", program)
    assert (done.returncode, done.stdout) == (0, "done\n" * ranks), done.stderr
    rows = {row[0]: row[1:4] for row in table(done.stderr)}
    assert rows["allreduce"] == ["program.py:5", str(3 * ranks), str(48000 * ranks)]
    assert done.stderr.count("dtl trace: ") == 1
    file = json.loads(Path("calls.json").read_text())
    assert file["otherData"]["ranks"] == ranks
    for rank in range(ranks):
        assert sum(e["name"] == "allreduce" and e["pid"] == rank for e in file["traceEvents"]) == 3


@pytest.mark.parametrize("ranks", [job.on(2)])
def test_ranks_that_never_meet(folder: Path, ranks: int) -> None:
    done = job.run(ranks, "-m", "dtl", "trace", write("program.py", "print('done')"))
    assert (done.returncode, done.stdout) == (0, "done\n" * ranks), done.stderr
    assert done.stderr.count("dtl trace: ") == 1


@pytest.mark.parametrize("ranks", [job.on(2)])
@pytest.mark.parametrize(
    ("end", "code"),
    [("raise ValueError('boom')", 1), ("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", None)],
)
@pytest.mark.parametrize("before", [False, True], ids=["after a context", "before any"])
def test_one_rank_that_fails(folder: Path, ranks: int, end: str, code: int, before: bool) -> None:
    """The others wait in a call, or have come to the end of the program: nobody waits for good."""
    start = f"import os, sys\nfrom dtl._cli import processes\nif processes.rank_in(os.environ) == 1:\n    {end}\n"
    program = write("program.py", start if before else CALLS + start)
    started = time.monotonic()
    done = job.run(ranks, "-m", "dtl", "trace", program)
    assert time.monotonic() - started < 20
    assert done.returncode != 0
    if code is not None and not before:
        assert done.returncode == code
    if "boom" in end:
        assert re.search(r'File ".*program.py", line \d+, in <module>', done.stderr)
        assert "ValueError: boom" in done.stderr
        assert "_cli" not in done.stderr


@pytest.mark.parametrize("ranks", [job.on_mpi(2)])
def test_mpi_that_the_program_ended(folder: Path, ranks: int) -> None:
    pytest.importorskip("mpi4py")
    program = write("program.py", CALLS + "from mpi4py import MPI\nif not MPI.Is_finalized(): MPI.Finalize()")
    done = job.run(ranks, "-m", "dtl", "trace", program)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("dtl trace: 1 rank") == 1

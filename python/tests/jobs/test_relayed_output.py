"""What ranks write when they are connected without MPI: whole lines, all of it, in order, and as to a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import job
import pytest
from programs import AWAITING

pytestmark = pytest.mark.jobs("starts ranks itself")

RANK = AWAITING + "import subprocess, sys, time\nrank = int(os.environ['DTL_LOCAL_RANK'])\n"


@pytest.fixture(autouse=True)
def _without_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "local")


def start(ranks: int, tmp_path: Path, program: str, *options: str, **popen: Any) -> subprocess.Popen[bytes]:
    """Start a program on so many ranks, with what they write in pipes."""
    script = tmp_path / "script.py"
    script.write_text(RANK + program)
    return subprocess.Popen(
        [sys.executable, "-m", "dtl", "run", "-n", str(ranks), "--timeout", str(job.SECONDS), *options, str(script)],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen},
    )


def run(ranks: int, tmp_path: Path, program: str, *options: str, **popen: Any) -> tuple[int, bytes, bytes]:
    """Run a program on so many ranks, and return its exit code and what it wrote."""
    with start(ranks, tmp_path, program, *options, **popen) as process:
        out, err = process.communicate(timeout=job.SECONDS + 30)
    return process.returncode, out, err


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_lines_are_whole(ranks: int, tmp_path: Path) -> None:
    """Unbuffered, print writes the text and the end of the line apart."""
    program = "for i in range(200):\n    print(rank, 'writes', i)\n"
    code, out, _ = run(ranks, tmp_path, program, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    lines = out.decode().splitlines()
    assert code == 0
    for rank in range(ranks):
        own = [line for line in lines if line.startswith(f"{rank} ")]
        assert own == [f"{rank} writes {i}" for i in range(200)]
    assert len(lines) == 200 * ranks


def test_standard_output_and_error_keep_their_order_in_one_file(tmp_path: Path) -> None:
    program = "for i in range(100):\n    os.write(1 + i % 2, b'%d %d\\n' % (rank, i))\n"
    _, out, _ = run(2, tmp_path, program, stderr=subprocess.STDOUT)
    for rank in (b"0", b"1"):
        own = [line for line in out.splitlines() if line.startswith(rank + b" ")]
        assert own == [b"%s %d" % (rank, i) for i in range(100)]


def test_other_bytes_come_as_they_are(tmp_path: Path) -> None:
    """Also where there is no line, and where the last one has no end."""
    program = "if rank == 1:\n    os.write(1, bytes(range(256)) * 20000)\n    os.write(2, b'the last words')\n"
    code, out, err = run(2, tmp_path, program)
    assert code == 0
    assert out == bytes(range(256)) * 20000
    assert err.endswith(b"the last words")


def test_a_question_is_seen_before_its_answer(tmp_path: Path) -> None:
    program = "if rank == 0:\n    print('you said ' + input('what? '))\n"
    with start(2, tmp_path, program, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.read(6) == b"what? "
        process.stdin.write(b"this\n")
        process.stdin.close()
        assert process.stdout.read() == b"you said this\n"
    assert process.returncode == 0


def test_a_reader_that_leaves_is_noticed(tmp_path: Path) -> None:
    """As by a program without ranks: the next write fails."""
    with start(2, tmp_path, "while True:\n    os.write(1, b'more\\n')\n") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"more\n"
        process.stdout.close()
        assert b"BrokenPipeError" in process.stderr.read()
    assert process.returncode == 1


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        code, _, err = run(2, tmp_path, "print('lost')\n", stdout=full)
    assert code in (1, 120)  # 120: a rank found its output closed when it flushed it at its end
    assert err.count(b"dtl run: standard output cannot be written: [Errno 28] No space left on device") == 1


def test_a_child_that_a_rank_leaves_is_not_waited_for(tmp_path: Path) -> None:
    program = "print('whole')\nprint(subprocess.Popen(['sleep', '100']).pid)\n"
    code, out, _ = run(2, tmp_path, program)
    lines = out.decode().split()
    for pid in {int(line) for line in lines if line.isdecimal()}:
        os.kill(pid, signal.SIGKILL)
    assert (code, lines.count("whole"), len(lines)) == (0, 2, 4)


def test_a_slow_reader_gets_everything(tmp_path: Path) -> None:
    """What ranks have written before one failed, too, though the others are ended at once."""
    program = (
        "os.write(1, (b'%d' % rank) * 60000 + b'\\n')\n"
        "if rank == 1:\n"
        "    open(sys.argv[1], 'x').close()\n"
        "    time.sleep(100)\n"
        "await_file(sys.argv[1])\n"
        "sys.exit(3)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(RANK + program)
    words = [sys.executable, "-m", "dtl", "run", "-n", "2", str(script), str(tmp_path / "written")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        begun = process.stdout.read(10)  # and nothing while the ranks end
        out = begun + process.stdout.read()
    assert process.returncode == 3
    assert sorted(out.split()) == [b"0" * 60000, b"1" * 60000]


def on_a_terminal(ranks: int, tmp_path: Path, program: str) -> bytes:
    """Return what a program writes to a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (33, 99)) if hasattr(termios, "tcsetwinsize") else None
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    with start(ranks, tmp_path, program, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                parts.append(os.read(ours, 1 << 16))
            except OSError:  # nobody has it open any more
                break
    os.close(ours)
    assert process.returncode == 0
    return b"".join(parts)


def test_ranks_have_a_terminal_where_the_command_has(tmp_path: Path) -> None:
    out = on_a_terminal(2, tmp_path, "print(rank, sys.stdout.isatty(), os.get_terminal_size(1).lines)\n")
    size = 33 if hasattr(termios, "tcsetwinsize") else 0
    assert sorted(out.splitlines()) == [b"%d True %d" % (rank, size) for rank in range(2)]

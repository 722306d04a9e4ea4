"""Several jobs append to the same files, replace them and write checkpoints to one folder, and some are killed.

What a job was told is written stays: each row that was appended is there once, a file that is replaced is one of those
that were saved, and the newest checkpoint is whole. Of a call during which the job was killed, there is all or nothing.
Files and folders of somebody else that lie there, some with names like those of DTL's own, are as they were.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, Callable

import numpy as np
import rank
from jobs import FOLDER, Job, family

import dtl

#: What a trial gets, of several rounds.
SECONDS = 30.0

SECONDS_TO_START, SECONDS_TO_END = 60.0, 60.0

#: What is done to a job; nothing to half of them.
HARMS = ("SIGKILL to a rank", "SIGKILL to a rank", "SIGKILL to dtl run", "SIGTERM to dtl run")

#: How many checkpoints are kept.
KEEP = 2

#: The calls that the jobs of a round make. Those of zarr and pyarrow, whose import takes long, are in some rounds only.
QUICK = ("npy", "npy", "raw", "csv", "saved", "checkpoint", "checkpoint", "two_checkpoints", "restore")
SLOW = ("zarr", "parquet", "saved_zarr")
APPENDED = ("npy", "raw", "csv", "parquet", "zarr")
CHECKPOINTS = ("checkpoint", "two_checkpoints", "restore")


# ---- The driver ----


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run rounds of jobs until the time is over, and return what was done and what went wrong."""
    rng = random.Random(f"files {seed} {family(python)}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dtl-attack-files-") as name:
        target = Target(Path(name))
        rounds = started = killed = 0
        while not target.wrong and (rounds == 0 or time.monotonic() < began + seconds / 2):
            rounds += 1
            jobs = _drawn(rng, rounds)
            started += len(jobs)
            killed += sum(harm != "" for _, harm, _ in jobs)
            _round(target, python, jobs)
        alone = 0
        while not target.wrong and (alone == 0 or time.monotonic() < began + seconds):
            alone += _kill_two(target, python, rng, 10**8 + alone * 10**5)
        if not target.wrong:
            _round(target, python, [(1, "", [rng.randrange(2**32), 10**9, 1, "checkpoint"])])
            target.check_nothing_is_left()
        what = f"{rounds} rounds, {started} jobs of which {killed} were killed, {alone} processes that were killed"
        return what, target.wrong


def _drawn(rng: random.Random, round_: int) -> list[tuple[int, str, list[Any]]]:
    """Return the jobs of a round: the ranks of each, what is done to it, and the words of its program."""
    one = rng.choice(APPENDED)
    kinds = rng.choice([CHECKPOINTS, (one,), (one,), QUICK, (*QUICK, *SLOW)])
    harmed = rng.random() < 0.7
    jobs = []
    for number in range(rng.choice([2, 3, 3])):
        harm = rng.choice(["", rng.choice(HARMS)]) if harmed else ""
        words = [rng.randrange(2**32), round_ * 10**6 + number * 10**5, 0 if harm else rng.randrange(20, 40), *kinds]
        jobs.append((rng.choice([1, 1, 2]), harm, words))
    return jobs


def _round(target: Target, python: str, drawn: list[tuple[int, str, list[Any]]]) -> None:
    """Run jobs side by side, harm some, and look what there is."""
    rng = random.Random(str(drawn))
    jobs = [
        Job(python, ranks, "files.py", target.folder, *words, DTL_BACKEND=rng.choice(["local", "local", "mpi"]))
        for ranks, _, words in drawn
    ]
    try:
        started = [job.wait_for("ready", SECONDS_TO_START) for job in jobs]
        for job in jobs:
            (job.folder / "go").write_text("")
        for job, (ranks, harm, _), ready in zip(jobs, drawn, started):
            if harm and ready:
                time.sleep(rng.random() ** 2)
                _harm(job, harm, rng.randrange(ranks))
        for job, (ranks, harm, words) in zip(jobs, drawn):
            what = f"{ranks} ranks, {' '.join(map(str, words))}, {harm or 'not harmed'}"
            if not job.wait(SECONDS_TO_END):
                target.wrong.append(f"{what}: no end\n{job.where()}\n{job.essence()}")
            elif bool(job.code) != bool(harm):
                target.wrong.append(f"{what}: exit code {job.code}\n{job.output()[-3000:]}")
            target.wrong += [f"{what}: {text}" for text in (*job.text("found").splitlines(), *job.left())]
            job.end()
            target.told(job.text("journal"))
        target.check()
    finally:
        for job in jobs:
            job.__exit__()


def _kill_two(target: Target, python: str, rng: random.Random, first: int) -> int:
    """Start two processes that write checkpoints, kill each at some moment, and look what there is."""
    running = []
    with tempfile.TemporaryDirectory(prefix="dtl-attack-two-") as name:
        for number in range(2):
            folder = Path(name, str(number))
            folder.mkdir()
            (folder / "go").write_text("")
            words = [target.folder, rng.randrange(2**32), first + number * 10**5, 0, *CHECKPOINTS]
            process = subprocess.Popen(
                [python, str(Path(__file__)), *map(str, words)],
                env={**os.environ, FOLDER: str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=open(folder / "errors", "w"),  # noqa: SIM115 - the process has it
            )
            running.append((process, folder))
        for process, folder in running:
            deadline = time.monotonic() + SECONDS_TO_START
            while not (folder / "ready0").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(rng.random() ** 2 / 2)  # anywhere in its work
            process.kill()
            if process.wait() != -signal.SIGKILL:
                target.wrong.append(f"exit code {process.returncode}\n{(folder / 'errors').read_text()[-3000:]}")
            journal = folder / "journal"
            target.told(journal.read_text() if journal.exists() else "")
    target.check_checkpoints()
    target.check_decoys()
    return len(running)


def _harm(job: Job, harm: str, victim: int) -> None:
    if harm.endswith("a rank"):
        os.kill(job.pid(victim), signal.SIGKILL)
    else:
        job.process.send_signal(getattr(signal, harm.partition(" ")[0]))


class Target:
    """The folder that jobs write to, what they have said, and what is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wrong: list[str] = []
        #: Of each kind, how many rows of each value there are to be: at least, and at most.
        self.rows: dict[str, dict[int, tuple[int, int]]] = {}
        self.numbers: list[int] = []
        _put_decoys(folder)
        _put_empty(folder)
        self.decoys = {name: what for name, what in _contents(folder).items() if not name.startswith("log.")}

    def told(self, journal: str) -> None:
        """Take what a job has noted: what it began, and what it was told is done."""
        for line in journal.splitlines():
            word, kind, value, rows, made = line.split(" ", 4)
            most = int(rows)
            self.rows.setdefault(kind, {})[int(value)] = (most if word == "end" else 0, most)
            if word == "end" and kind == "checkpoint":
                self.numbers.append(int(made))

    def check(self) -> None:
        """Look at everything, with readers that are not DTL's."""
        for kind, read in READERS.items():
            try:
                self._check_rows(kind, read(self.folder))
            except FileNotFoundError as error:
                if any(least for least, _ in self.rows.get(kind, {}).values()):
                    self.wrong.append(f"{kind}: {error}")
            except (ValueError, OSError, EOFError, KeyError) as error:
                self.wrong.append(f"{kind} cannot be read: {type(error).__name__}: {error}")
        for kind, file in (("saved", "last.npy"), ("saved_zarr", "last.zarr")):
            self._check_saved(kind, self.folder / file)
        self.check_checkpoints()
        self.check_decoys()

    def check_decoys(self) -> None:
        """Look whether what is somebody else's is as it was."""
        there = _contents(self.folder)
        self.wrong += [
            f"{name} of somebody else was changed" for name in self.decoys if there.get(name) != self.decoys[name]
        ]

    def _check_rows(self, kind: str, values: Any) -> None:
        counts = Counter(np.asarray(values).tolist())
        known = self.rows.get(kind, {})
        for value, (least, most) in known.items():
            got = counts.pop(value, 0)
            part = kind == "raw" and 0 < got < most  # it has no header, which would say how many there are
            if got not in (least, most) and not (part and not least):
                self.wrong.append(f"{kind}: {got} rows of {value}, in place of {least} to {most}")
        if kind == "raw":
            counts.pop(0, None)  # what a rank that was killed has not written before the others did
        if counts:
            self.wrong.append(f"{kind}: rows that nobody has written: {dict(counts.most_common(5))}")

    def _check_saved(self, kind: str, file: Path) -> None:
        known = self.rows.get(kind, {})
        if not file.exists():
            if any(least for least, _ in known.values()):
                self.wrong.append(f"{file.name} is lost")
            return
        values = np.load(file) if file.suffix == ".npy" else _zarr(file)
        found = Counter(values.tolist())
        if len(found) != 1 or known.get(next(iter(found)), (0, -1))[1] != len(values):
            self.wrong.append(f"{file.name} has {dict(found.most_common(5))}, which nobody has saved")

    def check_checkpoints(self) -> None:
        """Look whether every checkpoint is whole, and none is missing."""
        numbers = []
        for folder in sorted((self.folder / "runs").glob("[0-9]*")):
            if f"runs/{folder.name}" not in self.decoys:
                numbers.append(int(folder.name))
                text = _damage(folder, self.rows.get("checkpoint", {}))
                if text:
                    self.wrong.append(f"checkpoint {folder.name}: {text}")
        if len(numbers) < min(KEEP, len(self.numbers)) or max(numbers, default=0) < max(self.numbers, default=0):
            self.wrong.append(f"checkpoints {self.numbers[-5:]} were written, and {numbers} are there")

    def check_nothing_is_left(self) -> None:
        """Look for what killed jobs have left in the folder of checkpoints, after one that was not killed."""
        left = [name for name in _contents(self.folder / "runs") if name.startswith((".new-", ".old-", ".dtl-lock"))]
        self.wrong += [f"runs/{name} is left" for name in left if f"runs/{name}" not in self.decoys]


def _damage(folder: Path, known: dict[int, tuple[int, int]]) -> str:
    """Return what is wrong with a checkpoint, nothing if it is whole."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text().rpartition("}")[0] + "}")
        for name, file in manifest["files"].items():
            data = (folder / name).read_bytes()[-file["size"] :] if file["size"] else b""
            if (len(data), zlib.crc32(data)) != (file["size"], file["crc32"]):
                return f"{name} is not what was written"
        step = pickle.loads((folder / "1.pickle").read_bytes())
        x = np.load(folder / "0.npy")
    except (OSError, ValueError, KeyError, EOFError) as error:
        return f"{type(error).__name__}: {error}"
    if step not in known or len(x) != known[step][1] or (x != step).any():
        return f"it has {len(x)} rows of {np.unique(x)[:5]} for step {step}, of which there are {known.get(step)}"
    return ""


def _zarr(path: Path) -> Any:
    import zarr

    return zarr.open_array(zarr.storage.LocalStore(path), mode="r")[:]


def _csv(path: Path) -> Any:
    rows = [[int(line) for line in file.read_text().splitlines()[1:]] for file in sorted(path.iterdir()) if _part(file)]
    return [value for file in rows for value in file]


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return np.concatenate([parquet.read_table(file)["x"].to_numpy() for file in sorted(path.iterdir()) if _part(file)])


def _part(file: Path) -> bool:
    return not file.name.startswith((".", "_"))


#: How the rows are read that were appended.
READERS: dict[str, Callable[[Path], Any]] = {
    "npy": lambda folder: np.load(folder / "log.npy"),
    "raw": lambda folder: np.fromfile(folder / "log.raw", np.int64),
    "csv": lambda folder: _csv(folder / "rows.csv"),
    "parquet": lambda folder: _parquet(folder / "rows.parquet"),
    "zarr": lambda folder: _zarr(folder / "log.zarr"),
}


def _put_decoys(folder: Path) -> None:
    """Put files and folders of somebody else beside those that jobs write to."""
    names = ["20250131", "00000002", ".old-00000001", ".old-best", ".new-x", ".new-0123abcd", "00000005/more"]
    for name in (*(f"runs/{name}" for name in names), "last.zarr.old", ".last.zarr.0123abcd.tmp", "last"):
        (folder / name).mkdir(parents=True)
        (folder / name / "results.csv").write_text("a,b\n1,2\n")
        (folder / name / "0.npy").write_bytes(b"numbers of mine")
    for name in (
        "runs/99999999",
        "runs/00000007",
        "runs/.writing",
        "last.npy.old",
        ".last.npy.0123abcd.tmp",
        "log.npy.tmp",
    ):
        (folder / name).write_text("notes\n")
    (folder / "runs/00000002/manifest.json").write_text('{"name": "an app"}\n')
    (folder / "runs/.new-0123abcd/.writing").write_text("a book\n")
    (folder / "runs/00000009").symlink_to("20250131")
    (folder / "runs/.old-01234567").symlink_to("20250131")


def _put_empty(folder: Path) -> None:
    """Make the files without any rows to which rows are appended."""
    import zarr

    np.save(folder / "log.npy", np.zeros(0, np.int64))
    (folder / "log.raw").write_bytes(b"")
    zarr.create_array(zarr.storage.LocalStore(folder / "log.zarr"), shape=(0,), chunks=(1000,), dtype=np.int64)


def _contents(folder: Path) -> dict[str, Any]:
    """Return what is in a folder: the bytes of files, where links lead, and folders."""
    found: dict[str, Any] = {}
    for path in folder.rglob("*"):
        try:
            found[str(path.relative_to(folder))] = (
                os.readlink(path) if path.is_symlink() else path.is_dir() or path.read_bytes()
            )
        except FileNotFoundError:
            continue
    return found


# ---- The program of a rank ----


class Work:
    """What a job does with the folder, each call with a value of its own."""

    def __init__(self, ctx: dtl.Context, folder: str, rng: random.Random) -> None:
        self.ctx, self.folder, self.rng = ctx, folder, rng
        self.written = False
        self._journal = os.open(rank.FOLDER / "journal", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def note(self, word: str, kind: str, value: int, rows: int, made: str = "0") -> None:
        """Write to the journal, which is there also when the job was killed."""
        if self.ctx.is_root:
            os.write(self._journal, f"{word} {kind} {value} {rows} {os.path.basename(made)}\n".encode())

    def _vector(self, value: int) -> dtl.DistributedVector:
        rows = self.rng.choice([1, 7, 5000, 100_000])
        return dtl.full(self.ctx, rows, value, dtype=np.int64)

    def _appended(self, kind: str, file: str, value: int, table: bool = False) -> None:
        x = self._vector(value)
        self.note("begin", kind, value, x.size)
        what: Any = {"x": x} if table else x
        dtl.save(what, f"{self.folder}/{file}", append=True)
        self.note("end", kind, value, x.size)

    def npy(self, value: int) -> None:
        self._appended("npy", "log.npy", value)

    def raw(self, value: int) -> None:
        self._appended("raw", "log.raw", value)

    def csv(self, value: int) -> None:
        self._appended("csv", "rows.csv", value, table=True)

    def parquet(self, value: int) -> None:
        self._appended("parquet", "rows.parquet", value, table=True)

    def zarr(self, value: int) -> None:
        self._appended("zarr", "log.zarr", value)

    def saved(self, value: int, kind: str = "saved", file: str = "last.npy") -> None:
        x = self._vector(value)
        self.note("begin", kind, value, x.size)
        dtl.save(x, f"{self.folder}/{file}")
        self.note("end", kind, value, x.size)

    def saved_zarr(self, value: int) -> None:
        self.saved(value, "saved_zarr", "last.zarr")

    def checkpoint(self, value: int) -> None:
        x = self._vector(value)
        self.note("begin", "checkpoint", value, x.size)
        made = dtl.checkpoint(f"{self.folder}/runs", {"x": x, "step": value}, keep=KEEP)
        self.note("end", "checkpoint", value, x.size, made)
        self.written = True

    def two_checkpoints(self, value: int) -> None:
        """Write one in the background, and one in the foreground, of which the second is the later one."""
        x, y = self._vector(value), self._vector(value + 50_000)
        self.note("begin", "checkpoint", value, x.size)
        first = dtl.async_checkpoint(f"{self.folder}/runs", {"x": x, "step": value}, keep=KEEP)
        self.note("begin", "checkpoint", value + 50_000, y.size)
        second = dtl.checkpoint(f"{self.folder}/runs", {"x": y, "step": value + 50_000}, keep=KEEP)
        self.note("end", "checkpoint", value + 50_000, y.size, second)
        made = first.get()
        self.note("end", "checkpoint", value, x.size, made)
        assert os.path.basename(made) < os.path.basename(second), (made, second)
        self.written = True

    def restore(self, value: int) -> None:
        try:
            again = dtl.restore(self.ctx, f"{self.folder}/runs")
        except dtl.FileNotFoundError:
            assert not self.written
            return
        with again["x"] as x:
            assert (x.local_view() == again["step"]).all()


def main() -> None:
    """Make drawn calls, a number of them or until the job is killed."""
    folder, seed, first, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    kinds = sys.argv[5:]
    rng = random.Random(seed)
    with dtl.Context() as ctx:
        log, work = rank.Log(ctx), Work(ctx, folder, rng)
        log.reached("ready")
        while not dtl.broadcast(ctx, (rank.FOLDER / "go").exists()):  # so that the jobs of a round begin together
            time.sleep(0.002)
        number = 0
        while number < steps or not steps:
            kind = rng.choice(kinds)
            log.at(f"step {number}: {kind} {first + number}")
            getattr(work, kind)(first + number)
            number += 1


if __name__ == "__main__":
    main()

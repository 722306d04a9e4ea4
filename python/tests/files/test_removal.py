"""What dtl.io.removal removes and replaces: what this process has made, and what is recognised; never anything else."""

from __future__ import annotations

import ast
import errno
import os
import re
import socket
import stat
from pathlib import Path
from typing import Any, Iterator, Sequence

import pytest

import dtl
from dtl.io import removal
from dtl.io.removal import Made, beside, remove_folder, rename_new

pytestmark = pytest.mark.alone("of one process")

PACKAGE = Path(dtl.__file__).parent

#: Files that remove or replace by themselves, and why they may.
ALLOWED = {
    "io/removal.py": "is where the others do it",
    "_cli/launcher_folder.py": "removes a folder that it has made with tempfile; those of others by removal.py",
}

#: The names of functions that remove or replace whatever they are of, and of those that do so in some modules.
ALWAYS = {"rmtree", "unlink", "rmdir", "removedirs", "renames", "renameat2", "delete_dir", "rm", "rm_file"}
CALLS = ALWAYS | {"remove", "rename", "replace", "move", "delete", "clear"}
WORDS = re.compile("|".join([*CALLS, "overwrite"]))
MODULES = {"os", "shutil", "Path", "libc", "store", "pathlib"}


def tree(path: Path) -> dict[str, str]:
    """Return what is below a folder: files with their contents, folders, and links with where they go."""
    found = {}
    for each in sorted(path.rglob("*")):
        name = str(each.relative_to(path))
        found[name] = f"-> {os.readlink(each)}" if each.is_symlink() else "" if each.is_dir() else each.read_text()
    return found


def nothing(_: str) -> None:
    """Find nothing foreign."""


def something(_: str) -> str:
    return "something is of somebody else"


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Path]:
    """A folder of somebody else, which is as it was at the end."""
    path = tmp_path / "others"
    path.mkdir()
    (path / "data").write_text("precious")
    yield path
    assert tree(path) == {"data": "precious"}


@pytest.fixture(params=["at once", "in steps", "without links"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On file systems that have renameat2's flags, that have not, and that have no second names either."""

    def without(*_: Any) -> int:
        return errno.EINVAL

    def unlinked(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no links")

    if request.param != "at once":
        monkeypatch.setattr(removal, "_renameat2", without)
    if request.param == "without links":
        monkeypatch.setattr(os, "link", unlinked)


# ---- What is made ----


@pytest.mark.parametrize("folder", [False, True])
def test_what_was_made_is_removed(tmp_path: Path, others: Path, folder: bool) -> None:
    made = Made(str(tmp_path / "new"), folder)
    if folder:
        (tmp_path / "new" / "a" / "b").mkdir(parents=True)
        (tmp_path / "new" / "a" / "b" / "c").write_text("x")
        (tmp_path / "new" / "a" / "link").symlink_to(others)
        (tmp_path / "new" / "link").symlink_to(others / "data")
    made.remove()
    assert tree(tmp_path) == {"others": "", "others/data": "precious"}
    made.remove()  # a second time nothing happens


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("by", ["link", "file", "folder"])
def test_a_name_that_is_anothers_by_now(tmp_path: Path, others: Path, folder: bool, by: str) -> None:
    """What is at the name when this process wants to remove or rename it is not what it has made."""
    name = tmp_path / "new"
    for act in ("remove", "replace", "add_as"):
        made = Made(str(name), folder)
        name.rename(tmp_path / f"moved by {act}")
        if by == "link":
            name.symlink_to(others)
        elif by == "file":
            name.write_text("x")
        else:
            name.mkdir()
            (name / "inner").write_text("x")
        before = tree(tmp_path)
        if act == "remove":
            made.remove()
        else:
            with pytest.raises(dtl.FileError, match=r"'.*new', which was being written, was moved"):
                getattr(made, act)(str(tmp_path / "final"))
            made.remove()
        assert tree(tmp_path) == before
        name.rename(tmp_path / f"put at {act}")


def test_the_folder_around_is_anothers_by_now(tmp_path: Path, others: Path) -> None:
    """The name is looked for in the folder in which it was made, wherever that is."""
    (tmp_path / "around").mkdir()
    made = Made(str(tmp_path / "around" / "data"))
    (tmp_path / "around").rename(tmp_path / "away")
    (tmp_path / "around").symlink_to(others)
    made.remove()
    assert tree(tmp_path / "away") == {}


def test_others_write_to_what_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread of a library that has not heard of the error makes one more file, and again one."""
    made, empty, left = Made(str(tmp_path / "new"), True), removal._empty, [2]

    def late(folder: int, last: Sequence[str]) -> None:
        empty(folder, last)
        if left[0]:
            left[0] -= 1
            (tmp_path / "new" / "late").write_text("x")

    monkeypatch.setattr(removal, "_empty", late)
    made.remove()
    assert tree(tmp_path) == {}


# ---- What gets a name ----


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("folder", [False, True])
def test_a_name_that_nothing_has(tmp_path: Path, folder: bool) -> None:
    made, final = Made(str(tmp_path / "new"), folder), str(tmp_path / "final")
    assert made.add_as(final)
    assert tree(tmp_path) == {"final": ""}
    made = Made(str(tmp_path / "new"), folder)
    assert not made.add_as(final)
    assert sorted(tree(tmp_path)) == ["final", "new"]
    assert not rename_new(str(tmp_path / "new"), final)
    made.remove()
    assert rename_new(final, str(tmp_path / "again"))
    assert tree(tmp_path) == {"again": ""}


def test_files_replace_files(tmp_path: Path, others: Path) -> None:
    for kind, words in [
        ("folder", "is a directory"),
        ("link", "is a symbolic link"),
        ("fifo", "is a FIFO"),
        ("socket", "is a socket"),
        *([("device", "is a device")] if os.geteuid() == 0 else []),  # which only root can make
    ]:
        final = tmp_path / kind
        if kind == "folder":
            final.mkdir()
        elif kind == "link":
            final.symlink_to(others / "data")
        elif kind == "fifo":
            os.mkfifo(final)
        elif kind == "device":
            os.mknod(final, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        else:
            with socket.socket(socket.AF_UNIX) as made_socket:
                made_socket.bind(os.path.relpath(final))
        mode = os.lstat(final).st_mode
        with pytest.raises(dtl.FileError, match=f"'.*{kind}' {words}"):
            removal.check_replaceable(str(final))
        with pytest.raises(dtl.FileError, match=f"'.*{kind}' {words}"), Made(str(tmp_path / "new")) as made:
            made.replace(str(final))
        assert os.lstat(final).st_mode == mode
        assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("old")
    made = Made(str(tmp_path / "new"), mode=0o640)
    (tmp_path / "new").write_text("new")
    made.replace(str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


@pytest.mark.usefixtures("way")
def test_folders_replace_what_is_recognised(tmp_path: Path, others: Path) -> None:
    final = tmp_path / "final"
    for old in ("nothing", "empty", "recognised"):
        if old != "nothing":
            final.mkdir(exist_ok=True)
        made = Made(str(tmp_path / "new"), True)
        (tmp_path / "new" / old).write_text("x")
        made.replace_folder(str(final), something if old == "empty" else nothing)
        assert tree(final) == {old: "x"}
        if old == "nothing":
            (final / old).unlink()
    (final / "link").symlink_to(others)
    with pytest.raises(dtl.FileError, match=r"'.*final' is not .*: something is of somebody else"):
        removal.check_replaceable(str(final), something)
    for _ in range(2):
        made = Made(str(tmp_path / "new"), True)
        before = tree(final)
        with pytest.raises(dtl.FileError, match=r"'.*final' is not .*: something is of somebody else"), made:
            made.replace_folder(str(final), something)
        assert tree(final) == before
    with Made(str(tmp_path / "new"), True) as made:
        made.replace_folder(str(final), nothing)
    assert sorted(os.listdir(tmp_path)) == ["final", "others"]


@pytest.mark.parametrize("inner", ["", "group"])
def test_folders_of_what_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inner: str) -> None:
    """A folder that is read-only stays whole, and nothing is left beside it. Root, whom no mode stops, is told so."""
    (tmp_path / "final" / "group").mkdir(parents=True)
    (tmp_path / "final" / "group" / "file").write_text("x")
    (tmp_path / "final" / inner).chmod(0o555)

    def by_mode(path: str, _: int) -> bool:
        return bool(os.stat(path).st_mode & 0o200)

    monkeypatch.setattr(os, "access", by_mode)
    text = r"'group' there is read-only" if inner else "it is read-only"
    with pytest.raises(dtl.FileError, match=text):
        removal.check_replaceable(str(tmp_path / "final"), nothing)
    with pytest.raises(dtl.FileError, match=text), Made(str(tmp_path / "new"), True) as made:
        made.replace_folder(str(tmp_path / "final"), nothing)
    with pytest.raises(dtl.FileError, match=text):
        remove_folder(str(tmp_path / "final"), nothing)
    assert tree(tmp_path) == {"final": "", "final/group": "", "final/group/file": "x"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_folders_replace_folders(tmp_path: Path, others: Path, kind: str) -> None:
    final = tmp_path / "final"
    final.symlink_to(others) if kind == "link" else final.write_text("x")
    for call in (lambda: removal.check_replaceable(str(final), nothing), lambda: remove_folder(str(final), nothing)):
        with pytest.raises(dtl.FileError, match=r"'.*final' is no directory"):
            call()
    with pytest.raises(dtl.FileError, match=r"'.*final' is no directory"), Made(str(tmp_path / "new"), True) as made:
        made.replace_folder(str(final), nothing)
    assert sorted(os.listdir(tmp_path)) == ["final", "others"]


def test_what_is_recognised_is_what_is_removed(tmp_path: Path, others: Path) -> None:
    """While a function looks into a folder, a link to another takes its name."""
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "file").write_text("x")

    def swapped(path: str) -> None:
        assert os.listdir(path) == ["file"]
        folder.rename(tmp_path / "moved")
        folder.symlink_to(others)
        assert os.listdir(path) == ["file"]

    with pytest.raises(dtl.FileError, match="was replaced by somebody else"):
        remove_folder(str(folder), swapped)
    assert tree(tmp_path / "moved") == {"file": "x"}
    with pytest.raises(dtl.FileError, match=r"'moved/\.\.' ends with no name"):
        remove_folder("moved/..", nothing)
    with pytest.raises(dtl.FileError, match="'/' ends with no name"):
        remove_folder("/", nothing)


def test_names_beside() -> None:
    for base in ("a", "a" * 255, "ü" * 127, "\U0001f600" * 63, "\udcff" * 255):
        name = os.path.basename(beside(f"/folder/{base}"))
        assert len(os.fsencode(name)) <= 255
        assert name.startswith(".")


# ---- Who else removes ----


def removing(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that remove or replace something that has a name in a file system."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                if alias.name in CALLS:
                    yield node.lineno, alias.name
        if not isinstance(node, ast.Call):
            continue
        for word in node.keywords:
            if word.arg == "overwrite" and not (isinstance(word.value, ast.Constant) and word.value.value is False):
                yield node.lineno, "overwrite"
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        of = getattr(node.func, "value", None)
        if name in ALWAYS or (name in CALLS and getattr(of, "attr", getattr(of, "id", "")) in MODULES):
            yield node.lineno, name


@pytest.mark.parametrize(
    "source",
    [
        "shutil.rmtree(path)",
        "from shutil import rmtree",
        "os.unlink(path)",
        "Path(path).unlink()",
        "os.replace(one, other)",
        "os.rename(one, other)",
        "shutil.move(one, other)",
        "zarr.create_array(path, overwrite=True)",
        "zarr.create_array(path, overwrite=again)",
        "store.rm(name, recursive=True)",
        "libc.renameat2(here, one, here, other, 2)",
    ],
)
def test_the_search(source: str) -> None:
    assert list(removing(source))


def test_the_search_finds_no_more() -> None:
    for source in ("text.replace('a', 'b')", "items.remove(3)", "zarr.create_array(path, overwrite=False)"):
        assert not list(removing(source))


def test_only_one_module_removes() -> None:
    found: dict[str, list[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        source = file.read_text(encoding="utf-8")
        for line, call in removing(source) if WORDS.search(source) else ():
            found.setdefault(name, []).append(f"{name}:{line} {call}")
    assert [lines for name, lines in found.items() if name not in ALLOWED] == []
    assert sorted(found) == sorted(ALLOWED)

"""The folders of launchers that killed commands leave: those of dead processes of this user go, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dtl._cli import launcher_folder
from dtl._cli.launcher_folder import MARK, made

pytestmark = pytest.mark.alone("has nothing to do with ranks")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def killed(folder: Path) -> str:
    """Return the name of a folder whose process is killed, with something in it."""
    before = names(folder)
    program = (
        f"import tempfile, sys, os, signal; tempfile.tempdir = {str(folder)!r}\n"
        "from dtl._cli.launcher_folder import made\n"
        "with made() as own:\n"
        "    os.mkdir(own + '/session'); open(own + '/session/file', 'x').close()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGKILL
    (name,) = names(folder) - before
    return name


def test_a_folder_of_a_dead_process_is_removed(folders: Path) -> None:
    left = killed(folders)
    with made() as own:
        assert names(folders) == {Path(own).name}
        assert left != Path(own).name
    assert names(folders) == set()


def test_a_folder_of_a_process_that_runs_stays(folders: Path) -> None:
    with made() as one:
        with made() as other:
            assert names(folders) == {Path(one).name, Path(other).name}
        assert MARK in os.listdir(one)


@pytest.mark.parametrize("kind", ["another name", "no mark", "a link", "a mark that is a link", "another user's"])
def test_what_is_not_known_stays(kind: str, folders: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    if kind == "another user's" and os.geteuid() != 0:
        pytest.skip("only root can give a file away; runs where the tests are root's")
    precious = tmp_path_factory.mktemp("precious")
    (precious / "data").write_text("precious")
    path = folders / ("dtl-run-abcdefghi" if kind == "another name" else "dtl-run-abcdefgh")
    if kind == "a link":
        (precious / MARK).touch()
        path.symlink_to(precious)
    else:
        path.mkdir(0o700)
        (path / "data").write_text("precious")
    if kind == "a mark that is a link":
        (path / MARK).symlink_to(precious / "data")
    elif kind in ("another name", "another user's"):
        (path / MARK).touch()
    if kind == "another user's":
        os.chown(path, 65534, 65534)
    with made():
        assert (path / "data").read_text() == "precious"
    assert (precious / "data").read_text() == "precious"


def test_a_link_within_is_not_followed(folders: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    precious = tmp_path_factory.mktemp("precious")
    (precious / "data").write_text("precious")
    left = killed(folders)
    (folders / left / "link").symlink_to(precious)
    with made():
        assert left not in names(folders)
    assert (precious / "data").read_text() == "precious"


def test_without_locks_a_folder_stays(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(launcher_folder.fcntl, "flock", refuse)
    with made() as one, made():
        assert os.path.isdir(one)
        assert MARK not in os.listdir(one)

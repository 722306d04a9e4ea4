"""``python -m dtl completion``: what shells complete."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dtl import __main__ as command
from dtl._cli import completion, run

pytestmark = pytest.mark.alone("has nothing to do with ranks")


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert command.main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["r"], ["run"]),
        ([""], ["run", "trace", "doctor", "info", "completion", "--help", "--version"]),
        (["run", "--ho"], ["--hosts", "--host", "--hostfile"]),
        (["run", "-n", "2", "--pre"], ["--prefix-output"]),
        (["run", "--t"], ["--timeout"]),
        (["run", "script.py", "--t"], []),  # of the program
        (["run", "-m", "module", "--t"], []),
        (["trace", "-o", "file", "--t"], ["--table"]),
        (["info", "-"], []),
        (["completion", "f"], ["fish"]),
    ],
    ids=lambda value: " ".join(value) or "nothing",
)
def test_bash(shell: str, words: list[str], completed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys).replace("autoload -U +X bashcompinit && bashcompinit\n", "")  # of zsh alone
    line = " ".join(f"'{word}'" for word in ["dtl", *words])
    code = f'{text}\nCOMP_WORDS=({line}) COMP_CWORD={len(words)}\n_dtl\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-uc", code], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    assert done.stdout.split() == completed


def test_fish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = script("fish", capsys)
    for names, _, _ in run.options():
        for name in names:
            assert f" {'-l' if name.startswith('--') else '-s' if len(name) == 2 else '-o'} {name.lstrip('-')} " in text
    assert all(line.startswith("complete -c dtl ") for line in text.splitlines())
    if shutil.which("fish"):
        (tmp_path / "dtl.fish").write_text(text)
        subprocess.run(["fish", "--no-execute", str(tmp_path / "dtl.fish")], check=True)


def test_all_commands_are_completed() -> None:
    assert tuple(completion._COMMANDS) == command.COMMANDS


@pytest.mark.parametrize("words", [[], ["csh"], ["bash", "zsh"]])
def test_no_such_shell(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["completion", *words]) == 2
    said = "dtl completion: completion takes the name of a shell: bash, zsh, fish\n"
    assert capsys.readouterr().err == f"{said}usage: {completion.USAGE}; --help says more\n"

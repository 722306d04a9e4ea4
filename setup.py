"""Build the extension ``dtl._native._dtl``: the Go core, gopy's wrappers and the bridge to NumPy in one shared object.

gopy writes a Go file and a PyBindGen script for the functions of ``pydtl``; the script writes the module's C;
``go build`` compiles both with the packages they import. gopy's own ``build`` is not used: it compiles with
fast-math and links this machine's libpython. Everything generated lies in ``_build``, and is made again only
when something it is made from has changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "packaging"))
from build_backend import ROOT, c_flags, find_go

GO_PACKAGES = ("backends", "core", "numpybridge", "pydtl")
BUILD = ROOT / "_build"
WORK = BUILD / str(sysconfig.get_config_var("SOABI"))
GENERATED = WORK / "go"
LIBRARY = WORK / "_dtl.so"
STAMP = WORK / "stamp"


def compiler() -> str:
    """Return the C compiler: that of the environment, else the first on PATH."""
    choice = [os.environ["CC"]] if os.environ.get("CC") else ["gcc", "cc", "clang"]
    for command in choice:
        if shutil.which(shlex.split(command)[0]):
            return command
    raise SystemExit(f"building dtl needs a C compiler, and PATH has no {' or '.join(choice)}")


def writable(path: str) -> bool:
    """Tell whether files can be made in a folder, making it where it does not exist."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        return False
    return os.access(path, os.W_OK)


def environment(go: str) -> dict[str, str]:
    """Return the environment of every command of the build."""
    env = {
        **os.environ,
        "PATH": os.path.dirname(go) + os.pathsep + os.environ.get("PATH", os.defpath),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "1",
        "CC": compiler(),
        "CGO_CFLAGS": c_flags(),
        "CGO_LDFLAGS": "",
    }
    for cache in ("GOCACHE", "GOMODCACHE"):
        path = subprocess.check_output([go, "env", cache], cwd=str(ROOT), env=env, text=True).strip()
        if not os.path.isabs(path) or not writable(path):
            env[cache] = str(BUILD / cache.lower())
            env["GOFLAGS"] = (env.get("GOFLAGS", "") + " -modcacherw").strip()
    return env


#: Endings of what the build's results are made from: sources, the kernels of GPUs, and the stub of what is in C.
BUILT_FROM = (".go", ".c", ".h", ".ptx", ".gz", ".py", ".pyi")


def digest(version: str) -> str:
    """Return the hash of all that the shared object is made from."""
    known = hashlib.sha256(repr((version, sys.version, compiler(), c_flags())).encode())
    files = [ROOT / name for name in ("go.mod", "go.sum", "setup.py")]
    for package in GO_PACKAGES:
        files += sorted(p for p in (ROOT / package).rglob("*") if p.suffix in BUILT_FROM)
    for path in files:
        if not path.name.endswith("_test.go"):
            known.update(repr(path.relative_to(ROOT).as_posix()).encode() + path.read_bytes())
    return known.hexdigest()


def edit(path: Path, pattern: str, replacement: str) -> None:
    """Replace the one match of a pattern in a generated file."""
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"gopy wrote {path.name} with {count} matches of {pattern!r}, where this build knows 1")
    path.write_text(text, encoding="utf-8")


#: The types of gopy's functions, in C and in Python.
TYPES = {"bool": "bool", "char*": "str", "double": "float", "int64_t": "int", "uint64_t": "int"}


def stub(script: str) -> str:
    """Return the stub of the functions that gopy's script adds to the module."""
    lines = ["# The build writes this file, by setup.py: the functions of package pydtl, as gopy exports them.", ""]
    added = re.compile(r"^add_checked\w*\(mod, '(\w+)', retval\('(.*?)'\), \[(.*)\]\)$", re.MULTILINE)
    for name, result, parameters in added.findall(script):
        words = [f"{word}: {TYPES[kind]}" for kind, word in re.findall(r"param\('(.*?)', '(\w+)'\)", parameters)]
        lines.append(f"def {name}({', '.join(words)}) -> {TYPES[result]}: ...")
    return "\n".join([*lines, ""])


def generate(go: str, env: dict[str, str]) -> None:
    """Write gopy's Go file and the module's C."""
    shutil.rmtree(str(GENERATED), ignore_errors=True)
    options = ["-name=dtl", "-vm=" + sys.executable, "-output=" + str(GENERATED), "-no-warn", "-no-make"]
    run([go, "tool", "gopy", "gen", *options, "dtl/pydtl"], env, ROOT)
    edit(GENERATED / "dtl.go", r"^#cgo LDFLAGS:.*\n", "")
    # cgo makes this header in the same build; gopy's own name is that of a first, separate link.
    edit(GENERATED / "build.py", r'"dtl_go\.h"', '"_cgo_export.h"')
    # gopy's slices crash on a handle that is none, and nothing here uses them.
    script = GENERATED / "build.py"
    added = re.compile(r"^(?:mod\.add_function\(|add_checked\w*\(mod, )'(?!pydtl_).*\n", re.MULTILINE)
    text = added.sub("", script.read_text(encoding="utf-8"))
    script.write_text(text, encoding="utf-8")
    (WORK / "_dtl.pyi").write_text(stub(text), encoding="utf-8")
    run([go, "tool", "goimports", "-w", str(GENERATED / "dtl.go")], env, ROOT)
    run([sys.executable, "build.py"], env, GENERATED)


def run(command: list[str], env: dict[str, str], folder: Path) -> None:
    """Run one command of the build, and show its output only where it fails."""
    done = subprocess.run(
        command, env=env, cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{' '.join(command)}: exit status {done.returncode}")


def build() -> None:
    """Bring the shared object up to date."""
    go, version = find_go()
    current = digest(version)
    if LIBRARY.is_file() and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == current:
        print(f"{LIBRARY.relative_to(ROOT)} is up to date")
        return
    print(f"building {LIBRARY.relative_to(ROOT)} with {version} ({go})", flush=True)
    env = environment(go)
    generate(go, env)
    flags = ["-buildmode=c-shared", "-tags=cpython", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]
    package = "./" + GENERATED.relative_to(ROOT).as_posix()
    run([go, "build", *flags, "-o", str(LIBRARY), package], env, ROOT)
    run([sys.executable, str(ROOT / "numpybridge/python_files.py"), str(LIBRARY), str(WORK)], env, ROOT)
    STAMP.write_text(current, encoding="utf-8")


class BuildExtension(build_ext):
    """Builds the shared object, and puts it where setuptools wants it."""

    def build_extension(self, ext: Extension) -> None:
        """Build the one extension there is."""
        build()
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place: a running process may have the old one mapped.
        fresh = target.with_suffix(".new")
        shutil.copy2(str(LIBRARY), str(fresh))
        os.replace(str(fresh), str(target))
        for folder in {target.parent, ROOT / "python/dtl/_native"}:  # type checkers read the sources
            for name in ("_bridge.pyi", "_dtl.pyi"):
                shutil.copy2(str(WORK / name), str(folder))
            shutil.copy2(str(WORK / "_numbers.py"), str(folder.parent))


class BuildPackage(build_py):
    """Copies the Python files into an empty folder, so that none that was deleted stays in a wheel."""

    def run(self) -> None:
        """Copy the files."""
        if not getattr(self, "editable_mode", False):
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(
    license="BSD-3-Clause",
    ext_modules=[Extension("dtl._native._dtl", sources=[])],
    cmdclass={"build_ext": BuildExtension, "build_py": BuildPackage},
    options={"build": {"build_base": "_build/setuptools"}},
)

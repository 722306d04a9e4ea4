"""Check what the wheels of a release have in them: kernels for AMD's GPUs, and no more bytes than users are told.

``python packaging/contents.py WHEEL...`` ends with an error that names the wheel and what it lacks. The kernels are in
the extension, which has the names of their files as text.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "backends" / "internal" / "gpu" / "kernels"

#: The most bytes that a wheel may have.
MOST = 5_000_000


def code_objects() -> set[str]:
    """Return the names of what ``make kernels-amd`` makes of each source, for each chip that the Makefile names."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (chips,) = re.findall(r"^CHIPS = (.+)$", makefile, re.MULTILINE)
    return {f"{source.stem}.{chip}.co.bz2" for source in KERNELS.glob("*.c") for chip in chips.split()}


def faults(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel, each as a sentence."""
    found: list[str] = []
    if wheel.stat().st_size > MOST:
        found.append(f"it has {wheel.stat().st_size} bytes, and may have {MOST}")
    with zipfile.ZipFile(wheel) as archive:
        extensions = [name for name in archive.namelist() if re.fullmatch(r"dtl/_native/_dtl.*\.so", name)]
        if len(extensions) != 1:
            return [*found, f"it has {len(extensions)} extensions _dtl, and should have one"]
        extension = archive.read(extensions[0])
    missing = sorted(name for name in code_objects() if f"kernels/amd/{name}".encode() not in extension)
    if missing:
        found.append(
            f"it lacks {len(missing)} code objects of AMD's chips, such as {missing[0]}: run `make kernels-amd`"
        )
    return found


def main() -> None:
    """Check the wheels that the command line names."""
    if not sys.argv[1:]:
        sys.exit("python packaging/contents.py WHEEL...")
    said = [f"{wheel}: {fault}" for wheel in sys.argv[1:] for fault in faults(Path(wheel))]
    if said:
        sys.exit("\n".join(said))


if __name__ == "__main__":
    main()

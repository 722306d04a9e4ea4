"""Write a wheel's bill of materials: what is compiled into it, with versions and hashes, as CycloneDX.

``python packaging/sbom.py WHEEL`` prints it; ``--write`` puts it into the wheels, where PEP 770 says:
``.dist-info/sboms``. The Go modules and the compiler are those that the extension itself names, and their hashes those
of go.sum, by which the build has checked them.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from build_backend import find_go

ROOT = Path(__file__).resolve().parent.parent

NAME = "pydtl.cdx.json"


def modules(library: Path) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the Go version of a shared object, and name, version and hash of each module in it."""
    shown = subprocess.run([find_go()[0], "version", "-m", str(library)], stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split("\t") for line in shown.stdout.splitlines()]
    found = re.search(r"go(\d[\w.]*)", lines[0][0])
    if found is None:
        raise SystemExit(f"{library.name} does not say by which Go it was made: {shown.stdout}")
    hashes = dict(re.findall(r"^(\S+ \S+) h1:(\S+)$", (ROOT / "go.sum").read_text(encoding="utf-8"), re.MULTILINE))
    listed = [(line[2], line[3]) for line in lines if line[1:2] == ["dep"]]
    return found[1], [(name, version, hashes[f"{name} {version}"]) for name, version in listed]


def component(name: str, version: str, url: str, **more: Any) -> dict[str, Any]:
    """Return one entry of the bill."""
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url, **more}


def bill(wheel: Path) -> dict[str, Any]:
    """Return the bill of a wheel."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        inside = next(name for name in archive.namelist() if re.search(r"/_dtl\..*so$", name))
        go, listed = modules(Path(archive.extract(inside, folder)))
        metadata = archive.read(next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))).decode()
    name, version = (re.search(rf"^{key}: (.*)$", metadata, re.MULTILINE)[1] for key in ("Name", "Version"))  # type: ignore[index]
    parts = [component("go", go, f"pkg:generic/go@{go}", licenses=[{"license": {"id": "BSD-3-Clause"}}])]
    for module, of, digest in listed:
        hashed = [{"alg": "SHA-256", "content": base64.b64decode(digest).hex()}]
        parts.append(component(module, of, f"pkg:golang/{module}@{of}", hashes=hashed))
    whole = component(name, version, f"pkg:pypi/{name}@{version}", licenses=[{"license": {"id": "BSD-3-Clause"}}])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": whole},
        "components": parts,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def write(wheel: Path) -> None:
    """Put the bill of a wheel into it, and into its list of files."""
    text = json.dumps(bill(wheel), indent=1).encode() + b"\n"
    fresh = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as new:
        record = next(entry for entry in old.infolist() if entry.filename.endswith(".dist-info/RECORD"))
        place = record.filename.replace("RECORD", f"sboms/{NAME}")
        for entry in old.infolist():
            if entry.filename not in (record.filename, place):
                new.writestr(entry, old.read(entry))
        stamp = zipfile.ZipInfo(place, record.date_time)
        stamp.external_attr = record.external_attr
        new.writestr(stamp, text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
        rows = [row for row in csv.reader(io.StringIO(old.read(record).decode())) if row and row[0] != place]
        rows.insert(len(rows) - 1, [place, f"sha256={digest}", str(len(text))])
        listing = io.StringIO()
        csv.writer(listing, lineterminator="\n").writerows(rows)
        new.writestr(record, listing.getvalue())
    fresh.replace(wheel)


def main() -> None:
    """Print the bills of wheels, or put them in."""
    wheels = [Path(argument) for argument in sys.argv[1:] if argument != "--write"]
    for wheel in wheels:
        if "--write" in sys.argv:
            write(wheel)
        else:
            print(json.dumps(bill(wheel), indent=1))


if __name__ == "__main__":
    main()

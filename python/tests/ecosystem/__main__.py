"""Calls of xarray, scikit-learn and SciPy with containers: which work, as a table in a page of the guide.

``python python/tests/ecosystem docs/guide/libraries.md`` runs the calls of each library with NumPy's arrays, with those
of array-api-strict, and with containers, divided and replicated, on one and on three ranks. It writes the tables into
the page. It fails, and leaves the page, if a call no longer works that the page lists, or if the number of ranks
decides what works.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict

HERE = Path(__file__).resolve().parent
#: The modules of the calls, with the names of the packages.
LIBRARIES = {"xarray": "xarray", "sklearn": "scikit-learn", "scipy": "SciPy"}
RANKS = (1, 3)
#: What the page says of a call. The order is that of the columns.
DIVIDED, REPLICATED, NEITHER = "divided in any way", "replicated only", "not"
SECONDS = 900

Found = Dict[str, str]  # of the name of a call, "" or why it does not work


def tried(library: str, way: str, ranks: int) -> Found:
    """Return what the calls of a library come to with one kind of arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "found.json")
        launcher = [] if ranks == 1 else ["-m", "dtl", "run", "-n", str(ranks)]
        command = [sys.executable, *launcher, str(HERE / "tried.py"), library, way, path]
        environment = {**os.environ, "DTL_BACKEND": "local", "SCIPY_ARRAY_API": "1"}
        print(f"== {LIBRARIES[library]}, {way}, {ranks} rank{'s' if ranks > 1 else ''}", flush=True)
        subprocess.run(command, env=environment, check=True, timeout=SECONDS)
        with open(path, encoding="utf-8") as file:
            found: Found = json.load(file)
    return found


def classified(library: str) -> tuple[dict[str, str], Found, list[str]]:
    """Return what the page is to say of each call, what array-api-strict does, and what depends on the ranks."""
    of = {(way, ranks): tried(library, way, ranks) for way in ("block", "cyclic", "replicated") for ranks in RANKS}
    said, apart = {}, []
    for name in of["block", 1]:
        works = {key: not found[name] for key, found in of.items()}
        for way in ("block", "cyclic", "replicated"):
            if len({works[way, ranks] for ranks in RANKS}) > 1:
                reason = next(of[way, ranks][name] for ranks in RANKS if of[way, ranks][name])
                apart.append(f"{name}, {way}, works on some numbers of ranks alone: {reason}")
        replicated = all(works["replicated", ranks] for ranks in RANKS)
        said[name] = DIVIDED if all(works.values()) else REPLICATED if replicated else NEITHER
        if said[name] == NEITHER:
            print(f"   {name}: {of['replicated', 1][name] or of['replicated', RANKS[-1]][name]}")
    return said, tried(library, "strict", 1), apart


def table(library: str, said: dict[str, str], strict: Found) -> str:
    """Return the lines of a library in the page."""
    version = importlib.metadata.version(LIBRARIES[library])
    kinds = list(said.values())
    works = sum(not reason for reason in strict.values())
    lines = [
        f"### {LIBRARIES[library]} {version}",
        "",
        f"Of {len(said)} calls, {works} work with array-api-strict, {kinds.count(DIVIDED)} with divided containers, "
        f"and {len(kinds) - kinds.count(NEITHER)} with replicated ones.",
        "",
        "| Containers | Calls |",
        "|---|---|",
    ]
    for kind in (DIVIDED, REPLICATED, NEITHER):
        names = [f"`{name}`" + ("" if not strict[name] else "\\*") for name, each in said.items() if each == kind]
        lines.append(f"| {kind} | {', '.join(names)} |")
    return "\n".join(lines)


def listed(text: str) -> dict[str, dict[str, str]]:
    """Return what a page says of each call of each library."""
    known: dict[str, dict[str, str]] = {}
    of: dict[str, str] = {}
    for line in text.splitlines():
        heading = re.match(r"### (\S+) \d", line)
        row = re.match(rf"\| ({DIVIDED}|{REPLICATED}|{NEITHER}) \| (.*) \|", line)
        if heading:
            of = known.setdefault(heading[1], {})
        elif row:
            of.update(dict.fromkeys(re.findall(r"`([^`]+)`", row[2]), row[1]))
    return known


def main() -> int:
    """Run all calls, and return 1 if one no longer works."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", help="the page of the guide with the table")
    page = Path(parser.parse_args().page)
    text = page.read_text(encoding="utf-8")
    known = listed(text)
    kinds = [DIVIDED, REPLICATED, NEITHER]
    worse, tables = [], []
    for library, package in LIBRARIES.items():
        said, strict, apart = classified(library)
        worse += apart
        for name, before in known.get(package, {}).items():
            now = said.get(name, NEITHER)
            if kinds.index(now) > kinds.index(before):
                worse.append(f"{package}: {name} works with containers that are {now}; the page says {before}")
        tables.append(table(library, said, strict))
    if worse:
        print("\n".join(["== no longer as the page says:", *worse]))
        return 1
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "array-api-strict"))
    made = f"Python {sys.version_info[0]}.{sys.version_info[1]}, {versions}.\n\n" + "\n\n".join(tables)
    start, end = "<!-- made by make test-ecosystem -->\n", "<!-- end -->"
    before, rest = text.split(start)
    page.write_text(f"{before}{start}\n{made}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")
    return 0


sys.exit(main())

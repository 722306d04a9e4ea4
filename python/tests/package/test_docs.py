"""Every code block of the README and of the guide runs, and shows the output that the page shows.

``python`` and ``pycon`` blocks of a page run in order in one namespace, alone, in a process of some pages.
``console`` blocks run in a folder that holds the programs of the page. A comment above a block says more of it:

``<!-- test: file NAME -->``
    a program, which console blocks run by that name; it does not run with the others
``<!-- test: ranks N -->``
    a program by itself, on N ranks; those of some pages run in one job, one after another
``<!-- test: any order -->``
    the lines of the output come in any order
``<!-- test: skip, REASON -->``
    not run
"""

from __future__ import annotations

import doctest
import gc
import inspect
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import pytest

import dtl
from dtl import exceptions
from dtl._cli import launcher, library

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "index.md", *sorted((DOCS / "guide").rglob("*.md"))]
PROSE = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]

RUN = ("python", "pycon", "console")
SHOWN = ("go", "c", "text", "{toctree}", "{image}", "{include}")
NOTES = r"file \S+|quotes \S+|ranks \d+|any order|skip, .+"
LIKE_DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SECONDS = 100

pytestmark = pytest.mark.jobs("starts ranks itself")


class Block(NamedTuple):
    """A fenced block: where its first line is, its language and text, and what the comment above says."""

    page: Path
    line: int
    language: str
    text: str
    note: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def says(self, word: str) -> str:
        """Return what the note says after this word, or "" if it is another note."""
        first, _, rest = self.note.partition(" ")
        return rest if first.rstrip(",") == word else ""


_FENCE = re.compile(
    r"^(?:<!-- test: (?P<note>.*?) -->\n+)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("text")) + 1
        yield Block(page, line, match["language"].strip(), match["text"], match["note"] or "")


def to_run(*languages: str) -> list[Any]:
    """Return the blocks of these languages that are to run, as parameters of a test."""
    return [
        pytest.param(block, id=str(block))
        for page in PAGES
        for block in blocks(page)
        if block.language in languages and not block.says("skip")
    ]


def run(command: list[str] | str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with this Python and its launcher first on PATH, allowed to start any number of ranks."""
    environ = {
        **os.environ,
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]),
        # A plain mpirun of Open MPI refuses root, and more ranks than cores. dtl run sees to both by itself.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        # Launchers that share a folder for their files keep each other from starting now and then.
        "PRTE_MCA_prte_local_tmpdir_base": str(folder),
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=environ,
        shell=isinstance(command, str),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        encoding="utf-8",
        check=False,
    )


def test_every_variable_is_described() -> None:
    """Of those that a program's user may set; those of dtl run for its ranks have names of their own."""
    page = (DOCS / "guide" / "environment.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `(DTL_\w+)` ", page, re.MULTILINE))
    asked = set()
    for path in (ROOT / "python" / "dtl").rglob("*.py"):
        asked |= set(re.findall(r"[\"'](DTL_[A-Z_]+)[\"']", path.read_text(encoding="utf-8")))
    internal = {name for name in asked if re.match("DTL_(RUN|LOCAL|LAUNCH|RANK_PROCESS|TEST)", name)}
    assert described == asked - internal


def need_ranks(count: int) -> None:
    """Skip the test where this many ranks cannot be started, and say why."""
    found = library.find(os.environ)
    starter = launcher.find(found.path, os.environ) if found is not None else None
    if starter is None:
        pytest.skip("no MPI library with a launcher here; runs in the environment that `make setup` makes")
    cores = os.cpu_count() or 1
    if starter.family != launcher.OPEN_MPI and count > cores:
        pytest.skip(f"{starter.family} spins with {count} ranks on {cores} cores; runs with Open MPI")


def test_every_fence_is_a_block_that_runs_or_is_shown() -> None:
    for page in PROSE:
        found = list(blocks(page))
        fences = len(re.findall(r"^\s*```", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert fences == 2 * len(found), f"{page}: a fence that is indented or not closed"
        for block in found:
            assert block.language.split(" ")[0] in RUN + SHOWN, f"{block}: language {block.language!r}"
            assert not block.note or re.fullmatch(NOTES, block.note), f"{block}: {block.note!r}"
    for page in PAGES:
        assert any(param.values[0].page == page for param in to_run(*RUN)), f"{page}: no block runs"


#: Pages of which one process runs what is alike in them: its start takes longer than most pages.
TOGETHER = 6


def together(pages: list[Path]) -> Iterator[tuple[list[Path], str]]:
    """Yield some pages at a time, and their names."""
    for first in range(0, len(pages), TOGETHER):
        some = pages[first : first + TOGETHER]
        yield some, ", ".join(page.stem for page in some)


@pytest.mark.parametrize("pages", [pytest.param(pages, id=names) for pages, names in together(PAGES)])
def test_python_of_pages(pages: list[Path], tmp_path: Path) -> None:
    done = run([sys.executable, __file__, *map(str, pages)], tmp_path)
    assert done.returncode == 0, done.stdout


#: Runs programs one after another, each as the main program in its folder: a start takes longer than most of them.
IN_TURN = """
import os, runpy, sys
for program in sys.argv[1:]:
    os.chdir(os.path.dirname(program))
    runpy.run_path(program, run_name="__main__")
"""


def jobs() -> Iterator[Any]:
    """Yield numbers of ranks, and pages with programs on so many."""
    of: dict[str, list[Path]] = {}
    for page in PAGES:
        for ranks in sorted({block.says("ranks") for block in blocks(page)} - {""}):
            of.setdefault(ranks, []).append(page)
    for ranks, pages in sorted(of.items()):
        for some, names in together(pages):
            yield pytest.param(ranks, some, id=f"{ranks} ranks, {names}")


@pytest.mark.parametrize(("ranks", "pages"), [*jobs()])
def test_programs_on_several_ranks(ranks: str, pages: list[Path], tmp_path: Path) -> None:
    need_ranks(int(ranks))
    programs = []
    for page in pages:
        folder = tmp_path / page.stem
        folder.mkdir()
        for block in blocks(page):
            if block.language == "python" and block.says("ranks") == ranks:
                programs.append(folder / f"line_{block.line}.py")
                programs[-1].write_text(block.text, encoding="utf-8")
    (tmp_path / "in_turn.py").write_text(IN_TURN, encoding="utf-8")
    done = run([sys.executable, "-m", "dtl", "run", "-n", ranks, "in_turn.py", *map(str, programs)], tmp_path)
    assert done.returncode == 0, done.stdout


#: What a page says for MPI alone.
_OF_MPI = re.compile(r"mpirun|--mpi\b|--hosts|DTL_BACKEND|DTL_MPI_LIB| -- ")


@pytest.mark.parametrize("block", to_run("console"))
def test_console(block: Block, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if block.page.parent.name == "guide" and "dtl run" in block.text and not _OF_MPI.search(block.text):
        request.getfixturevalue("without_mpi")  # as for a reader who has no mpi4py
    for other in blocks(block.page):
        if other.says("file"):
            (tmp_path / other.says("file")).write_text(other.text, encoding="utf-8")
    for session in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, wanted = session.partition("\n")
        programs = [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.py") if path.name in command]
        ranks = re.search(
            r"(?:mpirun|mpiexec|dtl run) -n (\d+)|ranks=(\d+)|Ranks\((\d+)\)", "".join([command, *programs])
        )
        if ranks:
            need_ranks(int(next(filter(None, ranks.groups()))))
        got = run(command, tmp_path).stdout
        if block.note == "any order":
            wanted, got = ("".join(sorted(text.splitlines(keepends=True))) for text in (wanted, got))
        assert doctest.OutputChecker().check_output(wanted, got, LIKE_DOCTEST), (
            f"{block}: {command}\n--- the page shows\n{wanted}--- it printed\n{got}"
        )


def test_table_of_errors() -> None:
    page = (DOCS / "guide/errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|(.*?)\| (\d+) \|", page, re.MULTILINE)
    words = re.compile(r"`(\w+)`")
    shown = {name: (base, set(words.findall(caught)), int(code)) for name, base, caught, code in rows}
    real = {}
    for name in exceptions.__all__:
        cls = getattr(exceptions, name)
        caught = {base.__name__ for base in cls.__mro__ if base.__module__ == "builtins"}
        general = {"LookupError", "Exception", "BaseException", "object"}
        real[name] = (cls.__bases__[0].__name__, caught - general, cls.code)
    assert shown == real


def test_links_lead_somewhere() -> None:
    for page in PROSE:
        prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_reference_holds_every_public_name() -> None:
    expanded = runpy.run_path(str(DOCS / "public_functions.py"))["expanded"]
    reference = expanded((DOCS / "reference/index.rst").read_text(encoding="utf-8"))
    directive = re.compile(r"^\.\. auto(?:class|data|exception|function):: (\w+)$", re.MULTILINE)
    named = {name for name in dir(dtl) if not inspect.ismodule(getattr(dtl, name))}
    assert set(directive.findall(reference)) == named - {"__version__"}


def test_quotations() -> None:
    quotations = [block for page in PROSE for block in blocks(page) if block.says("quotes")]
    assert quotations
    for block in quotations:
        source = (ROOT / block.says("quotes")).read_text(encoding="utf-8")
        for piece in block.text.split("...\n"):
            assert piece in source, f"{block}: not in {block.says('quotes')}:\n{piece}"


@pytest.mark.timeout(300)  # the first compilation of the core
def test_backend_of_the_guide_passes_the_conformance_suite(tmp_path: Path) -> None:
    go = run([sys.executable, str(ROOT / "packaging/build_backend.py")], tmp_path)
    if go.returncode:
        pytest.skip(f"no Go to compile it with; runs in the environment that `make setup` makes: {go.stdout}")
    overlay: dict[str, str] = {}
    for block in blocks(DOCS / "backend-guide.md"):
        if block.says("file"):
            source = tmp_path / Path(block.says("file")).name
            source.write_text(block.text, encoding="utf-8")
            overlay[str(ROOT / block.says("file"))] = str(source)
    (tmp_path / "overlay.json").write_text(json.dumps({"Replace": overlay}), encoding="utf-8")
    program = str(tmp_path / "backend.test")
    # Vet would run in the folder of the package, which is there in the overlay only.
    options = ["-overlay", str(tmp_path / "overlay.json"), "-vet=off", "-c", "-o", program]
    compiled = run([go.stdout.strip(), "test", *options, "./backends/pages"], ROOT)
    assert compiled.returncode == 0, compiled.stdout
    passed = run([program, "-test.v"], tmp_path)
    assert passed.returncode == 0, passed.stdout
    assert "--- PASS: TestMemorySpace" in passed.stdout


#: What needs more than one pass over elements on disk.
EXTERNAL = [
    "argsort",
    "fft.fft",
    "fft.fftn",
    "fft.ifft",
    "fft.irfft",
    "fft.rfft",
    "GroupBy.agg",
    "group_by",
    "intersect1d",
    "isin",
    "join",
    "lexsort",
    "linalg.qr",
    "linalg.svd",
    "linalg.svdvals",
    "DistributedMap.insert_many",
    "DistributedMap.update_many",
    "DistributedTensor.redistribute",
    "DistributedVector.redistribute",
    "matmul",
    "matrix_transpose",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "nonzero",
    "percentile",
    "permute_dims",
    "quantile",
    "read_csv",
    "read_parquet",
    "searchsorted",
    "setdiff1d",
    "setxor1d",
    "sort",
    "sort_by_key",
    "swapaxes",
    "moveaxis",
    "Table.drop_duplicates",
    "Table.merge",
    "Table.sort_values",
    "TableGroupBy.agg",
    "union1d",
    "unique",
    "value_counts",
]

#: Words that say how often elements are gone over.
PASSES = re.compile(r"\bpass(es|ed)?\b|\b(read|written|reads|writes)\b[^.]*\b(once|twice|times|again)\b|goes over")


def named(path: str) -> str:
    """Return the docstring of what a path of names in dtl is; "" of what is no such path."""
    thing: Any = dtl
    for name in path.split("."):
        thing = getattr(thing, name, None)
    return getattr(thing, "__doc__", None) or ""


def states_passes(path: str, links: int = 2) -> bool:
    """Say whether a docstring states passes and memory, or one that it refers to, or one that this refers to."""
    text = named(path)
    if PASSES.search(text) and re.search("memory|limit", text):
        return True
    found = ["".join(link) for link in re.findall(r":(?:func|meth):`~?(?:dtl\.)?([\w.]+)`|``([\w.]+)``", text)]
    beside = path.rpartition(".")[0] + "."
    return links > 0 and any(states_passes(each, links - 1) for one in found for each in (one, beside + one))


@pytest.mark.parametrize("name", EXTERNAL)
def test_external_algorithms_state_passes_and_memory(name: str) -> None:
    assert states_passes(name)


def execute(page: Path) -> int:
    """Run the python and pycon blocks of a page that need nothing else, and return how many failed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=LIKE_DOCTEST)
    for block in blocks(page):
        if block.note:
            continue
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
        elif block.language == "pycon":
            parser = doctest.DocTestParser()
            session = parser.get_doctest(block.text, namespace, str(block), str(page), block.line - 1)
            runner.run(session, clear_globs=False)
            namespace = session.globs
    return runner.failures


if __name__ == "__main__":
    failures = 0
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            failures += execute(page)
        gc.collect()  # the next page may ask what is there
    sys.exit(min(failures, 1))

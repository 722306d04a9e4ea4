"""Cells of a notebook on several ranks: ``%load_ext dtl``, ``%%ranks 4`` and ``%ranks``."""

from __future__ import annotations

import argparse
import ast
import shlex
import sys
import traceback
from typing import Any, Iterable, NoReturn

from .._native.arguments import integer
from ..exceptions import DTLError
from . import cells, transport
from .job import Job
from .ranks import Ranks, job_of

_ATTRIBUTE = "_dtl_notebook"

_HELP = """\
%%ranks [N] [-i NAMES] [-o NAMES]   run the cell on each of N ranks (4 unless said, or those there are)
    -i NAMES   variables of the notebook that each rank gets: x,y
    -o NAMES   variables of rank 0 that the notebook gets
%ranks N       start N ranks, in place of those there are
%ranks         the pool of ranks, a dtl.Ranks
%ranks close   end the ranks"""


def load(shell: Any) -> None:
    """Give a shell of IPython the magics."""
    notebook = Notebook(shell)
    setattr(shell, _ATTRIBUTE, notebook)
    shell.register_magic_function(notebook.ranks, "line_cell", "ranks")


def unload(shell: Any) -> None:
    """Take them away, and end the ranks."""
    notebook = getattr(shell, _ATTRIBUTE, None)
    if notebook is not None:
        notebook.close()
        delattr(shell, _ATTRIBUTE)
        for kind in ("line", "cell"):
            shell.magics_manager.magics[kind].pop("ranks", None)


class Notebook:
    """The ranks of a notebook."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._pool: Ranks | None = None

    def ranks(self, line: str, cell: str | None = None) -> Any:
        """Run a cell on several ranks, or start and end these; the module's help says how."""
        if cell is None:
            return self._change(line.strip())
        try:
            options = _parser().parse_args(shlex.split(line))
        except ValueError as error:  # a quotation mark without its other
            _misused(str(error))
        source = "\n" + cell  # lines have the numbers that the notebook shows
        # Not execution_count, which from IPython 9 on is that of the next cell.
        name = f"<In[{self._shell.displayhook.prompt_count}]>"
        self._check(source, name)
        variables = {each: self._own(each) for each in _names(options.input)}
        pool = self._of_size(options.ranks)
        return self._run(pool, source, name, variables, _names(options.output))

    def close(self) -> None:
        """End the ranks, if there are any."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _change(self, line: str) -> Ranks | None:
        if line in ("-h", "--help", "help"):
            print(_HELP)
            return None
        if line == "close":
            self.close()
            return None
        if line:
            count = _count(line)
            self.close()
            self._pool = _start(count)
        return self._pool

    def _of_size(self, count: int | None) -> Ranks:
        """Return the pool, of this size if one is asked for; start it where there is none."""
        if self._pool is not None and job_of(self._pool).ended:
            count = count or self._pool.size
            self._pool = None
            print("dtl: these are new ranks; what the earlier ones held is gone", file=sys.stderr)
        if self._pool is None:
            self._pool = _start(4 if count is None else count)
        elif count not in (None, self._pool.size):
            _misused(f"there are {self._pool.size} ranks, which hold variables; %ranks {count} starts others")
        return self._pool

    def _check(self, source: str, name: str) -> None:
        """Refuse what is not Python, before ranks see it."""
        try:
            ast.parse(source, name)
        except SyntaxError as error:
            if "get_ipython()" in self._shell.transform_cell(source):
                _misused("ranks run Python, without commands that begin with % or !")
            _misused("".join(traceback.format_exception_only(type(error), error)).strip())

    def _own(self, name: str) -> Any:
        if name not in self._shell.user_ns:
            _misused(f"the notebook has no variable {name!r}")
        return self._shell.user_ns[name]

    def _run(self, pool: Ranks, source: str, name: str, variables: dict[str, Any], wanted: list[str]) -> Any:
        """Run a cell on each rank, show what it shows, and return what is to be its value."""
        shown: list[list[cells.Bundle]] = [[] for _ in range(pool.size)]
        job = job_of(pool)
        assert isinstance(job, Job)
        job.shown = lambda rank, body: shown[rank].append(transport.unpack(body))
        try:
            answers = pool.run(cells.run, source, name, variables, wanted)
        except BaseException as error:
            _show_as(error, str(error.__cause__ or f"{type(error).__name__}: {error}").strip())
            raise
        finally:
            sys.stdout.flush()
            for label, bundle in _by_ranks(shown):
                self._publish(label, bundle)
        self._shell.user_ns.update(answers[0][1])
        return self._value([[] if value is None else [value] for value, _ in answers])

    def _value(self, values: list[list[cells.Bundle]]) -> CellValue | None:
        """Return the value of a cell, by rank where they differ; of these, pictures are shown at once."""
        found = list(_by_ranks(values, sole=False))
        if len(found) == 1 and not found[0][0]:
            return CellValue(found[0][1])
        texts = []
        for label, bundle in found:
            if len(bundle) == 1 and "text/plain" in bundle:
                texts += [f"[{label}] {line}" for line in bundle["text/plain"].splitlines()]
            else:
                self._publish(label, bundle)
        return CellValue({"text/plain": "\n".join(texts)}) if texts else None

    def _publish(self, label: str, bundle: cells.Bundle) -> None:
        if label:
            print(f"[{label}]", flush=True)
        self._shell.display_pub.publish(data=bundle, metadata={})


class CellValue:
    """The value of a cell that ran on ranks, as it is shown."""

    def __init__(self, bundle: cells.Bundle) -> None:
        self._bundle = bundle

    def __repr__(self) -> str:
        return str(self._bundle["text/plain"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> cells.Bundle:
        return self._bundle


def _by_ranks(shown: list[list[cells.Bundle]], sole: bool = True) -> Iterable[tuple[str, cells.Bundle]]:
    """Yield what ranks show, each once, with those ranks in words where not all of them show it.

    Where one rank alone shows something, it need not be named, if sole is true.
    """
    groups: list[tuple[cells.Bundle, list[int]]] = []
    for rank, bundles in enumerate(shown):
        for bundle in bundles:
            same = [ranks for other, ranks in groups if other == bundle and rank not in ranks]
            if same:
                same[0].append(rank)
            else:
                groups.append((bundle, [rank]))
    alone = sole and sum(map(bool, shown)) == 1
    for bundle, ranks in groups:
        everywhere = alone or len(ranks) == len(shown)
        yield "" if everywhere else f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}", bundle


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _misused(f"{message}\n{_HELP}")


def _parser() -> _Parser:
    parser = _Parser(prog="%%ranks", add_help=False, allow_abbrev=False)
    parser.add_argument("ranks", nargs="?", type=_count)
    parser.add_argument("-i", "--input", action="append", default=[])
    parser.add_argument("-o", "--output", action="append", default=[])
    return parser


def _names(given: list[str]) -> list[str]:
    return [name for names in given for name in names.split(",") if name]


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        _misused(f"{text!r} is not a number of ranks of at least 1\n{_HELP}")
    return integer("ranks", int(text))


def _start(count: int) -> Ranks:
    try:
        return Ranks(count)
    except DTLError as error:
        _show_as(error, f"{type(error).__name__}: {error}")
        raise


def _show_as(error: BaseException, text: str) -> None:
    """Have IPython show an exception as this text."""
    error._render_traceback_ = text.splitlines  # type: ignore[attr-defined]


def _misused(text: str) -> NoReturn:
    from IPython.core.error import UsageError

    raise UsageError(text)

"""Files that take the place of another all at once: written under a temporary name, and renamed when they are whole."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from ..runtime.agreement import agree
from . import locks
from .formats import Further
from .removal import Foreign, Made, beside, check_replaceable
from .steps import file_step, from_root, sync_folder


class Replacement:
    """A file, or a folder, under a temporary name beside the one that it is to replace. A context manager; collective.

    Where a rank fails before ``commit``, or the program is killed, the old file is as it was. What a killed program
    leaves is a file ``.NAME.*.tmp``.
    """

    #: Whether rank 0 alone may write to it.
    alone = False

    def __init__(
        self,
        ctx: Any,
        op: str,
        path: str,
        foreign: Foreign | None = None,
        further: Further | None = None,
    ) -> None:
        self._ctx, self._op, self._path, self._foreign, self._further = ctx, op, path, foreign, further
        self._made: Made | None = None
        self._final = self.name = ""

    @property
    def folder(self) -> bool:
        """Whether it is a folder; then a function says what in an old one is foreign, which it may not replace."""
        return self._foreign is not None

    def __enter__(self) -> Replacement:
        self.name = from_root(self._ctx, self._op, "write", self._path, self._create)
        return self

    def _create(self) -> str:
        self._final = os.path.realpath(self._path)
        mode = None
        if self._further is None:
            check_replaceable(self._final, self._foreign)
            if not self.folder and os.path.lexists(self._final):
                mode = os.stat(self._final).st_mode & 0o7777
        self._made = Made(beside(self._final), self.folder, mode)  # kept, so that it goes if the others hear nothing
        return self._made.name

    def commit(self) -> None:
        """Put the file in its place, when every rank has written its part. Collective."""
        agree(self._ctx, self._op)
        with file_step(self._ctx, self._op, "write", self._path):
            if self._made is not None:
                self._put(self._made)
                self._made = None
        agree(self._ctx, self._op)

    def _put(self, made: Made) -> None:
        if self._further is not None:
            with locks.held(locks.beside(os.path.dirname(self._final))):
                while not made.add_as(self._further()):
                    pass  # a program that knows of no lock has taken the name
        else:
            with locks.held(locks.beside(self._final)):
                if self._foreign is not None:
                    made.replace_folder(self._final, self._foreign)
                else:
                    made.replace(self._final)
        sync_folder(os.path.dirname(self._final))

    def _drop(self, made: Made) -> None:
        made.remove()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._made is not None:
            self._drop(self._made)
            self._made = None

"""Elements that are in a file already, which the system copies to another without a way through this process."""

from __future__ import annotations

import errno
import os
from typing import Any

from .._native import library
from .._native.objects import handle_of

#: What the system says where it does not copy between two files, such as those of different file systems.
_REFUSED = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)

_copy_file_range: Any = getattr(os, "copy_file_range", None)  # not on every system


class FileOfElements:
    """The file of which this rank's elements of a container are the beginning. False if there is none."""

    def __init__(self, c: Any) -> None:
        self._descriptor = -1 if _copy_file_range is None else library.container_file(handle_of(c))

    def __bool__(self) -> bool:
        return self._descriptor >= 0

    def copy(self, start: int, count: int, target: int, place: int) -> int:
        """Copy bytes to a place of another file, and return how many: fewer where the system copies no more.

        Whole blocks are shared by both files where the file system can do that, and begin at multiples of its blocks.
        """
        done = 0
        while done < count and self:
            try:
                copied = _copy_file_range(self._descriptor, target, count - done, start + done, place + done)
            except OSError as error:
                if error.errno not in _REFUSED:
                    raise
                copied = 0
            if not copied:
                self.close()
            done += copied
        return done

    def close(self) -> None:
        """Let the file go."""
        if self:
            os.close(self._descriptor)
            self._descriptor = -1

"""Windows over containers, and pointers to their elements, as methods of containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import late
from ..runtime.agreement import collective

if TYPE_CHECKING:
    from ..rma.remote import Remote
    from ..rma.window import Window

_window = late(".rma.window", "Window")
_remote = late(".rma.remote", "remote")


class WindowMethods:
    """One-sided access to the elements of containers."""

    @collective
    def window(self) -> Window:
        """Return a new window, through which ranks read and write each other's parts. Collective.

        You have to close it. While it is open, ``resize`` and ``redistribute`` raise BufferError.

        Raises
        ------
        InvalidArgumentError
            If the elements of a rank are not contiguous, as in a span or with a halo. On every rank.
        """
        made: Window = _window(self)
        return made

    def remote(self, *index: int) -> Remote:
        """Return a pointer to an element on any rank, given one global index for each dimension.

        The first call on a container is collective, because it makes a window over the parts. Later calls are not.

        ``resize``, ``redistribute`` and a halo end this window. Pointers that were made before become invalid, and the
        next call is collective again.

        A pointer keeps its container alive. After the container is closed or deleted on every rank, the window and the
        elements are released when the next container is made on the context, when ``remote`` makes its next window, or
        when the context is closed.

        Raises
        ------
        BoundsError
            If an index is outside the extent of its dimension.
        InvalidArgumentError
            If there is not exactly one index for each dimension, if every rank holds the element
            (PARTITION_REPLICATED), or if the elements of a rank are not contiguous.
        InvalidTypeError
            If the elements are moved, compared and sorted, and not computed with, as dates, text and records are.
        """
        pointer: Remote = _remote(self, index)
        return pointer

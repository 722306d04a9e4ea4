"""Functions of other modules as methods of containers."""

from __future__ import annotations

from typing import Any

from .._lazy import loaded


class Function:
    """A method that is a function of another module, which is imported when the method is first asked for.

    The function takes the place of this object then, so that later calls are as fast as if it had always been there.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._name = ""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def put(self, owner: type[Any]) -> None:
        """Become a method of a class, by the name of the function."""
        self._owner = owner
        setattr(owner, self._name, self)

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        setattr(self._owner, self._name, loaded(self._home, self._name))
        return getattr(owner if instance is None else instance, self._name)

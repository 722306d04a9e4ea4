"""Calls that end in an error, which are to leave no memory behind either."""

from __future__ import annotations

from typing import Any, Callable

from leak_calls import Calls


def failing_calls(n: dict[str, Callable[..., Any]], ctx: int) -> Calls:
    """Return calls that end in an error: of each function that takes a handle, one with none; and others."""
    calls: dict[str, tuple[Any, ...]] = {
        name: (0,)
        for name in n
        if name.startswith(("Context", "Container", "Map"))
        and name not in ("ContextWorld", "ContextOn", "ContextSelf", "ContextAdopt")
    }
    more: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("ContainerOn", "ContainerSettle", "ContainerShape", "ContainerLocalShape"), (0, 0)),
        **dict.fromkeys(("ContainerOffset", "ContainerGrid", "ContainerIndex", "ContainerKind"), (0, 0)),
        "ContainerParallel": (0, True),
        "EnvironmentClose": (0,),
        "BackendName": (99,),
        "ContextSplit": (0, 0, 0),
        "ContextWithDevice": (ctx, 99),
        "ContextDupFor": (0, "op"),
        "ContextDefer": (0, "call", "place"),
        "ContextServe": (0, 0, 0),
        "ContextAgree": (0, "op", "words"),
        "ContextRefuse": (0, 100, "op", "why"),
        "ContextRefuseStart": (0, 100, "op", "why"),
        "PlanClose": (0,),
        "HaloClose": (0,),
        "HaloDrop": (0,),
        "WindowClose": (0,),
        "WindowDrop": (0,),
        "MapCreate": (0, 3, 8, False, 1),
        "MapSync": (0, "sync"),
    }
    calls.update(more)
    return {name: _failing(n[name], args) for name, args in calls.items()}


def _failing(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], None]:
    def call() -> None:
        try:
            function(*args)
        except RuntimeError:
            return
        raise SystemExit(f"{function.__name__}{args} was to fail")

    return call

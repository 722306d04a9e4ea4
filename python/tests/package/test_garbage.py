"""The native library called with anything in any place: it raises, or says NotImplemented, and never crashes."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from leak_calls import MORE
from programs import run, succeeded

import dtl
from dtl._native import _dtl, library

pytestmark = pytest.mark.few("looks at one process's calls")

bridge = library.bridge

GARBAGE = Path(__file__).with_name("garbage.py")


@pytest.mark.jobs("starts processes that may crash")
@pytest.mark.parametrize("seed", range(4))
def test_random_calls(seed: int) -> None:
    ended = run([sys.executable, "-X", "faulthandler", "-W", "ignore", str(GARBAGE), str(seed), "3000"], seconds=100)
    assert succeeded(ended) == "survived\n"


#: One more than the last operation's.
CODES = bridge.OPERATIONS

HANDLES = [0, 1, -1, 7, 2**32, 2**56, (2 << 56) | (1 << 32), 2**63 - 1, -(2**63)]

#: Functions of one handle and of further integers.
ONE = [
    "EnvironmentClose",
    "ContextSize",
    "ContextAsked",
    "ContextDevice",
    "ContextGpu",
    "ContextIsAware",
    "ContextBackend",
    "ContextFence",
    "ContextDup",
    "ContextClose",
    "ContextScratch",
    "ContextScratchFile",
    "ContextScratchInMemory",
    "ContextSettle",
    "ContextExport",
    "ContextSplitByNode",
    "ContextTopology",
    "ContextFindTopology",
    "ContainerAllocate",
    "ContainerClose",
    "ContainerPlacement",
    "ContainerFile",
    "ContainerViews",
    "HaloClose",
    "HaloDrop",
    "MapClear",
    "MapClose",
    "MapLen",
    "MapLocalSize",
    "MapPlacement",
    "PlanClose",
    "WindowClose",
    "WindowDrop",
]
NO_HANDLE = {
    "BackendCount",
    "BackendName",
    "BackendWhyNot",
    "Confirm",
    "ContextAdopt",
    "ContextOn",
    "ContextsOfThreads",
    "ContextSelf",
    "ContextWorld",
    "DeviceDriver",
    "DeviceIPC",
    "DeviceNames",
    "DtypeName",
    "DtypeNamed",
    "EnvironmentCount",
    "EnvironmentOpen",
    "EnvironmentSince",
    "KeepPlaces",
    "Live",
    "MemoryEase",
    "MemoryInUse",
    "MemoryLimit",
    "MemoryPeak",
    "MemoryReturn",
    "MemorySetLimit",
    "MemoryTrim",
    "MemoryInFiles",
    "MemoryShare",
    "NcclSearchIn",
    "NcclVersion",
    "MpiAbi",
    "MpiAbort",
    "LocalActive",
    "LocalJoined",
    "LocalProgram",
    "MpiActive",
    "MpiPath",
    "MpiProgram",
    "MpiSearchIn",
    "MpiSource",
    "MpiThreadLevel",
    "MpiVersion",
    "OpName",
    "PlacementWhyNot",
    "Answer",
    "Asked",
    "Leave",
    "Phases",
    "Progress",
    "SetWaitLimits",
    "SetChecking",
    "SetProgress",
    "SetSharing",
    "PretendNodes",
    "TopologyBind",
    "TopologyDevices",
    "TopologyOfWorld",
    "TopologyProcessors",
    "SetThreads",
    "SuggestedThreads",
    "Version",
}


def test_every_exported_function_is_known_here() -> None:
    exported = {name[len("pydtl_") :] for name in dir(_dtl) if name.startswith("pydtl_")}
    assert exported == {*ONE, *MORE, *NO_HANDLE}


@pytest.mark.parametrize("number", HANDLES)
@pytest.mark.parametrize("name", [*ONE, *MORE])
def test_handles_that_are_none(name: str, number: int) -> None:
    before = library.memory_in_use()
    with pytest.raises(RuntimeError, match=r"^\[102 "):
        getattr(_dtl, "pydtl_" + name)(number, *MORE.get(name, ()))
    assert library.memory_in_use() == before


@pytest.mark.parametrize("number", HANDLES)
@pytest.mark.parametrize("code", range(CODES))
def test_handles_that_are_none_in_the_bridge(number: int, code: int) -> None:
    bare = bridge.Handle()
    bare._handle = number
    with pytest.raises(dtl.InvalidHandleError):
        bridge.call(code, bare, np.zeros(3, np.int64), np.zeros(3), 0, 0, 0, 0)


def test_handle_of_another_kind(alone: dtl.Context) -> None:
    with dtl.DistributedVector(alone, 3) as vec, dtl.Environment() as env:
        for name, number, text in (
            ("ContextSize", vec._handle, "a container handle where a context is wanted"),
            ("ContainerViews", alone._handle, "a context handle where a container is wanted"),
            ("EnvironmentClose", alone._handle, "a context handle where an environment is wanted"),
            ("ContainerClose", env._handle, "an environment handle where a container is wanted"),
            ("PlanClose", vec._handle, "a container handle where a plan is wanted"),
        ):
            with pytest.raises(RuntimeError, match=text):
                getattr(_dtl, "pydtl_" + name)(number)
        with pytest.raises(dtl.InvalidHandleError, match="a context handle where a container is wanted"):
            bridge.view(alone)


@pytest.mark.parametrize("count", [0, 1, 7, 11, 20])
def test_wrong_number_of_arguments(count: int) -> None:
    with pytest.raises(TypeError, match=f"call takes 8 to 10 arguments, not {count}"):
        bridge.call(*[0] * count)


@pytest.mark.parametrize("code", [-1, -100, CODES, CODES + 1, 1000, 2**62, -(2**63)])
@pytest.mark.parametrize("value", [None, 1.5, np.zeros(3)], ids=["none", "scalar", "array"])
def test_codes_that_are_none(alone: dtl.Context, code: int, value: Any) -> None:
    with pytest.raises(dtl.DTLError, match=f"no operation has the code {code}"):
        bridge.call(code, alone, value, None, 0, 0, 0, 0)


@pytest.mark.parametrize("code", range(CODES))
def test_operations_without_what_they_need(alone: dtl.Context, code: int) -> None:
    """Nothing goes in and nothing comes out: an error, or Python's to prepare; or, of iprobe, that nothing has come."""
    try:
        result = bridge.call(code, alone, None, None, 0, 0, 0, 0)
    except dtl.DTLError:
        return
    assert result is NotImplemented or code in (bridge.BARRIER, bridge.TICKET, bridge.IPROBE, bridge.WIN_MAKE)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, "1", 1.0, None, [1]])
def test_integers_that_are_none(alone: dtl.Context, number: Any) -> None:
    for place in range(4):
        args: list[Any] = [0] * 4
        args[place] = number
        assert bridge.call(bridge.ALLREDUCE, alone, np.zeros(3), np.zeros(3), *args) is NotImplemented
    assert bridge.call(number, alone, None, None, 0, 0, 0, 0) is NotImplemented


def test_handle_attribute() -> None:
    bare = bridge.Handle()
    assert bare._handle == 0
    for wrong in ("x", None, 2**64):
        with pytest.raises((TypeError, OverflowError)):
            bare._handle = wrong
    with pytest.raises(TypeError):
        del bare._handle
    with pytest.raises(TypeError):
        bridge.Handle.anything = 1


def test_buffers_cannot_be_made() -> None:
    """They own memory of the core, so only the core makes them."""
    with pytest.raises(TypeError):
        bridge.Buffer()
    with pytest.raises(TypeError):
        type("Mine", (bridge.Buffer,), {})


def test_buffer_that_is_collected_in_a_cycle(alone: dtl.Context) -> None:
    before = library.memory_in_use()
    vec = dtl.DistributedVector(alone, 1000)
    cycle: list[Any] = [vec.local_view()]
    cycle.append(cycle)
    vec.close()
    del cycle, vec
    gc.collect()
    assert library.memory_in_use() == before


def test_setup_refuses_what_is_no_type() -> None:
    for args in ((), (1, 2, 3), (np.ndarray, 5, len), (np.ndarray, np.generic)):
        with pytest.raises(TypeError):
            bridge.setup(*args)

"""How many threads a rank computes on."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from programs import run, succeeded

import dtl
from dtl._cli import cores

SHOW = "import dtl; print(dtl.get_num_threads())"


def shown(program: str = SHOW, **variables: str) -> str:
    return succeeded(run([sys.executable, "-c", program], **variables))


@pytest.mark.jobs("starts processes")
class TestDefault:
    def test_environment(self) -> None:
        assert shown(DTL_NUM_THREADS="7") == "7\n"

    def test_processors_that_the_process_is_bound_to(self) -> None:
        assert shown(f"import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); {SHOW}") == "1\n"

    def test_processors_divided_among_the_ranks(self) -> None:
        here = len(os.sched_getaffinity(0))
        assert shown() == f"{here}\n"
        assert shown(OMPI_COMM_WORLD_LOCAL_SIZE="2") == f"{max(here // 2, 1)}\n"
        assert shown(MPI_LOCALNRANKS="1000") == "1\n"

    @pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
    def test_environment_that_is_no_number(self, text: str) -> None:
        ended = run([sys.executable, "-c", SHOW], DTL_NUM_THREADS=text)
        assert ended.code != 0
        assert f"DTL_NUM_THREADS is {text!r}" in ended.err


FILES = {
    "/sys/fs/cgroup/pod/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/pod/one/cpu.max": "150000 100000\n",
    "/sys/fs/cgroup/slice/cpu.max": "400000 100000\n",
    "/sys/fs/cgroup/slice/more/cpu.max": "900000 100000\n",
    "/sys/fs/cgroup/slice/more/less/cpu.max": "25000 50000\n",
    "/sys/fs/cgroup/odd/cpu.max": "100000 0\n",
    "/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us": "-1\n",
    "/sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu/docker/7/cpu.cfs_quota_us": "250000\n",
    "/sys/fs/cgroup/cpu/docker/7/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "700000\n",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
}


@pytest.mark.parametrize(
    ("groups", "granted"),
    [
        ("", None),
        ("0::/pod\n", None),
        ("0::/pod/one\n", 2),
        ("0::/slice/more\n", 4),
        ("0::/slice/more/less\n", 1),
        ("0::/odd\n", None),
        ("0::/\n", None),
        ("4:cpu,cpuacct:/docker/7\n3:memory:/pod/one\n", 3),
        ("4:cpuacct,cpu:/docker\n", 7),
        ("4:cpu:/a:colon\n0::/pod/one\n", 2),
        ("4:cpuset:/docker/7\n1:name=systemd:/pod/one\n", None),
        ("what\n", None),
    ],
)
def test_quotas_of_control_groups(groups: str, granted: int | None) -> None:
    assert cores.quota(groups, lambda name: FILES.get(name, "")) == granted


@pytest.mark.parametrize("n", [0, -3, 1.5, "2", None])
def test_what_is_no_number(n: Any) -> None:
    before = dtl.get_num_threads()
    with pytest.raises(dtl.InvalidArgumentError):
        dtl.set_num_threads(n)
    assert dtl.get_num_threads() == before

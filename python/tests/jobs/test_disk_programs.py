"""Programs with containers on disk: what they keep in memory, and what they leave behind."""

import pytest
from programs import alone, succeeded

pytestmark = pytest.mark.jobs("starts processes with limits of their own")


@pytest.mark.parametrize(("text", "value"), [("8GiB", 8 << 30), ("4096M", 4 << 30), ("5368709120", 5 << 30)])
def test_the_limit_of_the_environment(text, value):
    program = "import dtl; dtl.Context().close(); print(dtl.get_memory_limit())"
    assert succeeded(alone(program, DTL_MEMORY_LIMIT=text)).split() == [str(value)]


def test_a_folder_in_memory_is_told(tmp_path):
    program = """
import dtl, warnings
with warnings.catch_warnings(record=True) as told, dtl.Context() as ctx:
    warnings.simplefilter("always")
    for _ in range(2):
        dtl.DistributedVector(ctx, 10, placement="disk")
print([str(w.message) for w in told])
"""
    for folder, count in (("/dev/shm", 1), (str(tmp_path), 0)):
        assert succeeded(alone(program, DTL_SCRATCH=folder)).count("is on a tmpfs, which is memory") == count

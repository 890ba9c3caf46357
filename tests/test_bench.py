"""The kernels that the benchmarks measure exist."""

import pytest

from bench.workloads import WORKLOADS, Workload


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_workloads(workload: Workload) -> None:
    assert f"def {workload.kernel}(" in workload.path.read_text(encoding="utf-8")

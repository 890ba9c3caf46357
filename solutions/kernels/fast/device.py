"""What the host's side of fast kernels asks of the device."""

from __future__ import annotations

from kernels.compiler import triton


def multiprocessors() -> int:
    """How many the device has; of a CPU its cores."""
    driver = triton.runtime.driver.active
    return driver.utils.get_device_properties(driver.get_current_device())["multiprocessor_count"]

"""For chapters 13 and 14: what a kernel costs as our own PTX and as real Triton's, on the emulator and on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mini_triton.backends.occupancy import GPUS, occupancy
from mini_triton.backends.threads.assembler import usage
from mini_triton.backends.threads.back_end import Code
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Finding
from mini_triton.runtime.compiled_kernel import CompiledKernel

CAPABILITY = 80


def beside_triton(
    kernel: CompiledKernel,
    grid: tuple[int, int, int],
    arguments: Sequence[Any],
    capability: int = CAPABILITY,
    title: str = "",
) -> str:
    """A table of what a launch costs. Afterwards, the arrays contain the results of our own PTX.

    Raises `AssertionError` if the emulator finds errors in our PTX. That of Triton 3.6 lacks fences.
    """
    ours, made = kernel.generate("ptx", capability), kernel.lower(f"sm_{capability}").kernel
    theirs = Code(made.name, made.asm["ptx"], ours.target, 32 * made.num_warps, made.shared)
    (of_theirs, _), (of_ours, errors) = (costs(code, grid, arguments) for code in (theirs, ours))
    assert not errors, str(errors[0])
    lines = [f"{title:<28}{'yours':>10}{'Triton’s':>10}"]
    for name, cost in of_ours.items():
        lines.append(f"{name:<28}{cost:>10}{of_theirs[name]:>10}")
    return "\n".join(lines)


def costs(code: Code, grid: tuple[int, int, int], arguments: Sequence[Any]) -> tuple[dict[str, str], list[Finding]]:
    """What a launch costs on the emulator, what the assembler says, and the errors that the emulator has found."""
    report = emulate(code.ptx, grid, arguments, shared=code.shared)
    total, needs = report.total, usage(code.ptx, code.target)
    gpu, shared = GPUS[code.target.removesuffix("a")], code.shared + needs.shared
    fits = occupancy(gpu, code.threads // 32, needs.registers, shared)
    tensor_cores = {"of these, for tensor cores": str(total.tensor_cores)} if total.tensor_cores else {}
    found = {
        "instructions of warps": str(total.instructions),
        **tensor_cores,
        "sectors of 32 bytes": str(total.sectors),
        "barriers": str(total.barriers),
        "cycles for a shared access": f"{total.bank_ways / total.shared:.2f}" if total.shared else "none",
        "registers of a thread": str(needs.registers),
        "bytes that a thread spills": str(needs.spilled),
        "bytes of shared memory": str(shared),
        "occupancy": f"{fits.share:.0%}",
    }
    return found, report.errors


def speeds(run: Callable[..., Any], moved: int) -> str:
    """How fast a launch is on this machine's GPU. `run` takes options of the launch; `moved` is in bytes."""
    from mini_triton.tuning.timers import do_bench

    launches = partial(run, backend="ptx"), run
    times = (do_bench(launch, return_mode="median") for launch in launches)
    return f"{'GB/s on this GPU':<28}" + "".join(f"{moved / time / 1e6:>10.0f}" for time in times)

"""The back end "ptx": kernels as PTX of our own, on the emulator or on a GPU.

MINI_TRITON_BACKEND=ptx      the default back end of launches
MINI_TRITON_TARGET=cuda:80   the GPU for which to compile for arrays in CPU memory; the default is cuda:90
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mini_triton.backends.handoff import capability_of
from mini_triton.backends.threads import (  # noqa: F401  (their operations)
    assembly,
    casts,
    control,
    copies,
    copy_engine,
    elementwise,
    functions,
    lookups,
    memory,
    printing,
    products,
    reductions,
    scans,
    shapes,
)
from mini_triton.backends.threads.barriers import add_barriers
from mini_triton.backends.threads.bases import share_bases
from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.copies import copied_loads, late_products
from mini_triton.backends.threads.copy_engine import Map, use_engine
from mini_triton.backends.threads.dead_code import drop_dead
from mini_triton.backends.threads.divisions import multiply_by_reciprocals
from mini_triton.backends.threads.hoisting import hoist
from mini_triton.backends.threads.instructions import Instruction, Unsupported, kind_of, width_of
from mini_triton.backends.threads.invariants import hoist_divisions
from mini_triton.backends.threads.listing import list_layouts
from mini_triton.backends.threads.narrowing import narrow
from mini_triton.backends.threads.offsets import use_offsets
from mini_triton.backends.threads.persistent import overlap_tiles
from mini_triton.backends.threads.ptx import MAP, print_kernel
from mini_triton.backends.threads.scaled import decompose_scaled
from mini_triton.backends.threads.sharing import share_sums
from mini_triton.backends.threads.threads import Threads
from mini_triton.backends.threads.tiles import HOPPER
from mini_triton.backends.threads.uniforms import combine_uniforms
from mini_triton.emulator.back_end import EmulatedKernel, target
from mini_triton.emulator.launch import collector_paused
from mini_triton.emulator.tensor_maps import TensorMap
from mini_triton.errors import OutOfResources
from mini_triton.ir.core import Module
from mini_triton.ir.ops.asynchronous import MapType
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.inlining import inline_calls
from mini_triton.transforms.manager import without_descriptors
from mini_triton.transforms.pipelining import pipeline

if TYPE_CHECKING:
    from mini_triton.backends.threads.launch import Launcher
    from mini_triton.runtime.compiled_kernel import CompiledKernel
    from mini_triton.runtime.pipeline import Compilation

SHARED = {80: 163, 86: 99, 87: 163, 89: 99, 120: 99, 121: 99}
"""KiB of shared memory that a program may use, by compute capability; elsewhere 227."""


@dataclass(frozen=True)
class Code:
    """A compiled kernel."""

    name: str
    ptx: str
    target: str  # the GPU, such as "sm_90"
    threads: int
    shared: int  # bytes of shared memory, which the launch provides
    layouts: str = ""  # of the tensors, for readers
    maps: tuple[Map, ...] = ()  # the last parameters


def compile_module(module: Module, warps: int, capability: int, stages: int = 0, registers: int | None = None) -> Code:
    """Compile a module for programs of `warps` warps, whose threads may have at most so many `registers`.

    With `stages`, tensor cores multiply matrices; with two or more, loops keep so many buffers for what they load.

    Raises `Unsupported` for an operation that it cannot compile, and `OutOfResources` for too much shared memory.
    """
    inline_calls(module)
    decompose_scaled(module)
    narrow(module)
    hoist_divisions(module)
    share_bases(module)
    if stages > 1:
        choice = Choice(module, warps, capability)
        pipeline(module, stages, copied_loads(choice), late_products(choice))
        overlap_tiles(module, stages)
    (function,) = module.body.operations
    threads = Threads(module, warps, capability, stages > 0)
    instructions: Sequence[Instruction] = threads.run(function)
    for change in (multiply_by_reciprocals, combine_uniforms, use_offsets, hoist):
        instructions = change(instructions, threads.new)
    instructions = share_sums(drop_dead(instructions))
    if threads.shared:
        instructions = add_barriers(instructions)
    if threads.shared > (limit := SHARED.get(capability, 227) * 1024):
        raise OutOfResources(threads.shared, limit, "shared memory")
    name = str(function.attributes["sym_name"])
    parameters = function.regions[0].block.arguments
    types = [MAP if p.type == MapType() else "b8" if width_of(p.type) <= 8 else kind_of(p.type) for p in parameters]
    own = "a" if any(instruction.opcode.startswith("wgmma") for instruction in instructions) else ""
    target, size = f"sm_{capability}{own}", 32 * warps
    ptx = print_kernel(name, types, instructions, threads.counts, size, target, threads.texts, threads.local, registers)
    return Code(name, ptx, target, size, threads.shared, list_layouts(module, threads.registers))


def generate(ttir: str, compilation: Compilation) -> Code:
    """A kernel's code for a GPU.

    Before Hopper, real Triton's loops have a slot less in shared memory than `num_stages`. Where memory does not
    suffice for our slots, loops get fewer, too.
    """
    capability = compilation.capability or capability_of(target())
    options = compilation.options
    stages = options.num_stages
    with collector_paused():
        while True:
            try:
                return generate_staged(ttir, (options.num_warps, capability, stages, options.maxnreg))
            except OutOfResources:
                if capability >= HOPPER or stages < 3:
                    raise
                stages -= 1


def generate_staged(ttir: str, chosen: tuple[int, int, int, int | None]) -> Code:
    """The code for warps, a capability, stages and registers, as in `compile_module`."""
    module = parse_module(ttir)
    if maps := use_engine(module, *chosen[1:3]):
        try:
            code = compile_module(without_descriptors(module), *chosen)
            return replace(code, maps=maps)
        except Unsupported:  # a loop that is not pipelined
            module = parse_module(ttir)
    return compile_module(without_descriptors(module), *chosen)


def compiled(kernel: CompiledKernel, target: str) -> Code:
    """A kernel's code for a GPU such as "sm_90"."""
    return kernel.generate("ptx", capability_of(target))


def load(kernel: CompiledKernel) -> EmulatedThreads:
    """The function that runs a grid of a kernel on the emulator."""
    return EmulatedThreads(kernel, target())


def launcher(kernel: CompiledKernel, gpu: int) -> Launcher:
    """The function that runs a grid of a kernel on a GPU."""
    from mini_triton.backends.launch import capability_here
    from mini_triton.backends.threads.launch import Launcher

    code = compiled(kernel, f"sm_{capability_here(gpu)}")
    return Launcher(code, list(kernel.compilation.inputs.values()), kernel.compilation.options, gpu)


class EmulatedThreads(EmulatedKernel):
    """A kernel that the emulator runs."""

    @cached_property
    def code(self) -> tuple[str, int, int]:
        code = compiled(self.kernel, self.target)
        return code.ptx, code.shared, 0

    @property
    def types(self) -> list[str]:
        return [*self.kernel.compilation.inputs.values()]

    def maps(self, arguments: Sequence[Any]) -> list[TensorMap]:
        return [map.for_emulator(arguments) for map in compiled(self.kernel, self.target).maps]

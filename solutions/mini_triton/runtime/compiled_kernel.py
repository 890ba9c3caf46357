"""A compiled kernel: how to find or make it, and how it runs.

Source: `compile` and `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mini_triton.codegen import NumpyKernel
from mini_triton.compat import driver
from mini_triton.environment import is_set
from mini_triton.ir.described import describe
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.ir.types import Type
from mini_triton.language.constexpr import unwrap
from mini_triton.language.signature import parse_type
from mini_triton.runtime import bounds, cache, inspection, pipeline
from mini_triton.runtime.arguments import to_python, with_parts
from mini_triton.runtime.back_ends import BACK_ENDS
from mini_triton.runtime.checks import AccessError, check_devices, check_writable, explain_access, explain_address
from mini_triton.runtime.grids import grid_of
from mini_triton.runtime.keys import Reference, compute_key
from mini_triton.runtime.options import Options
from mini_triton.runtime.pipeline import Compilation, Text, run_stages, stages_for
from mini_triton.runtime.reach import known
from mini_triton.runtime.resources import CpuResources
from mini_triton.runtime.specialization import Specialized
from mini_triton.sanitizer.reports import wanted

if TYPE_CHECKING:
    from mini_triton.backends.handoff import Lowered
    from mini_triton.frontend.function import KernelSource


def compile_kernel(
    function: KernelSource,
    arguments: Mapping[str, Specialized],
    values: Mapping[str, Any],
    options: Options,
    references: Sequence[Reference],
) -> CompiledKernel:
    """The kernel for these arguments, loaded from disk or compiled by running all stages.

    `values` holds the values of the compile-time arguments. Raises `CompilationError` for an error in the kernel.
    """
    constants = {name: unwrap(to_python(values[name])) for name in arguments if arguments[name].type == "constexpr"}
    hash = compute_key(function, references, arguments, options)
    compilation = Compilation(function, arguments, constants, options, hash)
    # [task 7.6] When must a kernel be compiled although the `cache` holds it? Ask `is_set(cache.ALWAYS_COMPILE)` and
    # `inspection.is_wanted()`. Given: `restore_kernel` and `entry_of`, which convert a cache entry to a kernel and
    # back; `run_stages` (7.5); `stages_for`; `CompiledKernel`.
    is_fresh = inspection.is_wanted() or is_set(cache.ALWAYS_COMPILE)
    if not is_fresh and (entry := cache.load(hash)):
        return restore_kernel(compilation, entry)
    program, texts = run_stages(stages_for("cpu"), compilation)
    kernel = CompiledKernel(compilation, program, texts)
    cache.store(hash, entry_of(kernel))
    return kernel
    # [end]


def entry_of(kernel: CompiledKernel) -> cache.Entry:
    """The data of a kernel, to be stored on disk. (Given.)"""
    program = kernel.program
    runs = {"mode": program.mode, "chunk": program.chunk, "work": program.work, "lines": list(program.lines.items())}
    return {"texts": kernel.texts, "stored": program.stored, "constants": program.constants} | runs


def restore_kernel(compilation: Compilation, entry: cache.Entry) -> CompiledKernel:
    """The kernel in an entry. (Given.)"""
    types: list[Type] = [parse_type(type).ir_type for type in compilation.inputs.values()]
    lines = {line: (place, rank) for line, (place, rank) in entry["lines"]}
    source, facts = entry["texts"]["numpy"], (entry["stored"], entry["constants"], entry["work"])
    program = NumpyKernel(compilation.name, source, entry["mode"], types, entry["chunk"], lines, *facts)
    return CompiledKernel(compilation, program, entry["texts"])


@dataclass(frozen=True, kw_only=True)
class Metadata(Options):
    """Facts about a compiled kernel, in addition to the options with which it was compiled."""

    name: str
    hash: str
    signature: Mapping[str, str]
    kernel: CompiledKernel = field(repr=False, compare=False)

    @property
    def shared(self) -> int:
        """The bytes of shared memory that a program needs."""
        return self.kernel.resources().shared


class CompiledKernel:
    """A kernel for arguments of one specialization.

    `asm` holds the text of each stage, by name: `asm["source"]`, `asm["ttir"]`, `asm["numpy"]`, `asm["numba"]`; for the
    GPU for which the kernel was compiled last, also `asm["layouts"]` and `asm["our_ptx"]` of our own back end, and
    `asm["ttgir"]`, `asm["llir"]`, `asm["ptx"]`, `asm["cubin"]` and `asm["sass"]` of real Triton.
    """

    CPU = -1
    """PyTorch's number for the device of a tensor that is not on a GPU."""

    def __init__(self, compilation: Compilation, program: NumpyKernel, texts: Mapping[str, Text]) -> None:
        self.compilation = compilation
        self.program = program
        self.texts = dict(texts)  # modules include the source location of each operation
        self.asm = Asm(lambda device: self.lower() if device == "gpu" else self.generate(device))
        self.asm.add(texts)
        self.name = compilation.name
        self.hash = compilation.hash
        self.signature = compilation.signature
        self.parameters = list(compilation.inputs)
        self.pointers = [name for name, type in compilation.inputs.items() if type.startswith("*")]
        self.products: dict[tuple[str, int], tuple[Any, dict[str, Text]]] = {}  # by target and capability, with texts
        self.launchers: dict[int, Callable[..., Any]] = {}  # of fast code, by device: the number of a GPU, or CPU
        self.back_end = BACK_ENDS[compilation.options.backend]
        self.run = self.back_end.load(self)

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name}({', '.join(f'{name}: {type}' for name, type in self.signature.items())})>"

    @property
    def metadata(self) -> Metadata:
        """The options with which the kernel was compiled, and further facts about it."""
        options = vars(self.compilation.options)
        return Metadata(name=self.name, hash=self.hash, signature=self.signature, kernel=self, **options)

    @property
    def n_regs(self) -> int:
        """The number of registers that a thread needs."""
        return self.resources().registers

    @property
    def n_spills(self) -> int:
        """The number of 4-byte values of a thread that do not fit in registers."""
        return self.resources().spills

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """The function that launches a grid with an argument for each parameter, constants included. (Given.)

        The arguments must have the types, and the multiples of 16, for which the kernel was compiled.
        """

        def launch(*arguments: Any) -> None:
            values = dict(zip(self.signature, arguments, strict=True))
            self.launch(grid_of(self.name, grid, values), values)

        return launch

    def _init_handles(self) -> None:
        """Compute the properties above; programs for real Triton call this."""
        self.resources()

    def resources(self) -> Any:
        """The resources of a program on the device: `registers`, `spills`, bytes of `shared` memory. (Given.)"""
        lowered = [product for (device, _), (product, _) in self.products.items() if device == "gpu"]
        if not lowered:
            target = driver.active.get_current_target()
            if target.backend != "cuda":
                return CpuResources.of(str(self.texts[pipeline.last_module().name]))
            lowered = [self.lower(f"sm_{target.arch}")]
        return lowered[-1].kernel

    def launch(self, grid: tuple[int, int, int], values: Mapping[str, Any]) -> None:
        """Run every program of the grid on the device that holds the arguments' memory. (Given.)"""
        values = with_parts(values)
        memory = {name: describe(values[name]) for name in self.pointers}
        values |= memory
        if any(getattr(value, "is_cuda", False) for value in memory.values()):
            self.launch_on_gpu(grid, values, memory)
        elif (way := bounds.chosen()) != "error":
            bounds.launch(self, grid, values, way)
        else:
            try:
                if kinds := wanted():
                    from mini_triton.runtime.sanitized import sanitize  # imported late: kernels run without it

                    sanitize(self, grid, values, memory, kinds)
                else:
                    self.launch_on_cpu(grid, values, memory)
            except AccessError as error:
                raise bounds.complete(error, self, grid, values) from None

    def launch_on_cpu(self, grid: tuple[int, int, int], values: Mapping[str, Any], memory: Mapping[str, Any]) -> None:
        """Run the generated NumPy code. Error messages are in terms of the launch.

        Both dictionaries map the names of arguments to the arguments: `values` contains all arguments, `memory` only
        arrays and tensors. For `add[(2,)](x, y, out, np.int64(9), BLOCK=8)`, this method calls

            self.run((2, 1, 1), [Buffer.of("x", x), Buffer.of("y", y), Buffer.of("out", out), 9], known())

        because `self.parameters` is `["x", "y", "out", "n"]`. `self.run` raises `OutOfBounds` for an access outside an
        argument, and for an address that may not be accessed; its `buffer` is then not an argument's.
        """
        # [task 7.9] A launch that the checks of 7.8 refuse must not run; `self.program.stored` is the `stored` of
        # `check_writable`. Users see the error of `explain_access` or `explain_address` instead of `OutOfBounds`. Raise
        # it in the `except` block: `bounds.complete` reads its `__context__`. Given: `to_python`.
        check_devices(self.name, memory)
        check_writable(self.name, memory, self.program.stored)
        arguments = [
            Buffer.of(name, memory[name]) if name in memory else to_python(values[name]) for name in self.parameters
        ]
        try:
            self.run(grid, arguments, known())
        except OutOfBounds as error:
            if error.buffer.name in memory:
                raise explain_access(self.name, error, tuple(memory[error.buffer.name].shape)) from None
            raise explain_address(self.name, error) from None
        # [end]

    def generate(self, device: str, capability: int = 0) -> Any:
        """The product of the stages for a target; add their texts to `asm`. (Given.)

        `device` is a stage's `device`, and `capability` the GPU's; 0 stands for the target's default.
        """
        if (device, capability) not in self.products:
            compilation = dataclasses.replace(self.compilation, capability=capability)
            ttir = self.texts[pipeline.last_module().name]
            self.products[device, capability] = run_stages(stages_for(device), compilation, ttir)
        product, texts = self.products[device, capability]
        self.texts |= texts
        self.asm.add(texts, device, product)
        return product

    def launch_on_gpu(self, grid: tuple[int, int, int], values: Mapping[str, Any], memory: Mapping[str, Any]) -> None:
        """Run the back end's code for GPUs, by default the code that real Triton compiles from TTIR. (Given.)"""
        from mini_triton.backends.launch import gpu_of

        gpu = gpu_of(self.name, memory)
        if gpu not in self.launchers:
            self.launchers[gpu] = self.back_end.launcher(self, gpu)
        self.launchers[gpu](grid, [to_python(values[name]) for name in self.parameters])

    def lower(self, target: str = "sm_90") -> Lowered:
        """Let real Triton compile the TTIR for a GPU, which need not be present; add the results to `asm`. (Given.)"""
        from mini_triton.backends.handoff import capability_of

        return self.generate("gpu", capability_of(target))


class Asm(dict[str, Any]):
    """The text of each stage, by name. Expensive texts, and texts for other targets, are made on first use."""

    def __init__(self, generate: Callable[[str], Any]) -> None:
        super().__init__()
        self.generate = generate  # adds the texts for a target
        self.products: dict[str, Any] = {}  # of the last stage, by target; expensive texts are made from it

    def add(self, texts: Mapping[str, Text], device: str = "cpu", product: Any = None) -> None:
        """Add the texts of stages that have run, in the form shown to readers, and drop texts that are out of date."""
        self.products[device] = product
        for stage in pipeline.STAGES:
            if stage.device == device and stage.on_request:
                self.pop(stage.name, None)
            if stage.name in texts:
                self[stage.name] = stage.form.shown(texts[stage.name])

    def __missing__(self, name: str) -> Text:
        stage = next((stage for stage in pipeline.STAGES if stage.name == name), None)
        if stage is None:
            raise KeyError(name)
        if stage.device not in self.products:
            self.generate(stage.device)
        if name not in self:  # an expensive text
            self[name] = stage.form.shown(stage.text(self.products[stage.device]))
        return self[name]

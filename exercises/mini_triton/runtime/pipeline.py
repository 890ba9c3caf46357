"""From a kernel's source to running code: the list of stages, and how to run it.

    source ──► ttir ──► passes ──► numpy                                        a CPU runs this,
                             ├───► numba                                        or this
                             ├───► layouts ──► our_ptx                          a GPU or the emulator runs this,
                             └───► ttgir ──► llir ──► ptx ──► cubin ──► sass    or a GPU runs the cubin

`STAGES` is the only list of stages. Compilation, the hand-off to a GPU, printing, dumps, `kernel.asm`, the explorer and
the keys of compiled kernels read this list. To add a stage that changes a module, write a function, and add one line to
the list:

    Stage("passes", change(optimize), TTIR, "each value computed once, and only if needed"),

`transforms/manager.py` chooses the passes of that stage.

Source: `add_stages` in Triton's `third_party/nvidia/backend/compiler.py`; `compile` in its
`python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mini_triton.codegen import NumpyKernel, compile_module
from mini_triton.frontend.compiler import ast_to_ttir
from mini_triton.frontend.function import KernelSource
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module, without_locations
from mini_triton.ir.verifier import verify_after
from mini_triton.language.context import debugging, running_on
from mini_triton.language.signature import inputs_of, parse_type, spell
from mini_triton.runtime import inspection
from mini_triton.runtime.back_ends import BACK_ENDS
from mini_triton.runtime.keys import digest, versions
from mini_triton.runtime.options import Options
from mini_triton.runtime.specialization import Specialized
from mini_triton.transforms.descriptors import is_supported
from mini_triton.transforms.manager import optimize, without_descriptors

if TYPE_CHECKING:
    from mini_triton.backends.handoff import Lowered

Text = str | bytes


@dataclass(frozen=True)
class Compilation:
    """A kernel to compile, for arguments of one specialization."""

    kernel: KernelSource
    arguments: Mapping[str, Specialized]  # by parameter
    constants: Mapping[str, Any]  # the values of the compile-time arguments
    options: Options
    hash: str  # the key of the compiled kernel
    capability: int = 0  # the GPU's compute capability: 90 for sm_90

    @property
    def name(self) -> str:
        make_name = getattr(self.kernel, "repr", None)
        return make_name(self) if make_name else self.kernel.fn.__name__

    @property
    def signature(self) -> dict[str, str]:
        """The type of each parameter, as a launch spells it: "*fp32", "i32", "constexpr"."""
        return {name: argument.type for name, argument in self.arguments.items()}

    @property
    def inputs(self) -> dict[str, str]:
        """The type of each argument that compiled code takes, as a launch spells it.

        Constants are omitted, and descriptors are passed in parts.
        """
        types = {name: parse_type(type) for name, type in self.signature.items() if type != "constexpr"}
        return {name: spell(type) for name, type in inputs_of(types).items()}


class Form(NamedTuple):
    """The format of a stage's text."""

    suffix: str  # of the file in a dump
    unit: str = ""  # the unit in which its size is counted
    line: str = ""  # a regular expression for the lines to count
    text: Callable[[Any, str], Text] = lambda product, _: product  # the text of this stage's product
    shown: Callable[[Any], Text] = lambda text: text  # the text as shown to a reader


@dataclass(frozen=True)
class Stage:
    """One stage: a function of the previous stage's product, and the form of its own product's text."""

    name: str
    run: Callable[[Any, Compilation], Any]
    form: Form
    adds: str  # the facts known after this stage, but not before it
    device: str = ""  # the only target that needs the stage: "cpu", "gpu" or a name in `BACK_ENDS`; "" for all
    on_request: bool = False  # the text is expensive, so it is made only on request

    def text(self, product: Any) -> Text:
        """The product as text."""
        return self.form.text(product, self.name)

    def file(self, kernel: str) -> str:
        """The name of a kernel's file in a dump: `add.ttir`, `add.numpy.py`."""
        return f"{kernel}.{self.name}" + f".{self.form.suffix}" * (self.form.suffix != self.name)


# --- what the stages do


def read_source(_: None, compilation: Compilation) -> str:
    """The kernel's source, as its author wrote it. (Given.)"""
    return compilation.kernel.source


def with_options(run: Callable[[str, Compilation], Module]) -> Callable[[str, Compilation], Module]:
    """Pass options to a stage: the number of warps, and whether to build device assertions. (Given.)"""

    @functools.wraps(run)
    def call(source: str, compilation: Compilation) -> Module:
        options = compilation.options
        with running_on(options.num_warps), debugging(options.debug, options.sanitize_overflow):
            return run(source, compilation)

    return call


@with_options
def build_module(_: str, compilation: Compilation) -> Module:
    """The kernel's module, which the front end builds (milestones 1 to 5)."""
    # Task 7.5: `compilation` knows everything that `ast_to_ttir` takes, but not everything in the same form.
    raise NotImplementedError("Task 7.5: The stages")


def generate_numpy(module: Module, _: Compilation) -> NumpyKernel:
    """Run the back end for CPUs on the module (milestone 6). (Given.)"""
    return compile_module(without_descriptors(module))


def hand_off(ttir: str, compilation: Compilation) -> Lowered:
    """Let real Triton compile the module's text to machine code (milestone 10), once for all processes. (Given.)"""
    from mini_triton.backends import triton_api  # imported late: kernels run without it
    from mini_triton.backends.handoff import Lowered, lower

    options, capability = vars(compilation.options), compilation.capability
    types = [type for type in compilation.signature.values() if type != "constexpr"]
    if "!tt.tensordesc" in ttir and not is_supported(ttir, capability):
        ttir = print_module(without_descriptors(parse_module(ttir)), locations=True)
        types = [*compilation.inputs.values()]

    def compile() -> triton_api.Kernel:
        return lower(compilation.name, ttir, types, capability, options).kernel

    key = digest([*versions(), ttir, *types])
    kernel = triton_api.compile_once(key, capability, options, types, compile)
    return Lowered(capability, kernel.asm, kernel)


def change(function: Callable[[Module], object]) -> Callable[[Module, Compilation], Module]:
    """A pass as a function for a stage, which changes the module in place. (Given.)"""

    def run(module: Module, _: Compilation) -> Module:
        function(module)
        return module

    return run


def keep(product: Any, _: Compilation) -> Any:
    """The product itself, because the previous stage also made this stage's text. (Given.)"""
    return product


def asm_of(lowered: Lowered, stage: str) -> Text:
    """The product of a stage of real Triton. (Given.)"""
    return lowered.asm[stage]


def disassemble(lowered: Lowered, _: str) -> str:
    """The disassembled machine code, one instruction per line; "" without a disassembler. (Given.)"""
    from mini_triton.backends import triton_api

    return triton_api.disassemble(lowered.asm["cubin"])


# --- the list

TTIR = Form(
    *("ttir", "operations", r"^ +(?:%\S+ = )?(?:tt|arith|math|scf)\."),
    lambda module, _: print_module(module, locations=True),
    without_locations,
)
NUMPY = Form("py", "lines", r"^ *[^\s#]", lambda program, _: program.source)
LOOPS = Form("py", "lines", r"^ *[^\s#]")
LAYOUTS = Form("ttgir", "operations", TTIR.line, lambda code, _: code.layouts, without_locations)
OUR_PTX = Form("ptx", "instructions", r"^\t(?:@!?%p\d+ )?[a-z].*;", lambda code, _: code.ptx)
TTGIR = Form("ttgir", "operations", r"^ +(?:%\S+ = )?(?:tt|arith|math|scf|gpu|ttn?g)\.", asm_of)
LLIR = Form("llir", "instructions", r"^  (?!\])\S", asm_of)
PTX = Form("ptx", "instructions", OUR_PTX.line, asm_of)
CUBIN = Form("cubin", text=asm_of)
SASS = Form("sass", "instructions", r"^(?!NOP)\S", disassemble)

STAGES = [
    Stage("source", read_source, Form("py", "lines", r"^ *[^\s#]"), "the kernel, as its author wrote it"),
    Stage("ttir", build_module, TTIR, "operations on whole tensors"),
    Stage("passes", change(optimize), TTIR, "each value computed once, and only if needed"),
    Stage("numpy", generate_numpy, NUMPY, "Python: many programs at once", device="cpu"),
    Stage("numba", BACK_ENDS["numba"].generate, LOOPS, "loops: one program, element by element", device="numba"),
    Stage("layouts", BACK_ENDS["ptx"].generate, LAYOUTS, "our choice of the thread for each element", device="ptx"),
    Stage("our_ptx", keep, OUR_PTX, "our choice of NVIDIA's instructions", device="ptx"),
    Stage("ttgir", hand_off, TTGIR, "which thread holds which element; pipelined loops", device="gpu"),
    Stage("llir", keep, LLIR, "one thread's work, element by element", device="gpu"),
    Stage("ptx", keep, PTX, "NVIDIA's instructions, with virtual registers", device="gpu"),
    Stage("cubin", keep, CUBIN, "machine code", device="gpu"),
    Stage("sass", keep, SASS, "machine code: physical registers, and timing", "gpu", on_request=True),
]


def stages_for(device: str) -> list[Stage]:
    """The stages from source to the CPU's code; for other targets, the stages after the module's text. (Given.)"""
    wanted = ("", "cpu") if device == "cpu" else (device,)
    return [stage for stage in STAGES if stage.device in wanted]


def last_module() -> Stage:
    """The stage whose text is passed to the back ends. (Given.)"""
    return [stage for stage in STAGES if not stage.device][-1]


# --- running the stages


def run_stages(stages: Sequence[Stage], compilation: Compilation, product: Any = None) -> tuple[Any, dict[str, Text]]:
    """Run stages in order. Returns the product of the last stage, and the text of each stage by name.

    The first stage takes `product`. If a stage's product is a module, it must be well formed; otherwise a
    `VerificationError` names the stage. If a stage fails, the texts of all earlier stages have been reported. A stage
    with `on_request` has a text only if `inspection.is_wanted()`.
    """
    # Task 7.5: If the first stage adds 1, the second doubles, and `product` is 3, then the final product is 8, and the
    # texts are those of 4 and 8. Given: `verify_after(name, module)`; `report(compilation, stage, text)`; a stage's
    # `run` and `text`.
    raise NotImplementedError("Task 7.5: The stages")


def report(compilation: Compilation, stage: Stage, text: Text) -> None:
    """Print and dump the text of a stage, if requested. (Given.)"""
    if inspection.is_wanted():
        title, file = f"{compilation.name}: {stage.name}", stage.file(compilation.name)
        inspection.show(title, compilation.hash, file, stage.form.shown(text))

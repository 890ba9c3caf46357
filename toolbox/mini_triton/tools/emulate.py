"""The command `mini-triton emulate`: run a launch on the emulator, and print what it found.

mini-triton emulate softmax.py softmax_kernel --launch "softmax(np.ones((4, 781), np.float32))" --target cuda:80
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mini_triton.backends.handoff import capability_of
from mini_triton.emulator.back_end import EmulatedKernel, EmulationError, target
from mini_triton.emulator.parser import PtxError
from mini_triton.errors import TritonError
from mini_triton.ir.storage import Buffer
from mini_triton.runtime.compiled_kernel import CompiledKernel
from mini_triton.runtime.pipeline import run_stages, stages_for
from mini_triton.runtime.reach import known
from mini_triton.tools.explore.__main__ import LAUNCH
from mini_triton.tools.explore.lowering import texts_of
from mini_triton.tools.explore.page import describe_kernel, write_page
from mini_triton.tools.explore.stages import run_ours
from mini_triton.tools.explore.subject import Subject, find_launch
from mini_triton.tools.loading import load_file


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. The exit status is 1 if the emulator finds errors."""
    parser = argparse.ArgumentParser(
        prog="mini-triton emulate",
        description="Compile a kernel with real Triton, run its PTX on a CPU, and report defects and costs.",
    )
    parser.add_argument("file", help="a Python file with the kernel, which is executed")
    parser.add_argument("kernel", nargs="?", help="the kernel's name (default: the first launched)")
    parser.add_argument("--launch", metavar="EXPRESSION", required=True, help=LAUNCH)
    parser.add_argument("--target", help="the GPU for which to compile (default: cuda:90)")
    parser.add_argument("--no-check", action="store_true", help="only look for bad accesses, which is faster")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write the explorer's page, with costs beside the PTX"
    )
    options = parser.parse_args(arguments)
    try:
        gpu = target(options.target)
        subject = find_launch(load_file(Path(options.file)), options.launch, options.kernel)
        emulated = run(subject, gpu, not options.no_check)
        if options.html:
            compilation = replace(subject.compilation, capability=capability_of(gpu))
            ours, tritons = run_ours(compilation, lambda ttir: None), texts_of(emulated.kernel.lower(gpu).asm)
            about = describe_kernel(subject, ours, tritons, gpu.replace("sm_", "cuda:"), emulated.report)
            options.html.write_text(write_page(about), encoding="utf-8")
    except NotImplementedError:
        raise  # a task that is not written yet
    except (OSError, RuntimeError, ValueError, TypeError, TritonError, PtxError) as error:
        parser.error(str(error))
    report = emulated.report
    print(json.dumps(report.to_json(), indent=1) if options.json else report)
    return 1 if report.errors else 0


def run(subject: Subject, gpu: str, check: bool = True) -> EmulatedKernel:
    """Compile and run a launch; the result has its report."""
    program, texts = run_stages(stages_for("cpu"), subject.compilation)
    kernel = CompiledKernel(subject.compilation, program, texts)
    emulated = EmulatedKernel(kernel, gpu)
    values = subject.values or {}
    arguments = [
        Buffer.of(name, values[name]) if name in kernel.pointers else values[name] for name in kernel.parameters
    ]
    try:
        emulated(subject.grid or (1, 1, 1), arguments, known(), check)
    except EmulationError:
        pass  # the report has the errors
    return emulated

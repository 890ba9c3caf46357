"""Names and interfaces by Triton's ahead-of-time compiler and linker, without machine code. For the server."""

import os
import runpy
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.driver import ty_to_cpp
from triton.runtime import driver
from triton.tools.compile import CompileArgs, compile_kernel

from tests.oracles.server import frontend

NO_GPU = SimpleNamespace(  # the functions of a driver that Triton calls
    get_current_target=lambda: GPUTarget("cuda", 90, 32), map_python_to_cpp_type=ty_to_cpp
)
NOTHING = SimpleNamespace(
    metadata=SimpleNamespace(shared=0, global_scratch_size=0, profile_scratch_size=0), asm={"cubin": b"\0"}
)


def compile(text: str, arguments: dict[str, Any]) -> frontend.Answer:
    """The name of Triton's C function for a kernel in a Python text, and the text of its header."""
    with tempfile.TemporaryDirectory(dir=os.environ["TRITON_CACHE_DIR"]) as folder:
        file = Path(folder, "kernels.py")
        file.write_text(text)
        with (
            mock.patch.object(sys, "path", [*sys.path]),
            mock.patch.object(driver, "_active", NO_GPU),
            mock.patch.object(triton, "compile", lambda *_, **__: NOTHING),
        ):
            name, _ = compile_kernel(CompileArgs(str(file), out_path=Path(folder, "out"), **arguments))
        (header,) = Path(folder).glob("*.h")
        return {"name": name, "file": header.name, "header": header.read_text()}


def link(headers: dict[str, str], name: str) -> frontend.Answer:
    """The C source and the header that Triton's linker writes for `headers`, which are texts by file name."""
    with tempfile.TemporaryDirectory(dir=os.environ["TRITON_CACHE_DIR"]) as folder:
        for file, text in headers.items():
            Path(folder, file).write_text(text)
        files = [str(Path(folder, file)) for file in headers]
        with mock.patch.object(sys, "argv", ["link.py", *files, "-o", str(Path(folder, name))]):
            runpy.run_module("triton.tools.link", run_name="__main__")
        return {"source": Path(folder, f"{name}.c").read_text(), "header": Path(folder, f"{name}.h").read_text()}

"""C programs around kernels that are compiled ahead of time, and a driver for them that needs no GPU.

with Folder() as folder, made_up_code() as codes:
    name, files = folder.compile(KERNEL, "add", "*fp32, i32", "n, 1, 1")
    driver = StandIn(folder.build(files), codes)
    driver.call(name, ["CUstream", "CUdeviceptr", "int32_t"], 0, 4096, 7)  # 0, or the number of an error
    driver.launches
"""

import contextlib
import ctypes
import functools
import importlib.util
import itertools
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from unittest import mock

import numpy as np
from mini_triton.formats import FORMATS

from tests import oracles
from tests.support.m10_gpu.gpu_stand_in import Kernel, OnStandIn

STAND_IN = Path(__file__).parent / "stand_in"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror")
IMPORTS = "import mini_triton as triton\nimport mini_triton.language as tl\n\n\n"
TRITONS_OWN = ("*i8", "*i8")
"""The types of the arguments that Triton's machine code takes after a kernel's own arguments."""
INVALID_VALUE, NOT_FOUND = 1, 500
C_TYPES = {
    "CUstream": ctypes.c_void_p,
    "CUdeviceptr": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}

_numbers = itertools.count(1)


class Folder(tempfile.TemporaryDirectory):
    """A temporary folder for the files of a C program."""

    def __init__(self) -> None:
        super().__init__(prefix="ahead-of-time-")
        self.path = Path(self.name)

    def __enter__(self) -> Self:
        return self

    def compile(
        self, text: str, kernel: str, signature: str, grid: str = "1, 1, 1", target: str = "cuda:90", **more: Any
    ) -> tuple[str, list[Path]]:
        """The name of the C function and the files that `compile_kernel` writes for a kernel in a Python text."""
        from mini_triton.tools.compile import CompileArgs, compile_kernel

        file = self.path / f"kernels_{next(_numbers)}.py"
        file.write_text(text if "import" in text else IMPORTS + text)
        out = more.get("out_name", kernel)
        return compile_kernel(CompileArgs(str(file), kernel, signature, grid, target, out_path=self.path / out, **more))

    def link(self, headers: Sequence[Path], name: str) -> list[Path]:
        """The C source that `link.py` writes for these headers."""
        from mini_triton.tools.link import link_headers

        return link_headers(headers, self.path / name)

    def build(self, files: Sequence[Path], strict: bool = True) -> "Program":
        """A shared object of C files, and of the driver's stand-in."""
        out = self.path / f"program_{next(_numbers)}.so"
        sources = [str(file) for file in files if file.suffix == ".c"]
        made = ("-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", str(out))
        run_compiler(*made, f"-I{STAND_IN}", f"-I{self.path}", *sources, str(STAND_IN / "driver.c"), strict=strict)
        return Program(out)

    def build_for_gpu(self, files: Sequence[Path]) -> "Program":
        """A shared object of C files, which uses the machine's own driver."""
        out = self.path / f"program_{next(_numbers)}.so"
        sources = [str(file) for file in files if file.suffix == ".c"]
        run_compiler("-shared", "-fPIC", "-o", str(out), f"-I{nvidias_headers()}", *sources, real_driver())
        return Program(out)


def run_compiler(*arguments: str, strict: bool = True) -> None:
    """Run the machine's C compiler; if `strict`, warnings are errors."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        oracles.unavailable("there is no C compiler")
    done = subprocess.run([compiler, *(STRICT if strict else ()), *arguments], capture_output=True, text=True)
    assert not done.returncode, f"the C compiler refuses the written files\n{done.stderr[:2000]}"


def nvidias_headers() -> Path:
    """The folder of NVIDIA's cuda.h, which comes with Triton."""
    found = importlib.util.find_spec("triton")
    if found is None or found.origin is None:
        oracles.unavailable(oracles.not_installed("real Triton"))
    return Path(found.origin).parent / "backends" / "nvidia" / "include"


def real_driver() -> str:
    """The file of the machine's libcuda."""
    ctypes.CDLL("libcuda.so.1")
    maps = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in maps if "/libcuda.so" in line)


class Program:
    """The functions of a shared object."""

    def __init__(self, file: Path) -> None:
        self.library = ctypes.CDLL(str(file))

    def call(self, name: str, types: Sequence[str], *arguments: Any) -> int:
        """The result of a C function for arguments of these C types; the first argument is the stream."""
        function = getattr(self.library, name)
        function.argtypes = [C_TYPES.get(type) or getattr(ctypes, f"c_{type.removesuffix('_t')}") for type in types]
        return function(*arguments)


class Code(Kernel):
    """A kernel with invented machine code, which the stand-in's driver runs with the NumPy back end."""

    def __init__(
        self, ttir: str, name: str, types: Sequence[str], options: Mapping[str, Any], code: bytes, **numbers: int
    ) -> None:
        super().__init__(ttir)
        self.name, self.types, self.options = name, types, options
        self.shared, self.num_warps, self.scratch = numbers["shared"], numbers["num_warps"], numbers["scratch"]
        self.asm["cubin"] = code + b"\0"


@contextlib.contextmanager
def made_up_code(shared: int = 0, num_warps: int | None = None, scratch: int = 0) -> Iterator[dict[bytes, Code]]:
    """In the `with` block, kernels compile to invented machine code, without Triton. Yields the kernels by code."""
    from mini_triton.backends import triton_api

    made: dict[bytes, Code] = {}

    def compiled(file: str, capability: int, options: Any, types: Sequence[str]) -> Code:
        code = b"code %d for sm_%d" % (next(_numbers), capability)
        numbers = {"shared": shared, "num_warps": num_warps or options["num_warps"], "scratch": scratch}
        made[code] = Code(Path(file).read_text(), Path(file).stem, types, options, code, **numbers)
        return made[code]

    with (
        mock.patch.object(triton_api, "insist", lambda: None),
        mock.patch.object(triton_api, "simplified", lambda file, *rest: Path(file).read_text()),
        mock.patch.object(triton_api, "compile", compiled),
        mock.patch.object(triton_api, "compile_once", lambda key, capability, options, types, compile: compile()),
    ):
        yield made


def packed(type: str, value: Any) -> bytes:
    """The bytes that a GPU reads for a number of this type. A float of 16 bits is given by its bits."""
    if type.startswith("*"):
        return struct.pack("<Q", value)
    if type in ("fp16", "bf16"):
        return struct.pack("<H", value)
    row = next(row for row in FORMATS if row.signature == {"i1": "u1"}.get(type, type))
    return np.array(value, row.array).tobytes()


def unpacked(type: str, data: bytes) -> Any:
    """The number that these bytes encode."""
    (row,) = (row for row in FORMATS if row.signature == type)
    return np.frombuffer(data, row.array)[0].item()


def peek(address: int, size: int) -> bytes:
    """Bytes of this process's memory. Raises `OSError` for an address that is not mapped."""
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)


@dataclass(frozen=True)
class Launched:
    """A launch that a driver has received."""

    code: bytes
    function: str
    grid: tuple[int, int, int]
    threads: tuple[int, int, int]
    shared: int
    stream: int | None
    arguments: list[bytes]  # in a GPU's format, with Triton's two arguments at the end
    attributes: dict[int, int]  # the attributes of the function


class StandIn:
    """Does the driver's work for a program that was built with the stand-in.

    `codes` are the kernels that it knows; it runs them if `runs` is true. `memory` has the arrays and tensors on the
    "GPU" by address. `fails` has errors that "load", "function", "attribute" and "launch" return.
    """

    def __init__(self, program: Program, codes: Mapping[bytes, Code], runs: bool = False) -> None:
        self.program, self.codes, self.runs = program, codes, runs
        self.memory: dict[int, Any] = {}
        self.fails: dict[str, int] = {}
        self.calls: list[str] = []
        self.launches: list[Launched] = []
        self.modules: dict[int, bytes] = {}
        self.functions: dict[int, tuple[bytes, str, dict[int, int]]] = {}
        self.problem: BaseException | None = None
        self.hooks = []  # references that keep the hooks alive
        for name, types in HOOKS.items():
            hook = ctypes.CFUNCTYPE(ctypes.c_int, *types)(functools.partial(self.answer, name))
            self.hooks.append(hook)
            ctypes.c_void_p.in_dll(program.library, f"on_{name}").value = ctypes.cast(hook, ctypes.c_void_p).value

    def call(self, name: str, types: Sequence[str] = (), *arguments: Any) -> int:
        """The result of a C function."""
        code = self.program.call(name, types, *arguments)
        if self.problem is not None:
            raise self.problem
        return code

    def answer(self, name: str, *arguments: Any) -> int:
        """The result of a driver's function."""
        self.calls.append(name)
        try:
            return self.fails[name] if name in self.fails else getattr(self, name)(*arguments)
        except BaseException as error:  # an exception cannot pass through C
            self.problem = error
            return 999

    def alloc(self, address: Any, size: int) -> int:
        block = np.zeros(size // 4 + 4, np.float32)
        aligned = block[-block.ctypes.data % 16 // 4 :][: size // 4]
        address[0] = aligned.ctypes.data
        self.memory[address[0]] = aligned
        return 0

    def load(self, module: Any, image: int) -> int:
        module[0] = next(_numbers)
        self.modules[module[0]] = ctypes.string_at(image)
        return 0

    def unload(self, module: int) -> int:
        return 0 if self.modules.pop(module or 0, None) else INVALID_VALUE

    def function(self, function: Any, module: int, name: bytes) -> int:
        code = self.modules[module]
        if code not in self.codes or self.codes[code].name != name.decode():
            return NOT_FOUND
        function[0] = next(_numbers)
        self.functions[function[0]] = code, name.decode(), {}
        return 0

    def attribute(self, function: int, attribute: int, value: int) -> int:
        self.functions[function][2][attribute] = value
        return 0

    def launch(self, function: int, *rest: Any) -> int:
        code, name, attributes = self.functions[function]
        grid, threads, (shared, stream, arguments, extra) = rest[:3], rest[3:6], rest[6:]
        assert extra is None, "the last argument of cuLaunchKernel should be NULL"
        types = self.codes[code].types
        data = []
        for number, type in enumerate([*types, *TRITONS_OWN]):
            try:
                pointer = int.from_bytes(peek(arguments + 8 * number, 8), "little")
                data.append(peek(pointer, len(packed(type, 0))))
            except (OSError, OverflowError):
                raise AssertionError(
                    f"the array of arguments has no pointer {number}, for one of type {type}"
                ) from None
        self.launches.append(Launched(code, name, grid, threads, shared, stream, data, dict(attributes)))
        if 0 in grid:
            return INVALID_VALUE
        if self.runs:
            values = [
                OnStandIn(self.memory[unpacked("u64", number)]) if type.startswith("*") else unpacked(type, number)
                for type, number in zip(types, data, strict=False)
            ]
            self.codes[code].launch(grid, values)
        return 0


_OUT = ctypes.POINTER(ctypes.c_uint64)
_HANDLE = ctypes.c_void_p
HOOKS: dict[str, list[Any]] = {
    "alloc": [_OUT, ctypes.c_size_t],
    "load": [_OUT, _HANDLE],
    "unload": [_HANDLE],
    "function": [_OUT, _HANDLE, ctypes.c_char_p],
    "attribute": [_HANDLE, ctypes.c_int, ctypes.c_int],
    "launch": [_HANDLE, *[ctypes.c_uint] * 7, *[_HANDLE] * 3],
}
"""The parameters of the functions that the stand-in has in C."""

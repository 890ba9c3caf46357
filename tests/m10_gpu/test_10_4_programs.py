"""Task 10.4: kernels of milestone 8 called from C. Without a GPU, a stand-in runs the launches."""

import contextlib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.checks import described
from tests.oracles import gpu
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.tensors import U, normal, rounding
from tests.support.m10_gpu.c_programs import (
    STAND_IN,
    Code,
    Folder,
    StandIn,
    made_up_code,
    nvidias_headers,
    real_driver,
    run_compiler,
)

MAIN = STAND_IN / "add_main.c"
ADD = "from kernels.vector_add import add_kernel\n"
# A signature contains only numbers, so a wrapper kernel passes strings and dtypes to the kernel.
PRODUCT = """import mini_triton as triton
import mini_triton.language as tl
from kernels.matmul import matmul_kernel


@triton.jit
def product(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BLOCK: tl.constexpr):
    matmul_kernel(
        a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
        BLOCK, BLOCK, 32, 8, "relu", tl.float32,
    )
"""
ATTENTION = "from kernels.flash_attention import forward_kernel\n"


@contextlib.contextmanager
def code_for(device: str) -> Iterator[tuple[str, Mapping[bytes, Code] | None]]:
    """The target that kernels are compiled for, and what a stand-in needs to run them."""
    if device == "cuda":
        gpu.insist()
        major, minor = torch.cuda.get_device_capability()
        yield f"cuda:{major}{minor}", None
        return
    with made_up_code() as codes:
        yield "cuda:90", codes


def call(
    folder: Folder,
    codes: Mapping[bytes, Code] | None,
    files: Sequence[Path],
    function: str,
    types: list[str],
    *values: Any,
) -> None:
    """Call a C function with tensors and numbers, on the GPU or the stand-in. Tensors are changed in place."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if codes is None:
        moved = {id(tensor): to_gpu(tensor) for tensor in tensors}
        given = [moved[id(value)].data_ptr() if id(value) in moved else value for value in values]
        program = folder.build_for_gpu(files)
        described(
            f"{function}(...)", program.call, function, types, torch.cuda.current_stream().cuda_stream, *given
        ).returns(0)
        torch.cuda.synchronize()
        for tensor in tensors:
            tensor.copy_(moved[id(tensor)])
        return
    driver = StandIn(folder.build(files), codes, runs=True)
    driver.memory = {tensor.data_ptr(): tensor for tensor in tensors}
    given = [value.data_ptr() if isinstance(value, torch.Tensor) else value for value in values]
    described(f"{function}(...)", driver.call, function, types, 0, *given).returns(0)


def to_gpu(tensor: Any) -> Any:
    """A copy on the GPU, at an address that equals the tensor's address modulo 16."""
    start = tensor.data_ptr() % 16 // tensor.itemsize
    memory = torch.empty(start + tensor.numel(), dtype=tensor.dtype, device="cuda")
    return memory[start:].view(tensor.shape).copy_(tensor)


def aligned(tensor: Any, shift: int = 0) -> Any:
    """A copy of a vector, `shift` elements after an address that is a multiple of 16."""
    memory = torch.empty(len(tensor) + 32, dtype=tensor.dtype)
    start = -memory.data_ptr() // tensor.itemsize % 16 + shift
    memory[start : start + len(tensor)] = tensor
    return memory[start : start + len(tensor)]


@pytest.mark.parametrize("size, shift", [(1, 0), (4096, 0), (4095, 0), (4096, 1), (0, 0), (100_000, 0)])
def test_vectors(device: str, size: int, shift: int) -> None:
    """Three variants: for n = 1, for aligned vectors, and for all other arguments."""
    with Folder() as folder, code_for(device) as (target, codes):
        files = []
        for pointer, n in (("*fp32", "i32"), ("*fp32:16", "i32:16"), ("*fp32", "i32:1")):
            signature = f"{pointer}, {pointer}, {pointer}, {n}, 1024"
            grid = "(n + BLOCK - 1) / BLOCK, 1, 1"
            files.append(folder.compile(ADD, "add_kernel", signature, grid, target, out_name="add", num_warps=4)[1])
        sources = [source for source, _ in files] + folder.link([header for _, header in files], "add")
        x, y = (aligned(normal((size,), seed), shift) for seed in range(2))
        out = aligned(torch.full((size + 1,), -7.0), shift)
        types = ["CUstream", *["CUdeviceptr"] * 3, "int32_t"]
        call(folder, codes, sources, "add_default", types, x, y, out, size)
    assert torch.equal(out, torch.cat([x + y, torch.tensor([-7.0])])), f"wrong sums of {size} elements"


@pytest.mark.parametrize(
    "m, n, k, block, stages",
    [(64, 64, 64, 64, 3), (100, 70, 50, 64, 3), (1, 130, 33, 16, 1), (256, 256, 256, 128, 5)],  # the last: over 48 KiB
)
def test_products(device: str, m: int, n: int, k: int, block: int, stages: int) -> None:
    a, b = normal((m, k), 1, "float16"), normal((k, n), 2, "float16")
    c = torch.full((m, n), -7.0, dtype=torch.float16)
    signature = "*fp16:16, *fp16:16, *fp16:16, i32, i32, i32, i32, i32:1, i32, i32:1, i32, i32:1, "
    grid = "(M + BLOCK - 1) / BLOCK * ((N + BLOCK - 1) / BLOCK), stride_am / K, 1"
    with Folder() as folder, code_for(device) as (target, codes):
        name, files = folder.compile(
            PRODUCT, "product", f"{signature}{block}", grid, target, num_warps=4, num_stages=stages
        )
        types = ["CUstream", *["CUdeviceptr"] * 3, *["int32_t"] * 6]
        call(folder, codes, files, name, types, a, b, c, m, n, k, k, n, n)
    expected = (a.double() @ b.double()).relu()
    allowed = rounding(expected, "float16") + (a.double().abs() @ b.double().abs()) * 2 * k * U
    near("a product", c, expected, allowed)


@pytest.mark.parametrize("length, causal", [(128, True), (100, False)])
def test_attention(device: str, length: int, causal: bool) -> None:
    q, k, v = (normal((2, 3, length, 64), seed, "float16") for seed in range(3))
    out, sums = torch.empty_like(q), torch.empty(2, 3, length)
    signature = f"*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, fp32, i32, {causal}, 64, 32, 64"
    with Folder() as folder, code_for(device) as (target, codes):
        grid = "(length + BLOCK_M - 1) / BLOCK_M, 6, 1"
        name, files = folder.compile(ATTENTION, "forward_kernel", signature, grid, target, num_warps=4)
        types = ["CUstream", *["CUdeviceptr"] * 5, "float", "int32_t"]
        call(folder, codes, files, name, types, q, k, v, out, sums, 0.125, length)
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
    weights = rounding(
        v.double().abs().amax(2, keepdim=True), "float16"
    )  # the kernel rounds the weights before it multiplies v
    near("attention", out, expected, 2 * weights + rounding(expected, "float16") + 2**10 * U)


def near(what: str, got: Any, expected: Any, allowed: Any) -> None:
    off = (got.double() - expected).abs() - allowed
    assert not torch.isnan(got).any() and (off <= 0).all(), f"{what} is {off.max().item():.3g} further off than allowed"


def test_a_program_in_c(device: str) -> None:
    """A C program allocates memory, copies arrays, launches the kernel, and compares the result."""
    with Folder() as folder, code_for(device) as (target, codes):
        files = []
        for pointer, n in (("*fp32", "i32"), ("*fp32:16", "i32:16"), ("*fp32:16", "i32")):
            signature = f"{pointer}, {pointer}, {pointer}, {n}, 1024"
            files.append(
                folder.compile(ADD, "add_kernel", signature, "(n + 1023) / 1024, 1, 1", target, out_name="add")[1]
            )
        sources = [source for source, _ in files] + folder.link([header for _, header in files], "add")[:1]
        if codes is None:
            program = folder.path / "add"
            paths = [str(path) for path in [MAIN, *sources]]
            run_compiler(
                f"-I{nvidias_headers()}",
                f"-I{folder.path}",
                *paths,
                real_driver(),
                "-Wl,--allow-shlib-undefined",
                "-o",
                str(program),
            )
            done = subprocess.run([program], capture_output=True, text=True, timeout=100)
            assert not done.returncode, f"the program ends with {done.returncode}: {done.stdout}{done.stderr}"
            assert done.stdout == "all 100003 sums are right\n", done.stdout
        else:
            driver = StandIn(folder.build([MAIN, *sources]), codes, runs=True)
            assert driver.call("main") == 0, "the C program says that the sums are wrong"
            assert [launch.grid for launch in driver.launches] == [(98, 1, 1)], (
                "an empty vector needs no launch; 100003 elements need 98 programs"
            )

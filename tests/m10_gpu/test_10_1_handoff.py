"""Task 10.1: real Triton compiles our TTIR to machine code, without a GPU."""

import functools
import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.backends import triton_api
from mini_triton.backends.handoff import capability_of, lower
from mini_triton.errors import OutOfResources, PTXASError
from mini_triton.ir.printer import print_module

from tests.checks import calling, described
from tests.corpus import CASES, named
from tests.corpus.cases import Case
from tests.oracles import triton
from tests.support import sources

# A kernel's instructions for memory and tensor cores. Numbers of registers differ from run to run.
INSTRUCTION = re.compile(r"\b(?:(?:ld|st|red|atom)\.global\S*|cp\.async\.c\S*|(?:wg)?mma\.\S+|bar\.sync)")
KERNELS = (
    "add_kernel", "softmax_row", "matmul_kernel", "layer_norm_forward", "attention_forward", "atomic_floats",
    "dropout_matrix",  # passes on TTIR unroll its loop
)  # fmt: skip
TARGETS = ("sm_80", "sm_90")
ADD = next(case for case in CASES if str(case) == "add_kernel")
MATMUL = next(case for case in CASES if str(case) == "matmul_kernel")


@functools.cache
def question(case: Any) -> tuple[str, str, list[str]]:
    """A kernel's name, its TTIR, and the types of its parameters."""
    triton.version()  # without Triton, the test ends as unavailable
    source = case.source()
    types = [type for type in source.signature.values() if type != "constexpr"]
    return case.kernel, print_module(sources.compiled(source, str(case.path))), types


def lowering(case: Any, target: str = "sm_90", **options: Any) -> described:
    """The call of `lower` for a kernel of the corpus."""
    name, text, types = question(case)
    words = f"lower({name!r}, <its TTIR>, {types}, {target[3:]}, {options})"
    return described(words, lower, name, text, types, int(target[3:]), options)


def count(ptx: str) -> dict[str, int]:
    return dict(Counter(INSTRUCTION.findall(ptx)))


@given(st.integers(10, 999))
@example(90)
def test_targets(capability: int) -> None:
    calling(capability_of, f"sm_{capability}").returns(capability)


@pytest.mark.parametrize("name", ["90", "sm_", "sm_9", "sm_9000", "sm_90a", "SM_90", " sm_90", "sm_90\n", "sm-90", ""])
def test_invalid_targets(name: str) -> None:
    calling(capability_of, name).raises(ValueError, name.strip(), because="targets are spelled like sm_90")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", named(*KERNELS), ids=str)
def test_machine_code_is_what_triton_makes_of_the_source(case: Case, target: str) -> None:
    call = lowering(case, target)
    lowered = call()
    source = case.source()
    (made,) = triton.frontends([triton.Source(**vars(source) | {"target": target})], lower=True)
    if lowered.capability != int(target[3:]):
        call.fail(f"capability {target[3:]}", lowered.capability)
    if f".target {target}" not in lowered.asm["ptx"]:
        call.fail(f"PTX for {target}", re.findall(r"\.target \S+", lowered.asm["ptx"]))
    ours, theirs = count(lowered.asm["ptx"]), count(made.compiled.ptx)
    if ours != theirs:
        call.fail(
            f"PTX with {theirs}",
            ours,
            because="Triton compiles the kernel's source to this PTX; some work on the file is missing",
        )
    if lowered.kernel.shared != made.compiled.shared:
        call.fail(f"{made.compiled.shared} bytes of shared memory", lowered.kernel.shared)


def test_machine_code_is_machine_code() -> None:
    call = lowering(ADD)
    cubin = call().asm["cubin"]
    if not isinstance(cubin, bytes) or ADD.kernel not in triton.disassembled(cubin):
        call.fail("a cubin that NVIDIA's disassembler reads", cubin)


@pytest.mark.parametrize("warps", [1, 2, 8])
def test_warps(warps: int) -> None:
    call = lowering(ADD, num_warps=warps)
    threads = re.findall(r"\.(?:reqntid|maxntid) (\d+)", call().asm["ptx"])
    if threads != [str(32 * warps)]:
        call.fail(
            f"PTX for {32 * warps} threads per program", threads, because="this depends on the options of the launch"
        )


def test_stages_of_loops() -> None:
    shared = []
    for stages in (2, 4):
        call = lowering(MATMUL, num_stages=stages)
        shared.append(call().kernel.shared)
    if not shared[0] < shared[1]:
        call.fail(
            "more shared memory for 4 stages than for 2", shared, because="this depends on the options of the launch"
        )


@pytest.mark.parametrize("options", [{"num_warps": 2}, {}, None])
def test_texts_between_the_stages(options: dict[str, int] | None) -> None:
    name, text, _ = question(ADD)
    types = ["u32", "*fp16", "fp32"]
    contents = {text: "the module", "simplified": "the simplified module"}
    seen: list[Any] = []

    def call(function: str, file: Path, *arguments: Any) -> None:
        place = "alone in its folder" if len(os.listdir(file.parent)) == 1 else "beside other files"
        seen.append((function, file.name, place, contents.get(file.read_text(), "a different text"), *arguments))

    def simplified(file: str, capability: int, options: Any) -> str:
        call("simplified", Path(file), capability, dict(options))
        return "simplified"

    def compiled(file: str, capability: int, options: Any, types: Any) -> Any:
        call("compile", Path(file), capability, dict(options), list(types))
        return mock.Mock(asm={"ttir": "", "ttgir": "a", "llir": "b", "ptx": "c", "cubin": b"d", "sass": ""})

    with mock.patch.object(triton_api, "simplified", simplified), mock.patch.object(triton_api, "compile", compiled):
        lowered = lower(name, text, types, 86, options)
    asked = described(f"lower({name!r}, <text>, {types}, 86, {options})", lower)
    file = f"{name}.ttir", "alone in its folder"
    calling(lambda: seen).returns(
        [
            ("simplified", *file, "the module", 86, options or {}),
            ("compile", *file, "the simplified module", 86, options or {}, types),
        ],
        because="lower should make these two calls of triton_api, each with a file of its own",
    )
    stages = {"ttgir": "a", "llir": "b", "ptx": "c", "cubin": b"d"}
    if {stage: lowered.asm.get(stage) for stage in stages} != stages:
        asked.fail(f"the stages of the compiled kernel: {stages}", dict(lowered.asm))


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with mock.patch.object(tempfile, "tempdir", str(tmp_path)):
        lowering(ADD)()
        broken = described("lower('k', 'module { nonsense }', [], 90)", lower, "k", "module { nonsense }", [], 90)
        broken.raises(RuntimeError, because="Triton cannot parse this module")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert not left, f"lower leaves {left} behind\n  expected  a temporary folder that is removed"


@pytest.mark.parametrize("error", [OutOfResources(300000, 232448, "shared memory"), PTXASError("x"), RuntimeError("x")])
def test_errors_of_the_compiler(error: Exception) -> None:
    with mock.patch.object(triton_api, "compile", mock.Mock(side_effect=error)):
        lowering(ADD).raises(type(error), str(error), because="callers expect the error that triton_api.compile raises")


def test_without_triton() -> None:
    name, text, types = question(ADD)
    with mock.patch.object(triton_api.importlib.util, "find_spec", lambda name: None):
        call = described("lower(...) where Triton is not installed", lower, name, text, types, 90)
        call.raises(RuntimeError, "pip install triton", because="`triton_api.insist` says what to install")

"""Block pointers and tensor descriptors compute what real Triton's interpreter computes, and compile for GPUs."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mini_triton.errors import CompilationError
from mini_triton.ir.printer import print_module
from mini_triton.tools.tensor_descriptor import TensorDescriptor
from mini_triton.transforms.descriptors import is_supported
from mini_triton.transforms.manager import without_descriptors

from tests import oracles
from tests.corpus.cases import TARGETS, Case
from tests.corpus.inputs import buffers, inputs
from tests.corpus.views import CASES, exists
from tests.oracles import interpreter, triton
from tests.oracles.launching import Launch, Launched
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import closeness, numpy_backend
from tests.support.m06_codegen.numpy_backend import Mode

SEED = 0
SOME = CASES[::5]  # compiled down to machine code, which takes long

cases = pytest.mark.parametrize("case", CASES, ids=str)


@functools.cache
def interpreted() -> dict[Case, Launched]:
    """All launches that the installed Triton knows, by its interpreter. Reductions are done through plain pointers."""
    known = [case for case in CASES if exists(case, triton.version())]
    launches = []
    for case in known:
        plain = {"DESCRIPTOR": False} if "DESCRIPTOR" in case.constexprs else {}
        source = replace(case.source(), constexprs=dict(case.constexprs) | plain)
        launches.append(Launch(source, case.grid, *inputs(case, SEED)))
    return dict(zip(known, interpreter.launch_many(launches), strict=True))


@functools.cache
def compiled(case: Case) -> Any:
    """A case, compiled by our front end."""
    return sources.compiled(case.source(), str(case.path))


def lowered(case: Case) -> Any:
    """A new module of the case, without descriptors."""
    return without_descriptors(sources.compiled(case.source(), str(case.path)))


@pytest.mark.parametrize("mode", numpy_backend.MODES)
@cases
def test_as_interpreted(case: Case, mode: Mode) -> None:
    if case not in interpreted():
        oracles.unavailable(f"Triton {triton.version()} does not have this any more")
    theirs = interpreted()[case]
    assert theirs, theirs.diagnostic
    expected = dict(buffers(case, theirs.values))
    got = dict(buffers(case, numpy_backend.run(lowered(case), case.grid, *inputs(case, SEED), mode=mode)))
    for name in expected:
        closeness.check(f"{name} of {case}", got[name], expected[name], closeness.rounding(compiled(case)))


@functools.cache
def accepted() -> dict[Case, tuple[triton.Answer, triton.Made]]:
    """Whether real Triton accepts our modules, and the kernels."""
    texts = [print_module(compiled(case)) for case in CASES]
    made = triton.frontends([case.source() for case in CASES])
    return dict(zip(CASES, zip(triton.accepts_many(texts), made, strict=True), strict=True))


@cases
def test_accepted(case: Case) -> None:
    ours, theirs = accepted()[case]
    assert ours, ours.diagnostic
    assert theirs or not exists(case, triton.version()), theirs.diagnostic
    assert not theirs or parts_about_descriptors(ours.text) == parts_about_descriptors(theirs.canonical)


def parts_about_descriptors(text: str) -> set[str]:
    """The operations on descriptors in a module's text, and the types of these."""
    return set(re.findall(r"tt\.\w*descriptor\w*|!tt\.tensordesc<[^ ,]*>", text))


@pytest.mark.parametrize("target", TARGETS)
def test_compiled_for_a_gpu(target: str) -> None:
    texts = [print_module(compiled(case)) for case in SOME]
    for place, case in enumerate(SOME):
        if not is_supported(texts[place], int(target.removeprefix("sm_"))):
            texts[place] = print_module(lowered(case))
    refused = [answer.diagnostic for answer in triton.compile_many(texts, target) if not answer]
    assert not refused


# --- descriptors that the host makes


@dataclass(frozen=True)
class Host:
    """A launch with arrays as descriptors, each with the shape of its blocks, and numbers."""

    kernel: str
    arguments: Mapping[str, Any]
    blocks: Mapping[str, list[int]]
    constexprs: Mapping[str, Any]
    grid: tuple[int, ...] = (1,)
    padding: str = "zero"


def numbers(*shape: int, dtype: Any = np.float32, row: int = 0) -> np.ndarray:
    """Random numbers, the same for the same shape; a row takes so much memory."""
    wide = (*shape[:-1], row or shape[-1])
    values = np.random.default_rng(len(shape)).normal(size=wide) * 8
    return values.astype(dtype)[..., : shape[-1]]


def copy(dtype: Any, padding: str = "zero") -> Host:
    """Rows of an array whose elements have this dtype."""
    unit = 16 // np.dtype(dtype).itemsize
    arguments = {
        "target": numbers(12, 4 * unit, dtype=dtype),
        "source": numbers(9, 3 * unit - 3, dtype=dtype, row=4 * unit),
        "row": 1,
        "column": unit,
    }
    return Host("host_copy", arguments, {"target": [4, 2 * unit], "source": [4, 2 * unit]}, {}, (3,), padding)


KINDS = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.int8, np.int32, np.uint64)


def hosts() -> dict[str, Host]:
    """All launches, by name, with new arrays."""
    layer = {"out": numbers(10, 24, dtype=np.float16), "x": numbers(10, 24), "weight": numbers(24), "eps": 1e-5}
    ids = np.array([3, 1, 25, 0, 19, -1, 7, 3], np.int32)
    gather = {"target": numbers(8, 24), "source": numbers(20, 20), "ids": ids}
    sizes = {"sizes": np.zeros(5, np.int64), "source": numbers(9, 20, row=24)}
    return {
        **{f"copy_{np.dtype(dtype)}": copy(dtype) for dtype in KINDS},
        "copy_nan": copy(np.float32, "nan"),
        "layer": Host("host_layer", layer, {"out": [4, 32], "x": [4, 32], "weight": [32]}, {"BLOCK": 32}, (3,)),
        "gather": Host("host_gather", gather, {"target": [1, 16], "source": [1, 16]}, {"COUNT": 8}),
        "sizes": Host("host_sizes", sizes, {"source": [2, 8]}, {}),
    }


FILE = CASES[0].path


@pytest.mark.parametrize("name", hosts())
def test_host_descriptors(name: str) -> None:
    host = hosts()[name]
    spelled = {key: spelled_type(host, key, value) for key, value in host.arguments.items()}
    signature = spelled | dict.fromkeys(host.constexprs, "constexpr")
    source = Source(FILE.read_text(encoding="utf-8"), host.kernel, signature, host.constexprs)
    (theirs,) = interpreter.launch_many([Launch(source, host.grid, list(host.arguments.values()))])
    assert theirs, theirs.diagnostic
    arguments = {
        key: TensorDescriptor.from_tensor(value, host.blocks[key], host.padding) if key in host.blocks else value
        for key, value in host.arguments.items()
    }
    kernel = sources.load(source.text, str(FILE))[host.kernel]
    kernel[host.grid](**arguments, **host.constexprs)
    for (key, value), expected in zip(host.arguments.items(), theirs.values, strict=True):
        if isinstance(value, np.ndarray):
            closeness.check(f"{key} of {name}", value, expected, closeness.Rounding(2.0))


def spelled_type(host: Host, name: str, value: Any) -> str:
    """The type of an argument, as a signature has it."""
    if not isinstance(value, np.ndarray):
        return "fp32" if isinstance(value, float) else "i32"
    if name not in host.blocks:
        return "*i32"
    return f"tensordesc<fp32{host.blocks[name]}, {host.padding}, >"


def test_sizes_of_descriptors_are_specialized() -> None:
    """A GPU without a copy engine needs this to load four elements at once."""
    kernel = sources.load(FILE.read_text(encoding="utf-8"), str(FILE))["host_copy"]
    array = numbers(64, 48)
    compiled = kernel.warmup(*[TensorDescriptor.from_tensor(array, [32, 16])] * 2, 0, 0)
    assert compiled.signature["source"] == "tensordesc<fp32[32, 16], zero, base shape.0 shape.1 strides.0>"
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    assert "ld.global.v4" in compiled.lower("sm_80").asm["ptx"]


def test_the_copy_engine() -> None:
    """Real Triton lets the copy engine load and store blocks; the emulator emulates it."""
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    names = sources.load(FILE.read_text(encoding="utf-8"), str(FILE))
    target, source = np.zeros((16, 16), np.float32), numbers(9, 40)
    kernel = names["host_copy"][1,](
        *(TensorDescriptor.from_tensor(array, [16, 16]) for array in (target, source)), 0, 16, backend="emulator"
    )
    expected = np.zeros((16, 16), np.float32)
    expected[:9] = source[:, 16:32]
    np.testing.assert_array_equal(target, expected)
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]


def test_found_on_disk_again(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        kernel = sources.load(FILE.read_text(encoding="utf-8"), str(FILE))["host_copy"]
        target, source = np.zeros((16, 16), np.float32), numbers(16, 16)
        kernel[1,](*(TensorDescriptor.from_tensor(array, [16, 16]) for array in (target, source)), 0, 0)
        np.testing.assert_array_equal(target, source)


def test_a_shape_larger_than_the_memory() -> None:
    kernel = sources.load(FILE.read_text(encoding="utf-8"), str(FILE))["host_copy"]
    target, source = np.zeros((16, 16), np.float32), numbers(12, 16)
    wrong = TensorDescriptor(source, [16, 16], [16, 1], [16, 16])
    with pytest.raises(IndexError, match=r"source\.base\[192\] is out of bounds; source\.base has 192 elements"):
        kernel[1,](TensorDescriptor.from_tensor(target, [16, 16]), wrong, 0, 0)


# --- what is refused, and in which words

ARRAY = numbers(12, 16)
NO_DESCRIPTORS: dict[str, tuple[Any, ...]] = {
    "rank mismatch": (ARRAY, [12, 16], [1], [4, 16]),
    "rank must not be zero": (ARRAY, [], [], []),
    "rank cannot be more than 5": (ARRAY, [1] * 6, [16] * 5 + [1], [1] * 6),
    "base must be 16-byte aligned": (ARRAY[:, 1:], [12, 15], [16, 1], [4, 16]),
    "strides must be 16-byte aligned": (ARRAY, [12, 15], [15, 1], [4, 16]),
    "shape must be positive": (ARRAY, [0, 16], [16, 1], [4, 16]),
    "Last dimension must be contiguous": (ARRAY, [12, 8], [16, 2], [4, 16]),
    "Illegal value for padding": (ARRAY, [12, 16], [16, 1], [4, 16], "one"),
    "Padding option `nan` is only supported for floating point tensors": (
        *(ARRAY.astype(np.int32), [12, 16], [16, 1], [4, 16], "nan"),
    ),
    "round_f32_to_tf32 is only supported for float32 tensors": (
        *(ARRAY.astype(np.float16), [12, 16], [16, 1], [4, 16], "zero", True),
    ),
}


@pytest.mark.parametrize("sentence", NO_DESCRIPTORS)
def test_no_descriptor(sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        TensorDescriptor(*NO_DESCRIPTORS[sentence])


WRONG = {
    "rank 0": "tl.make_tensor_descriptor(p, [], [], [])",
    "rank 6": "tl.make_tensor_descriptor(p, [n, n, n, n, n, n], [n, n, n, n, n, 1], [1, 1, 1, 1, 1, 16])",
    "strides": "tl.make_tensor_descriptor(p, [n, n], [1], [8, 16])",
    "short rows": "tl.make_tensor_descriptor(p, [n, n], [n, 1], [8, 2])",
    "short rows of halves": "tl.make_tensor_descriptor(h, [n, n], [n, 1], [8, 4])",
    "last stride": "tl.make_tensor_descriptor(p, [n, n], [n, 2], [8, 16])",
    "block shape": "tl.make_tensor_descriptor(p, [n, n], [n, 1], [12, 16])",
    "padding of integers": "tl.make_tensor_descriptor(q, [n, n], [n, 1], [8, 16], padding_option='nan')",
    "unknown padding": "tl.make_tensor_descriptor(p, [n, n], [n, 1], [8, 16], padding_option='one')",
    "one offset": "tiles.load([n])",
    "wide offset": "tiles.load([wide, 0])",
    "large offset": "tiles.load([0, 4294967296])",
    "offsets of a store": "tiles.store([0], tiles.load([0, 0]))",
    "sum of int64": "longs.atomic_add([0, 0], longs.load([0, 0]))",
    "sum of fp64": "doubles.atomic_add([0, 0], doubles.load([0, 0]))",
    "largest of fp32": "tiles.atomic_max([0, 0], tiles.load([0, 0]))",
    "bits of fp32": "tiles.atomic_or([0, 0], tiles.load([0, 0]))",
    "gather in tiles": "tiles.gather(tl.arange(0, 8), 0)",
    "gather in a line": "line.gather(tl.arange(0, 8), 0)",
    "gather of few rows": "rows.gather(tl.arange(0, 4), 0)",
    "gather by a matrix": "rows.gather(tl.arange(0, 8)[:, None], 0)",
    "gather of few columns": "narrow.gather(tl.arange(0, 8), 0)",
    "gather without a column": "rows.gather(tl.arange(0, 8))",
    "scatter of few rows": "rows.scatter(tl.zeros((4, 16), tl.float32), tl.arange(0, 4), 0)",
}
WITHOUT_WORDS = {
    "largest of fp16": "halves.atomic_max([0, 0], halves.load([0, 0]))",
    "float offset": "tiles.load([0, 1.5])",
    "store of another shape": "tiles.store([0, 0], tl.zeros((16, 8), tl.float32))",
    "store of a number": "tiles.store([0, 0], 1.0)",
    "sum of another dtype": "tiles.atomic_add([0, 0], tl.zeros((8, 16), tl.float16))",
    "scatter of another dtype": "rows.scatter(tl.zeros((8, 16), tl.float16), tl.arange(0, 8), 0)",
    "scatter of another shape": "rows.scatter(tl.zeros((16, 16), tl.float32), tl.arange(0, 8), 0)",
    "no pointer": "tl.make_tensor_descriptor(n, [n, n], [n, 1], [8, 16])",
}
TYPES = {"p": "*fp32", "q": "*i32", "h": "*fp16", "w": "*i64", "d": "*fp64", "n": "i32", "wide": "i64"}
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(p, q, h, w, d, n, wide):
    tiles = tl.make_tensor_descriptor(p, [n, n], [n, 1], [8, 16])
    rows = tl.make_tensor_descriptor(p, [n, n], [n, 1], [1, 16])
    line = tl.make_tensor_descriptor(p, [n], [1], [16])
    narrow = tl.make_tensor_descriptor(p, [n, n], [n, 1], [1, 4])
    halves = tl.make_tensor_descriptor(h, [n, n], [n, 1], [8, 16])
    longs = tl.make_tensor_descriptor(w, [n, n], [n, 1], [8, 16])
    doubles = tl.make_tensor_descriptor(d, [n, n], [n, 1], [8, 16])
    {expression}
"""


def wrong_kernel(expression: str) -> Source:
    return Source(KERNEL.format(expression=expression), "kernel", TYPES, target="sm_80")


@functools.cache
def sentences() -> dict[str, str]:
    """Real Triton's error for each."""
    made = triton.frontends([wrong_kernel(expression) for expression in WRONG.values()])
    return {name: answer.diagnostic for name, answer in zip(WRONG, made, strict=True)}


@pytest.mark.parametrize("name", WRONG)
def test_refused_in_tritons_words(name: str) -> None:
    said, _, _ = sentences()[name].partition(", but got [")  # constexprs, where ours are numbers
    assert said, "real Triton accepts this"
    with pytest.raises(CompilationError) as raised:
        sources.compiled(wrong_kernel(WRONG[name]))
    assert said in raised.value.message, f"real Triton: {said}"


@pytest.mark.parametrize("name", WITHOUT_WORDS)
def test_refused(name: str) -> None:
    with pytest.raises(CompilationError):
        sources.compiled(wrong_kernel(WITHOUT_WORDS[name]))

"""The coalescing report beside real Triton: the layouts it chooses, and the instructions that its PTX ends with."""

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import shape_of
from mini_triton.tools import coalescing
from mini_triton.transforms.coalescing import WIDEST, Access, accesses
from mini_triton.transforms.manager import optimize

from tests.corpus import CASES
from tests.corpus.cases import KERNELS
from tests.oracles import triton
from tests.support import sources
from tests.support.m09_passes.widths import Instruction, chosen, instructions

STRIDED = KERNELS / "strided.py"
OTHER_WIDTHS = {
    ("rotary", "load", 32): "the layout that `tl.split` needs moves up to the load: half of the threads load 8 bytes",
}
"""Accesses whose instructions differ from the report, and why."""


P = "*fp32:16"
APART = "its elements are not known to be neighbors in memory"


@dataclass(frozen=True)
class Planted:
    """A kernel of `strided.py` for arguments with which one access is not wide, and for others with which all are."""

    kernel: str
    strided: str  # signatures
    wide: str
    code: str  # on the line of the access
    reason: str

    def __str__(self) -> str:
        return self.kernel


PLANTED = [
    Planted("every_stride", f"{P}, {P}, i32:16, i32, 1024", f"{P}, {P}, i32:16, 1, 1024",
            "at * stride", f"{APART}: they are `stride` apart (line 11)"),
    Planted("copy_tile", f"{P}, {P}, i32:16, 1, i32:16, 32, 32", f"{P}, {P}, 1, i32:16, i32:16, 32, 32",
            "tl.load", "those of strided.py:21 lie along axis 1: threads exchange elements through shared memory"),
    Planted("pairs", f"{P}, {P}, 1024, True", f"{P}, {P}, 1024, False",
            "tl.load", "only 2 elements lie along this axis"),
    Planted("thin_out", f"{P}, {P}, 1024, 2", f"{P}, {P}, 1024, 1",
            "tl.load", f"{APART}: they are 2 apart (line 37)"),
    Planted("heights", f"{P}, {P}, 3, 1, 1024", f"{P}, {P}, 1, i32:16, 1024",
            "tl.load", f"{APART}: they are 3 apart (line 44)"),
    Planted("rotate", f"{P}, {P}, i32, 1024", f"{P}, {P}, i32:16, 1024",
            "tl.load", f"{APART}: `%` starts again at `n` (line 52)"),
    Planted("pick_rows", f"{P}, {P}, *i32:16, 1024, False", f"{P}, {P}, *i32:16, 1024, True",
            "x + chosen", f"{APART}: they depend on what is read from memory (line 60)"),
    Planted("copy", f"{P}, *fp32, 1024", f"{P}, {P}, 1024",
            "tl.load", "a multiple of 1 byte only: `x` is not known to be aligned to 16 bytes"),
    Planted("copy_rows", f"{P}, {P}, i32, 1024", f"{P}, {P}, i32:16, 1024",
            "tl.load", "a multiple of 4 bytes only: `stride` is not known to be a multiple of 4"),
    Planted("copy_part", f"{P}, {P}, i32, 1024", f"{P}, {P}, i32:16, 1024",
            "tl.load", "constant over runs of 1 element only: `n` is not known to be a multiple of 4"),
]  # fmt: skip
planted = pytest.mark.parametrize("planted", PLANTED, ids=str)


def module_of(kernel: str, signature: str) -> Module:
    """A kernel of `strided.py`, compiled as the command compiles it."""
    found = sources.load(STRIDED.read_text(encoding="utf-8"), str(STRIDED))[kernel]
    return parse_module(str(coalescing.compile(coalescing.source_of(found, signature)).texts["passes"]))


@functools.cache
def modules() -> dict[str, str]:
    """Optimised modules with their source locations: the corpus, the same of unaligned arguments, `strided.py`.

    Products of matrices of unaligned arguments are left out: real Triton takes long for them.
    """
    made: dict[str, Module] = {}
    for case in CASES:
        made[str(case)] = sources.compiled(case.source(), str(case.path))
        if all(operation.name != "tt.dot" for operation in made[str(case)].walk()):
            made[f"{case}, unaligned"] = sources.compiled(replace(case.source(), divisible=()), str(case.path))
    for module in made.values():
        optimize(module)
    for planted in PLANTED:
        made[f"{planted}, strided"] = module_of(planted.kernel, planted.strided)
        made[f"{planted}, wide"] = module_of(planted.kernel, planted.wide)
    return {name: print_module(module, locations=True) for name, module in made.items()}


def reported(text: str) -> Mapping[Instruction, set[int]]:
    """The report on a module, in the form of `instructions` for PTX."""
    found: dict[Instruction, set[int]] = defaultdict(set)
    for access in accesses(parse_module(text)):
        loc = access.operation.loc
        assert loc
        found[Instruction(access.operation.name[3:], loc.line, loc.column)].add(access.bytes)
    return found


def test_layouts_are_real_tritons() -> None:
    """But for loads that share the layout of a wider access of the same shape, when they depend on the same values."""
    count = 0
    for (name, text), ttgir in zip(modules().items(), triton.coalesced([*modules().values()]), strict=True):
        found = list(accesses(parse_module(text)))
        alone = [min(*access.limits[:3], max(1, WIDEST // access.element)) for access in found]
        widest = {(shape(access), access.axis): 0 for access in found}
        for access, elements in zip(found, alone, strict=True):
            widest[shape(access), access.axis] = max(widest[shape(access), access.axis], elements)
        for access, elements, (kind, axis, theirs) in zip(found, alone, chosen(ttgir), strict=True):
            count += 1
            assert (access.operation.name[3:], access.axis) == (kind, axis), f"{name}: {access}, theirs along {axis}"
            shared = widest[shape(access), axis] if kind == "load" else elements
            assert theirs in (elements, shared), f"{name}: {access}, {elements} elements a thread, theirs {theirs}"
    assert len(modules()) > 120 and count > 530


def shape(access: Access) -> tuple[int, ...]:
    """The shape of the loaded or stored tensor."""
    return shape_of(access.operation.operands[0].type)


def test_widths_are_those_of_real_tritons_ptx() -> None:
    different, count = {}, 0
    for (name, text), ptx in zip(modules().items(), triton.assembled([*modules().values()]), strict=True):
        theirs = instructions(ptx)
        for place, widths in reported(text).items():
            count += 1
            if theirs.get(place) != widths:
                different[name, place.kind, place.line] = f"{widths} bytes, theirs {theirs.get(place)}"
    assert different.keys() == OTHER_WIDTHS.keys(), different
    assert count > 510


@planted
def test_a_strided_access_is_found(planted: Planted) -> None:
    blamed = [text for text in coalescing.report(module_of(planted.kernel, planted.strided)) if planted.reason in text]
    (text,) = blamed
    place, line, *_ = text.splitlines()
    number = int(place.partition(":")[2].split()[0])
    assert planted.code in line and line.strip() == STRIDED.read_text(encoding="utf-8").splitlines()[number - 1].strip()


@planted
def test_nothing_is_found_without_strided_accesses(planted: Planted) -> None:
    for text in coalescing.report(module_of(planted.kernel, planted.wide)):
        assert "16 bytes" in text and len(text.splitlines()) == 2, text


def test_every_narrow_access_has_a_reason() -> None:
    for name, text in modules().items():
        module = parse_module(text)
        for access, said in zip(accesses(module), coalescing.report(module), strict=True):
            narrow = access.bytes < max(WIDEST, access.element)
            assert len(said.splitlines()) >= 2 + narrow, f"{name}: {said}"


# --- the command


@pytest.fixture
def file(tmp_path: Path) -> str:
    """`strided.py` with imports from mini_triton."""
    path = tmp_path / "strided.py"
    path.write_text(sources.translated(STRIDED.read_text(encoding="utf-8")), encoding="utf-8")
    return str(path)


def test_the_command(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    coalescing.main([file, "copy_part", "--signature", f"{P}, {P}, i32, 1024"])
    assert capsys.readouterr().out.splitlines() == [
        "strided.py:82  load   4 bytes per instruction; threads along axis 0",
        "    tl.store(out + at, tl.load(x + at, mask=at < n, other=0.0))",
        "    its mask is known to be constant over runs of 1 element only: `n` is not known to be a multiple of 4",
        "strided.py:82  store 16 bytes per instruction; threads along axis 0",
        "    tl.store(out + at, tl.load(x + at, mask=at < n, other=0.0))",
    ]
    coalescing.main([file, "copy_part", "--signature", f"{P}, {P}, i32:16, 1024", "--num-warps", "16"])
    assert "a program has only 2 elements for each thread" in capsys.readouterr().out


@pytest.mark.parametrize(
    "kernel, signature, message",
    [
        ("cpy", "*fp32", "there is no kernel cpy; the file has every_stride, copy_tile,"),
        ("triton", "*fp32", "there is no kernel triton"),
        ("copy", "*fp32, *fp32", "copy has 3 parameters (out, x, SIZE), and the signature has 2"),
        ("copy", "*fp32, *f32, 64", "there is no type 'f32', only"),
        ("copy", "*fp32:8, *fp32, 64", "out: only :16 may follow a type, not :8"),
        ("copy", "*fp32, *fp32, i32", "SIZE is a constant: it needs a value, not 'i32'"),
        ("copy", "*fp32, , 64", "x is a constant: it needs a value, not ''"),
        ("copy", "*fp32, *fp32, 100", "power of 2"),
        ("copy", "*fp32, *fp32, 64:16", "SIZE is a constant: it needs a value, not '64:16'"),
    ],
)
def test_what_the_command_refuses(
    file: str, kernel: str, signature: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        coalescing.main([file, kernel, "--signature", signature])
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_the_command_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        coalescing.main(["nowhere.py", "copy", "--signature", ""])
    assert "there is no file nowhere.py" in capsys.readouterr().err

"""Task 10.4: variants of a kernel behind one C function. Tests compile it, and check which variant it launches."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.tools.link import Compiled, LinkError, condition, group, read_header
from mini_triton.tools.variant import c_type

from tests.checks import calling, described, one_in
from tests.oracles import ahead, triton
from tests.support.m10_gpu.c_programs import INVALID_VALUE, Folder, StandIn, made_up_code

KERNEL = "@triton.jit\ndef kernel({parameters}):\n    pass\n"
TYPES = ("*fp32", "i32", "i64", "u8", "i16")
VALUES = (1, 16, 17, 3, 0, 48, -16, -1)
COMMON = Compiled("add_1a_0d", "64_warps1xstages3", {"x": "CUdeviceptr", "n": "int32_t"}, [16, None])


@st.composite
def variants(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """The types of a kernel's arguments, and each variant's hint for each argument: ":16", ":1" or none."""
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4))
    hints = st.tuples(*(st.sampled_from(["", ":16"] if type == "*fp32" else ["", ":16", ":1"]) for type in types))
    chosen = draw(st.lists(hints, min_size=1, max_size=4, unique=True))
    return types, [list(variant) for variant in chosen]


@one_in(10)
@given(variants(), st.data())
@example((["*fp32", "i32"], [["", ""], [":16", ""], [":16", ":1"], [":16", ":16"]]), None)
@example((["i32"] * 12, [[""] * 10 + [":16", ""], [""] * 12]), None)
@example((["i32", "i32"], [["", ":16"]]), None)
@example((["i32", "i32"], [[":1", ""], ["", ":16"], [":16", ""]]), None)
def test_the_most_special_valid_variant(question: tuple[list[str], list[list[str]]], data: Any) -> None:
    types, hints = question
    # A constant comes first: the numbers in names count it, but the C function has no parameter for it.
    parameters = ["B: tl.constexpr", *(f"p{i}" for i in range(len(types)))]
    text = KERNEL.format(parameters=", ".join(parameters))
    with Folder() as folder, made_up_code() as codes:
        headers, sources = [], []
        for variant in hints:
            signature = ", ".join(["64", *map("".join, zip(types, variant, strict=True))])
            _, (source, header) = folder.compile(text, "kernel", signature)
            headers.append(header)
            sources.append(source)
        driver = StandIn(folder.build([*sources, *folder.link(headers, "kernel")]), codes)
        known = dict(zip(codes, hints, strict=True))
        for values in values_for(types, data):
            right = [number for number, variant in enumerate(hints) if all(map(holds, variant, values))]
            words = (
                f"kernel_default(stream, {', '.join(map(str, values))}), where variants of {types} have hints {hints}"
            )
            call = described(words, driver.call, "kernel_default", ["CUstream", *map(c_type, types)], 0, *values)
            before = len(driver.launches)
            call.returns(
                0 if right else INVALID_VALUE, because="" if right else "no variant is valid for these arguments"
            )
            got = [known[launch.code] for launch in driver.launches[before:]]
            best = sorted(right, key=lambda number: -sum(map(bool, hints[number])))[:1]
            if got != [hints[number] for number in best]:
                call.fail(f"a launch of the variant {[hints[number] for number in best]}", got)


def values_for(types: list[str], data: Any) -> list[tuple[int, ...]]:
    """Values to call a dispatcher with."""
    if data is None:
        return [values + (3,) * (len(types) - 2) for values in itertools.product((16, 17, 1, 48), repeat=2)][:16] + [
            (3,) * (len(types) - 2) + values for values in ((16, 1), (1, 16), (7, 7))
        ]
    some = [st.sampled_from([abs(value) for value in VALUES] if type in ("u8", "*fp32") else VALUES) for type in types]
    return [data.draw(st.tuples(*some), label="values") for _ in range(12)]


def holds(hint: str | int | None, value: int) -> bool:
    """Whether a hint, of a signature or of the linker, holds for a value."""
    return not hint or (value == 1 if hint in (1, ":1") else value % 16 == 0)


def test_conditions() -> None:
    """The conditions for all hints of two arguments, each compiled as a C function."""
    chosen = [list(hints) for hints in itertools.product((None, 1, 16), repeat=2)]
    calls, lines = [], ["#include <cuda.h>", "#include <stdint.h>"]
    for number, hints in enumerate(chosen):
        variant = Compiled("add_1a_0d", "64_warps1xstages3", {"x": "CUdeviceptr", "n": "int32_t"}, hints)
        calls.append(described(f"condition(<with hints {hints} for x and n>)", condition, variant))
        head = f"int right{number}(CUdeviceptr x, int32_t n)"
        lines += [f"{head};", f"{head} {{ (void)x; (void)n; return ({calls[-1].succeeds()}) != 0; }}"]
    with Folder() as folder:
        source = folder.path / "conditions.c"
        source.write_text("\n".join([*lines, ""]))
        program = folder.build([source])
        for (number, hints), x, n in itertools.product(enumerate(chosen), VALUES, VALUES):
            right = all(map(holds, hints, (x, n)))
            if program.call(f"right{number}", ["CUdeviceptr", "int32_t"], x, n) != right:
                calls[number].fail(f"C that is {'true' if right else 'false'} for x = {x} and n = {n}", calls[number]())


def test_algorithms_differ_in_constants_and_options() -> None:
    text = KERNEL.format(parameters="x, n, B: tl.constexpr")
    with Folder() as folder, made_up_code() as codes:
        headers, sources = [], []
        expected: list[tuple[int, int, str]] = []
        for block, warps in ((64, 1), (128, 1), (64, 4), (128, 1)):
            hint = ":16" if (block, warps) == (64, 1) or len(expected) == 3 else ""
            _, (source, header) = folder.compile(text, "kernel", f"*fp32, i32{hint}, {block}", num_warps=warps)
            headers.append(header)
            sources.append(source)
            expected.append((block, warps, hint))
        driver = StandIn(folder.build([*sources, *folder.link(headers, "kernel")]), codes)
        types = ["CUstream", "CUdeviceptr", "int32_t"]
        described("kernel_get_num_algos()", driver.call, "kernel_get_num_algos").returns(
            3, because="two of the four variants differ only in a hint"
        )
        known = dict(zip(codes, expected, strict=True))
        for number, value, wanted in (
            (0, 16, (64, 1, ":16")), (1, 16, (128, 1, ":16")), (1, 3, (128, 1, "")), (2, 16, (64, 4, "")),
        ):  # fmt: skip
            described(
                f"kernel(stream, x, {value}, algo_id={number})",
                driver.call,
                "kernel",
                [*types, "int32_t"],
                0,
                4096,
                value,
                number,
            ).returns(0)
            got = known[driver.launches[-1].code]
            assert got == wanted, f"algorithm {number} for n = {value}\n  expected  {wanted}\n  got       {got}"
        for number in (-1, 3, 4, 1000):
            described(
                f"kernel(..., algo_id={number})", driver.call, "kernel", [*types, "int32_t"], 0, 4096, 16, number
            ).returns(INVALID_VALUE, because="there are three algorithms")
        assert driver.call("kernel_default", types, 0, 4096, 3) == INVALID_VALUE, "the default is algorithm 0"


def test_all_variants_are_loaded_and_unloaded() -> None:
    text = KERNEL.format(parameters="x, n")
    with Folder() as folder, made_up_code() as codes:
        made = [folder.compile(text, "kernel", f"*fp32, i32{hint}")[1] for hint in ("", ":1", ":16")]
        program = folder.build([source for source, _ in made] + folder.link([header for _, header in made], "kernel"))
        driver = StandIn(program, codes)
        driver.call("load_kernel")
        assert driver.calls == ["load", "function"] * 3
        driver.call("unload_kernel")
        assert driver.calls[6:] == ["unload"] * 3


def test_invalid_headers() -> None:
    calling(read_header, "#include <cuda.h>\nint add(int x);\n").returns([])
    calling(group, []).raises(LinkError, because="there are no variants to link")


@pytest.mark.parametrize(
    "other",
    [
        Compiled("sub_1a_0d", "64_warps1xstages3", {"x": "CUdeviceptr", "n": "int32_t"}, [16, None]),
        Compiled("add_2b_", "64_warps1xstages3", {"x": "CUdeviceptr", "n": "int64_t"}, [None, None]),
        Compiled("add_2b_", "128_warps1xstages3", {"x": "CUdeviceptr", "m": "int32_t"}, [None, None]),
        Compiled("add_2b_", "64_warps1xstages3", {"x": "CUdeviceptr"}, [None]),
        Compiled("add_2b_", "64_warps1xstages3", {"n": "int32_t", "x": "CUdeviceptr"}, [None, None]),
    ],
    ids=str,
)
def test_variants_that_do_not_fit_together(other: Compiled) -> None:
    for chosen in ([COMMON, other], [COMMON, COMMON, other], [other, COMMON]):
        names = [variant.name for variant in chosen]
        call = described(f"group(<{', '.join(map(str, chosen))}>)", group, chosen)
        call.raises(LinkError, names[0], names[-1], because="a C function has a single list of arguments")


def test_the_order_of_headers() -> None:
    made = [
        Compiled(f"add_{9 - i}_", f"{64 if i in (1, 3) else 128}_warps1xstages3", COMMON.arguments, [None, None])
        for i in range(4)
    ]
    call = described(f"group(<{', '.join(variant.name for variant in made)}>)", group, iter(made))
    call.returns(
        {"128_warps1xstages3": [made[0], made[2]], "64_warps1xstages3": [made[1], made[3]]},
        because="algorithms are numbered in the order of the headers",
    )


def test_tritons_own_linker_reads_our_headers() -> None:
    if triton.version().startswith("3.6"):
        return  # Triton 3.6 wants every number in a suffix, later versions only numbers with a hint
    text = KERNEL.format(parameters="x, n, m, B: tl.constexpr")
    hints = ("", ""), (":16", ""), (":16", ":16")
    with Folder() as folder, made_up_code() as codes:
        made = [folder.compile(text, "kernel", f"*fp32{x}, i32{n}, i64, 64")[1] for x, n in hints]
        linked = ahead.link({header.name: header.read_text() for _, header in made}, "kernel")
        files = [source for source, _ in made]
        Path(folder.path, "kernel.c").write_text(linked.source)
        driver = StandIn(folder.build([*files, folder.path / "kernel.c"], strict=False), codes)
        known = dict(zip(codes, hints, strict=True))
        for (x, n), wanted in (((16, 16), 2), ((16, 3), 1), ((4, 16), 0)):
            assert driver.call("kernel_default", ["CUstream", "CUdeviceptr", "int32_t", "int64_t"], 0, x, n, 5) == 0
            assert known[driver.launches[-1].code] == hints[wanted], (
                f"Triton's dispatcher should choose the variant with the hints {hints[wanted]} for {x}, {n}"
            )

"""Random kernels without loops and branches, with reductions and scans of integers. See `straight_line.py`."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.m06_codegen.kernel_text import tensor
from tests.support.m06_codegen.straight_line_kernels import STEPS, Recipe, Step, Typed

BY_UFUNC = ("addi", "muli", "maxsi", "minsi", "andi", "ori", "xori")
BY_FUNCTION = {
    "first": ((), "%a0"),
    "last": ((), "%b0"),
    # The larger number, and of equal ones the first, with its index.
    "largest": (
        (
            "%above = arith.cmpi sgt, %a0, %b0 : i32",
            "%same = arith.cmpi eq, %a0, %b0 : i32",
            "%before = arith.cmpi slt, %a1, %b1 : i32",
            "%tie = arith.andi %same, %before : i1",
            "%left = arith.ori %above, %tie : i1",
            "%best = arith.select %left, %a0, %b0 : i32",
            "%place = arith.select %left, %a1, %b1 : i32",
        ),
        "%best, %place",
    ),
    # Functions f(x) = x * a0 + a1, one after the other.
    "affine": (
        (
            "%factor = arith.muli %a0, %b0 : i32",
            "%moved = arith.muli %a1, %b0 : i32",
            "%term = arith.addi %moved, %b1 : i32",
        ),
        "%factor, %term",
    ),
}
"""Lines that combine elements a with elements b, and what comes out. The order of the elements matters to all."""
KINDS = (*BY_UFUNC, *BY_FUNCTION)


class Combined(Recipe):
    """A recipe with two more steps."""

    def reduce(self, kind: int, which: int, axis: int) -> None:
        self.combined("tt.reduce", kind, which, axis, "")

    def scan(self, kind: int, which: int, axis: int) -> None:
        self.combined("tt.scan", kind, which, axis // 2, f", reverse = {str(bool(axis % 2)).lower()}")

    def combined(self, operation: str, kind: int, which: int, axis: int, more: str) -> None:
        """Combine the elements of one or two tensors along an axis."""
        first = self.pick(which, lambda shape, element: element == "i32" and shape != ())
        if not first:
            return
        _, shape, _ = first
        at = axis % len(shape)
        result = shape if operation == "tt.scan" else shape[:at] + shape[at + 1 :]
        name = KINDS[kind % len(KINDS)]
        lines, ends = BY_FUNCTION.get(name, ((f"%s = arith.{name} %a0, %b0 : i32",), "%s"))
        count = len(ends.split(", "))
        sources: list[Typed] = [first, *([self.integers(which + 1, shape) or first] if count == 2 else [])]
        results = [f"%v{next(self.numbers)}" for _ in sources]
        arguments = ", ".join(f"%{side}{i}: i32" for side in "ab" for i in range(count))
        self.lines += [
            f'{", ".join(results)} = "{operation}"({", ".join(source[0] for source in sources)}) ({{',
            f"^bb0({arguments}):",
            *(f"  {line}" for line in lines),
            f"  {operation}.return {ends} : {', '.join(['i32'] * count)}",
            f"}}) {{axis = {at} : i32{more}}} : ({', '.join([tensor('i32', *shape)] * count)}) -> "
            + (f"({', '.join([tensor('i32', *result)] * count)})" if count > 1 else tensor("i32", *result)),
        ]
        self.values += [(made, result, "i32") for made in results]
        self.used.update(source[0] for source in sources)


_kinds = st.integers(0, len(KINDS) - 1)
_places = st.integers(0, 5)
_combining = [st.tuples(st.sampled_from(["reduce", "scan"]), _kinds, _places, _places) for _ in range(10)]
BEGINNING: tuple[Step, ...] = (("range", 0, 3), ("load", 0), ("id", 0), ("splat", 0, 2), ("elementwise", 2, 0, 1))
"""Eight numbers that are read, eight that each program has of its own."""
recipes: st.SearchStrategy[list[Step]] = st.lists(st.one_of(*STEPS, *_combining), min_size=1, max_size=6).map(
    lambda steps: [*BEGINNING, *steps]
)

"""Run one pass on a module in a text; compare the result with expected modules, with runs, and with real Triton.

after = put(merge_equal, text).leaves({"arith.addi": 1}, "they have the same operands")
put(merge_equal, text).changes_nothing("memory may differ")
put(merge_equal, text).computes_the_same((4,), [x, out])
put(merge_equal, text).leaves_no_more_than("cse")
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from mini_triton.analysis.effects import is_dead
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Module, Operation, Value
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify

from tests.checks import described
from tests.corpus import CASES
from tests.oracles import triton
from tests.support import sources
from tests.support.m05_frontend.random_kernels import Kernel, launch
from tests.support.m06_codegen import numpy_backend
from tests.support.m09_passes import count

Pass = Callable[[Operation], bool]


def kernel(parameters: str, lines: str) -> str:
    """The text of a kernel: `kernel("p: *i32, n: i32", lines)`."""
    pairs = [parameter.split(": ") for parameter in parameters.split(", ") if parameter]
    types = [f"%{name}: !tt.ptr<{type[1:]}>" if type.startswith("*") else f"%{name}: {type}" for name, type in pairs]
    return f"module {{\ntt.func public @kernel({', '.join(types)}) {{\n{lines}\ntt.return\n}}\n}}\n"


class put(described):
    """A pass that runs on the module in a text."""

    def __init__(self, run: Pass, text: str) -> None:
        super().__init__(f"{run.__name__}(module)", self.run, run, text)
        self.pass_ = run
        self.text = text

    def __repr__(self) -> str:
        return f"{self.words}, where the module is\n{print_module(parse_module(self.text))}"

    def run(self, run: Pass, text: str) -> tuple[Module, bool]:
        """The module after the pass, and what the pass returned."""
        module = parse_module(text)
        return module, run(module)

    @functools.cached_property
    def left(self) -> Module:
        """The module after the pass: it is valid, a second run does not change it, and the returned flag is right."""
        __tracebackhide__ = True
        module, changed = self.succeeds("a smaller module")
        after = print_module(module)
        try:
            verify(module)
        except VerificationError as error:
            self.refuse("a valid module", f"{error.message}, in\n{after}")
        really = after != print_module(parse_module(self.text))
        if changed is not really:
            self.refuse(f"{really} (whether the module changed)", f"{changed!r}, with the module\n{after}")
        again = described("a second run of the pass", self.pass_, module).succeeds("no more changes")
        if again or print_module(module) != after:
            expected = f"False, and no change, from a second run; after your first run:\n{after}"
            got = f"{again}; after your second run:\n{print_module(module)}"
            self.refuse(expected, got, "the first run must leave nothing for the second one to do")
        return module

    def refuse(self, expected: str, got: str, because: str = "") -> None:
        """Fail, with unchanged texts."""
        __tracebackhide__ = True
        self.fail(expected, Shown(got), because)

    def leaves(self, expected: Mapping[str, int], because: str = "") -> Module:
        """Check how many operations of these names the pass leaves. Returns the module."""
        __tracebackhide__ = True
        found = operations(self.left)
        if any(found[name] != number for name, number in expected.items()):
            words = ", ".join(f"{number} {name}" for name, number in expected.items())
            self.refuse(f"{words} after the pass", f"\n{print_module(self.left)}", because)
        return self.left

    def leaves_text(self, expected: str, because: str = "") -> None:
        """Check that the pass leaves this module, except for names of values."""
        __tracebackhide__ = True
        if nameless(self.left) != nameless(parse_module(expected)):
            shown = print_module(parse_module(expected))
            self.refuse(f"\n{shown}", f"\n{print_module(self.left)}", because)

    def changes_nothing(self, because: str = "") -> None:
        """Check that the pass does not change the module, and returns False."""
        __tracebackhide__ = True
        self.leaves_text(self.text, because)

    def leaves_no_more_than(self, *passes: str, tidy: str = "") -> None:
        """Require at most as many operations as real Triton's passes leave. An operation in a loop counts ten times.

        If `tidy` names one of real Triton's passes, this pass first runs on our module.
        """
        __tracebackhide__ = True
        theirs = triton.canonical(self.text, passes)
        left = parse_module(triton.canonical(print_module(self.left), [tidy])) if tidy else self.left
        ours, most = count(left), count(parse_module(theirs))
        if ours > most:
            expected = f"at most {most} operations (an operation in a loop counts ten times)"
            because = f"real Triton's {' and '.join(passes)} leave\n{theirs}"
            self.refuse(expected, f"{ours}:\n{print_module(left)}", because)

    def computes_the_same(self, grid: Sequence[int], arguments: Sequence[Any]) -> None:
        """Require that a launch leaves the same bits in all buffers as without the pass, except for bits of NaNs."""
        __tracebackhide__ = True
        modules = parse_module(self.text), self.left
        expected, got = (numpy_backend.run(module, grid, arguments, mode="interpreted") for module in modules)
        for number, (old, new) in enumerate(zip(expected, got, strict=True)):
            if isinstance(old, np.ndarray) and (differ := bits(old) != bits(new)).any():
                place = int(np.flatnonzero(differ)[0]) // old.itemsize
                where = f"element {place} of argument {number} to be {old.ravel()[place]}"
                self.refuse(where, f"{new.ravel()[place]}, by\n{print_module(self.left)}")


def bits(array: np.ndarray) -> np.ndarray:
    """The bytes of an array, with equal NaNs: the bits of `x + y` for two NaNs depend on the operands' order."""
    array = array.ravel().copy()
    if (unordered := array != array).any():
        array[unordered] = np.nan
    return array.view(np.uint8)


class Shown(str):
    """Text that a failure shows without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def operations(module: Operation) -> Counter[str]:
    """The number of operations with each name, except for names that do not count."""
    names = [operation.name for operation in module.walk() if operation.name not in ("builtin.module", "tt.func")]
    return Counter(names)


def nameless(module: Module) -> str:
    """The text of a module in which all values have numbers as names."""
    module = parse_module(print_module(module))
    for operation in module.walk():
        blocks = [block for region in operation.regions for block in region.blocks]
        for value in (*operation.results, *(argument for block in blocks for argument in block.arguments)):
            value.name = ""
    return print_module(module)


@functools.cache
def corpus(every: int = 1) -> dict[str, str]:
    """Our front end's modules for some kernels of the corpus, by name: one kernel of each `every` kernels."""
    cases = CASES[::every]
    return {str(case): print_module(sources.compiled(case.source(), str(case.path))) for case in cases}


def flow(module: Operation) -> list[str]:
    """A line for each operation except constants, in order, with its operands. Places of constants do not matter."""
    names: dict[Value, str] = {}
    lines: list[str] = []
    for operation in module.walk():
        if operation.name == "arith.constant":
            names[operation.result] = f"{operation.attributes['value']!r}: {operation.result.type}"
            continue
        for number, result in enumerate(operation.results):
            names[result] = f"%{len(lines)}#{number}: {result.type}"
        for place, block in enumerate(block for region in operation.regions for block in region.blocks):
            for argument in block.arguments:
                names[argument] = f"%{len(lines)}^{place}.{argument.index}: {argument.type}"
        used = ", ".join(names[operand] for operand in operation.operands)
        depth = sum(1 for _ in holders(operation))
        lines.append(f"{'  ' * depth}%{len(lines)} = {operation.name} {used} {sorted(operation.attributes.items())}")
    return lines


def holders(operation: Operation) -> Iterator[Operation]:
    """The operations that contain an operation."""
    while (holder := operation.parent_op) is not None:
        yield holder
        operation = holder


def without_dead(text: str) -> str:
    """A module without operations whose results nobody uses: several of real Triton's passes erase these as well."""
    module = parse_module(text)
    for operation in [*module.walk()][::-1]:
        if operation.parent is not None and operation.parent_op is not module and is_dead(operation):
            operation.erase()
    return print_module(module)


def judge_random(run: Pass, drawn: Kernel, seed: int) -> None:
    """Require that a random kernel computes the same values after a pass."""
    __tracebackhide__ = True
    asked = launch(drawn, seed, 2)
    text = print_module(sources.compiled(asked.kernel))  # type: ignore[arg-type]
    put(run, text).computes_the_same(asked.grid, asked.arguments)

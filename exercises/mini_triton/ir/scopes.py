"""Operations with regions, built in `with` blocks: loops, branches, functions.

A `with` block builds the regions of an operation. The operation and its results exist only after the block:

    with for_(builder, zero, n, one, [start]) as loop:
        (total,) = loop.carried
        yield_(builder, builder.add(total, loop.variable))
    (total,) = loop.results

The operation has the place and the location of its `with`. If an exception leaves the `with` block, or the type rule
rejects the operation, no operation is inserted. In any case, the old insertion point is restored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, BlockArgument, Module, OpResult, Region, Value
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.types import FunctionType, Type


@dataclass
class For:
    """A loop being built: its induction variable, its carried values and, after the `with`, its results."""

    variable: BlockArgument
    carried: tuple[BlockArgument, ...]
    results: tuple[OpResult, ...] = ()


@dataclass
class If:
    """A branch being built. Use `with branch.then():` once, and `with branch.otherwise():` once or not at all."""

    builder: Builder
    regions: tuple[Region, Region] = field(default_factory=lambda: (Region(), Region()))
    results: tuple[OpResult, ...] = ()

    @contextmanager
    def then(self) -> Iterator[None]:
        """Inside the `with`, operations go to the branch for a true condition."""
        # Task 3.5: A branch is a region with one block, which takes no arguments.
        raise NotImplementedError("Task 3.5: Loops and branches")

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Inside the `with`, operations go to the branch for a false condition."""
        # Task 3.5: As long as nobody calls this method, the second region has no block.
        raise NotImplementedError("Task 3.5: Loops and branches")


@dataclass
class While:
    """A `while` being built: use `before` once, then `after` once."""

    builder: Builder
    inits: tuple[Value, ...]
    regions: tuple[Region, Region] = field(default_factory=lambda: (Region(), Region()))
    results: tuple[OpResult, ...] = ()

    @contextmanager
    def before(self) -> Iterator[tuple[BlockArgument, ...]]:
        """Build the region that computes the condition; end the region with `condition`. Yields the carried values."""
        # Task 3.5: In a loop that carries an i32 and an f32, yield two block arguments: an i32 and an f32.
        raise NotImplementedError("Task 3.5: Loops and branches")

    @contextmanager
    def after(self) -> Iterator[tuple[BlockArgument, ...]]:
        """Build the body; end the body with `yield_`. Yields the values that `condition` forwarded."""
        # Task 3.5: After `condition(builder, go, a, b)`, yield two block arguments, with the types of `a` and `b`.
        # Raise nothing if `before` was not used, or if it does not end in `condition`.
        raise NotImplementedError("Task 3.5: Loops and branches")


@dataclass
class Function:
    """A function, being built or complete."""

    name: str
    type: FunctionType
    arguments: tuple[BlockArgument, ...]


@contextmanager
def region(builder: Builder, owner: Region, block: Block, terminator: str = "scf.yield") -> Iterator[None]:
    """Inside the `with`, operations go to `block`, the only block of `owner`.

    If the body does not end in a terminator, it gets a `terminator` without operands. Afterwards, the builder is where
    it was before, even after an exception.
    """
    # Task 3.5: Loops, branches and functions are built with it.
    raise NotImplementedError("Task 3.5: Loops and branches")


@contextmanager
def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> Iterator[For]:
    """An `scf.for`. Its body must end with `yield_`, which takes one value for each of `inits`."""
    inits = tuple(inits)  # the caller's list may change inside the `with`
    # Task 3.5: In a loop that counts in i64 and carries an f32, `loop.variable` is an i64 and `loop.carried` is one
    # f32.
    raise NotImplementedError("Task 3.5: Loops and branches")


@contextmanager
def if_(builder: Builder, condition: Value) -> Iterator[If]:
    """An `scf.if`. Inside the `with`, build its branches with `then` and `otherwise`."""
    # Task 3.5: An `if` without `then` is left to the rule of `scf.if`, which rejects it.
    raise NotImplementedError("Task 3.5: Loops and branches")


@contextmanager
def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    """An `scf.while`. Inside the `with`, build its regions with `before` and `after`."""
    inits = tuple(inits)
    # Task 3.5: A `while` with a missing region, or with a `before` that does not end in `condition`, is left to the
    # rule of `scf.while`, which rejects it.
    raise NotImplementedError("Task 3.5: Loops and branches")


def yield_(builder: Builder, *values: Value) -> None:
    """End the region being built with these values."""
    builder.operation("scf.yield", *values)


def condition(builder: Builder, go_on: Value, *values: Value) -> None:
    """End the `before` region of a `while`. `values` go to `after` if `go_on` is true, otherwise to the results."""
    builder.operation("scf.condition", go_on, *values)


def return_(builder: Builder, *values: Value) -> None:
    """End the function being built."""
    builder.operation("tt.return", *values)


@contextmanager
def function(
    builder: Builder,
    module: Module,
    name: str,
    inputs: Mapping[str, Type],
    results: Sequence[Type] = (),
    *,
    public: bool = True,
    divisibility: Mapping[str, int] | None = None,
) -> Iterator[Function]:
    """A `tt.func` in `module`, with argument names and types from `inputs`.

    End its body with `return_` if the function returns values. The function is added to the module when its `with`
    ends, not before. `Function.arguments` are in the order of `inputs`. `divisibility` maps argument names to known
    divisors; for a pointer, a divisor of its address in bytes. A name that is not in `inputs` has no effect.
    """
    # Task 3.6: The operation has the attributes that `func` in `toolbox/mini_triton/ir/ops/function.py` declares,
    # except `noinline`, and the location of its `with`. A known divisor is the attribute `tt.divisibility` of a block
    # argument. If an exception leaves the `with`, or if the type rule rejects the function, the module does not change.
    raise NotImplementedError("Task 3.6: Functions, modules and calls")


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    """Call a function. Returns its results.

    Raises a `TypeError` that names the function if the arguments do not have the types of the function's inputs.
    """
    # Task 3.6: Emit one `tt.call`, which is declared in the same file as `tt.func`, or nothing if the types differ.
    raise NotImplementedError("Task 3.6: Functions, modules and calls")

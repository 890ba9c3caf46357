"""Operations with regions, built in `with` blocks: loops, branches, functions.

Such an operation is made when its `with` block ends, because only then its regions are complete and its type rule
can run. Its results are there after the block:

    with for_(builder, zero, n, one, [start]) as loop:
        (total,) = loop.carried
        yield_(builder, builder.add(total, loop.variable))
    (total,) = loop.results

If the block is left by an exception, nothing is made, and the builder is back where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, BlockArgument, Module, OpResult, Region, Value
from mini_triton.ir.types import FunctionType, Type


@dataclass
class For:
    """A loop being built: its induction variable, its carried values, and in the end its results."""

    variable: BlockArgument
    carried: tuple[BlockArgument, ...]
    results: tuple[OpResult, ...] = ()


@dataclass
class If:
    """A branch being built. Use `with branch.then():` once, and `with branch.otherwise():` once or not at all.

    An `if` without `then` is refused by its type rule.
    """

    builder: Builder
    regions: tuple[Region, Region] = field(default_factory=lambda: (Region(), Region()))
    results: tuple[OpResult, ...] = ()

    @contextmanager
    def then(self) -> Iterator[None]:
        """Inside the `with`, operations go to the branch for a true condition."""
        with region(self.builder, self.regions[0], Block()):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Inside the `with`, operations go to the branch for a false condition."""
        with region(self.builder, self.regions[1], Block()):
            yield


@dataclass
class While:
    """A `while` being built: use `before` once, then `after` once."""

    builder: Builder
    inits: tuple[Value, ...]
    regions: tuple[Region, Region] = field(default_factory=lambda: (Region(), Region()))
    results: tuple[OpResult, ...] = ()

    @contextmanager
    def before(self) -> Iterator[tuple[BlockArgument, ...]]:
        """The region that computes the condition: gives the carried values; end it with `condition`."""
        block = Block([init.type for init in self.inits])
        with region(self.builder, self.regions[0], block):
            yield tuple(block.arguments)

    @contextmanager
    def after(self) -> Iterator[tuple[BlockArgument, ...]]:
        """The body: gives the values that `condition` forwarded; end it with `yield_`."""
        # Task 3.5: After `condition(builder, go, a, b)` it gives two block arguments, of the types of `a` and `b`.
        raise NotImplementedError("Task 3.5: Loops and branches")


@dataclass
class Function:
    """A function, being built or complete."""

    name: str
    type: FunctionType
    arguments: tuple[BlockArgument, ...]


@contextmanager
def region(builder: Builder, region: Region, block: Block, terminator: str = "scf.yield") -> Iterator[None]:
    """Inside the `with`, operations go to `block`, the only one of `region`.

    A block that does not end in a terminator gets an empty `terminator`. Afterwards, also after an exception, the
    builder is back where it was: `at_end` sees to that.
    """
    region.append(block)
    with builder.at_end(block):
        yield
        if block.terminator is None or block.terminator.name not in ("scf.yield", "scf.condition", "tt.return"):
            builder.operation(terminator)


@contextmanager
def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> Iterator[For]:
    """An `scf.for`: end its body with `yield_` of as many values as there are `inits`."""
    inits = tuple(inits)  # the caller's list may change inside the `with`
    # Task 3.5: `with for_(builder, lower, upper, step, [x]) as loop:` gives a `For`; its operation, and
    # `loop.results`, exist when the `with` ends, but not if its body raised. Given: `region`.
    raise NotImplementedError("Task 3.5: Loops and branches")


@contextmanager
def if_(builder: Builder, condition: Value) -> Iterator[If]:
    """An `scf.if`: its branches are built inside, with `then` and `otherwise`."""
    # Task 3.5: As for `for_`. The `If` opens its regions itself.
    raise NotImplementedError("Task 3.5: Loops and branches")


@contextmanager
def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    """An `scf.while`: its regions are built inside, with `before` and `after`."""
    inits = tuple(inits)
    # Task 3.5: As for `if_`. Given: `While`.
    raise NotImplementedError("Task 3.5: Loops and branches")


def yield_(builder: Builder, *values: Value) -> None:
    """End the region being built with these values."""
    builder.operation("scf.yield", *values)


def condition(builder: Builder, condition: Value, *values: Value) -> None:
    """End the `before` region of a `while`: if `condition` holds, `values` go to `after`, else they are the results."""
    builder.operation("scf.condition", condition, *values)


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
    """A `tt.func` in `module`, its arguments named and typed by `inputs`; end it with `return_`, if it returns values.

    The module has it when its `with` ends, not before. `Function.arguments` are in the order of `inputs`.
    `divisibility` has a known divisor of each argument named in it (for a pointer, of its address in bytes).
    """
    # Task 3.6: `inputs` of `{"x": I32}` is one block argument, named `x`. `tt.func` has the attributes `sym_name`,
    # `function_type` and `sym_visibility`, "public" or "private"; `tt.divisibility` is an attribute of the argument.
    # Given: `region`, which takes the name of a terminator that it adds if there is none.
    raise NotImplementedError("Task 3.6: Functions, modules and calls")


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    """Call a function; gives its results.

    Raises `TypeError`, naming the function, if the arguments are not of its inputs' types.
    """
    # Task 3.6: `tt.call` has the attribute `callee`, a function's name. Of a function of type `(f32) -> (i32)` the
    # result is one `i32`.
    raise NotImplementedError("Task 3.6: Functions, modules and calls")

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
    """A branch being built. Use `with branch.then():` once, and `with branch.otherwise():` once or not at all."""

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
        (block,) = self.regions[0].blocks
        _, *forwarded = block.operations[-1].operands
        block = Block([value.type for value in forwarded])
        with region(self.builder, self.regions[1], block):
            yield (*block.arguments,)


@dataclass
class Function:
    """A function, being built or complete."""

    name: str
    type: FunctionType
    arguments: tuple[BlockArgument, ...]


@contextmanager
def region(builder: Builder, region: Region, block: Block, terminator: str = "scf.yield") -> Iterator[None]:
    """Inside the `with`, operations go to `block`, the only one of `region`.

    What does not end in a terminator of its own gets an empty `terminator`.
    """
    region.append(block)
    with builder.at_end(block):
        yield
        if block.terminator is None or block.terminator.name not in ("scf.yield", "scf.condition", "tt.return"):
            builder.operation(terminator)


@contextmanager
def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> Iterator[For]:
    """An `scf.for`: end its body with `yield_` of as many values as there are `inits`."""
    block, body = Block([value.type for value in (lower, *inits)]), Region()
    variable, *carried = block.arguments
    with region(builder, body, block):
        yield (loop := For(variable, (*carried,)))
    loop.results = builder.operation("scf.for", lower, upper, step, *inits, regions=(body,)).results


@contextmanager
def if_(builder: Builder, condition: Value) -> Iterator[If]:
    """An `scf.if`: its branches are built inside, with `then` and `otherwise`."""
    yield (branch := If(builder))
    branch.results = builder.operation("scf.if", condition, regions=branch.regions).results


@contextmanager
def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    """An `scf.while`: its regions are built inside, with `before` and `after`."""
    yield (loop := While(builder, (*inits,)))
    loop.results = builder.operation("scf.while", *loop.inits, regions=loop.regions).results


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

    `divisibility` says which arguments are known to be multiples of what (pointers: their address in bytes).
    """
    names, types = [*inputs.keys()], [*inputs.values()]
    block, body = Block(types, names), Region()
    known = {name: {"tt.divisibility": value} for name, value in (divisibility or {}).items()}
    for argument in block.arguments:
        argument.attributes |= known.get(argument.name, {})
    attributes = {
        "sym_name": name,
        "function_type": FunctionType((*types,), (*results,)),
        "sym_visibility": ("private", "public")[public],
    }
    with region(builder, body, block, terminator="tt.return"):
        yield Function(name, attributes["function_type"], (*block.arguments,))
    with builder.at_end(module.regions[0].block):
        builder.operation("tt.func", regions=[body], **attributes)


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    """Call a function; gives its results.

    Raises `TypeError`, naming the function, if the arguments are not of its inputs' types.
    """
    if [argument.type for argument in arguments] != [*callee.type.inputs]:
        raise TypeError(f"{callee.name} cannot be called with {[str(argument.type) for argument in arguments]}")
    return builder.operation("tt.call", *arguments, callee=callee.name, result=callee.type.results).results

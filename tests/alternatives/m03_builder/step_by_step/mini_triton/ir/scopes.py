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
        types = []
        for block in self.regions[0].blocks:
            last = block.operations[-1]
            for i in range(1, len(last.operands)):
                types.append(last.operands[i].type)
        block = Block(types)
        with region(self.builder, self.regions[1], block):
            yield tuple(block.arguments)


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
    block = Block()
    variable = block.add_argument(lower.type)
    carried = []
    for init in inits:
        carried.append(block.add_argument(init.type))
    loop = For(variable, tuple(carried))
    body = Region()
    with region(builder, body, block):
        yield loop
    operands = [lower, upper, step]
    operands.extend(inits)
    made = builder.operation("scf.for", *operands, regions=[body])
    loop.results = made.results


@contextmanager
def if_(builder: Builder, condition: Value) -> Iterator[If]:
    """An `scf.if`: its branches are built inside, with `then` and `otherwise`."""
    branch = If(builder)
    yield branch
    made = builder.operation("scf.if", condition, regions=[branch.regions[0], branch.regions[1]])
    branch.results = made.results


@contextmanager
def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    """An `scf.while`: its regions are built inside, with `before` and `after`."""
    loop = While(builder, tuple(inits))
    yield loop
    made = builder.operation("scf.while", *inits, regions=[loop.regions[0], loop.regions[1]])
    loop.results = made.results


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
    block = Block()
    for parameter in inputs:
        argument = block.add_argument(inputs[parameter], parameter)
        if divisibility is not None:
            if parameter in divisibility:
                argument.attributes["tt.divisibility"] = divisibility[parameter]
    type = FunctionType(tuple(inputs.values()), tuple(results))
    body = Region()
    built = Function(name, type, tuple(block.arguments))
    with region(builder, body, block, "tt.return"):
        yield built
    if public:
        visibility = "public"
    else:
        visibility = "private"
    with builder.at_end(module.body):
        builder.operation("tt.func", sym_name=name, function_type=type, sym_visibility=visibility, regions=[body])


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    """Call a function; gives its results.

    Raises `TypeError`, naming the function, if the arguments are not of its inputs' types.
    """
    if len(arguments) != len(callee.type.inputs):
        raise TypeError("wrong number of arguments for " + callee.name)
    for i in range(len(arguments)):
        if arguments[i].type != callee.type.inputs[i]:
            raise TypeError("argument " + str(i) + " of " + callee.name + " has a wrong type")
    made = builder.operation("tt.call", *arguments, callee=callee.name, result=callee.type.results)
    return made.results

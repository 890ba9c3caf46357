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
from contextlib import AbstractContextManager, ExitStack, contextmanager
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
        types = [value.type for value in self.regions[0].block.operations[-1].operands]
        block = Block(types[1:])
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


class _Loop:
    """An `scf.for`, made when its `with` ends without an error."""

    def __init__(self, builder: Builder, *operands: Value) -> None:
        self.builder, self.operands, self.body, self.stack = builder, operands, Region(), ExitStack()

    def __enter__(self) -> For:
        lower, _, _, *inits = self.operands
        block = Block([lower.type] + [init.type for init in inits])
        self.stack.enter_context(region(self.builder, self.body, block))
        self.loop = For(block.arguments[0], tuple(block.arguments[1:]))
        return self.loop

    def __exit__(self, *error: object) -> None:
        self.stack.__exit__(*error)
        if error[0] is None:
            self.loop.results = self.builder.operation("scf.for", *self.operands, regions=[self.body]).results


class _Made:
    """An operation whose regions are built inside, made when its `with` ends without an error."""

    def __init__(self, builder: Builder, name: str, operands: Sequence[Value], scope: If | While) -> None:
        self.builder, self.name, self.operands, self.scope = builder, name, operands, scope

    def __enter__(self) -> If | While:
        return self.scope

    def __exit__(self, error: object, *_: object) -> None:
        if not error:
            made = self.builder.operation(self.name, *self.operands, regions=self.scope.regions)
            self.scope.results = made.results


class _Definition:
    """A function, made when its `with` ends without an error."""

    def __init__(self, builder, module, name, inputs, results, public, divisibility) -> None:
        self.builder, self.module, self.body, self.stack = builder, module, Region(), ExitStack()
        self.block = Block(tuple(inputs.values()), tuple(inputs))
        for argument in self.block.arguments:
            if value := divisibility.get(argument.name):
                argument.attributes.update({"tt.divisibility": value})
        type = FunctionType(tuple(inputs.values()), tuple(results))
        self.function = Function(name, type, tuple(self.block.arguments))
        self.visibility = "public" if public else "private"

    def __enter__(self) -> Function:
        self.stack.enter_context(region(self.builder, self.body, self.block, "tt.return"))
        return self.function

    def __exit__(self, *error: object) -> None:
        self.stack.__exit__(*error)
        if error[0] is None:
            name, type = self.function.name, self.function.type
            with self.builder.at_end(self.module.body):
                self.builder.operation(
                    "tt.func",
                    function_type=type,
                    sym_name=name,
                    sym_visibility=self.visibility,
                    regions=(self.body,),
                )


def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> _Loop:
    """An `scf.for`: end its body with `yield_` of as many values as there are `inits`."""
    return _Loop(builder, lower, upper, step, *inits)


def if_(builder: Builder, condition: Value) -> AbstractContextManager[If]:
    """An `scf.if`: its branches are built inside, with `then` and `otherwise`."""
    return _Made(builder, "scf.if", [condition], If(builder))


def while_(builder: Builder, inits: Sequence[Value] = ()) -> AbstractContextManager[While]:
    """An `scf.while`: its regions are built inside, with `before` and `after`."""
    return _Made(builder, "scf.while", inits, While(builder, tuple(inits)))


def yield_(builder: Builder, *values: Value) -> None:
    """End the region being built with these values."""
    builder.operation("scf.yield", *values)


def condition(builder: Builder, condition: Value, *values: Value) -> None:
    """End the `before` region of a `while`: if `condition` holds, `values` go to `after`, else they are the results."""
    builder.operation("scf.condition", condition, *values)


def return_(builder: Builder, *values: Value) -> None:
    """End the function being built."""
    builder.operation("tt.return", *values)


def function(
    builder: Builder,
    module: Module,
    name: str,
    inputs: Mapping[str, Type],
    results: Sequence[Type] = (),
    *,
    public: bool = True,
    divisibility: Mapping[str, int] | None = None,
) -> AbstractContextManager[Function]:
    """A `tt.func` in `module`, its arguments named and typed by `inputs`; end it with `return_`, if it returns values.

    `divisibility` says which arguments are known to be multiples of what (pointers: their address in bytes).
    """
    return _Definition(builder, module, name, inputs, results, public, divisibility or {})


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    """Call a function; gives its results.

    Raises `TypeError`, naming the function, if the arguments are not of its inputs' types.
    """
    expected, given = callee.type.inputs, tuple(argument.type for argument in arguments)
    if expected == given:
        return builder.operation("tt.call", *arguments, callee=callee.name, result=callee.type.results).results
    raise TypeError(f"{callee.name} takes ({', '.join(map(str, expected))}), not ({', '.join(map(str, given))})")

"""A block with arguments on which tests try the builder, and terms, which describe how a value is computed."""

import copy
from collections.abc import Iterator
from typing import Any

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, BlockArgument, Module, OpResult, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import FunctionType, element_type, shape_of

from tests.checks import calling, described
from tests.support.type_names import of_shape

Shape = tuple[int, ...]
Term = Any
RESHAPES = ("tt.expand_dims", "tt.reshape")


class Bench:
    """A builder, and a block; an argument of the block is given as `("i32", (4, 1))`."""

    def __init__(self, *arguments: tuple[str, Shape]) -> None:
        self.builder = Builder()
        self.block = Block([of_shape(shape, name) for name, shape in arguments])
        self.arguments = tuple(self.block.arguments)

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """The result of a method of the builder; its operations go to the end of the block."""
        __tracebackhide__ = True
        return self._ask(method, arguments, options).succeeds()

    def holds(self, value: Value, expected: Term, what: str) -> None:
        """Require that the value is computed as this term says."""
        assert isinstance(value, Value), f"{what} returns {value!r}, which is not a value"
        got = term(value)
        assert got == expected, f"{what}\n  expected  {expected}\n  got       {got}\n  from\n{self.text}"

    def refuses(self, error: type[Exception], method: str, *arguments: Any, because: str, **options: Any) -> None:
        """Require that the method raises this error and emits nothing."""
        __tracebackhide__ = True
        before, call = len(self.names), self._ask(method, arguments, options)
        call.raises(error, because=because)
        if added := self.names[before:]:
            call.fail("no operation", ", ".join(added), because="a method that raises an error emits nothing")

    def _ask(self, method: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> calling:
        """The call; its messages show types in place of values."""

        def ask() -> Any:
            with self.builder.at_end(self.block):
                return getattr(self.builder, method)(*arguments, **options)

        shown = [_in_words(value) for value in arguments]
        shown += [f"{name}={_in_words(value)}" for name, value in options.items()]
        return described(f"{method}({', '.join(shown)})", ask)

    @property
    def names(self) -> list[str]:
        """The operations' names."""
        return [operation.name for operation in self.block.operations]

    @property
    def text(self) -> str:
        """The block's operations as text, in a function of their own."""
        copy = Block()
        copy.arguments, copy.operations = self.block.arguments, list(self.block.operations)
        return print_module(module_around(copy))


def module_around(block: Block, *returned: Value, name: str = "helper") -> Module:
    """A module with one private function, whose body is `block` and a return of these values."""
    block.append(create("tt.return", *returned))
    type = FunctionType(tuple(a.type for a in block.arguments), tuple(value.type for value in returned))
    function = create("tt.func", sym_name=name, sym_visibility="private", function_type=type, regions=[Region([block])])
    return Module([function])


def term(value: Value) -> Term:
    """The number of a parameter; or an operation's name, operands, attributes and result type.

    Consecutive reshapes that only add dimensions of size 1 form one term, because the last result type determines them.
    """
    if isinstance(value, BlockArgument):
        return f"%{value.index}"
    assert isinstance(value, OpResult)
    operation = value.owner
    operands = [*operation.operands]
    if operation.name not in RESHAPES:
        return operation.name, *map(term, operands), *operation.attributes.values(), str(value.type)
    (source,) = operands
    while isinstance(source, OpResult) and source.owner.name in RESHAPES:
        (source,) = source.owner.operands
    return "reshape", term(source), str(value.type)


def grown(value: Value, shape: Shape) -> Term:
    """The term of a value that is broadcast to this shape."""
    old, element = shape_of(value.type), str(element_type(value.type))
    aligned = (1,) * (len(shape) - len(old)) + old
    result = term(value)
    if not old and shape:
        return "tt.splat", result, in_shape(shape, element)
    if aligned != old:
        result = "reshape", result, in_shape(aligned, element)
    if aligned != shape:
        result = "tt.broadcast", result, in_shape(shape, element)
    return result


def in_shape(shape: Shape, element: str) -> str:
    """The spelling of a tensor or scalar type."""
    return str(of_shape(shape, element))


def _in_words(argument: Any) -> str:
    if isinstance(argument, Iterator):
        return f"iter({[*copy.copy(argument)]})"
    return str(argument.type) if isinstance(argument, Value) else repr(argument)

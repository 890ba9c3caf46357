"""A place to try the builder's methods: a block whose arguments have both a type and a NumPy array."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import PointerType, Type, element_type, shape_of

from tests.checks import calling, described
from tests.support.interpreter import Machine, numpy_type
from tests.support.m03_builder.modules import module_around
from tests.support.type_names import of_shape

Shape = tuple[int, ...]

MEMORY = np.arange(1000, 2024, dtype=np.float32)  # what pointers point to


class Bench:
    """A builder, a block, and an array for each of the block's arguments, given as `("i32", (4, 1))`.

    No two elements of an array are equal, so that none can be mistaken for another; but i1 has only two values.
    """

    def __init__(self, *arguments: tuple[str, Shape]) -> None:
        self.builder = Builder()
        self.block = Block([of_shape(shape, name) for name, shape in arguments])
        self.arguments = tuple(self.block.arguments)

    @functools.cached_property
    def arrays(self) -> list[Any]:
        """An array for each argument, of the types that NumPy has."""
        return [_array(i, argument.type) for i, argument in enumerate(self.arguments)]

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """What a method of the builder returns; its operations go to the end of the block."""
        __tracebackhide__ = True
        return self._ask(method, arguments, options).succeeds()

    def holds(self, value: Value, expected: Any, what: str) -> None:
        """Running the operations gives this value just as NumPy computes it, shape and all."""
        assert isinstance(value, Value), f"{what} returns {value!r}, which is no value"
        got = self.run().values[value]
        assert got.shape == np.shape(expected) and np.array_equal(got, expected), (
            f"{what}\n  expected  {_shown(expected)}\n  got       {_shown(got)}\n  from\n{self.text}"
        )

    def refuses(self, error: type[Exception], method: str, *arguments: Any, because: str, **options: Any) -> None:
        """The method raises this error. Operations that it made before are harmless: nothing uses them."""
        __tracebackhide__ = True
        self._ask(method, arguments, options).raises(error, because=because)

    def _ask(self, method: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> calling:
        """The call, with the types of values instead of the values in its message."""

        def ask() -> Any:
            with self.builder.at_end(self.block):
                return getattr(self.builder, method)(*arguments, **options)

        shown = [_in_words(value) for value in arguments]
        shown += [f"{name}={_in_words(value)}" for name, value in options.items()]
        return described(f"{method}({', '.join(shown)})", ask)

    def run(self) -> Machine:
        """What the operations do with the arrays, and to the memory."""
        machine = Machine(MEMORY)
        machine.run(self.block, *self.arrays)
        return machine

    @property
    def names(self) -> list[str]:
        """The operations by name."""
        return [operation.name for operation in self.block.operations]

    @property
    def text(self) -> str:
        """The block's operations as text, in a function of their own."""
        copy = Block()
        copy.arguments, copy.operations = self.block.arguments, list(self.block.operations)
        return print_module(module_around(copy))


def _in_words(argument: Any) -> str:
    return str(argument.type) if isinstance(argument, Value) else repr(argument)


def _shown(array: Any) -> str:
    return np.array2string(np.asarray(array), separator=", ", threshold=16).replace("\n", "\n            ")


def _array(index: int, type: Type) -> Any:
    """The array of argument `index`: overlaps no other's. Numbers may be negative, pointers not."""
    shape, element = shape_of(type), element_type(type)
    count = int(np.prod(shape))
    if element.width == 1:
        return (np.arange(count) % 3 != index % 3).reshape(shape)
    start = 100 * index - (0 if isinstance(element, PointerType) else 3)
    return np.arange(start, start + count).astype(numpy_type(type)).reshape(shape)

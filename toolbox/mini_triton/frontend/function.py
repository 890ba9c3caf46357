"""Kernels as Python functions: their source, their parameters, and the names they see. (Given.)

Source: `JITFunction` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from mini_triton.errors import CompilationError, Loc


class KernelSource:
    """A function that is compiled instead of called. Its source is parsed on first use.

    With `noinline`, the function accepts only scalars, as in Triton. But calls to the function are still inlined.
    """

    def __init__(self, fn: Callable[..., Any], noinline: bool = False) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.noinline = noinline
        self.added: dict[str, Any] = {}  # additional names that the source sees
        self.signature = inspect.signature(fn)

    def __repr__(self) -> str:
        return f"<kernel {self.fn.__qualname__}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        name = self.fn.__name__
        raise RuntimeError(f"{name} is a kernel, which only kernels can call: launch it on a grid, {name}[(1,)](...)")

    @property
    def constexprs(self) -> list[str]:
        """The parameters annotated `constexpr`."""
        parameters = self.signature.parameters.values()
        return [parameter.name for parameter in parameters if "constexpr" in str(parameter.annotation)]

    @property
    def arg_names(self) -> list[str]:
        """The names of all parameters."""
        return list(self.signature.parameters)

    @property
    def src(self) -> str:
        """The source text without decorators."""
        return self.source[self.source.index("def ") :]

    @functools.cached_property
    def file(self) -> str:
        return inspect.getsourcefile(self.fn) or self.fn.__code__.co_filename

    @functools.cached_property
    def _lines(self) -> tuple[list[str], int]:
        try:
            return inspect.getsourcelines(self.fn)
        except OSError as error:
            raise ValueError(f"the source of {self.fn.__name__} cannot be read: define it in a file") from error

    @functools.cached_property
    def source(self) -> str:
        """The source text from the first decorator on, without indentation."""
        return textwrap.dedent("".join(self._lines[0]))

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        """The parsed source. Its lines and columns are relative to `source`; `loc` converts them to those of the
        file."""
        (definition,) = ast.parse(self.source).body
        if not isinstance(definition, ast.FunctionDef):
            raise ValueError(f"{self.fn.__name__} is not a function defined by `def`")
        if definition.args.kwonlyargs or definition.args.kwarg:
            message = f"{self.fn.__name__} is a kernel: it cannot have keyword-only parameters"
            raise CompilationError(message, self.loc(definition))
        return definition

    @functools.cached_property
    def _offset(self) -> tuple[int, int]:
        lines, first = self._lines
        return first - 1, len(lines[0]) - len(lines[0].lstrip())

    def loc(self, node: ast.expr | ast.stmt) -> Loc:
        """The location of a node in its file."""
        lines, columns = self._offset
        return Loc(self.file, lines + node.lineno, columns + node.col_offset)

    @property
    def globals(self) -> Mapping[str, Any]:
        """The values of names that the function does not bind, from its module and the functions around it."""
        names = self.fn.__code__.co_freevars
        cells = self.fn.__closure__ or ()
        enclosed = {}
        for name, cell in zip(names, cells, strict=True):
            try:
                enclosed[name] = cell.cell_contents
            except ValueError:  # the name has no value yet
                continue
        enclosed |= self.added
        return {**self.fn.__globals__, **enclosed} if enclosed else self.fn.__globals__


def jit(fn: Callable[..., Any] | None = None, *, noinline: bool = False, **_: Any) -> Any:
    """`@jit` in a copy of the course without the runtime: kernels can be compiled, but not launched."""
    return KernelSource(fn, noinline) if fn else functools.partial(jit, noinline=noinline)


class ConstexprFunction:
    """A plain Python function that kernels may call. It maps compile-time values to a compile-time value."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn

    @functools.cached_property
    def kernel(self) -> KernelSource:
        """The function's source, read once: many kernels call the same function."""
        return KernelSource(self.fn)

    @property
    def cache_key(self) -> str:
        """A text that changes with the source of the function."""
        return hashlib.sha256(inspect.getsource(self.fn).encode()).hexdigest()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.fn(*arguments, **keywords)


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Mark a plain Python function as one that the compiler runs."""
    return ConstexprFunction(fn)


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """`x / y` rounded up, for launches and for the compile-time values of a kernel."""
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least `n`; 0 for 0."""
    return 1 << (n - 1).bit_length() if n else 0

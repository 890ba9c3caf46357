"""Calls: of the language, of Python's few, and of other kernels, whose bodies are compiled in place.

Source: `visit_Call` and `call_JitFunction` in Triton's `code_generator.py`; its inliner comes later, as a pass.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import mini_triton.language as tl
from mini_triton.errors import CompilationError, UnsupportedLanguageConstruct
from mini_triton.frontend.expressions import Expressions, unwrap_tuple
from mini_triton.frontend.function import ConstexprFunction, KernelSource
from mini_triton.frontend.values import compile_time
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import is_builtin
from mini_triton.language.tensor import tensor

REPLACED: dict[Any, str] = {min: "minimum", max: "maximum", print: "device_print", range: "range"}
"""Python's functions that mean one of the language in a kernel."""

MATH = tuple(function for function in vars(math).values() if callable(function))


class Calls(Expressions):
    """Visits calls."""

    def run(self, statements: Sequence[ast.stmt]) -> Any:
        """The value that these statements return, if they do. See `statements.py`."""
        raise NotImplementedError

    def visit_Call(self, node: ast.Call) -> Any:
        function = unwrap(self.visit(node.func))
        # [task 5.2] `self.positional` gives the positional arguments. Keywords have a name in `arg`; one without it is
        # `**options`: an `UnsupportedLanguageConstruct`. Another kernel is inlined (`self.inline`, task 5.3); for
        # anything else `evaluate` what `self.callee` gives.
        arguments = self.positional(node)
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise UnsupportedLanguageConstruct("** is not supported in a call", self.loc(node))
            keywords[keyword.arg] = self.visit(keyword.value)
        if isinstance(function, KernelSource):
            return self.inline(node, function, arguments, keywords)
        return self.evaluate(node, self.callee(node, function), *arguments, **keywords)
        # [end]

    def positional(self, node: ast.Call) -> list[Any]:
        """The values of the positional arguments; `*xs` stands for the elements of a tuple. (Given.)"""
        values: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                values.extend(self.evaluate(argument, tuple, unwrap_tuple(self.visit(argument.value))))
            else:
                values.append(self.visit(argument))
        return values

    def callee(self, node: ast.Call, function: Any) -> Callable[..., Any]:
        """What Python is to call with the arguments. `CompilationError` for what kernels cannot call. (Given.)"""
        if not callable(function):
            raise self.error(node, f"{ast.unparse(node.func)} is no function")
        if function in REPLACED:
            return partial(self.call_replaced, function)
        if is_builtin(function):
            return partial(self.call_language, node, function)
        if function in (isinstance, getattr, hasattr, len, int, float, list) or function in MATH:
            return partial(self.call_python, function)
        if isinstance(function, ConstexprFunction):
            return partial(self.call_python, function.fn)
        owner = getattr(function, "__self__", function)
        if type(owner).__module__.startswith("mini_triton") or getattr(owner, "__module__", "").startswith(
            "mini_triton"
        ):
            return partial(self.call_language, node, function)
        name = ast.unparse(node.func)
        raise self.error(node, f"{name} cannot be called in a kernel: decorate it with @jit, or @constexpr_function")

    def call_language(self, node: ast.Call, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function of the language; kernels among its arguments become functions that it can call. (Given.)"""

        def callable_here(value: Any) -> Any:
            inner = unwrap(value)
            if not isinstance(inner, KernelSource):
                return value
            return lambda *xs, **options: self.inline(node, inner, xs, options)

        return function(*map(callable_here, arguments), **{name: callable_here(v) for name, v in keywords.items()})

    def call_replaced(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function of Python that means one of the language. Between constants `min` and `max` are Python's.
        (Given.)"""
        if function in (min, max) and not any(isinstance(argument, tensor) for argument in arguments):
            return function(*map(unwrap, arguments))
        if function in (min, max):
            return reduce(partial(getattr(tl, REPLACED[function]), **keywords), arguments)
        return getattr(tl, REPLACED[function])(*arguments, **keywords)

    def call_python(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Call a Python function, now, with what the compiler knows. (Given.)"""
        values = [*arguments, *keywords.values()]
        if function not in (isinstance, getattr, hasattr, len, list) and any(isinstance(v, tensor) for v in values):
            raise TypeError(f"{function.__name__} is computed by the compiler, which does not know its argument")
        return function(*map(unwrap, arguments), **{name: unwrap(value) for name, value in keywords.items()})

    def inline(self, node: ast.Call, function: KernelSource, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Compile the body of another kernel here, its parameters bound to these arguments; the result is what it
        returns, or None as a `constexpr`.

        Raises `CompilationError` at `node` for arguments that do not fit and for recursion. An error inside the body
        gets a note that says from where it was called.
        """
        # [task 5.3] `evaluate` the function's `bound_arguments`. Another visitor of this class runs the body: bind each
        # parameter in its scope first (their place is the `def`, `function.tree`). `returned` finishes.
        # A function may call itself with other types or other constants. With the same ones it would never end: keep a
        # note of this call, its name and the arguments' `repr`, in the `callers` of the inner visitor, and refuse what
        # is in `self.callers` already: the message has "recursion" in it.
        bound = self.evaluate(node, partial(self.bound_arguments, function), *arguments, **keywords)
        call = f"{function.fn.__qualname__}({', '.join(map(repr, bound.values()))})"
        if call in self.callers:
            raise self.error(node, f"recursion is not supported: {call} calls itself")
        inner = type(self)(function, self.builder, (*self.callers, call))
        for name, value in bound.items():
            inner.scope.bind(name, value, function.loc(function.tree))
        try:
            return returned(inner.run(function.tree.body))
        except CompilationError as error:
            raise self.called_from(error, node) from error.__cause__
        # [end]

    def bound_arguments(self, function: KernelSource, /, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        """The arguments of a call by parameter. Raises `TypeError`, as Python does, if they do not fit. (Given.)"""
        bound = function.signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if function.noinline and isinstance(value, tensor) and value.shape:
                name_of_function = function.fn.__name__
                raise TypeError(
                    f"Function {name_of_function} is marked noinline, but was called with non-scalar {name}"
                )
        return {name: compile_time(value) for name, value in bound.arguments.items()}

    def called_from(self, error: CompilationError, node: ast.Call) -> CompilationError:
        """The error with a note (`add_note`) that says that its place was reached by the call at `node`."""
        # [task 5.3] "called from file:line:column", then the excerpt on a line of its own. Return the error itself.
        loc = self.loc(node)
        error.add_note(f"called from {loc}\n{loc.excerpt()}")
        return error
        # [end]


NOTHING = object()
"""What a block returns that ends without a `return`."""


def returned(value: Any) -> Any:
    """The value of a call whose body returned `value`. (Given.)"""
    return constexpr(None) if value is NOTHING else value

"""Expressions: names, operators, attributes, subscripts.

The visitor computes nothing itself. It finds the values of the operands and lets Python apply the operator: `tensor`
and `constexpr` know what to do. So a kernel's types are decided in the language, and only there.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from mini_triton.errors import CompilationError, Loc, UnsupportedLanguageConstruct
from mini_triton.frontend.function import ConstexprFunction, KernelSource
from mini_triton.frontend.scope import Scope
from mini_triton.frontend.values import compile_time
from mini_triton.ir.builder import Builder
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import is_builtin
from mini_triton.language.tensor import tensor

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

PYTHON = (len, min, max, int, float, range, list, print, isinstance, getattr, hasattr)
"""The functions of Python that kernels know."""

REFUSALS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""How the language, or Python, refuses operands."""


class Expressions:
    """Visits expressions. What a visit returns is a `tensor`, a `constexpr`, a tuple, or a thing that has attributes or
    can be called: a dtype, a module, a function."""

    def __init__(self, function: KernelSource, builder: Builder, callers: Sequence[str] = ()) -> None:
        self.function = function
        self.builder = builder
        self.callers = callers  # the calls that led here, from the kernel on
        self.scope = Scope()
        self.in_loop = False  # whether the statement being visited is in the body of a loop

    def visit(self, node: ast.expr | ast.stmt) -> Any:
        """Visit a node by its kind: a `BinOp` with `visit_BinOp`. What is built meanwhile comes from there. (Given.)"""
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is None:
            raise UnsupportedLanguageConstruct(f"unsupported AST node type: {type(node).__name__}", self.loc(node))
        with self.builder.location(self.loc(node)):
            return method(node)

    def loc(self, node: ast.expr | ast.stmt) -> Loc:
        """Where a node is in the kernel's file. (Given.)"""
        return self.function.loc(node)

    def error(self, node: ast.expr | ast.stmt, message: str) -> CompilationError:
        """An error to raise, at the place of `node`. (Given.)"""
        return CompilationError(message, self.loc(node))

    def evaluate(
        self, node: ast.expr | ast.stmt, function: Callable[..., Any], /, *operands: Any, **keywords: Any
    ) -> Any:
        """Let Python or the language compute something; what they refuse, they refuse at the place of `node`. (Given.)

        The result is as kernels see it (`compile_time`).
        """
        try:
            return compile_time(function(*operands, **keywords))
        except (*REFUSALS, CompilationError) as error:
            raise self.located(error, node) from error

    def located(self, error: Exception, node: ast.expr | ast.stmt) -> CompilationError:
        """What to raise for an error that came up at `node`."""
        # Task 5.2: A `CompilationError` that has a place of its own is returned as it is. One without gets this place:
        # make another of the same class. Of all others keep the message, in a `CompilationError`.
        raise NotImplementedError("Task 5.2: Expressions")

    # --- names

    def visit_Name(self, node: ast.Name) -> Any:
        # Task 5.2: A local name has a value in `self.scope.values`. Others are looked up by `global_value`.
        raise NotImplementedError("Task 5.2: Expressions")

    def global_value(self, node: ast.Name) -> Any:
        """The value of a name that the function does not bind itself.

        Kernels see modules, functions, classes and dtypes of the language, other kernels, and `constexpr` values. All
        else might change after the kernel is compiled. Raises `CompilationError` at `node`, naming the name.
        """
        name = node.id
        # Task 5.2: Three places, in this order. `self.scope.lost` has names that lost their value, with the reason:
        # the message is "foo is not defined here: " and the reason. `self.function.globals`: return what `is_visible`;
        # the message for other things says "Cannot access global variable foo". The `PYTHON` functions, by their
        # `__name__`, are in the module `builtins`. And last, "foo is not defined".
        raise NotImplementedError("Task 5.2: Expressions")

    # --- values

    def visit_Constant(self, node: ast.Constant) -> Any:
        # Task 5.2: The compiler knows it.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        # Task 5.2: A tuple of the elements' values.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_List(self, node: ast.List) -> Any:
        """A list in a kernel is a tuple. (Given.)"""
        return tuple(self.visit(element) for element in node.elts)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """`[f(x) for x in xs]`, computed by the compiler for each element of a tuple. (Given.)"""
        (loop, *more) = node.generators
        values = unwrap_tuple(self.visit(loop.iter))
        if more or loop.ifs or not isinstance(loop.target, ast.Name) or not isinstance(values, tuple):
            raise self.error(node, "a comprehension in a kernel goes through one tuple, and through all of it")
        elements = []
        for value in values:
            self.scope.bind(loop.target.id, value, self.loc(loop.target))
            elements.append(self.visit(node.elt))
        return tuple(elements)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """An f-string of compile-time values. (Given.)"""
        words = []
        for part in node.values:
            value = self.visit(part.value if isinstance(part, ast.FormattedValue) else part)
            if isinstance(value, tensor):
                raise self.error(
                    part, "an f-string in a kernel is made by the compiler, which does not know this value"
                )
            words.append(str(unwrap(value)))
        return constexpr("".join(words))

    # --- operators

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        # Task 5.2: Visit both sides, left first, then `self.evaluate` the function that `OPERATORS` has for the class
        # of `node.op`. What is not there is unsupported: `self.unsupported(node, node.op)` is the error to raise.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        # Task 5.2: As above with one operand; but `not` is `self.visit_not(node)`, which task 5.7 writes.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_not(self, node: ast.UnaryOp) -> Any:
        raise NotImplementedError  # see branches.py

    def visit_Compare(self, node: ast.Compare) -> Any:
        # Task 5.2: One comparison only: for `a < b < c` the message is "simultaneous multiple comparison is not
        # supported". `is` and `is not` compare unwrapped values, at compile time. The rest is in `OPERATORS`, or
        # unsupported.
        raise NotImplementedError("Task 5.2: Expressions")

    def unsupported(self, node: ast.expr, construct: ast.AST) -> CompilationError:
        """The error for a part of `node` that kernels cannot use. (Given.)"""
        return UnsupportedLanguageConstruct(f"unsupported AST node type: {type(construct).__name__}", self.loc(node))

    # --- parts

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        # Task 5.2: `evaluate` Python's `getattr`. The attributes of a `constexpr` are those of the value inside, but
        # `.value` is that value.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        # Task 5.2: `evaluate` `operator.getitem`, of the value inside if it is a `constexpr`, with an unwrapped index.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_Slice(self, node: ast.Slice) -> Any:
        """`1:2` in a subscript. (Given.)"""
        bounds = (node.lower, node.upper, node.step)
        return slice(*(unwrap(self.visit(bound)) if bound else None for bound in bounds))


def unwrap_tuple(value: Any) -> Any:
    """The value inside a `constexpr`, without looking into the elements of a tuple. (Given.)"""
    return value.value if isinstance(value, constexpr) else value


def is_visible(value: Any) -> bool:
    """Whether kernels may see this global. (Given.)"""
    if isinstance(value, constexpr | ModuleType | KernelSource | ConstexprFunction) or is_builtin(value):
        return True
    if any(value is function for function in PYTHON):
        return True
    module = getattr(value, "__module__", "") if isinstance(value, type) else type(value).__module__
    return module.startswith("mini_triton.language")

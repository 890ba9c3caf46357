"""Expressions: names, operators, attributes, subscripts.

The visitor computes nothing itself. It finds the values of the operands and lets Python apply the operator: `tensor`
and `constexpr` know what to do. So a kernel's types are decided in the language, and only there.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from mini_triton.errors import CompilationError, Loc, UnsupportedLanguageConstruct
from mini_triton.frontend.function import ConstexprFunction, JITFunction
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

    def __init__(self, function: JITFunction, builder: Builder, callers: Sequence[str] = ()) -> None:
        self.function = function
        self.builder = builder
        self.callers = callers  # the calls that led here, from the kernel on
        self.scope = Scope()

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
        if isinstance(error, CompilationError):
            if error.loc is not None:
                return error
            message = error.message
            kind = type(error)
        else:
            message = str(error)
            kind = CompilationError
        return kind(message, self.loc(node))

    # --- names

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.scope.values:
            return self.global_value(node)
        return self.scope.values[node.id]

    def global_value(self, node: ast.Name) -> Any:
        """The value of a name that the function does not bind itself.

        Kernels see modules, functions, classes and dtypes of the language, other kernels, and `constexpr` values. All
        else might change after the kernel is compiled. Raises `CompilationError` at `node`, naming the name.
        """
        name = node.id
        if name in self.scope.lost:
            reason = self.scope.lost[name]
            raise self.error(node, name + " is not defined here: " + reason)
        names = self.function.globals
        if name in names:
            value = names[name]
            if not is_visible(value):
                raise self.error(node, "Cannot access global variable " + name + " from within a kernel")
            return value
        for function in PYTHON:
            if function.__name__ == name:
                return function
        raise self.error(node, name + " is not defined")

    # --- values

    def visit_Constant(self, node: ast.Constant) -> Any:
        value = node.value
        return constexpr(value)

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        values = []
        for element in node.elts:
            values.append(self.visit(element))
        return tuple(values)

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
        left = self.visit(node.left)
        right = self.visit(node.right)
        kind = type(node.op)
        if kind in OPERATORS:
            function = OPERATORS[kind]
            return self.evaluate(node, function, left, right)
        raise self.unsupported(node, node.op)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self.visit_not(node)
        operand = self.visit(node.operand)
        function = OPERATORS[type(node.op)]
        return self.evaluate(node, function, operand)

    def visit_not(self, node: ast.UnaryOp) -> Any:
        raise NotImplementedError  # see branches.py

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.comparators) > 1:
            raise self.error(node, "simultaneous multiple comparison is not supported")
        kind = type(node.ops[0])
        left = self.visit(node.left)
        right = self.visit(node.comparators[0])
        if kind is ast.Is:
            same = unwrap(left) is unwrap(right)
            return constexpr(same)
        if kind is ast.IsNot:
            same = unwrap(left) is unwrap(right)
            return constexpr(not same)
        if kind not in OPERATORS:
            raise self.unsupported(node, node.ops[0])
        return self.evaluate(node, OPERATORS[kind], left, right)

    def unsupported(self, node: ast.expr, construct: ast.AST) -> CompilationError:
        """The error for a part of `node` that kernels cannot use. (Given.)"""
        return UnsupportedLanguageConstruct(f"unsupported AST node type: {type(construct).__name__}", self.loc(node))

    # --- parts

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        if isinstance(owner, constexpr):
            if node.attr == "value":
                return self.evaluate(node, getattr, owner, "value")
            owner = owner.value
        return self.evaluate(node, getattr, owner, node.attr)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        value = self.visit(node.value)
        if isinstance(value, constexpr):
            value = value.value
        index = self.visit(node.slice)
        index = unwrap(index)
        return self.evaluate(node, operator.getitem, value, index)

    def visit_Slice(self, node: ast.Slice) -> Any:
        """`1:2` in a subscript. (Given.)"""
        bounds = (node.lower, node.upper, node.step)
        return slice(*(unwrap(self.visit(bound)) if bound else None for bound in bounds))


def unwrap_tuple(value: Any) -> Any:
    """The value inside a `constexpr`, without looking into the elements of a tuple. (Given.)"""
    return value.value if isinstance(value, constexpr) else value


def is_visible(value: Any) -> bool:
    """Whether kernels may see this global. (Given.)"""
    if isinstance(value, constexpr | ModuleType | JITFunction | ConstexprFunction) or is_builtin(value):
        return True
    if any(value is function for function in PYTHON):
        return True
    module = getattr(value, "__module__", "") if isinstance(value, type) else type(value).__module__
    return module.startswith("mini_triton.language")

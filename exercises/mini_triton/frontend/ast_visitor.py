"""The visitor: one method for each kind of node of Python's syntax tree.

The visitor itself computes nothing. It finds the values of the operands and lets Python apply the operator; `tensor`
and `constexpr` define the result. Therefore, only the language decides a kernel's types. `control_flow` compiles loops
and branches to operations with regions.

Source: `CodeGenerator` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from types import FunctionType, ModuleType
from typing import Any

import mini_triton.language as tl
from mini_triton.errors import CompilationError, Loc, UnsupportedLanguageConstruct
from mini_triton.frontend import control_flow, hints
from mini_triton.frontend.adopted import adopt
from mini_triton.frontend.function import ConstexprFunction, KernelSource
from mini_triton.frontend.names import Scope
from mini_triton.frontend.values import can_be_named, to_compile_time, to_run_time
from mini_triton.ir.builder import Builder
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import is_builtin
from mini_triton.language.dtypes import dtype, int1, pointer_type
from mini_triton.language.tensor import bitwise, invert, tensor

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

PYTHON = (len, min, max, int, float, range, list, tuple, print, isinstance, getattr, hasattr)
"""The Python functions that kernels may use."""

REPLACED: dict[Any, str] = {min: "minimum", max: "maximum", print: "device_print", range: "range"}
"""Python's built-in functions, and the functions of the language that replace them."""

MATH = tuple(function for function in vars(math).values() if callable(function))

REFUSALS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""The errors with which the language, or Python, rejects operands."""


class Visitor:
    """Compiles one function.

    Visiting an expression returns a `tensor`, a `constexpr`, a tuple, or an object such as a dtype, a module or a
    function.
    """

    def __init__(self, function: KernelSource, builder: Builder, callers: Sequence[Any] = ()) -> None:
        self.function = function
        self.builder = builder
        self.callers = callers  # the calls from the kernel to this function, as `inline` records them
        self.scope = Scope()
        self.in_loop = False  # whether the current statement is in the body of a loop

    def visit(self, node: ast.expr | ast.stmt) -> Any:
        """Visit a node with the method for its class, such as `visit_BinOp` for a `BinOp`. (Given.)

        Operations built for the node get its location.
        """
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is None:
            raise self.unsupported(node, node)
        with self.builder.location(self.loc(node)):
            return method(node)

    def run(self, statements: Sequence[ast.stmt]) -> Any:
        """Visit statements in order. Returns the value of the first `return`; without a `return`, `constexpr(None)`.

        Statements after an `if` depend on it, so `control_flow.visit_If` takes them, and returns their result.
        """
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.If):
                with self.builder.location(self.loc(statement)):
                    return control_flow.visit_If(self, statement, statements[i + 1 :])
            # Task 5.2: Statements after a `return` may be invalid, as in `return x` followed by `missing`.
            raise NotImplementedError("Task 5.2: From source to module")
        return constexpr(None)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Inside the `with`, a `return` is an error. (Given.)"""
        before, self.in_loop = self.in_loop, True
        yield
        self.in_loop = before

    # --- errors

    def loc(self, node: ast.expr | ast.stmt) -> Loc:
        """The location of a node in the kernel's file. (Given.)"""
        return self.function.loc(node)

    def error(self, node: ast.expr | ast.stmt, message: str) -> CompilationError:
        """An error to raise, located at `node`. (Given.)"""
        return CompilationError(message, self.loc(node))

    def unsupported(self, node: ast.expr | ast.stmt, construct: ast.AST) -> CompilationError:
        """The error for a part of `node` that kernels cannot use. (Given.)"""
        return UnsupportedLanguageConstruct(hints.explain_construct(construct), self.loc(node))

    def evaluate(
        self, node: ast.expr | ast.stmt, function: Callable[..., Any], /, *operands: Any, **keywords: Any
    ) -> Any:
        """Call a function of Python or of the language; its errors point at `node`. (Given.)

        The result is converted by `to_compile_time`.
        """
        try:
            return to_compile_time(function(*operands, **keywords))
        except (*REFUSALS, CompilationError) as error:
            raise self.locate(error, node) from error

    def locate(self, error: Exception, node: ast.expr | ast.stmt) -> CompilationError:
        """The error to raise for an `error` that occurred while `node` was visited.

        An error with a location is returned itself. Any other error gets the location of `node`, and keeps its message.
        """
        # Task 5.3: `TypeError("no")` becomes `self.error(node, "no")`. Given: `loc` and `message` of an error of the
        # language; its `loc` may be None.
        raise NotImplementedError("Task 5.3: Expressions and their errors")

    # --- names

    def visit_Name(self, node: ast.Name) -> Any:
        # Task 5.2: A name is a local name or a global one. Given: `self.scope.values`, `global_value`.
        raise NotImplementedError("Task 5.2: From source to module")

    def global_value(self, node: ast.Name) -> Any:
        """The value of a name that the function itself does not bind.

        Kernels see modules, functions, classes and dtypes of the language, other kernels, and `constexpr` values, but
        no other values, which might change after the kernel has been compiled. For any other name, raises a
        `CompilationError` at `node`; its message contains the name.
        """
        name = node.id
        if name in self.scope.lost:
            raise self.error(node, f"{name} is not defined here: {self.scope.lost[name]}")
        # Task 5.2: `tl` is in `self.function.globals`. `min` is only in Python's `builtins`, and kernels see only the
        # builtins in `PYTHON`. For a global `foo` for which `is_visible` is false, the message is "Cannot access global
        # variable foo"; for an unknown name, it is "foo is not defined". Given: `hints.suggest(name)`, a hint.
        raise NotImplementedError("Task 5.2: From source to module")

    # --- values

    def visit_Constant(self, node: ast.Constant) -> Any:
        # Task 5.2: The value of `1.0` is `constexpr(1.0)`, because it is known at compile time.
        raise NotImplementedError("Task 5.2: From source to module")

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        # Task 5.3: The value of `(x, 1)` is a Python tuple of two values.
        raise NotImplementedError("Task 5.3: Expressions and their errors")

    def visit_List(self, node: ast.List) -> Any:
        """A list in a kernel is a tuple. (Given.)"""
        return tuple(self.visit(element) for element in node.elts)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """`[f(x) for x in xs if c]`, evaluated at compile time for each element of a tuple. (Given.)"""
        (loop, *more) = node.generators
        if more:
            raise self.error(node, "nested comprehensions are not supported")
        values = unwrap_once(self.visit(loop.iter))
        if not isinstance(values, tuple):
            raise self.error(node, "only tuple comprehensions are supported")
        elements = []
        for value in values:
            self.bind_element(loop.target, value)
            if all(control_flow.holds(self, test, self.visit(test)) for test in loop.ifs):
                elements.append(self.visit(node.elt))
        return tuple(elements)

    def bind_element(self, target: ast.expr, value: Any) -> None:
        """Bind the target of a comprehension, one or several names. Numbers stay compile-time values. (Given.)"""
        if isinstance(target, ast.Tuple):
            for inner, part in zip(target.elts, self.unpack(target, value), strict=True):
                self.bind_element(inner, part)
        elif isinstance(target, ast.Name):
            self.scope.bind(target.id, value, self.loc(target))
        else:
            raise self.unsupported(target, target)

    def unpack(self, target: ast.Tuple, value: Any) -> tuple[Any, ...]:
        """The elements of a tuple, one for each name of the target. (Given.)

        Raises `CompilationError`, with Python's message, if the numbers of names and elements differ.
        """
        value, expected = unwrap_once(value), len(target.elts)
        for name in target.elts:
            if isinstance(name, ast.Starred):
                raise self.unsupported(target, name)
        if not isinstance(value, tuple):
            raise self.error(target, f"cannot unpack non-iterable value {value!r}: a tuple of {expected} is needed")
        if len(value) > expected:
            raise self.error(target, f"too many values to unpack (expected {expected}, got {len(value)})")
        if len(value) < expected:
            raise self.error(target, f"not enough values to unpack (expected {expected}, got {len(value)})")
        return value

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """An f-string of compile-time values. (Given.)"""
        words = []
        for part in node.values:
            value = self.visit(part.value if isinstance(part, ast.FormattedValue) else part)
            if isinstance(value, tensor):
                message = f"Cannot evaluate f-string containing non-constexpr conversion values, found {value!r}"
                raise self.error(part, message)
            words.append(str(unwrap(value)))
        return constexpr("".join(words))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        # Task 5.2: The node is an attribute such as `tl.store` or `x.dtype`. For a `constexpr`, `.value` is the value
        # inside, and any other attribute is an attribute of that value. Given: `evaluate(node, function, ...)`, which
        # calls `function` and reports any error at `node`.
        raise NotImplementedError("Task 5.2: From source to module")

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        # Task 5.3: The node is a subscript such as `x[:, None]` or `shape[0]`; `shape` may be a `constexpr`. The index
        # must be a plain Python value that contains no `constexpr`, not even inside a tuple. Given: `evaluate`,
        # `unwrap_once`, `unwrap`.
        raise NotImplementedError("Task 5.3: Expressions and their errors")

    def visit_Slice(self, node: ast.Slice) -> Any:
        """`1:2` in a subscript. (Given.)"""
        bounds = (node.lower, node.upper, node.step)
        return slice(*(unwrap(self.visit(bound)) if bound else None for bound in bounds))

    # --- operators

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        # Task 5.3: `x + 1` applies Python's `+` to both values. Visit the left operand first. Given: `OPERATORS`;
        # `self.unsupported(node, node.op)`, the error for any other operator.
        raise NotImplementedError("Task 5.3: Expressions and their errors")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self.visit_not(node)
        # Task 5.3: `-x` applies Python's unary `-` to the value of `x`. Given: `OPERATORS`, `evaluate`.
        raise NotImplementedError("Task 5.3: Expressions and their errors")

    def visit_Compare(self, node: ast.Compare) -> Any:
        # Task 5.3: Compile `x < 1` as if it were a `BinOp`. `x is None` is a `constexpr` bool: `is` and `is not`
        # compare the objects inside constexprs. (No test asks whether two tuples are the same object.) For `a < b < c`,
        # raise the error "simultaneous multiple comparison is not supported".
        raise NotImplementedError("Task 5.3: Expressions and their errors")

    def visit_not(self, node: ast.UnaryOp) -> Any:
        """`not x`, computed by Python for a compile-time value. A tensor must be an int1; its elements are inverted."""
        # Task 5.8: `not constexpr(0)` is `constexpr(True)`. Given: `invert`, and `self.boolean(node, value)`, which
        # rejects tensors of any dtype except int1.
        raise NotImplementedError("Task 5.8: if, while, conditional expressions")

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: compute all tensors, and combine them bitwise.

        The first compile-time value that is false (for `and`) or true (for `or`) is the result, and later operands are
        not visited. Other compile-time values beside a tensor are omitted. Without a tensor, the result is the last
        value, as in Python.
        """
        # Task 5.8: For tensors `x` and `y`, `x and 1 and y` is `arith.andi` of `x` and `y`, which must both be int1.
        # But `1 and x` is `x`, and `x and y and 0` is 0, whatever the dtypes of `x` and `y`. Given: `self.boolean`,
        # `bitwise`.
        raise NotImplementedError("Task 5.8: if, while, conditional expressions")

    def boolean(self, node: ast.expr, value: tensor) -> tensor:
        """`value` itself, which must be `int1`. (Given.)"""
        if value.dtype != int1:
            raise self.error(node, f"this must be an int1, not {value!r}: compare it with something")
        return value

    # --- calls

    def visit_Call(self, node: ast.Call) -> Any:
        called = self.visit(node.func)
        function = adopt(unwrap(called))
        if isinstance(called, constexpr) and isinstance(function, FunctionType):
            function = ConstexprFunction(function)  # `@tl.constexpr` also marks compile-time functions
        arguments, keywords = self.visit_arguments(node)
        if isinstance(function, KernelSource):
            return self.inline(node, function, arguments, keywords)
        # Task 5.2: `tl.store(x, 1.0)` calls `tl.store` with a tensor and a `constexpr`. Given: `find_callee`.
        raise NotImplementedError("Task 5.2: From source to module")

    def visit_arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The values of the positional and keyword arguments; `*xs` passes the elements of a tuple. (Given.)"""
        values: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                values.extend(self.evaluate(argument, tuple, unwrap_once(self.visit(argument.value))))
            else:
                values.append(self.visit(argument))
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise UnsupportedLanguageConstruct("** is not supported in a call", self.loc(node))
            keywords[keyword.arg] = self.visit(keyword.value)
        return values, keywords

    def find_callee(self, node: ast.Call, function: Any) -> Callable[..., Any]:
        """The function for Python to call. Raises `CompilationError` for one that kernels cannot call. (Given.)"""
        if not callable(function):
            raise self.error(node, f"'{type(function).__name__}' object is not callable: {ast.unparse(node.func)}")
        if function in REPLACED:
            return partial(call_replaced, function)
        if function in PYTHON or function in MATH or function in (dtype, pointer_type):
            return partial(call_python, function)
        if isinstance(function, ConstexprFunction):
            return partial(call_python, function.fn)
        if is_named_tuple(function):
            return function
        if isinstance(getattr(function, "__self__", None), str | int | float):
            return partial(call_python, function)  # `N.bit_length()`, `KIND.startswith("a")`
        owner = getattr(function, "__self__", function)
        modules = type(owner).__module__, getattr(owner, "__module__", None) or ""
        if is_builtin(function) or any(module.startswith("mini_triton") for module in modules):
            return partial(self.call_language, node, function)
        raise self.error(node, hints.explain_callee(node.func, function))

    def call_language(self, node: ast.Call, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function of the language. Kernels among its arguments become functions that it can call. (Given.)"""

        def make_callable(value: Any) -> Any:
            inner = adopt(unwrap(value))
            if not isinstance(inner, KernelSource):
                return value
            return lambda *xs, **options: self.inline(node, inner, xs, options)

        return function(*map(make_callable, arguments), **{name: make_callable(v) for name, v in keywords.items()})

    def inline(self, node: ast.Call, function: KernelSource, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Compile the body of another kernel in place of the call at `node`. Returns the kernel's result.

        Raises `CompilationError` at `node` for arguments that do not match the parameters, and for recursion: a call
        inside a call to the same function with the same arguments would never end. An error inside the body gets a note
        about the call at `node`.
        """
        # Task 5.4: For `double(x)`, a new `Visitor` with the same builder binds the parameter in its scope, at the
        # location of the `def`, and visits the body. `self.callers` is a tuple with an entry of your choice for each
        # call around this one. Different kernels may have the same name, such as those that one Python function makes.
        # The message for recursion contains this word. Given: `bind_arguments`, `add_call`.
        raise NotImplementedError("Task 5.4: Assignments and calls to kernels")

    def add_call(self, error: CompilationError, node: ast.Call) -> CompilationError:
        """Add a note (`add_note`) about the call at `node` to an error. Returns the error.

        The note is "called from file:line:column", followed by the excerpt of the source on a new line.
        """
        # Task 5.4: Given: `self.loc(node)`, a `Loc` that prints as file:line:column and has an `excerpt`.
        raise NotImplementedError("Task 5.4: Assignments and calls to kernels")

    # --- statements

    def visit_Assign(self, node: ast.Assign) -> None:
        # Task 5.4: `x = y` and `a, b = c` have one target. `x = y = z` has two; raise the error "simultaneous multiple
        # assignment is not supported".
        raise NotImplementedError("Task 5.4: Assignments and calls to kernels")

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name to a value, or several names to the elements of a tuple, which may be nested.

        A number bound to a name becomes a tensor, even in a tuple. Raises `CompilationError` for strings and functions.
        """
        # Task 5.4: After `x = 1`, `x` is an int32 scalar. Errors are located at the target: "__setitem__ is not
        # supported" for `x[0] = y`, "Attribute assignment is not supported" for `x.y = z`, and `self.unsupported` for
        # other targets, even for the list in `[a, b] = c`. Given: `to_run_time`, `can_be_named`, `self.unpack`, which
        # checks the number of elements; `self.scope.bind`.
        raise NotImplementedError("Task 5.4: Assignments and calls to kernels")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`x += y`"""
        # Task 5.4: `x += y` means `x = x + y`, and its errors point at `x += y`. For `x[0] += y`, raise the error
        # "only a name can be updated" at the target. New nodes do not have locations; use `ast.copy_location`.
        raise NotImplementedError("Task 5.4: Assignments and calls to kernels")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`X: tl.constexpr = 4` keeps a number a compile-time value. Other annotations are only evaluated."""
        # Task 5.5: After this statement, `X` is `constexpr(4)`. A tensor or a tuple in place of the 4 stays unchanged.
        # `X: tl.constexpr` alone binds nothing. If `C` is another name for `tl.constexpr`, `X: C = 4` means the same.
        # Only a new name can become constexpr; otherwise, raise the error "X is already defined. constexpr cannot be
        # reassigned."
        raise NotImplementedError("Task 5.5: What the compiler decides")

    def visit_Return(self, node: ast.Return) -> Any:
        if self.in_loop:
            control_flow.refuse_return(self, node)
        # Task 5.2: The result of `return x` is the value of `x`; the result of a plain `return` is `constexpr(None)`.
        raise NotImplementedError("Task 5.2: From source to module")

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect, or a docstring. (Given.)"""
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        """(Given.)"""

    def visit_Assert(self, node: ast.Assert) -> None:
        """`assert condition, "message"` is a `tl.device_assert`. (Given.)"""
        message = self.visit(node.msg) if node.msg else constexpr("")
        self.evaluate(node, tl.device_assert, self.visit(node.test), message)

    # --- control flow (`visit_If` also takes the statements after the `if`, so `run` calls it)

    visit_IfExp = control_flow.visit_IfExp
    visit_For = control_flow.visit_For
    visit_While = control_flow.visit_While


def unwrap_once(value: Any) -> Any:
    """The value inside a `constexpr`; the elements of a tuple are not unwrapped. (Given.)"""
    return value.value if isinstance(value, constexpr) else value


def is_visible(value: Any) -> bool:
    """Whether kernels may see this global. (Given.)"""
    value = adopt(value)
    if isinstance(value, constexpr | ModuleType | KernelSource | ConstexprFunction) or is_builtin(value):
        return True
    if any(value is function for function in PYTHON) or is_named_tuple(value):
        return True
    module = getattr(value, "__module__", "") if isinstance(value, type) else type(value).__module__
    return module.startswith("mini_triton.language")


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a named-tuple class, which kernels may call. (Given.)"""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def bind_arguments(function: KernelSource, /, *arguments: Any, **keywords: Any) -> dict[str, Any]:
    """The arguments of a call by parameter. Raises `TypeError`, as Python does, if they do not match. (Given.)"""
    bound = function.signature.bind(*arguments, **keywords)
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if function.noinline and isinstance(value, tensor) and value.shape:
            marked = f"Function {function.fn.__name__} is marked noinline"
            raise TypeError(f"{marked}, but was called with non-scalar argument {name}:{value!r}")
    return {name: to_compile_time(value) for name, value in bound.arguments.items()}


def call_replaced(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call the language's function instead of Python's. Compile-time numbers use Python's `min` and `max`. (Given.)"""
    meant = getattr(tl, REPLACED[function])
    if function not in (min, max):
        return meant(*arguments, **keywords)
    if any(isinstance(argument, tensor) for argument in arguments):
        return reduce(partial(meant, **keywords), arguments)
    numbers = list(map(unwrap, arguments))
    if any(math.isnan(x) or (x == 0 and math.copysign(1, x) < 0) for x in numbers):
        raise TypeError(f"{function.__name__} of constants takes neither NaN nor -0.0: use tl.{REPLACED[function]}")
    return function(*numbers)


def call_python(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Call a Python function at compile time, with compile-time values. (Given.)"""
    values = [*arguments, *keywords.values()]
    if function not in (isinstance, getattr, hasattr, len, list, tuple) and any(isinstance(v, tensor) for v in values):
        raise TypeError(hints.explain_unknown(function))
    return function(*map(unwrap, arguments), **{name: unwrap(value) for name, value in keywords.items()})

"""Everything on which a compiled kernel depends. Launches may share a kernel only if they agree on all of it.

The arguments alone are not enough. A kernel's code also depends on its own source, on the source of every function that
it calls, and on the values of the names that these functions read from outside.

Source: `DependenciesFinder` and `cache_key` in Triton's `python/triton/runtime/jit.py`; `triton_key` in its
`compiler.py`.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from mini_triton.compat.toolbox import source_files
from mini_triton.frontend.adopted import adopt
from mini_triton.frontend.function import ConstexprFunction, KernelSource
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.runtime.cache import FORMAT
from mini_triton.runtime.options import Options
from mini_triton.runtime.specialization import Specialized

MISSING = object()
"""Marks a name without a value."""


@dataclass(frozen=True)
class Reference:
    """A name that a function reads from outside, with its value at the first compilation."""

    function: KernelSource
    path: str  # "BLOCK", or with modules: "settings.BLOCK"
    value: Any
    known: Any = field(init=False, repr=False, compare=False)  # the value, or a private copy of it

    def __post_init__(self) -> None:
        value = self.value
        object.__setattr__(self, "known", constexpr(value.value) if isinstance(value, constexpr) else value)

    def has_changed(self) -> bool:
        """Whether the value of the name has changed. (Given.)"""
        now = resolve(self.function.globals, self.path)
        return unwrap(now) is not unwrap(self.known) and describe(now) != describe(self.known)


def paths(tree: ast.FunctionDef) -> list[str]:
    """The names and dotted names, such as `x` and `tl.load`, that a function's body reads from outside the function.

    Each name occurs once. The names are `sorted`: their order is the same in every process. A function that reads
    `settings.sizes.BLOCK` also reads `settings` and `settings.sizes`. Parameters of any kind are not read from outside,
    and neither is a name that has been assigned on every path to the read. In `y = N; N = 3; z = N`, only the first `N`
    is read from outside. In `if FLAG: N = 3` followed by `z = N`, the second `N` is, because `FLAG` may be false. A
    branch that ends in `return` counts, too.
    """
    # Task 7.3: For `def f(x, n=8): y = x * N; tl.store(y, n)`, return ["N", "tl", "tl.store"]. Given: `split`, which
    # returns the parts of a node that always run, and its branches; `dotted_name`, which returns "" for nodes that are
    # not names.
    raise NotImplementedError("Task 7.3: Keys")


def split(node: ast.AST) -> tuple[list[ast.AST], list[list[ast.AST]]]:
    """The parts of a node: those that always run, in order of evaluation, and the branches, one of which runs. (Given.)

    A loop has two branches, its body and nothing, because it may run zero times. A node without branches has an empty
    one. In `x += 1`, `x` is read, then assigned.
    """
    inside = list(ast.iter_child_nodes(node))
    match node:
        case ast.If(test, body, orelse):
            return [test], [[*body], [*orelse]]
        case ast.While(test, body, orelse):
            return [test], [[*body, *orelse], [*orelse]]
        case ast.For(target, iter, body, orelse):
            return [iter], [[target, *body, *orelse], [*orelse]]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return [], [[*node.generators, *(part for part in inside if part not in node.generators)], []]
        case ast.comprehension(target, iter, tests):
            return [iter, target, *tests], [[]]
        case ast.AugAssign(target=ast.Name(name)):
            return [ast.Name(name, ast.Load()), node.value, node.target], [[]]
        case ast.AnnAssign(value=None, annotation=annotation):  # this assigns nothing
            return [annotation], [[]]
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return [value, *(part for part in inside if part is not value)], [[]]
    return inside, [[]]


def dotted_name(node: ast.AST) -> str:
    """The text of a name such as `a`, or of a dotted name such as `a.b.c`; "" for any other node. (Given.)"""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted_name(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def resolve(names: Mapping[str, Any], path: str) -> Any:
    """The value of a dotted name; `MISSING` if there is none, or if an owner in the path is not a module. (Given.)

    For names in modules of this package, such as `tl.float32`, return `MISSING`, because their values do not change.
    """
    name, *attributes = path.split(".")
    value = names.get(name, MISSING)
    for attribute in attributes:
        if not isinstance(value, ModuleType) or value.__name__.startswith("mini_triton"):
            return MISSING
        value = getattr(value, attribute, MISSING)
    return value


def as_function(value: Any) -> KernelSource | None:
    """A function that kernels may call, with readable source; None for anything else. (Given.)"""
    value = adopt(unwrap(value))
    if isinstance(value, ConstexprFunction) and not value.__module__.startswith("mini_triton"):
        return value.kernel
    return value if isinstance(value, KernelSource) else None


def matters(value: Any) -> bool:
    """Whether a kernel depends on a value that it reads: it depends on data and on functions for kernels. (Given.)"""
    is_other = value is MISSING or isinstance(value, ModuleType) or callable(value)
    return as_function(value) is not None or not is_other


def references(*functions: KernelSource) -> list[Reference]:
    """The references whose values `matters` accepts: first those of `functions`, then those of their callees.

    A function's callees are the functions in the values that it reads and in its defaults; they may be in tuples. Each
    function is visited once, in the order of discovery. Functions may call each other in cycles.
    """
    # Task 7.3: If `f` reads `N` and calls `g`, which reads `M`, the result is the references to `N` and `g`, then the
    # reference to `M`. Two functions are the same if their `fn` is the same. Given: `resolve`, `matters`;
    # `functions_in`, which lists the functions in a value.
    raise NotImplementedError("Task 7.3: Keys")


def describe(value: Any) -> str:
    """A value on which a kernel depends, as text that is the same in every process. (Given.)

    A function that kernels can call is described by its location and source, and any other callable by its name.
    """
    if isinstance(value, tuple | list):
        return f"{type(value).__qualname__}({', '.join(map(describe, value))})"
    if function := as_function(value):
        place = f"{function.file}:{function.fn.__code__.co_firstlineno}"
        return f"{place} {describe(function.fn.__defaults__)} {function.source}"
    if isinstance(value, constexpr):
        return f"constexpr {describe(value.value)}"
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return f"{type(value).__qualname__} {value!r}"


def compute_key(
    function: KernelSource, references: Sequence[Reference], arguments: Mapping[str, Specialized], options: Options
) -> str:
    """A string that two compilations share only if they make the same kernel. It is the same in every process.

    The string depends on the function's source and its location, all `references`, the arguments, the options, and the
    `versions` of all components.
    """
    # Task 7.3: Two functions may read globals that have the same name but different values. Therefore, for each value,
    # the key also depends on the function that reads it: on the `__module__` and `__qualname__` of this function's
    # `fn`. The key depends on each argument's name and on all facts in its specialization. Given: `describe`, which
    # turns a function or a value into text; `digest`, which turns many texts into a short one; `versions`.
    raise NotImplementedError("Task 7.3: Keys")


def functions_in(value: Any) -> list[KernelSource]:
    """The functions that a value is, or that a tuple contains; a tuple may be frozen or in a constexpr. (Given.)"""
    value = unwrap(value)
    if isinstance(value, tuple | list):
        return [function for element in value for function in functions_in(element)]
    function = as_function(value)
    return [function] if function else []


def digest(texts: list[str]) -> str:
    """A short text for many texts: their SHA-256, in hexadecimal digits. (Given.)"""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def versions() -> list[str]:
    """Versions of every component; ours is a hash of its sources, stages and passes. (Given.)"""
    from mini_triton.runtime.pipeline import STAGES  # imported late: kernels can be defined without a back end
    from mini_triton.transforms.manager import chosen, remaining

    stages = [f"{stage.name} {stage.run.__module__}.{stage.run.__qualname__}" for stage in STAGES]
    passes = [chosen(), str(remaining())]
    return [FORMAT, platform.python_version(), np.__version__, ml_dtypes.__version__, hash_sources(), *stages, *passes]


@functools.cache
def hash_sources() -> str:
    """A hash of all files of this package, computed once in a process. (Given.)"""
    hashed = hashlib.sha256()
    for file in source_files():
        hashed.update(f"{file.parent.name}/{file.name} ".encode() + file.read_bytes())
    return hashed.hexdigest()

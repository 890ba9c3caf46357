"""Tuples as arguments of a launch: `kernel[grid](out, (x, y), Sizes(rows=7, columns=5))`.

A kernel with such arguments is compiled as a kernel with a parameter for each element: `inputs` becomes `inputs_0` and
`inputs_1`. Each element is specialized like any argument. The body of the new kernel begins with `inputs = (inputs_0,
inputs_1)`.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mini_triton.language.constexpr import constexpr
from mini_triton.runtime.binding import REQUIRED, Parameter

if TYPE_CHECKING:
    from mini_triton.runtime.jit import JITFunction


def flatten_arguments(
    kernel: JITFunction, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[JITFunction, dict[str, Any]] | None:
    """A kernel without tuples and its arguments by name; None if there are no tuples, the usual case."""
    if not any(map(is_tuple, arguments)) and not any(map(is_tuple, keywords.values())):
        return None
    given = dict(zip(kernel.arg_names, arguments, strict=False)) | dict(keywords)
    tuples = {p.name: given.pop(p.name) for p in kernel.parameters if not p.constexpr and is_tuple(given.get(p.name))}
    if not tuples or len(arguments) > len(kernel.parameters):
        return None
    key = tuple((name, classes_of(value)) for name, value in tuples.items())
    if key not in kernel.flat:
        kernel.flat[key] = Flattening(kernel, tuples).kernel
    flat = kernel.flat[key]
    leaves = [leaf for value in tuples.values() for leaf in leaves_of(value)]
    return flat, dict(zip(flat.elements, leaves, strict=True)) | given


def is_tuple(value: Any) -> bool:
    """Whether an argument has elements that are arguments of their own."""
    return isinstance(value, tuple)


def classes_of(value: Any) -> Any:
    """The classes of a tuple and of the tuples in it. Two tuples with equal classes have the same structure."""
    return (type(value), *map(classes_of, value)) if is_tuple(value) else None


def leaves_of(value: Any) -> list[Any]:
    """The elements of a tuple and of the tuples in it, from left to right."""
    return [leaf for element in value for leaf in leaves_of(element)] if is_tuple(value) else [value]


class Flattening:
    """Makes the kernel that has a parameter for each element of some tuples."""

    def __init__(self, kernel: JITFunction, tuples: Mapping[str, Any]) -> None:
        self.taken = {node.id for node in ast.walk(kernel.tree) if isinstance(node, ast.Name)} | set(kernel.arg_names)
        self.parameters: list[Parameter] = []
        self.kernel = copy.copy(kernel)
        self.kernel.flat, self.kernel.kernels, self.kernel.references = {}, {}, {}
        self.kernel.warm, self.kernel.added, self.kernel.elements = None, {}, []
        prologue: list[ast.stmt] = []
        known = self.name_for("constexpr")  # numbers that the compiler knows stay constants
        self.kernel.added[known] = constexpr
        for parameter in kernel.parameters:
            if parameter.name not in tuples:
                self.parameters.append(parameter)
                continue
            value = self.expression(parameter.name, tuples[parameter.name])
            annotation = ast.Name(known, ast.Load())
            assignment = ast.AnnAssign(ast.Name(parameter.name, ast.Store()), annotation, value, simple=1)
            prologue.append(ast.fix_missing_locations(ast.copy_location(assignment, kernel.tree)))
        old, kind = kernel.signature.parameters, inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [old.get(p.name) or inspect.Parameter(p.name, kind) for p in self.parameters]
        self.kernel.parameters = tuple(self.parameters)
        self.kernel.signature = inspect.Signature([parameter.replace(default=REQUIRED) for parameter in parameters])
        self.kernel.tree = copy.copy(kernel.tree)
        self.kernel.tree.body = prologue + kernel.tree.body

    def expression(self, name: str, value: Any) -> ast.expr:
        """The source of a tuple, or of one of its elements; each element becomes a parameter."""
        if not is_tuple(value):
            element = self.name_for(name)
            self.parameters.append(Parameter(element, num=len(self.parameters)))
            self.kernel.elements.append(element)
            return ast.Name(element, ast.Load())
        fields = getattr(value, "_fields", range(len(value)))
        elements = [self.expression(f"{name}_{field}", part) for field, part in zip(fields, value, strict=True)]
        if not hasattr(value, "_fields"):  # the shape of a torch tensor, too
            return ast.Tuple(elements, ast.Load())
        maker = self.name_for(type(value).__name__)
        self.kernel.added[maker] = type(value)
        return ast.Call(ast.Name(maker, ast.Load()), elements, [])

    def name_for(self, wanted: str) -> str:
        """A name that the kernel does not use."""
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

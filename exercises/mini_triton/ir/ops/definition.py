"""How an operation is declared: a Python function from operand types to result types. (Given.)

    @op("tt.addptr", assembly="$ptr , $offset attr-dict : type($ptr) , type($offset)", pure=True)
    def addptr(ptr: Type, offset: Type) -> Type: ...

The function is the operation's *type rule*, and its signature declares the rest:
positional parameters are operands (`= None` an optional one, `*args` any number), keyword-only parameters are
attributes, and two keyword-only names are special: `result` is the result type where the operands do not determine
it (a cast's target), `regions` are the operation's regions. A rule raises `TypeError` when its input does not fit.

The rule types an operation when it is created, and verifies it later: `verify` in `verifier.py` runs it again.
`assembly` is the textual form, read by `assembly.py` for both printing and parsing; None means the generic form.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.core import Attribute, Operation, Region, Value
from mini_triton.ir.types import Type

Rule = Callable[..., Any]
R = TypeVar("R", bound=Rule)

FAMILIES = ("elementwise", "memory", "shape", "reduction", "control_flow", "function")
_DEFINITIONS: dict[str, OpDefinition] = {}


@dataclass(frozen=True)
class OpDefinition:
    """What the signature of a type rule says about an operation."""

    name: str
    rule: Rule
    assembly: str | None
    pure: bool  # no effect but its results: may be moved, merged and removed
    terminator: bool  # ends a block
    operand_names: tuple[str, ...]
    optional: tuple[str, ...]  # operands that may be absent, from the right
    variadic: str | None  # the operand that stands for any number of values
    attribute_names: tuple[str, ...]
    defaults: dict[str, Attribute]
    has_result_parameter: bool
    needs_result: bool
    has_regions: bool

    def hint(self, attribute: str) -> Any:
        """The annotation of an attribute, which says how it is printed."""
        return _hints(self.rule).get(attribute)

    def result_types(
        self,
        operands: Iterable[Type],
        attributes: dict[str, Attribute],
        results: tuple[Type, ...],
        regions: list[Region],
    ) -> tuple[Type, ...]:
        """Run the type rule. Raises `TypeError` if the types, attributes or regions do not fit."""
        keywords: dict[str, Any] = {k: v for k, v in attributes.items() if k in self.attribute_names}
        if self.has_result_parameter:
            require(bool(results) or not self.needs_result, "its result type must be given")
            keywords["result"] = results[0] if len(results) == 1 else results
        if self.has_regions:
            keywords["regions"] = regions
        operands = tuple(operands)
        least = len(self.operand_names) - len(self.optional)
        if len(operands) < least or (self.variadic is None and len(operands) > len(self.operand_names)):
            raise TypeError(f"it takes {', '.join(self.operand_names) or 'no operands'}, got {len(operands)} operands")
        missing = set(self.attribute_names) - set(self.defaults) - set(keywords)
        if missing:
            raise TypeError(f"its attribute {sorted(missing)[0]} is missing")
        for name in attributes:  # a discardable attribute names its dialect: `tt.divisibility`
            if name not in self.attribute_names and "." not in name:
                raise TypeError(f"it has no attribute {name}")
        try:
            types = self.rule(*operands, **keywords)
        except ValueError as error:  # from TensorType: the rule asked for a shape that no tensor may have
            raise TypeError(str(error)) from error
        return () if types is None else types if isinstance(types, tuple) else (types,)


@functools.cache
def _hints(rule: Rule) -> dict[str, Any]:
    return get_type_hints(rule, include_extras=True)


def op(name: str, *, assembly: str | None = None, pure: bool = False, terminator: bool = False) -> Callable[[R], R]:
    """Declare operation `name` by its type rule; returns the rule unchanged."""

    def declare(rule: R) -> R:
        operands, optional, attributes, defaults = [], [], [], {}
        variadic, special = None, {}
        for parameter in inspect.signature(rule).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                variadic = parameter.name
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                operands.append(parameter.name)
                if parameter.default is None:
                    optional.append(parameter.name)
            elif parameter.name in ("result", "regions"):
                special[parameter.name] = parameter.default
            else:
                attributes.append(parameter.name)
                if parameter.default is not parameter.empty:
                    defaults[parameter.name] = parameter.default
        _DEFINITIONS[name] = OpDefinition(
            name=name,
            rule=rule,
            assembly=assembly,
            pure=pure,
            terminator=terminator,
            operand_names=tuple(operands),
            optional=tuple(optional),
            variadic=variadic,
            attribute_names=tuple(attributes),
            defaults=defaults,
            has_result_parameter="result" in special,
            needs_result=special.get("result") is inspect.Parameter.empty,
            has_regions="regions" in special,
        )
        return rule

    return declare


def definition(name: str) -> OpDefinition | None:
    """The declaration of operation `name`, or None; loads the families of operations when first needed."""
    if name not in _DEFINITIONS:
        for family in FAMILIES:
            importlib.import_module(f"mini_triton.ir.ops.{family}")
    return _DEFINITIONS.get(name)


def create(
    name: str,
    *operands: Value,
    result: Type | tuple[Type, ...] = (),
    regions: Iterable[Region] = (),
    loc: Loc | None = None,
    **attributes: Attribute,
) -> Operation:
    """Make an operation whose results the type rule has typed. It is in no block yet.

    Attributes at their default are left out. Raises `VerificationError` if there is no such operation or its rule
    refuses.
    """
    declared = definition(name)
    if declared is None:
        raise VerificationError(f"there is no operation {name}", loc)
    regions = list(regions)
    results = result if isinstance(result, tuple) else (result,)
    attributes = {k: v for k, v in attributes.items() if k not in declared.defaults or v != declared.defaults[k]}
    try:
        types = declared.result_types([operand.type for operand in operands], attributes, results, regions)
    except TypeError as error:
        raise VerificationError(f"{name}: {error}", loc) from error
    return Operation(name, operands, types, attributes, regions, loc)


def require(condition: bool, message: str) -> None:
    """A type rule's way to refuse: raises `TypeError(message)` unless `condition` holds."""
    if not condition:
        raise TypeError(message)


def spelled(types: Iterable[Type]) -> str:
    """Types as they are written, for messages: `(i32, f32)`."""
    return f"({', '.join(map(str, types))})"

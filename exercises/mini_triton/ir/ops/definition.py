"""How to declare an operation: as a Python function from operand types to result types.

    @op("tt.addptr", assembly="$ptr , $offset attr-dict : type($ptr) , type($offset)", pure=True)
    def addptr(ptr: Type, offset: Type) -> Type: ...

The function is the operation's *type rule*, and its signature is the operation's *schema*: positional parameters are
operands (`= None` marks an optional one, `*args` any number), and keyword-only parameters are attributes. Two
keyword-only names are special: `result` is the result type, if the operands do not determine it (as for a cast), and
`regions` are the operation's regions. A rule raises `TypeError` if the operation is not valid.

The rule computes the types of a new operation, and also verifies it later: `verify` in `verifier.py` runs the rule
again. `assembly` is the format of the pretty form, which both the printer and the parser follow; None means that the
operation has only the generic form. The other arguments of `@op` are *traits*: facts about the operation that passes,
analyses and back ends ask for, instead of comparing names. `OpDefinition` lists them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.core import Attribute, Operation, Region, Value
from mini_triton.ir.types import Type

Rule = Callable[..., Any]
R = TypeVar("R", bound=Rule)

FAMILIES = (
    *("elementwise", "memory", "shape", "reduction", "control_flow"),
    *("function", "descriptors", "asynchronous", "scaled"),
)
SPECIAL = ("result", "regions")
"""Keyword-only parameters of a type rule that are not attributes."""
NOTHING, READS, WRITES = 0, 1, 2
"""A set of effects on memory, as the bits of a number."""
Index = tuple[Any, ...]
"""An element's position in a tensor, a number for each axis: integers, arrays, or anything else that can compute."""
Moves = Callable[[Operation, int, Index], tuple[Any, Index]]
"""Where an operation that only moves elements takes an element from.

The arguments are the operation, the number of one of its results, and an index in this result; the answer is the number
of an operand, and an index in this operand.
"""
Flow = Callable[[Operation], Iterator[tuple[Value, Sequence[Value]]]]
"""Pairs of a value that control flow carries or returns, and its possible sources."""

_DEFINITIONS: dict[str, OpDefinition] = {}


@dataclass(frozen=True)
class Schema:
    """The signature of a type rule, as facts about the operation."""

    operands: tuple[str, ...] = ()  # operands with their own names
    optional: tuple[str, ...] = ()  # the last operands, which may be absent
    variadic: str | None = None  # the operand that stands for any number of values
    attributes: tuple[str, ...] = ()
    defaults: Mapping[str, Attribute] = field(default_factory=dict)  # values of attributes that have a default
    takes_result: bool = False  # the rule takes the result type ...
    needs_result: bool = False  # ... and requires it
    takes_regions: bool = False


def schema_of(rule: Rule) -> Schema:
    """The schema of a rule's signature. For `def load(ptr, mask=None, *, axis, isVolatile=False, result)`, it is

    Schema(operands=("ptr", "mask"), optional=("mask",), attributes=("axis", "isVolatile"),
           defaults={"isVolatile": False}, takes_result=True, needs_result=True)
    """
    # Task 2.7: Keep names in the order of the signature. `SPECIAL` names are not attributes. If `result` has a
    # default, the rule takes it but does not need it. Given: Python's `inspect.signature`.
    raise NotImplementedError("Task 2.7: From rule to operation")


@dataclass(frozen=True)
class OpDefinition:
    """An operation as `@op` declares it."""

    name: str
    rule: Rule
    assembly: str | None = None
    pure: bool = False  # only computes results: may be moved, merged and removed
    effects: int = READS | WRITES  # on memory, without those of operations inside; a pure operation has none
    terminator: bool = False  # ends a block
    accesses: bool = False  # reads or writes the memory behind its operand `ptr`, where its operand `mask` is true
    elementwise: bool = False  # an element of the result depends on the same element of each operand, and nothing else
    divides: bool = False  # divides integers: undefined if the divisor is 0
    moves: Moves | None = None  # every element of a result is an element of an operand
    mixes: bool = False  # an element of the result depends on elements from anywhere along the operands' axes
    flow: Flow | None = None  # runs its regions, and carries values into them and out of them

    @property
    def is_unary(self) -> bool:
        """Whether the operation has one operand."""
        return self.rule.__code__.co_argcount == 1

    @functools.cached_property
    def schema(self) -> Schema:
        return schema_of(self.rule)

    @functools.cached_property
    def hints(self) -> dict[str, Any]:
        """The annotations of the rule. The annotation of an attribute determines how it is printed."""
        return get_type_hints(self.rule, include_extras=True)

    def result_types(
        self,
        operands: Iterable[Type],
        attributes: Mapping[str, Attribute],
        results: tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
    ) -> tuple[Type, ...]:
        """The result types, as the type rule returns them. If the rule takes a result, it receives `results`.

        Raises `TypeError` if the operation does not match its schema. If the rule raises `TypeError` or `ValueError`
        (which `TensorType` raises for an invalid shape), raises `TypeError` with the same message; other errors
        propagate. Attributes whose names contain a dot, such as `tt.divisibility`, are *discardable*: any operation may
        have them, and rules do not receive them.
        """
        # Task 2.7: For the `load` in `schema_of`, with two operands, the attribute `axis=0` and one result, call
        # `rule(ptr, mask, axis=0, result=type)`. Do not run the rule if there are too few or too many operands, if an
        # attribute is missing or unknown (the message names it), if there are no `results` but the rule needs one, or
        # if there are regions but the rule takes none. Pass `regions` as a list, and `result` as a tuple unless there
        # is exactly one. The rule returns a type, a tuple of types, or None.
        raise NotImplementedError("Task 2.7: From rule to operation")


def op(name: str, **traits: Any) -> Callable[[R], R]:
    """Declare operation `name` by its type rule and its traits. Returns the rule unchanged."""

    def declare(rule: R) -> R:
        _DEFINITIONS[name] = OpDefinition(name, rule, **traits)
        return rule

    return declare


def definitions() -> Mapping[str, OpDefinition]:
    """All operations, by name."""
    for family in FAMILIES:
        importlib.import_module(f"mini_triton.ir.ops.{family}")
    return _DEFINITIONS


def definition(name: str) -> OpDefinition | None:
    """The declaration of operation `name`, or None. Loads all declarations on first use."""
    return _DEFINITIONS.get(name) or definitions().get(name)


UNDECLARED = OpDefinition("", lambda *operands: ())


def traits(operation: Operation) -> OpDefinition:
    """The declaration of an operation. If there is none, nothing is known about the operation."""
    return definition(operation.name) or UNDECLARED


def operand_of(operation: Operation, name: str) -> Value | None:
    """The operand that the type rule calls `name`, such as the "mask" of a load; None if it is absent."""
    names = traits(operation).schema.operands
    return dict(zip(names, operation.operands, strict=False)).get(name)


def create(
    name: str,
    *operands: Value,
    result: Type | tuple[Type, ...] = (),
    regions: Iterable[Region] = (),
    loc: Loc | None = None,
    **attributes: Attribute,
) -> Operation:
    """Make an operation whose result types come from the type rule. It is not in a block yet.

    Attributes that equal their defaults are omitted; Python's `==` decides, so 0 equals False. Raises
    `VerificationError`, with the operation's name and `loc`, if there is no such operation, or if `result_types` raises
    `TypeError`; then the message also contains that of the `TypeError`. Other errors propagate.
    """
    # Task 2.7: `create("arith.addf", x, y)` with two `f32` values returns an operation with one `f32` result. Given:
    # `definition`. `regions` may be an iterator.
    raise NotImplementedError("Task 2.7: From rule to operation")


def require(condition: bool, message: str) -> None:
    """Raise `TypeError(message)` unless `condition` holds. Type rules call it to reject operations."""
    if not condition:
        raise TypeError(message)


def spell(types: Iterable[Type]) -> str:
    """Types as text, for messages: `(i32, f32)`."""
    return f"({', '.join(map(str, types))})"

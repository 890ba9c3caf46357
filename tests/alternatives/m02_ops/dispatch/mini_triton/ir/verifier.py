"""The verifier, by matching."""

from __future__ import annotations

from mini_triton.errors import VerificationError
from mini_triton.ir.core import Block, Operation, Use, Value
from mini_triton.ir.ops.definition import definition, spelled
from mini_triton.ir.types import FunctionType

ISOLATED_FROM_ABOVE = ("builtin.module", "tt.func")
"""Operations whose regions see no value from outside."""


def verify(root: Operation) -> None:
    """Check `root` and all inside it. Raises `VerificationError`, which names the operation and its location."""
    for operation in root.walk():
        check_types(operation)
        check_terminators(operation)
        check_uses(operation)
        if operation.name == "builtin.module":
            check_symbols(operation)
    for region in root.regions:
        for block in region.blocks:
            check_visibility(block, set())


def fail(operation: Operation, reason: str) -> VerificationError:
    """The error to raise about `operation`."""
    return VerificationError(f"{operation.name}: {reason}", operation.loc)


def check_types(operation: Operation) -> None:
    """The operation is declared, and its type rule, run again, gives the types that its results have."""
    declared = definition(operation.name)
    if declared is None:
        raise fail(operation, "there is no such operation")
    given = [operand.type for operand in operation.operands], [result.type for result in operation.results]
    try:
        types = declared.result_types(given[0], operation.attributes, tuple(given[1]), operation.regions)
    except TypeError as refusal:
        reason = str(refusal)
    else:
        if list(types) == given[1]:
            return
        reason = f"it results in {spelled(types)}"
    raise fail(operation, reason)


def check_terminators(operation: Operation) -> None:
    """Every block inside ends in a terminator, which stands nowhere else. Only a module's block needs none."""
    for region in operation.regions:
        for block in region.blocks:
            match (operation.name, [inner for inner in block.operations if _is_terminator(inner)]):
                case ("builtin.module", []):
                    continue
                case (_, [end]) if end is block.operations[-1]:
                    continue
                case (_, []):
                    raise fail(operation, "a block without a terminator")
                case (_, [early, *_]):
                    raise fail(early, "a terminator before the end")


def check_visibility(block: Block, visible: set[Value]) -> None:
    """Every operand in `block` and below is defined before it is used. `visible` are the values from around the block.

    Inside structured control flow this is what dominance means: a value can be seen by the operations after it in
    its block, and by all inside those; never by what is outside of its block.
    """
    here = set(visible)
    here.update(block.arguments)
    for operation in block.operations:
        hidden = [number for number, operand in enumerate(operation.operands) if operand not in here]
        if hidden:
            raise fail(operation, f"operand {hidden[0]} is out of sight")
        inside = set() if operation.name in ISOLATED_FROM_ABOVE else here
        for region in operation.regions:
            for inner in region.blocks:
                check_visibility(inner, inside)
        here.update(operation.results)


def check_uses(operation: Operation) -> None:
    """Operands list this operation among their uses, and uses of the results are operands. (Given.)"""
    for i, operand in enumerate(operation.operands):
        if Use(operation, i) not in operand.uses:
            raise fail(operation, f"operand {i} does not know that it is used here")
    for result in operation.results:
        for use in result.uses:
            if result is not use.user.operands[use.number]:
                raise fail(operation, f"result {result.index} lists a use that is not there")


def check_symbols(module: Operation) -> None:
    """Function names are unique, and calls have their callee's type. (Given.)"""
    functions: dict[str, FunctionType] = {}
    for operation in module.regions[0].block.operations:
        if operation.name != "tt.func":
            raise fail(operation, "a module holds functions only")
        name, type = str(operation.attributes["sym_name"]), operation.attributes["function_type"]
        assert isinstance(type, FunctionType)
        if name in functions:
            raise fail(operation, f"there is another function {name}")
        functions[name] = type
    for call in module.walk():
        if call.name == "tt.call":
            callee = str(call.attributes["callee"])
            type = FunctionType(tuple(o.type for o in call.operands), tuple(r.type for r in call.results))
            if callee not in functions:
                raise fail(call, f"there is no function {callee}")
            if functions[callee] != type:
                raise fail(call, f"{callee} has type {functions[callee]}, but is called as {type}")


def _is_terminator(operation: Operation) -> bool:
    declared = definition(operation.name)
    return bool(declared and declared.terminator)

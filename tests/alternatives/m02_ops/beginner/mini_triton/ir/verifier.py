"""The verifier, one question at a time."""

from __future__ import annotations

from mini_triton.errors import VerificationError
from mini_triton.ir.core import Block, Operation, Use, Value
from mini_triton.ir.ops.definition import definition
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
    operands = []
    for operand in operation.operands:
        operands.append(operand.type)
    results = []
    for result in operation.results:
        results.append(result.type)
    try:
        expected = declared.result_types(operands, operation.attributes, tuple(results), operation.regions)
    except TypeError as error:
        raise fail(operation, str(error)) from None
    if len(expected) != len(results):
        raise fail(operation, f"it should have {len(expected)} results, not {len(results)}")
    for i in range(len(results)):
        if expected[i] != results[i]:
            raise fail(operation, f"its result {i} should be {expected[i]}, not {results[i]}")


def check_terminators(operation: Operation) -> None:
    """Every block inside ends in a terminator, which stands nowhere else. Only a module's block needs none."""
    if operation.name == "builtin.module":
        for function in operation.regions[0].blocks[0].operations:
            if _ends_a_block(function):
                raise fail(function, "a module has no terminator")
        return
    for region in operation.regions:
        for block in region.blocks:
            if len(block.operations) == 0:
                raise fail(operation, "it has an empty block")
            for inner in block.operations[:-1]:
                if _ends_a_block(inner):
                    raise fail(inner, "a terminator stands before the end of its block")
            if not _ends_a_block(block.operations[-1]):
                raise fail(block.operations[-1], "its block does not end in a terminator")


def check_visibility(block: Block, visible: set[Value]) -> None:
    """Every operand in `block` and below is defined before it is used. `visible` are the values from around the block.

    Inside structured control flow this is what dominance means: a value can be seen by the operations after it in
    its block, and by all inside those; never by what is outside of its block.
    """
    seen: set[Value] = set()
    for value in visible:
        seen.add(value)
    for argument in block.arguments:
        seen.add(argument)
    for operation in block.operations:
        number = 0
        for operand in operation.operands:
            if operand not in seen:
                raise fail(operation, f"operand {number} cannot be seen here")
            number = number + 1
        for region in operation.regions:
            for inner in region.blocks:
                if operation.name in ISOLATED_FROM_ABOVE:
                    check_visibility(inner, set())
                else:
                    check_visibility(inner, seen)
        for result in operation.results:
            seen.add(result)


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


def _ends_a_block(operation: Operation) -> bool:
    declared = definition(operation.name)
    if declared is None:
        return False
    return declared.terminator

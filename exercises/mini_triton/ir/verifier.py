"""Check that IR is well formed. Verification after every pass shows which pass broke an invariant.

For every operation, check that its type rule still returns the types of its results, that it uses only visible values,
that its blocks end in a terminator and do not contain any other terminator, that uses and operands agree, and that
calls match their callees.

Source: MLIR's `lib/IR/Verifier.cpp`.
"""

from __future__ import annotations

from mini_triton.errors import VerificationError
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.ops.definition import definition, spell
from mini_triton.ir.types import FunctionType

ISOLATED_FROM_ABOVE = ("builtin.module", "tt.func")
"""Operations inside which no value from outside is visible."""


def verify(root: Operation) -> None:
    """Check `root` and everything inside it. Raises `VerificationError`, with the operation and its location."""
    for operation in root.walk():
        check_types(operation)
        check_terminators(operation)
        check_uses(operation)
        if operation.name == "builtin.module":
            check_symbols(operation)
    for region in root.regions:
        for block in region.blocks:
            check_visibility(block, set())


def verify_after(stage: str, module: Operation) -> None:
    """Check a module that a stage of the compiler produced. The `VerificationError` names the stage. (Given.)"""
    try:
        verify(module)
    except VerificationError as error:
        message = f"the compiler's stage {stage!r} made a module that is not well formed: {error.message}"
        raise VerificationError(message, error.loc) from None


def fail(operation: Operation, reason: str) -> VerificationError:
    """The error about an operation, to be raised: `raise fail(operation, "...")`."""
    return VerificationError(f"{operation.name}: {reason}", operation.loc)


def check_types(operation: Operation) -> None:
    """Check that the operation is declared, and that its type rule still returns the types of its results."""
    declared = definition(operation.name)
    if declared is None:
        raise fail(operation, "there is no such operation")
    # Task 2.8: An `arith.addi` of two `i32` whose result is an `f32` fails. Given: `fail`, which makes the error to
    # raise; `spell`, which formats types for a message.
    raise NotImplementedError("Task 2.8: The verifier")


def check_terminators(operation: Operation) -> None:
    """Check that each block of an operation ends in its only terminator; a module's block does not need one."""
    # Task 2.8: An empty block in an `scf.for` fails, and so does an `scf.yield` that is not the last operation. Given:
    # `definition(name)`, which returns None for an undeclared operation; such an operation is not a terminator.
    raise NotImplementedError("Task 2.8: The verifier")


def check_visibility(block: Block, visible: set[Value]) -> None:
    """Check that every operand inside `block` is defined before its use.

    `visible` holds the values from outside the block that are visible in it. In structured control flow, dominance
    means that a value is visible to the later operations of its block and to everything inside these operations, but
    never outside its block.
    """
    # Task 2.8: Results are not visible inside their own operation, and no value from outside is visible in the regions
    # of an operation listed in `ISOLATED_FROM_ABOVE`. `visible` is the caller's set: do not change it.
    raise NotImplementedError("Task 2.8: The verifier")


def check_uses(operation: Operation) -> None:
    """Check that operands list this operation among their uses, and that uses of results are operands. (Given.)"""
    for i, operand in enumerate(operation.operands):
        if (operation, i) not in operand.uses:
            raise fail(operation, f"operand {i} does not know that it is used here")
    for result in operation.results:
        for use in result.uses:
            if result is not use.user.operands[use.number]:
                raise fail(operation, f"result {result.index} lists a use that is not there")


def check_symbols(module: Operation) -> None:
    """Check that function names are unique, and that calls have their callee's type. (Given.)"""
    functions: dict[str, FunctionType] = {}
    for operation in module.regions[0].block.operations:
        if operation.name != "tt.func":
            raise fail(operation, "a module contains only functions")
        name, type = str(operation.attributes["sym_name"]), operation.attributes["function_type"]
        assert isinstance(type, FunctionType)
        if name in functions:
            raise fail(operation, f"there is another function {name}")
        functions[name] = type
    for call in module.walk():
        if call.name == "tt.call":
            callee = str(call.attributes["callee"])
            if callee not in functions:
                raise fail(call, f"there is no function {callee}")
            if functions[callee] != call.signature:
                raise fail(call, f"{callee} has type {functions[callee]}, but is called as {call.signature}")

"""Control flow that is known: branches and loops of which one knows what runs, and values that they only pass on.

Source: the canonicalization in MLIR's `lib/Dialect/SCF/IR/SCF.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import blocks_of, is_inside, replace_by, splice, terminator


def simplify_control_flow(module: Operation) -> bool:
    """Replace control flow, and values that it passes on, by what they are known to be, to a fixed point. (Given.)

    Returns whether there was any.
    """
    changed = False
    while any([turn_branches(module), replace_known(module), unwrap_known(module)]):
        changed = True
    return changed


# --- what is known to run


def unwrap_known(module: Operation) -> bool:
    """Replace each `scf.if` with a constant condition, and each `scf.for` of one round or none, by what runs of it.

    Returns whether there were any.
    """
    # Task 9.9: `splice` puts the operations of a block in the place of the operation that holds it, `replace_by` puts
    # values there. Inner ones come first: the outer one may take them with it.
    raise NotImplementedError("Task 9.9: Known control flow, and predication")


def count_rounds(loop: Operation) -> int | None:
    """How often an `scf.for` runs; None if that is not known.

    scf.for %i = 0 to 10 step 4     3
    scf.for %i = 7 to 7 step %s     0, whatever the step
    scf.for %i = 0 to %n step 1     None
    """
    # Task 9.9: Two bounds may be equal though neither is a constant. A step below 1 has no meaning: then nothing is
    # known.
    raise NotImplementedError("Task 9.9: Known control flow, and predication")


# --- what values are known to be


def replace_known(module: Operation) -> bool:
    """Use, for a value that control flow only passes on, the value that it always is; whether there were any.

    A carried value of an `scf.for` that is yielded as it is, or as it was initially, is its initial value. If a loop
    runs, and yields a value from outside, that is the result. A result of an `scf.if` that both branches yield is what
    they yield. Inside of a branch, the condition is true or false: `assume_condition` sees to that.
    """
    # Task 9.9: Only values that are used count: then nothing is found twice. A branch may be missing.
    raise NotImplementedError("Task 9.9: Known control flow, and predication")


def assume_condition(branch: Operation) -> bool:
    """Use true or false for the condition of an `scf.if` inside of its branches; whether it was used there. (Given.)"""
    (condition,) = branch.operands
    builder = Builder()
    changed = False
    for block, truth in zip(blocks_of(branch), (True, False), strict=False):
        for use in [use for use in condition.uses if is_inside(use.user, block)]:
            with builder.before(block.operations[0]):
                use.user.set_operand(use.number, builder.constant(truth, condition.type))
            changed = True
    return changed


def turn_branches(module: Operation) -> bool:
    """Swap the branches of each `scf.if` whose condition is the opposite of another value. (Given.)

    Returns whether there were any.
    """
    changed = False
    for branch in module.walk():
        if branch.name == "scf.if" and (plain := opposite(branch.operands[0])) and branch.regions[1].blocks:
            branch.regions.reverse()
            branch.set_operand(0, plain)
            changed = True
    return changed


def opposite(condition: Value) -> Value | None:
    """The value that a condition is the opposite of: `x` of `arith.xori(x, true)`. (Given.)"""
    if isinstance(condition, OpResult) and condition.owner.name == "arith.xori":
        value, other = condition.owner.operands
        return value if constant_of(other) else None
    return None

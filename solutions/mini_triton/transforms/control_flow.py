"""Known control flow: branches with a known condition, loops of at most one iteration, values that are only passed on.

Source: the canonicalization in MLIR's `lib/Dialect/SCF/IR/SCF.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import blocks_of, is_inside, replace_by, splice, terminator


def simplify_control_flow(module: Operation) -> bool:
    """Simplify known control flow, and the values that it passes on, to a fixed point. (Given.)

    Returns whether anything changed.
    """
    changed = False
    while any([turn_branches(module), replace_known(module), unwrap_known(module)]):
        changed = True
    return changed


# --- operations known to run


def unwrap_known(module: Operation) -> bool:
    """Replace each `scf.if` on a constant, and each `scf.for` of at most one iteration, by the code that runs.

    Returns whether anything changed.
    """
    # [task 9.9] `if true: a else: b` becomes a; a loop from 3 to 4 becomes its body, with 3 for the induction variable;
    # a loop from 4 to 4 becomes its initial values. Do not visit operations inside an operation that you have erased.
    # Given: `splice(operation, block, arguments)`, which replaces an operation by a block's operations;
    # `replace_by(operation, values)`, which replaces the operation's results by values.
    changed = False
    for operation in reversed([*module.walk()]):
        if operation.name == "scf.if" and (condition := constant_of(operation.operands[0])) is not None:
            taken = operation.regions[0 if condition else 1]
            if taken.blocks:
                splice(operation, taken.block, ())
            else:
                replace_by(operation, ())
            changed = True
        elif operation.name == "scf.for" and (rounds := count_rounds(operation)) in (0, 1):
            lower, _, _, *inits = operation.operands
            if rounds:
                splice(operation, operation.regions[0].block, (lower, *inits))
            else:
                replace_by(operation, inits)
            changed = True
    return changed
    # [end]


def count_rounds(loop: Operation) -> int | None:
    """The number of iterations of an `scf.for`; None if it is not known.

    scf.for %i = 0 to 10 step 4     3
    scf.for %i = 7 to 7 step %s     0, whatever the step
    scf.for %i = 0 to %n step 1     None
    """
    # [task 9.9] Two bounds may be the same value even if neither is a constant. A step below 1 has no meaning: the
    # number of iterations is then unknown, unless the bounds make it 0. Given: `constant_of`.
    lower, upper, step = (constant_of(bound) for bound in loop.operands[:3])
    if lower is None or upper is None:
        return 0 if loop.operands[0] is loop.operands[1] else None
    if upper <= lower:
        return 0
    return None if step is None or step < 1 else len(range(int(lower), int(upper), int(step)))
    # [end]


# --- known values


def replace_known(module: Operation) -> bool:
    """Replace each value that control flow only passes on with its source. Returns whether anything changed.

    Values are known in these cases:

    - An `scf.for` yields a carried value unchanged, or yields its initial value.
    - An `scf.for` yields a value from outside the loop, and runs at least once according to `count_rounds`.
    - Both branches of an `scf.if` yield the same value.
    - A branch of an `scf.if` uses the condition; `assume_condition` replaces it.
    """
    # [task 9.9] Which value is known in each case: a carried value, a result, or both? The function is called until it
    # returns False, so only a replacement that changes something counts. The `else` may be missing.
    changed = False
    for operation in module.walk():
        found: list[tuple[Value, Value]] = []
        if operation.name == "scf.for":
            block, inits = operation.regions[0].block, operation.operands[3:]
            carried = zip(inits, block.arguments[1:], terminator(block).operands, operation.results, strict=True)
            for init, argument, yielded, result in carried:
                if yielded is argument or yielded is init:
                    found += [(argument, init), (result, init)]
                elif count_rounds(operation) and not is_inside(yielded, operation):
                    found.append((result, yielded))
        elif operation.name == "scf.if":
            changed |= assume_condition(operation)
            if operation.results:
                then, otherwise = (terminator(block).operands for block in blocks_of(operation))
                triples = zip(operation.results, then, otherwise, strict=True)
                found = [(result, one) for result, one, other in triples if one is other]
        for old, new in found:
            changed |= bool(old.uses)
            old.replace_all_uses_with(new)
    return changed
    # [end]


def assume_condition(branch: Operation) -> bool:
    """Replace an `scf.if`'s condition by true or false in its branches; return whether anything changed. (Given.)"""
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
    """Swap the branches of each `scf.if` whose condition is a negation. (Given.)

    Returns whether anything changed.
    """
    changed = False
    for branch in module.walk():
        if branch.name == "scf.if" and (plain := opposite(branch.operands[0])) and branch.regions[1].blocks:
            branch.regions.reverse()
            branch.set_operand(0, plain)
            changed = True
    return changed


def opposite(condition: Value) -> Value | None:
    """The value that a condition negates: `x` in `arith.xori(x, true)`; None for other conditions. (Given.)"""
    if isinstance(condition, OpResult) and condition.owner.name == "arith.xori":
        value, other = condition.owner.operands
        return value if constant_of(other) else None
    return None

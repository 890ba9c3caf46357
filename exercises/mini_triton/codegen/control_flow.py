"""Loops and branches.

If all programs go the same way, Python's own `for`, `while` and `if` will do. If they diverge, the generated code goes
every way, each for the programs that take it: the mask `emit.active` says which do, and only they touch memory and get
new values; the others keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.codegen.accesses import address
from mini_triton.codegen.axes import ALL_PROGRAMS
from mini_triton.codegen.emitter import Emitter, is_pointer
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.storage import dtype_text
from mini_triton.ir.types import shape_of

# --- what loops and branches need (given)


def end_of(block: Block) -> Sequence[Value]:
    """The operands of a block's terminator."""
    assert block.terminator is not None
    return block.terminator.operands


def join_masks(*masks: str) -> str:
    """Masks joined by `&`; an empty one is true for all programs."""
    return " & ".join(mask for mask in masks if mask)


def converted(emit: Emitter, source: Value, target: Value) -> str:
    """`source` as the variable of `target` holds it: with its axes, and as an address if it holds an address."""
    text = address(emit, source) if is_pointer(source) and emit.origins[target] is None else emit.text(source)
    return emit.repeat(text, target.type, emit.axes[source], emit.axes[target])


def pass_on(emit: Emitter, targets: Sequence[Value], sources: Sequence[Value], only: str = "") -> None:
    """Write `a, b = c, d`, which assigns all values at once; with `only`, to the programs of that mask."""
    if not targets:
        return
    texts = []
    for target, source in zip(targets, sources, strict=True):
        text = converted(emit, source, target)
        if only:
            mask = emit.lift(only, ALL_PROGRAMS, len(shape_of(target.type)))
            text = f"{emit.arrays}.where({mask}, {text}, {emit.name(target)})"
        texts.append(text)
    emit.write(f"{', '.join(map(emit.name, targets))} = {', '.join(texts)}")


def share(emit: Emitter, results: Sequence[Value], values: Sequence[Value]) -> None:
    """Let results use the variables of other values."""
    for result, value in zip(results, values, strict=True):
        emit.names[result] = emit.name(value)


def begin_with_zeros(emit: Emitter, values: Sequence[Value]) -> None:
    """Give variables their shapes, before any program has assigned to them."""
    for value in values:
        shape = emit.shape(value.type, emit.axes[value])
        emit.write(f"{emit.name(value)} = np.zeros({shape}, {dtype_text(value.type)})")


# --- if


def if_(emit: Emitter, operation: Operation) -> None:
    (condition,) = operation.operands
    blocks = [region.block for region in operation.regions if region.blocks]
    if emit.varies(condition):
        divergent_if(emit, emit.text(condition), blocks, operation.results)
        return
    for header, block in zip((f"if {emit.text(condition)}:", "else:"), blocks, strict=False):
        with emit.indented(header):
            emit.block(block)
            pass_on(emit, operation.results, end_of(block))


def divergent_if(emit: Emitter, condition: str, blocks: Sequence[Block], results: Sequence[Value]) -> None:
    """Both ways, one after the other, each for its programs, if there are any."""
    outer = emit.active
    # Task 6.7: `results` begin as zeros. For each block: a mask of the programs that go there, out of those that are
    # active; under `if mask.any():` the block, with the mask as `emit.active`, and `pass_on` for its programs.
    raise NotImplementedError("Task 6.7: Branches that programs take differently")
    emit.active = outer


# --- for


def for_(emit: Emitter, operation: Operation) -> None:
    lower, upper, step, *inits = operation.operands
    variable, *carried = operation.regions[0].block.arguments
    pass_on(emit, carried, inits)
    share(emit, operation.results, carried)
    if any(emit.varies(bound) for bound in (lower, upper, step)):
        divergent_for(emit, operation)
    else:
        uniform_for(emit, operation)


def uniform_for(emit: Emitter, operation: Operation) -> None:
    """A loop that all programs run equally often."""
    block = operation.regions[0].block
    variable, *carried = block.arguments
    bounds = [emit.text(bound) for bound in operation.operands[:3]]
    # Task 6.8: `for i in range(lower, upper, step):`, the block, then pass what it yields on to `carried`. In Python
    # `i` is an `int`: the variable must have a NumPy dtype, so that it wraps around as the IR's does.
    raise NotImplementedError("Task 6.8: Loops that programs leave one by one")


def divergent_for(emit: Emitter, operation: Operation) -> None:
    """A loop that programs leave at different times."""
    block = operation.regions[0].block
    variable, *carried = block.arguments
    lower, upper, step = (emit.text(bound) for bound in operation.operands[:3])
    outer = emit.active
    trips, rounds, emit.active = emit.fresh("trips"), emit.fresh("rounds"), emit.fresh("running")
    emit.write(f"{trips} = programs.trips({lower}, {upper}, {step})")
    # Task 6.8: `trips` says how often each program goes round; count `rounds` in a loop without end. `emit.active`
    # becomes the mask of the programs, out of `outer`, that have rounds left; leave when there are none. The induction
    # variable is `lower + rounds * step`: it may wrap around in programs that have left, so do not compare it with
    # `upper`. Only the running programs get new values.
    raise NotImplementedError("Task 6.8: Loops that programs leave one by one")
    emit.active = outer


# --- while


def while_(emit: Emitter, operation: Operation) -> None:
    before, after = (region.block for region in operation.regions)
    pass_on(emit, before.arguments, operation.operands)
    share(emit, operation.results, after.arguments)
    if emit.varies(end_of(before)[0]):
        divergent_while(emit, before, after)
    else:
        uniform_while(emit, before, after)


def uniform_while(emit: Emitter, before: Block, after: Block) -> None:
    """A loop whose condition, which is computed in the block `before`, is the same for all programs. (Given.)"""
    condition, *forwarded = end_of(before)
    with emit.indented("while True:"):
        emit.block(before)
        pass_on(emit, after.arguments, forwarded)
        with emit.indented(f"if not {emit.text(condition)}:"):
            emit.write("break")
        emit.block(after)
        pass_on(emit, before.arguments, end_of(after))


def divergent_while(emit: Emitter, before: Block, after: Block) -> None:
    """A loop that programs leave at different times."""
    condition, *forwarded = end_of(before)
    outer, emit.active = emit.active, emit.fresh("running")
    begin_with_zeros(emit, after.arguments)
    emit.write(f"{emit.active} = {outer or 'np.ones(P, bool)'}")
    # Task 6.8: As `uniform_while`, for the programs that are running: what `before` forwards is theirs, then those
    # whose condition is false stop running, and the loop ends when none is left.
    raise NotImplementedError("Task 6.8: Loops that programs leave one by one")
    emit.active = outer

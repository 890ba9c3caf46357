"""Loops and branches.

If all programs take the same path, Python's `for`, `while` and `if` suffice. If programs diverge:

- Both sides of a branch run. Only the programs in the mask `emit.active` access memory and change values.
- A loop continues with the programs that have not left it. The rows of all other programs are removed from the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mini_triton.analysis.axes import ALL_PROGRAMS
from mini_triton.codegen.accesses import address
from mini_triton.codegen.emitter import Emitter
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.storage import dtype_text
from mini_triton.ir.types import is_pointer, shape_of

# --- helpers of loops and branches (given)


def end_of(block: Block) -> Sequence[Value]:
    """The operands of a block's terminator."""
    assert block.terminator is not None
    return block.terminator.operands


def join_masks(*masks: str) -> str:
    """Masks combined with `&`. An empty text stands for a mask that is true for all programs."""
    return " & ".join(mask for mask in masks if mask)


def converted(emit: Emitter, source: Value, target: Value) -> str:
    """The text of `source`, with the axes of `target`, and as an address if `target` is an address."""
    text = address(emit, source) if is_pointer(source.type) and emit.origins[target] is None else emit.text(source)
    return emit.repeat(text, target.type, emit.axes[source], emit.axes[target])


def pass_on(emit: Emitter, targets: Sequence[Value], sources: Sequence[Value], only: str = "") -> None:
    """Write `a, b = c, d`, which assigns all values at once. Programs outside the mask `only` keep `a` and `b`."""
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
    """Let each result use the variable of the value at the same position."""
    for result, value in zip(results, values, strict=True):
        emit.names[result] = emit.name(value)


def begin_with_zeros(emit: Emitter, values: Sequence[Value]) -> None:
    """Write lines that initialize the variables of these values with zeros, which inactive programs keep."""
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
    """Write an `scf.if` in which programs diverge: each program gets the results that its own block yields.

    While a line is written, `emit.active` is the variable of a mask that marks the programs for which the line runs, or
    "" for all of them. The generated code has to work for any number of programs on either side, and in a branch of
    another divergent `scf.if`.
    """
    # [task 6.7] An `scf.if` has one block or two. Given: the helpers above; `Writer`, whose methods `emit` has.
    outer = emit.active
    begin_with_zeros(emit, results)
    for block, taken in zip(blocks, (condition, f"~{condition}"), strict=False):
        emit.active = emit.fresh("then" if block is blocks[0] else "otherwise")
        emit.write(f"{emit.active} = {join_masks(outer, taken)}")
        with emit.indented(f"if {emit.active}.any():"):
            emit.block(block)
            pass_on(emit, results, end_of(block), only=emit.active)
    emit.active = outer
    # [end]


# --- leaving a loop (given)

Leave = Callable[..., None]
"""`leave("n < 3", "t")` writes lines: the programs for which `n < 3` is false leave the loop, and the variable `t`
keeps only the rows of the programs that stay. If no program stays, the loop ends."""


def let_others_run(emit: Emitter, loop: Operation) -> None:
    """Write a line that lets later programs run, if the programs in this loop wait for others (6.9)."""
    if loop in emit.waiting:
        emit.write("programs.wait()")


@contextmanager
def leaving_together(emit: Emitter, loop: Operation) -> Iterator[Leave]:
    """Inside the `with`, all programs leave at the same time, so `leave` takes no variables."""

    def leave(unless: str) -> None:
        with emit.indented(f"if not ({unless}):"):
            emit.write("break")
        let_others_run(emit, loop)

    yield leave


@contextmanager
def leaving(emit: Emitter, loop: Operation, results: Sequence[Value]) -> Iterator[Leave]:
    """A loop that programs leave at different times.

    When a program leaves, its rows of the variables of `results` are kept; after the `with`, these variables have a row
    for each program again. Inside the `with`, the variables of `results`, of the loop's `lower` and `step`, and of all
    varying values that its regions read, have rows only for the programs that are in the loop. These variables may have
    new names, so call `emit.text` inside the `with`.
    """
    users = [operation for operation in loop.walk() if operation is not loop or emit.active]
    used = [*loop.operands[: 3 if loop.name == "scf.for" else 0 : 2], *(o for user in users for o in user.operands)]
    read = {value: emit.text(value) for value in used if value in emit.names and emit.varies(value)}
    outer, everyone, carried = emit.active, emit.fresh("loop"), [emit.name(value) for value in results]
    for value, text in read.items():
        emit.names[value] = emit.fresh(value.name or "t")
        emit.write(f"{emit.names[value]} = {text}")
    others = [emit.names[value] for value in read]
    emit.write(f"{everyone} = programs.loop()")

    def go_on(stays: str, carried: Sequence[str], others: Sequence[str]) -> None:
        arguments = ", ".join([stays, f"({''.join(f'{name}, ' for name in carried)})", *others])
        emit.write(f"{', '.join(['programs', 'P', *carried, *others])} = {everyone}.go_on({arguments})")

    def leave(unless: str, *variables: str) -> None:
        stays = emit.fresh("stays")
        emit.write(f"{stays} = {unless}")
        with emit.indented(f"if not {stays}.all():"):
            go_on(stays, carried, [*others, *variables])
            with emit.indented("if not P:"):
                emit.write("break")
        let_others_run(emit, loop)

    if outer:
        go_on(outer, [], others)
    emit.active = ""
    yield leave
    emit.active = outer
    emit.names.update(read)
    emit.write(f"{', '.join(['programs', 'P', *carried])} = {everyone}.end()")


# --- for


def for_(emit: Emitter, operation: Operation) -> None:
    _, *carried = operation.regions[0].block.arguments
    if any(emit.varies(bound) for bound in operation.operands[:3]):
        with leaving(emit, operation, carried) as leave:
            pass_on(emit, carried, operation.operands[3:])
            divergent_for(emit, operation, leave)
    else:
        pass_on(emit, carried, operation.operands[3:])
        uniform_for(emit, operation)
    share(emit, operation.results, carried)


def uniform_for(emit: Emitter, operation: Operation) -> None:
    """Write an `scf.for` whose bounds and step are the same for all programs."""
    block = operation.regions[0].block
    variable, *carried = block.arguments
    bounds = [emit.text(bound) for bound in operation.operands[:3]]
    # [task 6.8] The body computes in the induction variable's IR type: the cube of the i32 number 2000 wraps around.
    counter = emit.fresh(f"{emit.name(variable)}_")
    with emit.indented(f"for {counter} in range({', '.join(bounds)}):"):
        emit.write(f"{emit.name(variable)} = {dtype_text(variable.type)}({counter})")
        emit.block(block)
        pass_on(emit, carried, end_of(block))
    # [end]


def divergent_for(emit: Emitter, operation: Operation, leave: Leave) -> None:
    """Write an `scf.for` in which each program runs its own `range(lower, upper, step)`."""
    block = operation.regions[0].block
    variable, *carried = block.arguments
    lower, upper, step = (emit.text(bound) for bound in operation.operands[:3])
    # [task 6.8] The induction variable has its IR type, and the axes that your `loop` in `analysis/axes.py` finds. A
    # program for which the next number would wrap around leaves, too, and does not come back. Given: `leave`, which
    # does not shorten `upper`; the methods of `programs` in generated code (`codegen/library/programs.py`).
    trips, rounds = emit.fresh("trips"), emit.fresh("rounds")
    emit.write(f"{trips} = programs.trips({lower}, {upper}, {step})")
    with emit.indented(f"for {rounds} in itertools.count():"):
        leave(f"{rounds} < {trips}", trips)
        emit.write(f"{emit.name(variable)} = {lower} + {dtype_text(variable.type)}({rounds}) * {step}")
        emit.block(block)
        pass_on(emit, carried, end_of(block))
    # [end]


# --- while


def while_(emit: Emitter, operation: Operation) -> None:
    """Write an `scf.while`, whose programs leave together or, if its condition varies, at different times.

    A program's results are the values that the first region forwarded last for this program.
    """
    before, after = (region.block for region in operation.regions)
    condition, *forwarded = end_of(before)
    # [task 6.8] What follows the loop reads the variables of the results of `scf.while`. Given: `leaving`,
    # `leaving_together`, and the helpers at the top of this file.
    diverges = emit.varies(condition)
    with leaving(emit, operation, after.arguments) if diverges else leaving_together(emit, operation) as leave:
        pass_on(emit, before.arguments, operation.operands)
        with emit.indented("while True:"):
            emit.block(before)
            pass_on(emit, after.arguments, forwarded)
            leave(emit.text(condition))
            emit.block(after)
            pass_on(emit, before.arguments, end_of(after))
    share(emit, operation.results, after.arguments)
    # [end]

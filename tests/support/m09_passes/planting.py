"""Plant dead code: values that every loop and every branch of a module passes on, but nothing uses.

A loop swaps the first two values in each iteration. Planted operations use values of the module, but no operation of
the module uses a planted value.
"""

import random

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Operation, Value
from mini_triton.ir.parser import parse_module
from mini_triton.ir.types import I32


def planted(text: str, seed: int) -> Module:
    """The module in a text, with dead code between the lines."""
    module = parse_module(text)
    draw = random.Random(seed)
    for operation in [*module.walk()]:
        if operation.name in ("scf.for", "scf.while", "scf.if"):
            plant(operation, draw)
    return module


def plant(operation: Operation, draw: random.Random) -> None:
    """Let structured control flow pass on up to three more integers."""
    blocks = [region.block for region in operation.regions if region.blocks]
    count = draw.randrange(1, 4)
    if len(blocks) < 2 and operation.name == "scf.if":
        return
    builder = Builder()
    with builder.before(operation):
        inits = [builder.constant(draw.randrange(100), I32) for _ in range(count)]
    if operation.name != "scf.if":
        for block in blocks:
            for _ in range(count):
                block.add_argument(I32, "dead")
    for block in blocks:
        carried: list[Value] = [*block.arguments[-count:]] if operation.name != "scf.if" else [*inits]
        end(block, [*reversed(carried[:2]), *(twice(block, value) for value in carried[2:])])
    types = [*(result.type for result in operation.results), *(value.type for value in inits)]
    operands = [*operation.operands, *(inits if operation.name != "scf.if" else ())]
    regions, operation.regions = operation.regions, []
    wider = Operation(operation.name, operands, types, operation.attributes, regions, operation.loc)
    assert operation.parent is not None
    operation.parent.insert(operation.parent.operations.index(operation), wider)
    for old, new in zip(operation.results, wider.results, strict=False):
        new.name = old.name
        old.replace_all_uses_with(new)
    operation.erase()


def end(block: Block, values: list[Value]) -> None:
    """Let the last operation of a block pass on these values as well."""
    old = block.operations[-1]
    longer = Operation(old.name, [*old.operands, *values], (), old.attributes, loc=old.loc)
    old.erase()
    block.append(longer)


def twice(block: Block, value: Value) -> Value:
    """Twice a value, computed at the end of a block."""
    builder = Builder()
    with builder.before(block.operations[-1]):
        return builder.create("arith.addi", value, value)

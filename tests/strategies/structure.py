"""Two modules compared operation by operation, whatever regions they have: loops, branches, reductions.

Both are read by the parser. A module becomes a graph of nodes as in `dataflow`: what is computed from what, and what is
written to memory in which order. Names leave no trace, nor does the order of independent lines, of the operands of
`x + y`, of the values that a loop carries. What is equal in every operation, and in every type, has equal keys:

    difference(triton.canonical(ours), theirs)  # "" or the first difference, in words

Of an early return (`cf.cond_br`) it knows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mini_triton.ir.core import Block, Module, Operation, Region, Value
from mini_triton.ir.parser import parse_module

from tests.strategies.dataflow import ASSOCIATIVE, COMMUTATIVE, FLIPPED, SYMMETRIC, Node
from tests.strategies.difference import first_difference

ROUNDS = 4  # after which carried values that differ by what they become have different nodes
SPEAKING = ("tt.print", "tt.assert", "llvm.intr.assume", "gpu.barrier", "tt.store", "tt.atomic_rmw", "tt.atomic_cas")
ZERO = ("arith.constant 0.0", "arith.constant -0.0")

Results = Sequence[Node]


def difference(ours: str, theirs: str) -> str:
    """Where two modules part, in words; nothing if they are the same."""
    mine, other = (Structure(parse_module(text)).root for text in (ours, theirs))
    return "" if mine.key == other.key else first_difference(mine, other)


class Structure:
    """The nodes of a module with one function."""

    def __init__(self, module: Module) -> None:
        self.values: dict[Value, Node] = {}
        (function,) = module.body.operations
        block = function.regions[0].block
        for i, argument in enumerate(block.arguments):
            attributes = sorted(argument.attributes.items())
            self.values[argument] = Node(f"parameter {i}: {argument.type} {attributes}", (), f"%arg{i}")
        self.root = Node("the kernel", self.block(block)[0])

    def block(self, block: Block) -> tuple[tuple[Node, ...], Results]:
        """What the operations of a block do to memory, in order; and what its terminator passes on."""
        effects: list[Node] = []
        for operation in block.operations:
            operands = [self.values[operand] for operand in operation.operands]
            if operation.name in ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return"):
                return tuple(effects), operands
            node, results = self.operation(operation, operands, len(effects))
            if operation.name in SPEAKING or "isVolatile" in operation.attributes or _writes(node):
                effects.append(node)
            for value, result in zip(operation.results, results, strict=True):
                self.values[value] = result
        return tuple(effects), []

    def operation(self, operation: Operation, operands: Results, effects: int) -> tuple[Node, Results]:
        """The node of an operation, and those of its results. A load belongs between the effects where it stands."""
        match operation.name:
            case "scf.for":
                return self.loop(operation, operands)
            case "scf.while":
                return self.while_loop(operation, operands)
            case "scf.if":
                return self.branch(operation, operands)
        label, line = _label(operation), _line(operation)
        if operation.name == "tt.load":
            label += f" after {effects} writes"
        if operation.name == "arith.subf" and operands[0].label.startswith(ZERO):
            node = Node(f"arith.negf {operation.result.type}", (operands[1],), line)
        elif operation.name in ("arith.cmpi", "arith.cmpf"):
            node = _comparison(operation, operands, line)
        else:
            regions = [self.combination(region) for region in operation.regions]
            if operation.name in ASSOCIATIVE:
                operands = [part for node in operands for part in (node.operands if node.label == label else [node])]
            commutes = operation.name in COMMUTATIVE
            node = Node(label, (*(_sorted(operands) if commutes else operands), *regions), line, not commutes)
        return node, _results(node, operation)

    def combination(self, region: Region) -> Node:
        """What a reduction or a scan does with two of its elements."""
        for i, argument in enumerate(region.block.arguments):
            self.values[argument] = Node(f"element {i}")
        return Node("the body", tuple(self.block(region.block)[1]))

    def branch(self, operation: Operation, operands: Results) -> tuple[Node, Results]:
        """Both sides of a branch."""
        sides = [self.block(region.block) if region.blocks else ((), []) for region in operation.regions]
        regions = [Node(name, effects) for name, (effects, _) in zip(("then", "else"), sides, strict=False)]
        node = Node(operation.name, (*operands, *regions), _line(operation))
        values = [passed for _, passed in sides]
        return node, [Node("either", (operands[0], *pair)) for pair in zip(*values, strict=True)]

    def loop(self, operation: Operation, operands: Results) -> tuple[Node, Results]:
        """A `for`: bounds, what is written in it, how its carried values go on."""
        bounds, starts = operands[:3], operands[3:]
        variable, *arguments = operation.regions[0].block.arguments
        self.values[variable] = Node("the induction variable", tuple(bounds))

        def once() -> tuple[tuple[Node, ...], Results]:
            return self.block(operation.regions[0].block)

        effects, following, carried = self.settled(arguments, starts, once)
        body = (Node("writes", effects), *bounds)
        node = Node(
            f"scf.for {_attributes(operation)}", (*body, _carried(carried, starts, following)), _line(operation)
        )
        return node, [Node("after the loop", (node, value)) for value in carried]

    def while_loop(self, operation: Operation, operands: Results) -> tuple[Node, Results]:
        """A `while`: what is asked, what is done, how its carried values go on."""
        before, after = (region.block for region in operation.regions)
        passed: list[Node] = []

        def once() -> tuple[tuple[Node, ...], Results]:
            effects, (condition, *forwarded) = self.block(before)
            passed[:] = condition, *forwarded
            self.values.update(zip(after.arguments, forwarded, strict=True))
            rest, following = self.block(after)
            return (Node("before", effects), Node("after", rest)), following

        effects, following, carried = self.settled(before.arguments, operands, once)
        condition, *forwarded = passed
        body = (*effects, condition)
        node = Node(operation.name, (*body, _carried(carried, operands, following)), _line(operation))
        return node, [Node("after the loop", (node, value)) for value in forwarded]

    def settled(
        self, arguments: Sequence[Value], starts: Results, once: Callable[[], tuple[tuple[Node, ...], Results]]
    ) -> tuple[tuple[Node, ...], Results, Results]:
        """What a round of a loop does, with nodes for its carried values that do not depend on their order.

        At first a carried value is known by what it starts as, then by what it becomes, and so on.
        """
        carried = [Node("carried", (start,)) for start in starts]
        for _ in range(ROUNDS if len(arguments) > 1 else 1):
            self.values.update(zip(arguments, carried, strict=True))
            _, following = once()
            carried = [Node(f"carried {a.key} {b.key}") for a, b in zip(carried, following, strict=True)]
        self.values.update(zip(arguments, carried, strict=True))
        effects, following = once()
        return effects, following, carried


def _carried(carried: Results, starts: Results, following: Results) -> Node:
    """The values that a loop carries, in no order."""
    triples = [Node("a carried value", values) for values in zip(carried, starts, following, strict=True)]
    return Node("the carried values", _sorted(triples), ordered=False)


def _comparison(operation: Operation, operands: Results, line: str) -> Node:
    """A comparison; x > y is y < x."""
    predicate = operation.attributes["predicate"]
    if predicate in FLIPPED:
        predicate, operands = FLIPPED[predicate], operands[::-1]
    ordered = predicate not in SYMMETRIC
    label = f"{operation.name} {predicate} {operation.operands[0].type}"
    return Node(label, tuple(operands) if ordered else _sorted(operands), line, ordered)


def _sorted(nodes: Sequence[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.key))


def _results(node: Node, operation: Operation) -> Results:
    if len(operation.results) == 1:
        return [node]
    return [Node(f"result {i}", (node,), node.line) for i in range(len(operation.results))]


def _writes(node: Node) -> bool:
    """Whether an operation with regions does anything to memory."""
    regions = [inner for inner in node.operands if inner.label in ("then", "else", "writes", "before", "after")]
    return any(inner.operands for inner in regions)


def _attributes(operation: Operation) -> str:
    return " ".join(f"{name} = {value}" for name, value in sorted(operation.attributes.items()))


def _label(operation: Operation) -> str:
    if operation.name == "arith.constant":
        return f"arith.constant {operation.attributes['value']} : {operation.result.type}"
    types = " ".join(str(value.type) for value in (*operation.operands[:1], *operation.results))
    return f"{operation.name} {_attributes(operation)} : {types}"


def _line(operation: Operation) -> str:
    return _label(operation)

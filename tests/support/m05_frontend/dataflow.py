"""A kernel's dataflow graph, read from text as real Triton's canonicalizer prints it.

Names, the order of independent lines, the order of what loops carry and branches result in, and where a value is
broadcast leave no trace in it. Its nodes are *elements*: seen from an element, `tt.splat`, `tt.expand_dims`,
`tt.broadcast` and a `tt.reshape` that only adds or removes dimensions of size 1 compute nothing, they only say which
element of the operand is meant. Operands of `x + y` are in no order; what is written to memory is.

Two kernels with equal `Graph(text).root.key` compute the same. Text with jumps between blocks has no graph.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tests.support.m05_frontend.ttir_text import TENSOR, VALUE, Line, Region, Shape, parse

Index = tuple[str, ...]  # for each dimension which element: "row 0:64" runs from 0 to 63, "0" is the only one

WRITES = ("tt.atomic_rmw", "tt.atomic_cas", "tt.call")  # operations without a result also write
ENDS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return")
ASSOCIATIVE = ("arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori")
ELEMENTWISE = (
    *("arith.", "math.", "tt.addptr", "tt.load", "tt.fp_to_fp", "tt.bitcast", "tt.int_to_ptr", "tt.ptr_to_int"),
    *("tt.mulhiui", "tt.precise_", "tt.clampf", "tt.extern_elementwise"),
)  # these, and all whose names begin so
COMMUTATIVE = (
    *(*ASSOCIATIVE, "arith.addf", "arith.mulf", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"),
    *("arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"),
)
FLIPPED = {f"{s}{a}": f"{s}{b}" for s in "suo" for a, b in (("gt", "lt"), ("ge", "le"))}  # x > y is y < x
SYMMETRIC = ("eq", "ne", "oeq", "une")
CARRIED = "the carried values"  # the label of a node


@dataclass(frozen=True, eq=False)
class Node:
    """A value or an effect: its operation, its operands, and its line. Equal nodes have the same key."""

    label: str
    operands: "tuple[Node, ...]" = ()
    line: str = ""
    ordered: bool = True
    key: str = field(init=False)

    def __post_init__(self) -> None:
        keys = [operand.key for operand in self.operands]
        content = [self.label, *(keys if self.ordered else sorted(keys))]
        object.__setattr__(self, "key", hashlib.sha256("\n".join(content).encode()).hexdigest())


Named = tuple[str, Shape, tuple[Node, ...], str]
"""A value that no line computes: its kind, its shape, its dependencies, and its description."""


class Graph:
    """The nodes of one kernel."""

    def __init__(self, text: str) -> None:
        self.header, lines = parse(text)
        self.defined: dict[str, Line] = {}
        self.known: dict[tuple[str, Index], Node] = {}
        self.named: dict[str, Named] = {}  # parameters, arguments of regions, results of loops
        self.chosen: dict[str, tuple[str, str, str]] = {}  # results of branches: the condition, both values
        self.same: dict[str, str] = {}  # an argument that is a value of another region
        for i, name in enumerate(VALUE.findall(self.header)):
            self.named[name] = f"parameter {i}", (), (), f"the parameter {name}"
        self.root = Node("the kernel", self._effects(lines, depth=0))

    # --- blocks

    def _effects(self, lines: Iterable[Line], depth: int) -> tuple[Node, ...]:
        """The effects of the lines on memory, in order. A load depends on the effects before it."""
        structured = {"scf.for": self._for, "scf.while": self._while, "scf.if": self._if}
        effects: list[Node] = []
        for line in lines:
            if line.name in structured:
                node, writes = structured[line.name](line, depth)
                if writes:
                    effects.append(node)
                continue
            if line.name == "tt.load":
                line = Line(f"{line.text} // after {len(effects)} writes", line.name, line.results, line.operands)
            self.defined.update(dict.fromkeys(line.results, line))
            if line.name in WRITES or not line.results and line.name not in ENDS:
                operands = [self.value(name, _whole(self._shape(name))) for name in line.operands]
                effects.append(Node(_label(line, ()), tuple(operands), self._quoted(line)))
        return tuple(effects)

    def _for(self, line: Line, depth: int) -> tuple[Node, bool]:
        (body,) = line.regions
        variable, *arguments = body.arguments
        bounds = tuple(self.value(bound, ()) for bound in line.operands[:3])
        self.named[variable] = f"induction variable, depth {depth}", (), (), "the induction variable"

        def visit() -> tuple[Node, tuple[Node, ...]]:
            effects = self._effects(body.lines, depth + 1)
            following = tuple(self._yielded(name) for name in (body.lines[-1].operands if arguments else ()))
            return Node("writes", effects), following

        inits = line.operands[3:]
        writes, carried, places = self._carried(arguments, inits, depth, visit)
        loop = Node(_options(line), (*bounds, carried, Node("the body", (writes,), line.text)), line.text)
        for result, init, place in zip(line.results, inits, places, strict=True):
            self._name_result(result, self._shape(init), (loop, place), line)
        return loop, bool(writes.operands)

    def _while(self, line: Line, depth: int) -> tuple[Node, bool]:
        before, after = line.regions

        def visit() -> tuple[Node, tuple[Node, ...]]:
            effects = self._effects(before.lines, depth + 1)
            test, *forwarded = before.lines[-1].operands
            self.same.update(zip(after.arguments, forwarded, strict=True))
            more = self._effects(after.lines, depth + 1)
            following = tuple(self._yielded(name) for name in after.lines[-1].operands)
            parts = Node("the test", (self.value(test, ()),)), Node("writes", effects), Node("writes", more)
            return Node("the body", parts, line.text), following

        body, carried, _ = self._carried(before.arguments, line.operands, depth, visit)
        loop = Node(_options(line), (carried, body), line.text)
        for result, forwarded in zip(line.results, before.lines[-1].operands[1:], strict=True):
            self._name_result(result, self._shape(forwarded), (loop, self._yielded(forwarded)), line)
        return loop, any(part.operands for part in body.operands[1:])

    def _carried(
        self,
        arguments: Sequence[str],
        inits: Sequence[str],
        depth: int,
        visit: Callable[[], tuple[Node, tuple[Node, ...]]],
    ) -> tuple[Node, Node, list[Node]]:
        """Visit a loop's body until it is clear which carried value is which: they are known by what they start as, and
        where that is the same, by what they become. The body, all carried values, and each one."""
        starts = [self._yielded(init) for init in inits]
        colors = [start.key for start in starts]
        known = self.known
        while True:
            for name, init, start, color in zip(arguments, inits, starts, colors, strict=True):
                shown = f"the carried value that starts as {start.line.partition(chr(10))[0]}"
                self.named[name] = f"carried value {color}, depth {depth}", self._shape(init), (), shown
            self.known = dict(known)  # what is computed in the body depends on the colors
            body, following = visit()
            refined = [Node(c, (f,)).key for c, f in zip(colors, following, strict=True)]
            if len(set(refined)) == len(set(colors)):
                break
            colors = refined
        places = [Node(f"carried value, depth {depth}", (s, f), s.line) for s, f in zip(starts, following, strict=True)]
        return body, Node(CARRIED, tuple(places), ordered=False), places

    def _if(self, line: Line, depth: int) -> tuple[Node, bool]:
        (condition,) = line.operands
        branches = []
        for region in line.regions:
            branches.append(Node("writes", self._effects(region.lines, depth + 1)))
        if line.results:
            then, otherwise = (region.lines[-1].operands for region in line.regions)
            for result, first, second in zip(line.results, then, otherwise, strict=True):
                self.chosen[result] = condition, first, second
        while len(branches) < 2:
            branches.append(Node("writes"))
        node = Node("scf.if", (self.value(condition, ()), *branches), line.text)
        return node, any(branch.operands for branch in branches)

    def _name_result(self, result: str, shape: Shape, operands: tuple[Node, ...], line: Line) -> None:
        self.named[result] = "result of the loop", shape, operands, f"{result.partition('@')[0]} of {line.text}"

    def _yielded(self, name: str) -> Node:
        return self.value(name, _whole(self._shape(name)))

    # --- values

    def _shape(self, name: str) -> Shape:
        if name in self.same:
            return self._shape(self.same[name])
        if name in self.chosen:
            return self._shape(self.chosen[name][1])
        return self.named[name][1] if name in self.named else self.defined[name].shape

    def value(self, name: str, index: Index) -> Node:
        """The element of a value at this index."""
        if (name, index) not in self.known:
            self.known[name, index] = self._value(name, index)
        return self.known[name, index]

    def _value(self, name: str, index: Index) -> Node:
        if name in self.same:
            return self.value(self.same[name], index)
        if name in self.chosen:
            condition, first, second = self.chosen[name]
            both = self.value(first, index), self.value(second, index)
            return Node("either", (self.value(condition, ()), *both), f"{name.partition('@')[0]} of an scf.if")
        if name in self.named:
            label, _, operands, shown = self.named[name]
            return Node(f"{label} {_at(index)}", operands, shown)
        line = self.defined[name]
        match line.name:
            case "tt.splat":
                return self.value(line.operands[0], ())
            case "tt.broadcast":
                places = zip(index, line.types[0], strict=True)
                return self.value(line.operands[0], tuple("0" if size == 1 else place for place, size in places))
            case "tt.expand_dims":
                axis = int(re.search(r"axis = (\d+)", line.text)[1])  # type: ignore[index]
                return self.value(line.operands[0], (*index[:axis], *index[axis + 1 :]))
            case "tt.reshape" if _keeps_order(self._shape(line.operands[0]), line):
                kept = iter([place for place, size in zip(index, line.shape, strict=True) if size != 1])
                shape = self._shape(line.operands[0])
                return self.value(line.operands[0], tuple("0" if size == 1 else next(kept) for size in shape))
            case "arith.constant" | "tt.make_range":
                return Node(_label(line, index), (), line.text)
        node = self._operation(line, index)
        if len(line.results) > 1:
            return Node(f"result {line.results.index(name)}", (node,), node.line)
        return node

    def _operation(self, line: Line, index: Index) -> Node:
        shapes = [self._shape(name) for name in line.operands]
        elementwise = line.name.startswith(ELEMENTWISE)
        operands = [
            self.value(name, index if elementwise and shape == line.shape else _whole(shape))
            for name, shape in zip(line.operands, shapes, strict=True)
        ]
        operands += [self._combine(region) for region in line.regions]
        label, quoted = _label(line, index), self._quoted(line)
        if line.name in ("arith.negf", "arith.subf") and (negated := _negated(line.name, operands)):
            return Node(re.sub(r"arith\.\w+ %(?:, %)?", "minus ", label), (negated,), quoted)
        if line.name == "tt.addptr":  # the order in which offsets are added does not matter
            base, *offsets = operands
            earlier = base.operands if base.label == label else (base,)
            rest = sorted((*earlier[1:], *offsets), key=lambda node: node.key)
            return Node(label, (earlier[0], *rest), quoted)
        if predicate := re.match(r"arith\.cmp[if] (\w+)", label):
            if predicate[1] in FLIPPED:
                label = label.replace(predicate[1], FLIPPED[predicate[1]])
                operands.reverse()
        if line.name in ASSOCIATIVE:
            operands = [leaf for node in operands for leaf in (node.operands if node.label == label else (node,))]
        if line.name in COMMUTATIVE or predicate and predicate[1] in SYMMETRIC:
            return Node(label, tuple(sorted(operands, key=lambda node: node.key)), quoted, ordered=False)
        return Node(label, tuple(operands), quoted)

    def _combine(self, region: Region) -> Node:
        """The region of a reduction or a scan, whose arguments are identified by their positions."""
        sources = len(region.arguments) // 2
        for i, name in enumerate(region.arguments):
            side, source = "right" if i >= sources else "left", f", of source {i % sources}" if sources > 1 else ""
            self.named[name] = f"element {i}", (), (), f"the {side} element{source}"
        effects = self._effects(region.lines, depth=0)
        results = tuple(self.value(name, ()) for name in region.lines[-1].operands)
        return Node("the combination", (*results, *effects), region.lines[-1].text)

    def _quoted(self, line: Line) -> str:
        """A line, and below it the lines that define its operands."""
        used = dict.fromkeys(self.defined[name].text for name in line.operands if name in self.defined)
        return "\n".join([line.text, *used])


def _keeps_order(source: Shape, reshape: Line) -> bool:
    """Whether a reshape from this shape only adds or removes dimensions of size 1."""
    sizes = [[size for size in shape if size != 1] for shape in (source, reshape.shape)]
    return sizes[0] == sizes[1] and "allow_reorder" not in reshape.text


def _negated(name: str, operands: Sequence[Node]) -> Node | None:
    """The operand of a negation: `negf x`, `0.0 - x` or `-0.0 - x`, which differ between Triton's versions."""
    if name == "arith.negf":
        return operands[0]
    zero = operands[0].label.replace("-0.0", "0.0")
    return operands[1] if re.match(r"arith\.constant (?:dense<)?0\.0+e\+00", zero) else None


def _label(line: Line, index: Index) -> str:
    """The operation and its attributes without the names of values; of a tensor only the element, and which one."""
    text = line.text.partition(" = ")[2] if line.results else line.text
    if line.name == "tt.make_range":
        return f"{text} {_at(index)}"
    text = re.sub(r"dense<(.*?)> : ", r"\1 : ", VALUE.sub("%", text))
    element = TENSOR.sub(r"\2", text).removesuffix(" : i1")
    return element if line.name.startswith(ELEMENTWISE) else f"{text} {_at(index)}"


def _options(line: Line) -> str:
    """The name of a loop's operation and its attributes, without the places of carried values in it."""
    attributes = re.search(r"{[^{}]*}$", line.text)
    return line.name + (re.sub(r"_arg\d+", "", attributes[0]) if attributes else "")


def _whole(shape: Shape) -> Index:
    """Any element of a value of this shape."""
    return tuple("0" if size == 1 else f"dimension {i} of {size}" for i, size in enumerate(shape))


def _at(index: Index) -> str:
    return f"at ({', '.join(index)})" if index else ""

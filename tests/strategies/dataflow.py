"""A kernel as a graph of what is computed from what, read from text as real Triton's canonicalizer prints it.

Names, the order of independent lines, and where a value is broadcast leave no trace in it. Its nodes are *elements*:
seen from an element, `tt.splat`, `tt.expand_dims` and `tt.broadcast` compute nothing, they only say which element of
the operand is meant. Operands of `x + y` are in no order; what is written to memory is.

Of operations with regions it knows `scf.for`. Two kernels with equal `Graph(text).root.key` compute the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Shape = tuple[int, ...]
Index = tuple[str, ...]  # for each dimension which element: "row 0:64" runs from 0 to 63, "0" is the only one

WRITES = ("tt.atomic_rmw", "tt.atomic_cas", "tt.call")  # beside all operations without a result
ASSOCIATIVE = ("arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori")
COMMUTATIVE = (*ASSOCIATIVE, "arith.addf", "arith.mulf", "arith.maxsi", "arith.minsi", "arith.maxnumf", "arith.minnumf")
FLIPPED = {f"{s}{a}": f"{s}{b}" for s in "suo" for a, b in (("gt", "lt"), ("ge", "le"))}  # x > y is y < x
SYMMETRIC = ("eq", "ne", "oeq", "une")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_TENSOR = re.compile(r"tensor<((?:\d+x)+)((?:!tt\.ptr<\w+>|\w+))>")
_FOR = re.compile(r"scf\.for (%\w+) = (%\S+) to (%\S+) step (%\S+)(?: iter_args\((.*?)\))?")


@dataclass(frozen=True)
class Line:
    """One operation as text: its name, the values it uses, the shape of its first result, and what is inside of it."""

    text: str
    name: str
    operands: tuple[str, ...]
    body: tuple[Line, ...] = ()

    @property
    def types(self) -> list[Shape]:
        """The shapes of all tensor types in the text, in order; the last is the result's."""
        return [tuple(map(int, dims.split("x")[:-1])) for dims, _ in _TENSOR.findall(self.text)]

    @property
    def shape(self) -> Shape:
        return self.types[-1] if self.types else ()


@dataclass(frozen=True, eq=False)
class Node:
    """A value or an effect: what it is, what it is computed from, the line that says so. Equal ones have one key."""

    label: str
    operands: tuple[Node, ...] = ()
    line: str = ""
    ordered: bool = True
    key: str = field(init=False)

    def __post_init__(self) -> None:
        content = [self.label, *(operand.key for operand in self.operands)]
        object.__setattr__(self, "key", hashlib.sha256("\n".join(content).encode()).hexdigest())


def parse(text: str) -> tuple[str, tuple[Line, ...]]:
    """The header of the module's function and its lines, from text in which each operation has a line."""
    lines = iter([line.strip() for line in text.splitlines() if line.strip()])
    header = next(line for line in lines if line.startswith("tt.func"))
    return header, tuple(_block(lines))


def _block(lines: Iterator[str]) -> Iterator[Line]:
    for text in lines:
        if text.startswith("}"):
            return
        results, equals, rest = text.partition(" = ") if text.startswith("%") else ("", "", text)
        body = tuple(_block(lines)) if text.endswith("{") else ()
        yield Line(text, rest.split()[0].strip('"'), tuple(_VALUE.findall(rest)), body)


def parameters(header: str) -> list[str]:
    """Type and attributes of each parameter."""
    return re.findall(r"%\w+: ((?:!tt\.ptr<\w+>|[\w<>]+)(?: \{[^}]*\})?)", header)


class Graph:
    """The nodes of one kernel."""

    def __init__(self, text: str) -> None:
        self.header, self.lines = parse(text)
        self.defined: dict[str, Line] = {}
        self.known: dict[tuple[str, Index], Node] = {}
        self.named: dict[str, tuple[str, Shape, Node | None]] = {}  # parameters, what a loop carries, loops' results
        for i, name in enumerate(_VALUE.findall(self.header)):
            self.named[name] = f"parameter {i}", (), None
        self.root = Node("the kernel", self._effects(self.lines, depth=0))

    # --- blocks

    def _effects(self, lines: Iterable[Line], depth: int) -> tuple[Node, ...]:
        """What the lines do to memory, in order. A load belongs between the effects where it stands."""
        effects: list[Node] = []
        for line in lines:
            self._define(line, len(effects), depth)
            if line.name == "scf.for":
                loop = self._loop(line, depth)
                if loop.operands[-1].operands[0].operands:  # something is written in it
                    effects.append(loop)
            elif line.name in WRITES or not line.text.startswith("%") and line.name not in ("scf.yield", "tt.return"):
                operands = [self.value(name, _whole(self._shape(name))) for name in line.operands]
                effects.append(Node(_label(line, ()), tuple(operands), self._quoted(line)))
        return tuple(effects)

    def _define(self, line: Line, effects: int, depth: int) -> None:
        name, count = re.match(r"(%[\w$.-]+)?(?::(\d+))?", line.text).groups()  # type: ignore[union-attr]
        if name and line.name == "tt.load":
            line = Line(f"{line.text} // after {effects} writes", line.name, line.operands)
        for result in [f"{name}#{i}" for i in range(int(count))] if count else [name] if name else []:
            self.defined[result] = line

    def _loop(self, line: Line, depth: int) -> Node:
        """A loop; carried values are known by what they start as, not by their order."""
        match = _FOR.search(line.text)
        assert match, line.text
        variable, *bounds = match.groups()[:4]
        pairs = re.findall(r"(%\w+) = (%[\w#]+)", match[5] or "")
        starts = [self.value(init, _whole(self._shape(init))) for _, init in pairs]
        order = sorted(range(len(pairs)), key=lambda i: (_origin(starts[i]), starts[i].key))
        self.named[variable] = f"induction variable, depth {depth}", (), None
        for place, i in enumerate(order):
            argument, init = pairs[i]
            self.named[argument] = f"carried value {place}, depth {depth}", self._shape(init), None
        effects = self._effects(line.body, depth + 1)
        yielded = line.body[-1].operands if pairs else ()
        following = tuple(self.value(yielded[i], _whole(self._shape(pairs[i][1]))) for i in order)
        body = Node("the body", (Node("writes", effects), Node("next values", following)), line.text)
        carried = Node("the carried values", tuple(starts[i] for i in order), line.text, ordered=False)
        loop = Node("scf.for", (*(self.value(bound, ()) for bound in bounds), carried, body), line.text)
        result = line.text.split(" ", 1)[0].partition(":")[0]
        for place, i in enumerate(order):
            name = f"{result}#{i}" if len(pairs) > 1 else result
            self.named[name] = f"result {place} of the loop", self._shape(pairs[i][1]), loop
        return loop

    # --- values

    def _shape(self, name: str) -> Shape:
        return self.named[name][1] if name in self.named else self.defined[name].shape

    def value(self, name: str, index: Index) -> Node:
        """The element of a value at this index."""
        if (name, index) not in self.known:
            self.known[name, index] = self._value(name, index)
        return self.known[name, index]

    def _value(self, name: str, index: Index) -> Node:
        if name in self.named:
            label, _, loop = self.named[name]
            shown = f"{name} of {loop.line}" if loop else f"the {label.partition(',')[0].rstrip(' 0123456789')} {name}"
            return Node(f"{label} {_at(index)}", (loop,) if loop else (), shown)
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
            case "arith.constant" | "tt.make_range":
                return Node(_label(line, index), (), line.text)
        return self._operation(line, index)

    def _operation(self, line: Line, index: Index) -> Node:
        shapes = [self._shape(name) for name in line.operands]
        elementwise = line.name.partition(".")[0] in ("arith", "math") or line.name in ("tt.addptr", "tt.load")
        operands = [
            self.value(name, index if elementwise and shape == line.shape else _whole(shape))
            for name, shape in zip(line.operands, shapes, strict=True)
        ]
        label, quoted = _label(line, index), self._quoted(line)
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

    def _quoted(self, line: Line) -> str:
        """A line, and below it those that define what it uses."""
        used = dict.fromkeys(name for name in line.operands if name in self.defined)
        return "\n".join([line.text, *(self.defined[name].text for name in used)])


def _label(line: Line, index: Index) -> str:
    """The operation and its attributes without the names of values; of a tensor only the element, and which one."""
    text = line.text.partition(" = ")[2] if line.text.startswith("%") else line.text
    if line.name == "tt.make_range":
        return f"{text} {_at(index)}"
    text = re.sub(r"dense<(.*?)> : ", r"\1 : ", _VALUE.sub("%", text))
    element = _TENSOR.sub(r"\2", text).removesuffix(" : i1")
    return element if line.name.startswith(("arith", "math", "tt.addptr", "tt.load")) else f"{text} {_at(index)}"


def _origin(node: Node) -> str:
    """What a value begins with: of a moved pointer the parameter, whatever the offsets are."""
    while node.operands:
        node = node.operands[0]
    return node.label


def _whole(shape: Shape) -> Index:
    """Any element of a value of this shape."""
    return tuple("0" if size == 1 else f"dimension {i} of {size}" for i, size in enumerate(shape))


def _at(index: Index) -> str:
    return f"at ({', '.join(index)})" if index else ""

"""Where two kernels part, in words: on the way from memory back to the parameters, the first operation that differs."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Sequence

from tests.support.m05_frontend.dataflow import Graph, Node
from tests.support.m05_frontend.ttir_text import parameters

ROLES = {
    "tt.store": ("the pointer", "the value", "the mask"),
    "tt.load": ("the pointer", "the mask", "`other`"),
    "tt.dot": ("the left matrix", "the right matrix", "what is added to"),
    "arith.cmpi": ("the left side", "the right side"),
    "scf.for": ("the lower bound", "the upper bound", "the step", "the carried values", "the body"),
    "the body": ("what is written", "the next carried values"),
}


def difference(ours: str, theirs: str, names: Sequence[str] = ()) -> str:
    """The first difference of two canonical texts; nothing if there is none. `names` are those of the parameters."""
    mine, other = Graph(ours), Graph(theirs)
    if parameters(mine.header) != parameters(other.header):
        found = _told("the parameters", ", ".join(parameters(mine.header)), ", ".join(parameters(other.header)))
    elif mine.root.key == other.root.key:
        return ""
    else:
        found = _first(mine.root, other.root, [])
    return re.sub(r"%arg(\d+)", lambda match: f"%{dict(enumerate(names)).get(int(match[1]), match[0][1:])}", found)


def _first(mine: Node, other: Node, path: list[str]) -> str:
    """The place on the way down to the smallest difference where the two part."""
    if not _alike(mine, other):
        return _told(_path(path), _said(mine), _said(other)) + _advice(mine, other)
    role, a, b = min(_differing(mine, other), key=lambda found: _apart(*found[1:]))
    return _first(a, b, [*path, role])


def _alike(mine: Node, other: Node) -> bool:
    """Whether they are the same operation, whatever it is computed from."""
    return mine.label == other.label and len(mine.operands) == len(other.operands)


def _differing(mine: Node, other: Node) -> list[tuple[str, Node, Node]]:
    """What two nodes that are alike are computed from, side by side, where it differs; and what it is to them."""
    if mine.ordered:
        pairs = enumerate(zip(mine.operands, other.operands, strict=True))
        return [(_role(mine, i), a, b) for i, (a, b) in pairs if a.key != b.key]
    left, right = _without(mine.operands, other.operands), _without(other.operands, mine.operands)
    found = []
    for a, b in sorted(itertools.product(left, right), key=lambda pair: _apart(*pair)):  # those that agree most first
        if a in left and b in right:
            left.remove(a)
            right.remove(b)
            found.append((_role(mine, 0), a, b))
    return found


@functools.cache
def _apart(mine: Node, other: Node) -> int:
    """How much of two nodes differs: all that is below where they are different operations."""
    if mine.key == other.key:
        return 0
    if not _alike(mine, other):
        return max(_size(mine), _size(other))
    return sum(_apart(a, b) for _, a, b in _differing(mine, other))


@functools.cache
def _size(node: Node) -> int:
    return 1 + sum(map(_size, node.operands))


def _without(nodes: Sequence[Node], others: Sequence[Node]) -> list[Node]:
    """The nodes that the others do not have."""
    left = Counter(node.key for node in nodes) - Counter(node.key for node in others)
    return [node for node in {node.key: node for node in nodes}.values() if left[node.key]]


def _role(node: Node, operand: int) -> str:
    name = node.label if node.label.startswith("the ") else node.label.split()[0]
    roles = ROLES.get(name, ())
    return f"{roles[operand]} of {name}" if operand < len(roles) else ""


def _said(node: Node) -> str:
    return re.sub(r" // .*", "", node.line) or f"{len(node.operands)} operations"


def _path(path: list[str]) -> str:
    return " > ".join(filter(None, path)) or "what is written to memory"


def _advice(mine: Node, other: Node) -> str:
    if mine.label != other.label or not mine.label.startswith("tt.addptr"):
        return ""
    return "\n  because   pointers move in two steps, `(a + rows) + inner`: i32 offsets, added first, might overflow"


def _told(where: str, ours: str, theirs: str) -> str:
    expected, got = (text.replace("\n", "\n              ") for text in (theirs, ours))
    return f"  in        {where}\n  expected  {expected}\n  got       {got}"

"""Where two kernels part, in words: the first operation on the way from memory back to the parameters that differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tests.strategies.dataflow import Graph, Node, parameters

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
    """The deepest place on the way down to a difference."""
    if mine.label != other.label or len(mine.operands) != len(other.operands):
        return _told(_path(path), _said(mine), _said(other))
    pairs = list(zip(mine.operands, other.operands, strict=True))
    if not mine.ordered:
        pairs = _paired(_without(mine.operands, other.operands), _without(other.operands, mine.operands))
    for i, (a, b) in enumerate(pairs):
        if a.key != b.key:
            return _first(a, b, [*path, _role(mine, i)])
    raise AssertionError("two nodes differ, but nothing in them does")


def _without(nodes: Sequence[Node], others: Sequence[Node]) -> list[Node]:
    """The nodes that the others do not have."""
    left = Counter(node.key for node in nodes) - Counter(node.key for node in others)
    return [node for node in {node.key: node for node in nodes}.values() if left[node.key]]


def _paired(left: list[Node], right: list[Node]) -> list[tuple[Node, Node]]:
    """Those side by side that are the same operation, if there are any: that difference is the smaller one."""
    return sorted(
        ((a, b) for a in left for b in right),
        key=lambda pair: (pair[0].label != pair[1].label, len(pair[0].operands) != len(pair[1].operands)),
    )


def _role(node: Node, operand: int) -> str:
    name = node.label if node.label.startswith("the ") else node.label.split()[0]
    roles = ROLES.get(name, ())
    return f"{roles[operand]} of {name}" if operand < len(roles) else ""


def _said(node: Node) -> str:
    return node.line.partition(" // ")[0] or f"{len(node.operands)} operations"


def _path(path: list[str]) -> str:
    return ", in ".join(place for place in reversed(path) if place) or "what is written to memory"


def _told(where: str, ours: str, theirs: str) -> str:
    return f"  in        {where}\n  expected  {theirs}\n  got       {ours}"

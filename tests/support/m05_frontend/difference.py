"""The first difference of two kernels, in words, on the way from their effects on memory back to the parameters."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from tests.support.m05_frontend.dataflow import CARRIED, Graph, Node
from tests.support.m05_frontend.ttir_text import parameters

ROLES = {
    "tt.store": ("the pointer", "the value", "the mask"),
    "tt.load": ("the pointer", "the mask", "`other`"),
    "tt.dot": ("the left matrix", "the right matrix", "what is added to"),
    "arith.cmpi": ("the left side", "the right side"),
    "scf.for": ("the lower bound", "the upper bound", "the step", CARRIED, "the body"),
    "the body": ("what is written", "the next carried values"),
}


def difference(ours: str, theirs: str, names: Sequence[str] = ()) -> str:
    """The first difference of two canonical texts; empty if they are equal. `names` are the parameters' names."""
    mine, other = Graph(ours), Graph(theirs)
    if parameters(mine.header) != parameters(other.header):
        found = _told("the parameters", ", ".join(parameters(mine.header)), ", ".join(parameters(other.header)))
    elif mine.root.key == other.root.key:
        return ""
    else:
        found = _first(mine.root, other.root, [])
    return re.sub(r"%arg(\d+)", lambda match: f"%{dict(enumerate(names)).get(int(match[1]), match[0][1:])}", found)


def _first(mine: Node, other: Node, path: list[str]) -> str:
    """The first place on the way down at which two nodes differ."""
    if not _alike(mine, other):
        return _told(_path(path), _lacking(other, mine), _lacking(mine, other)) + _advice(mine, other)
    role, a, b = _differing(mine, other)
    return _first(a, b, [*path, role])


def _alike(mine: Node, other: Node) -> bool:
    """Whether two nodes are the same operation, apart from their operands."""
    return mine.label == other.label and len(mine.operands) == len(other.operands)


def _differing(mine: Node, other: Node) -> tuple[str, Node, Node]:
    """The first operands in which two nodes of the same operation differ, and the operands' role."""
    if mine.ordered:
        pairs = enumerate(zip(mine.operands, other.operands, strict=True))
        return next((_role(mine, i), a, b) for i, (a, b) in pairs if a.key != b.key)
    pairs_in_any_order = itertools.product(_without(mine.operands, other), _without(other.operands, mine))
    a, b = min(pairs_in_any_order, key=lambda pair: (not _alike(*pair), _differences(*pair)))
    return f"the one that starts as {_first_line(a)}" if mine.label == CARRIED else _role(mine, 0), a, b


def _differences(mine: Node, other: Node) -> int:
    """The number of operands in which two nodes differ."""
    return sum(a.key != b.key for a, b in zip(mine.operands, other.operands, strict=False))


def _without(nodes: Sequence[Node], other: Node) -> list[Node]:
    """The operands of one node that the other node lacks, or has fewer times."""
    left = Counter(node.key for node in nodes) - Counter(node.key for node in other.operands)
    return [node for node in nodes if left[node.key]]


def _role(node: Node, operand: int) -> str:
    if node.label.startswith("carried value"):
        return ("its initial value", "its next value")[operand]
    name = node.label if node.label.startswith("the ") else node.label.split()[0]
    roles = ROLES.get(name, ())
    return f"{roles[operand]} of {name}" if operand < len(roles) else ""


def _lacking(node: Node, other: Node) -> str:
    """The other operation; of a list of operations, those that `node` lacks."""
    return _said(other) or "\n".join(map(_said, _without(other.operands, node))) or "no other operation"


def _said(node: Node) -> str:
    return re.sub(r" // .*", "", node.line)


def _first_line(node: Node) -> str:
    return _said(node).partition("\n")[0]


def _path(path: list[str]) -> str:
    return " > ".join(filter(None, path)) or "what is written to memory"


def _advice(mine: Node, other: Node) -> str:
    if mine.label != other.label or not mine.label.startswith("tt.addptr"):
        return ""
    return "\n  because   pointers move in two steps, `(a + rows) + inner`: i32 offsets, added first, might overflow"


def _told(where: str, ours: str, theirs: str) -> str:
    expected, got = (text.replace("\n", "\n              ") for text in (theirs, ours))
    return f"  in        {where}\n  expected  {expected}\n  got       {got}"

"""The kernel `add` at each stage of the learner's compiler, for the panel beside the editor.

For each line of the kernel: the operations that the line emits, their TTIR, and the value of each operation in every
lane of a small launch. The values are computed here, so the panel needs neither NumPy nor the tasks on NumPy.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from typing import Any

PROGRAMS, BLOCK, N = 3, 4, 10
X = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
Y = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
Values = list[Any]
"""One program's value of an operation: one element for a scalar, else one for each lane."""

_MEANING: dict[str, Callable[[Any, Any], Any]] = {
    **{"arith.addi": operator.add, "arith.addf": operator.add, "arith.subi": operator.sub, "arith.subf": operator.sub},
    **{"arith.muli": operator.mul, "arith.mulf": operator.mul, "arith.cmpi": operator.lt},
    "tt.addptr": lambda pointer, offset: (pointer[0], pointer[1] + offset),
}


def stages() -> dict[str, Any]:
    """The stages as far as the learner's code gets, and why it gets no further."""
    found: dict[str, Any] = {"lines": [], "memory": {"x": X, "y": Y, "out": [None] * N}, "text": "", "open": ""}
    try:
        from first.kernels import add
        from first.slice import I32, POINTER, Kernel, compile_kernel, multiples_of_16, read, text

        types = {"x": POINTER, "y": POINTER, "out": POINTER, "n": I32}
        tree = read(add)
        source = ast.unparse(tree).splitlines()
        found["lines"] = [
            {"number": statement.lineno, "source": source[1 + index].strip(), "ops": []}
            for index, statement in enumerate(tree.body)
        ]
        kernel = Kernel(tree.name, **types, BLOCK=BLOCK)
        launch = _Launch(kernel)
        for statement, shown in zip(tree.body, found["lines"], strict=True):
            before = len(kernel.ops)
            kernel.statement(statement)
            shown["ops"] = [launch.run(number) for number in range(before, len(kernel.ops))]
        found["memory"]["out"] = launch.memory["out"]
        wide = compile_kernel(add, **types, BLOCK=1024)
        found["text"] = text(wide)
        found["multiples"] = sorted(multiples_of_16({"n": 100000})), sorted(multiples_of_16({"n": 100001}))
    except NotImplementedError as error:
        found["open"] = str(error)
    except Exception as error:  # the learner's code may raise anything
        found["open"] = f"{type(error).__name__}: {error}"
    return found


class _Launch:
    """Runs a kernel's operations one by one, each for all programs."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.memory: dict[str, list[Any]] = {"x": X, "y": Y, "out": [None] * N}
        given = {"x": ("x", 0), "y": ("y", 0), "out": ("out", 0), "n": N}
        self.values = {op: [[given[name]]] * PROGRAMS for name, op in kernel.parameters.items()}
        self.names = {op: f"%{name}" for name, op in kernel.parameters.items()}

    def run(self, number: int) -> dict[str, Any]:
        """Run operation `number`. Returns its text, and its value in each lane of each program."""
        op = self.kernel.ops[number]
        self.names[op] = f"%{number}"
        operands = [self.values[operand] for operand in op.operands]
        self.values[op] = [self._one(op, program, *(rows[program] for rows in operands)) for program in range(PROGRAMS)]
        return {"name": op.name, "text": self._text(op), "values": self.values[op]}

    def _one(self, op: Any, program: int, *operands: Values) -> Values:
        match op.name:
            case "tt.get_program_id":
                return [program]
            case "arith.constant":
                return [op.attributes["value"].item()]
            case "tt.make_range":
                return list(range(int(op.attributes["start"]), int(op.attributes["end"])))
            case "tt.splat":
                return operands[0] * (op.type.size or 1)
            case "tt.load":
                return [self.memory[name][at] if mask else 0.0 for (name, at), mask in zip(*operands, strict=True)]
            case "tt.store":
                for (name, at), value, mask in zip(*operands, strict=True):
                    if mask:
                        self.memory[name][at] = value
                return [pointer if mask else None for pointer, _, mask in zip(*operands, strict=True)]
        meaning = _MEANING[op.name]
        return [meaning(left, right) for left, right in zip(*operands, strict=True)]

    def _text(self, op: Any) -> str:
        operands = ", ".join(self.names.get(operand, "?") for operand in op.operands)
        facts = [f"{name} = {value}" for name, value in op.attributes.items() if name != "operandSegmentSizes"]
        attributes = f" <{{{', '.join(facts)}}}>" if facts else ""
        result = "" if str(op.type) == "()" else f"{self.names[op]} = "
        return f"{result}{op.name}({operands}){attributes} : {op.type}"


def answer() -> str:
    """`stages`, for the page: a text in JSON."""
    return json.dumps(stages(), default=str)

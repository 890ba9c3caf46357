"""A block of operations that changes step by step, beside a model that says what it should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.types import F32, I32

from tests.checks import described

T = TypeVar("T")


class Scene:
    """Operations, some with blocks inside, and their operands written down a second time.

    The model keeps no uses: it finds those of a value by looking through the operands of all operations. A step
    picks what it works on by number, in the order in which it was made, starting again at the end.
    """

    def __init__(self) -> None:
        outer = Block([F32, I32])
        self.root = Operation("root", regions=[Region([outer])])
        self.operands: dict[Operation, list[Value]] = {self.root: []}
        self.home: dict[Operation, Block] = {}  # where an operation is
        self.holder: dict[Block, Operation] = {}  # what a block is in
        self.origin: dict[Value, Block] = {}  # where a value is defined
        self.names: dict[Value, str] = {}
        self.log: list[str] = []
        self._enter(outer, self.root)

    # --- steps

    def add(self, block: int, operands: list[int], results: int) -> None:
        """Append an operation to a block."""
        self._append(block, operands, results, [])

    def nest(self, block: int, operands: list[int], results: int) -> None:
        """Append an operation with a block inside."""
        inner = Block([F32])
        self._enter(inner, self._append(block, operands, results, [Region([inner])]))

    def set(self, operation: int, number: int, value: int) -> None:
        """Change an operand."""
        user = _pick([op for op, operands in self.operands.items() if operands], operation)
        if user:
            number %= len(self.operands[user])
            new = _pick(self._visible(self.home[user]), value)
            assert new
            self.log.append(f"{user.name}.set_operand({number}, {self.names[new]})")
            user.set_operand(number, new)
            self.operands[user][number] = new

    def replace(self, old: int, new: int) -> None:
        """Replace a value by another one, wherever it is used."""
        value = _pick(list(self.origin), old)
        assert value
        other = _pick([v for v in self._visible(self.origin[value]) if v is not value], new)
        if other:
            self.log.append(f"{self.names[value]}.replace_all_uses_with({self.names[other]})")
            value.replace_all_uses_with(other)
            for operands in self.operands.values():
                operands[:] = [other if operand is value else operand for operand in operands]

    def erase(self, operation: int) -> None:
        """Erase an operation, or be refused because it is used."""
        victim = _pick([op for op in self.operands if op is not self.root], operation)
        if not victim:
            return
        self.log.append(f"{victim.name}.erase()")
        for result in victim.results:
            if count := len(self.uses(result)):
                reason = f"cannot erase {victim.name}: its result {result.index} still has {count} use"
                described("\n".join(self.log), victim.erase).raises(ValueError, reason)
                return
        described("\n".join(self.log), victim.erase).succeeds()
        self._compare(f"{victim.name}.parent", [victim.parent], [None])
        self._compare(f"{victim.name}.operands", map(self._name, victim.operands), ())
        for op in [op for op in self.operands if op is victim or victim in self._around(op)]:
            del self.operands[op]
        for block in [block for block, holder in self.holder.items() if holder not in self.operands]:
            del self.holder[block]
        defined = {result for op in self.operands for result in op.results}
        for value, block in list(self.origin.items()):
            if block not in self.holder or not (value in defined or value in block.arguments):
                del self.origin[value]

    # --- what should be

    def uses(self, value: Value) -> list[str]:
        """Where a value is used, by looking at every operand there is."""
        return sorted(
            f"operand {number} of {user.name}"
            for user, operands in self.operands.items()
            for number, operand in enumerate(operands)
            if operand is value
        )

    def check(self) -> None:
        """Compare everything with the model."""
        for user, operands in self.operands.items():
            self._compare(f"{user.name}.operands", map(self._name, user.operands), map(self._name, operands))
            around = [op.name for op in self._around(user)[:1]]
            self._compare(f"{user.name}.parent_op", [op.name for op in [user.parent_op] if op], around)
        for value in self.origin:
            got = sorted(f"operand {use.number} of {use.user.name}" for use in value.uses)
            self._compare(f"{self.names[value]}.uses", got, self.uses(value))
        walked = [operation.name for operation in self.root.walk()]
        self._compare("root.walk()", walked, [operation.name for operation in self._in_order(self.root)])

    def _compare(self, what: str, got: object, expected: object) -> None:
        __tracebackhide__ = True
        got, expected = list(got), list(expected)  # type: ignore[call-overload]
        story = "".join(f"\n    {step}" for step in self.log)
        assert got == expected, f"{what}\n  expected  {expected}\n  got       {got}\n  after{story}"

    def _append(self, number: int, operands: list[int], results: int, regions: list[Region]) -> Operation:
        block = _pick(list(self.holder), number)
        assert block
        chosen = [value for operand in operands if (value := _pick(self._visible(block), operand))]
        name = f"op{len(self.log)}"
        shown = ", ".join(self.names[value] for value in chosen)
        self.log.append(f"{name}({shown}) in {self.holder[block].name}, with {results} results")
        operation = Operation(name, chosen, [F32] * results, regions=regions)
        block.append(operation)
        self.operands[operation], self.home[operation] = chosen, block
        for i, result in enumerate(operation.results):
            self.origin[result], self.names[result] = block, f"{name}.results[{i}]"
        return operation

    def _enter(self, block: Block, holder: Operation) -> None:
        self.holder[block] = holder
        for i, argument in enumerate(block.arguments):
            self.origin[argument], self.names[argument] = block, f"{holder.name}.argument{i}"

    def _visible(self, block: Block) -> list[Value]:
        """The values of a block and of those around it."""
        holder = self.holder[block]
        blocks = {block, *(self.home[op] for op in [holder, *self._around(holder)] if op is not self.root)}
        return [value for value, origin in self.origin.items() if origin in blocks]

    def _around(self, operation: Operation) -> list[Operation]:
        """The operations that hold this one, from the inside out."""
        found = []
        while operation is not self.root:
            operation = self.holder[self.home[operation]]
            found.append(operation)
        return found

    def _in_order(self, operation: Operation) -> list[Operation]:
        found = [operation]
        for region in operation.regions:
            for inner in region.block.operations:
                found += self._in_order(inner)
        return found

    def _name(self, value: Value) -> str:
        return self.names[value]


def _pick(choices: Sequence[T], number: int) -> T | None:
    """One of the choices, if there is any."""
    return choices[number % len(choices)] if choices else None

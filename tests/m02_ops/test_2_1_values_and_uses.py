"""Task 2.1: every value lists its current uses after any change to operations.

Real Triton cannot judge uses. The judge is a model that finds uses by looking through all operands.
"""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.types import F32, I32

from tests.checks import calling, described


class Scene:
    """A block of operations, and a second list of their operands, in which the model looks for uses.

    A step picks operations and values by number, in the order of their creation; the numbers wrap around.
    """

    def __init__(self) -> None:
        self.block = Block([F32, I32], ["x", "y"])
        self.operands: dict[Operation, list[Value]] = {}
        self.log: list[str] = []

    @property
    def values(self) -> list[Value]:
        return [*self.block.arguments, *(result for operation in self.operands for result in operation.results)]

    def add(self, operands: list[int], results: int) -> None:
        chosen = [self.values[number % len(self.values)] for number in operands]
        operation = self.block.append(Operation(f"op{len(self.log)}", chosen, [F32] * results))
        for result in operation.results:
            result.name = f"{operation.name}.results[{result.index}]"
        self.operands[operation] = chosen
        self.log.append(f"{operation.name}({', '.join(value.name for value in chosen)})")

    def set(self, operation: int, number: int, value: int) -> None:
        if users := [user for user, operands in self.operands.items() if operands]:
            user, new = users[operation % len(users)], self.values[value % len(self.values)]
            number %= len(self.operands[user])
            self.log.append(f"{user.name}.set_operand({number}, {new.name})")
            user.set_operand(number, new)
            self.operands[user][number] = new

    def replace(self, old: int, new: int) -> None:
        value, other = self.values[old % len(self.values)], self.values[new % len(self.values)]
        if value is not other:
            self.log.append(f"{value.name}.replace_all_uses_with({other.name})")
            value.replace_all_uses_with(other)
            for operands in self.operands.values():
                operands[:] = [other if operand is value else operand for operand in operands]

    def erase(self, operation: int) -> None:
        if self.operands:
            victim = list(self.operands)[operation % len(self.operands)]
            self.log.append(f"{victim.name}.erase()")
            used = next((result for result in victim.results if self.uses(result)), None)
            call = described("; ".join(self.log), victim.erase)
            if used:
                reason = f"its result {used.index} still has {len(self.uses(used))} use"
                call.raises(ValueError, f"cannot erase {victim.name}: {reason}")
            else:
                call.succeeds()
                del self.operands[victim]

    def uses(self, value: Value) -> list[tuple[str, int]]:
        pairs = ((user.name, i, used) for user, operands in self.operands.items() for i, used in enumerate(operands))
        return sorted((name, i) for name, i, used in pairs if used is value)

    def check(self) -> None:
        got = {operation.name: [value.name for value in operation.operands] for operation in self.block.operations}
        expected = {operation.name: [value.name for value in self.operands[operation]] for operation in self.operands}
        assert got == expected, self.report_of("the operations of the block and their operands", expected, got)
        for value in self.values:
            uses, wanted = sorted((use.user.name, use.number) for use in value.uses), self.uses(value)
            assert uses == wanted, self.report_of(f"the uses of {value.name}", wanted, uses)

    def report_of(self, what: str, expected: object, got: object) -> str:
        return f"{what}, after {'; '.join(self.log)}\n  expected  {expected}\n  got       {got}"


numbers = st.integers(0, 9)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(numbers, max_size=3), st.integers(0, 2)),
        st.tuples(st.just("set"), numbers, numbers, numbers),
        st.tuples(st.just("replace"), numbers, numbers),
        st.tuples(st.just("erase"), numbers),
    ),
    max_size=12,
)


@given(steps=steps)
def test_uses_are_what_the_operands_say(steps: list[tuple]) -> None:
    scene = Scene()
    for name, *arguments in steps:
        getattr(scene, name)(*arguments)
        scene.check()


def must_have(step: str, operation: Operation, operands: str, values: Iterable[Value]) -> None:
    """Require that the operation has operands of these names, and that the uses of all values agree with it."""
    __tracebackhide__ = True
    got = "".join(operand.name for operand in operation.operands)
    assert got == operands, f"{step}: the operands should be {', '.join(operands)}, got {', '.join(got)}"
    for value in values:
        numbers = sorted(use.number for use in value.uses)
        expected = [i for i, name in enumerate(operands) if name == value.name]
        assert numbers == expected, f"{step}: {value.name} should be used as operands {expected}, got {numbers}"


def test_a_value_used_twice_by_one_operation() -> None:
    x, y = values = Block([F32, F32], ["x", "y"]).arguments
    add = Operation("arith.addf", [x, x], [F32])
    must_have("add = Operation('arith.addf', [x, x], ...)", add, "xx", values)
    x.replace_all_uses_with(y)
    must_have("x.replace_all_uses_with(y)", add, "yy", values)
    add.set_operand(0, x)
    must_have("add.set_operand(0, x)", add, "xy", values)


class Impatient(Operation):
    """An operation whose operands may change ten times."""

    changes = 0

    def set_operand(self, index: int, value: Value) -> None:
        self.changes += 1
        assert self.changes < 10, "replace_all_uses_with should end, even if a value replaces itself"
        super().set_operand(index, value)


def test_a_value_that_replaces_itself() -> None:
    (x,) = values = Block([F32], ["x"]).arguments
    add = Impatient("arith.addf", [x, x], [F32])
    x.replace_all_uses_with(x)
    must_have("x.replace_all_uses_with(x)", add, "xx", values)


def test_operands_from_an_iterator() -> None:
    values = Block([F32, F32], ["x", "y"]).arguments
    add = Operation("arith.addf", iter(values), [F32])
    must_have("Operation('arith.addf', iter([x, y]), ...)", add, "xy", values)


def test_erasing_is_refused_while_a_result_is_used() -> None:
    block = Block([I32])
    first = block.append(Operation("arith.addi", block.arguments * 2, [I32, I32]))
    block.append(Operation("arith.muli", [first.results[1]] * 2, [I32]))
    reason = "cannot erase arith.addi: its result 1 still has 2 uses"
    described("addi.erase()", first.erase).raises(ValueError, reason, because="arith.muli uses it twice")
    assert first in block.operations and len(block.arguments[0].uses) == 2, "a refused erase should change nothing"


def test_erasing_drops_the_operands_of_everything_inside() -> None:
    outer, inner = Block([I32]), Block()
    (x,) = outer.arguments
    end = inner.append(Operation("scf.yield", [x]))
    loop = outer.append(Operation("scf.execute_region", [x], [], regions=[Region([inner])]))
    assert len(x.uses) == 2, f"the loop and the yield inside it use x: 2 uses, got {len(x.uses)}"
    loop.erase()
    assert not x.uses, f"x should have no uses by the erased operation or by operations in it, got {len(x.uses)}"
    assert outer.operations == [] and loop.parent is None, "an erased operation should be in no block"
    for operation in (loop, end):
        assert operation.operands == (), f"the erased {operation.name} should have no operands"
    loose = Operation("use", [x])
    calling(loose.erase).succeeds(because="an operation that is in no block can be erased as well")
    assert not x.uses, "an erased operation should drop its operands, even if it is in no block"


def test_every_block_of_every_region_counts() -> None:
    (x,) = Block([I32]).arguments
    regions = [Region([Block(), Block()]) for _ in range(2)]
    for i, block in enumerate([*regions[0].blocks, *regions[1].blocks]):
        block.append(Operation(f"inner{i}", [x]))
    outer = Operation("outer", regions=regions)
    expected = ["outer", "inner0", "inner1", "inner2", "inner3"]
    walked = [operation.name for operation in outer.walk()]
    assert walked == expected, f"walk visited {walked}, not {expected}"
    outer.erase()
    assert not x.uses, f"all erased operations should drop their operands, got {len(x.uses)} uses"


def test_erasing_while_walking() -> None:
    block = Block([I32])
    for i, size in enumerate((2, 0, 3)):
        inner = Block()
        for k in range(size):
            inner.append(Operation(f"inner{i}.{k}", block.arguments))
        block.append(Operation(f"outer{i}", regions=[Region([inner])]))
    visited = []
    for operation in Operation("root", regions=[Region([block])]).walk():
        visited.append(operation.name)
        if operation.name.startswith("inner"):
            operation.erase()
    expected = "root outer0 inner0.0 inner0.1 outer1 outer2 inner2.0 inner2.1 inner2.2".split()
    assert visited == expected, f"walk visited {visited}, not {expected}; each operation was erased when it was visited"


def test_parent_op() -> None:
    block = Block()
    operation = Operation("alone")
    around = described("operation.parent_op", getattr, operation, "parent_op")
    around.returns(None, because="it is in no block")
    block.append(operation)
    around.returns(None, because="its block is in no region")
    region = Region([block])
    around.returns(None, because="its region is in no operation")
    holder = Operation("holder", regions=[region])
    around.returns(holder, because="operation, block, region, holder")

"""A loop nest computes, at each index, all scalars that its roots need.

`Point.at(value, index)` returns the source of one element. Each line belongs to a level: a line that depends on no loop
variable precedes the loops, and a line that depends only on outer variables is in the outer loops. For each memory
access, a guard before the loops ensures that every index is in bounds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_triton.codegen.numba_gen.plan import Index, Nest, Store, Unsupported, Write, is_tensor, operands_at
from mini_triton.codegen.numba_gen.scalars import add, held, kind, loaded, number, stored
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.types import IntegerType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter

LEAST_SPLIT = 8
"""A loop with fewer iterations than this is not split."""


@dataclass
class Affine:
    """An integer equal to `base` plus a multiple of each loop variable. The values in `sides` must not overflow."""

    base: str
    steps: dict[str, str]
    sides: list[tuple[Affine, int]] = field(default_factory=list)

    def ends(self, ranges: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
        """The source of the least and of the greatest value if each loop variable is in its range `(first, end)`.

        `Affine("5", {"i0": "2"})` with i0 in `("0", "8")` lies between 5 and 19. No range is empty.
        """
        # Task 10.5: A step may be a negative number, such as "-3", or a variable, such as "stride", whose sign is
        # unknown until the kernel runs. The source may call `min` and `max`. A range does not include its end. `times`
        # multiplies two expressions, and `add` adds any number of them.
        raise NotImplementedError("Task 10.5: Loops for Numba")


def within(low: str, high: str, width: int) -> list[str]:
    """Tests that a range fits in an integer of `width` bits; no tests if the range is known to fit."""
    limit = 2 ** (width - 1)
    if width == 64 or all(re.fullmatch(r"-?\d+", end) and -limit <= int(end) < limit for end in (low, high)):
        return []
    return [f"{-limit} <= {low} and {high} < {limit}"]


def times(step: str, count: str) -> str:
    if re.fullmatch(r"-?\d+", step) and re.fullmatch(r"-?\d+", count):
        return str(int(step) * int(count))
    return "0" if "0" in (step, count) else count if step == "1" else step if count == "1" else f"{step} * ({count})"


class Point:
    """The body of a nest while it is being written."""

    def __init__(self, program: ProgramEmitter, shape: Sequence[int]) -> None:
        self.program = program
        self.shape = tuple(shape)
        self.index: Index = program.plan.index(self.shape)
        self.variables = [i for i in self.index if i != "0"]
        self.levels: list[list[str]] = [[] for _ in range(len(self.variables) + 1)]
        self.memo: dict[tuple[int, Index], tuple[str, int]] = {}
        self.assumed: dict[int, str] = {}  # by key: masks whose value is known in part of the innermost loop
        self.written: dict[tuple[Value, Index], tuple[str, int]] = {}
        self.guarded: set[tuple[int, int, Index]] = set()
        self.guards = True
        self.dependent: set[int] = set()  # values that depend on these masks
        self.straight: Sequence[Value] = ()  # arrays whose elements are known to count up by one

    # --- texts and levels

    def level(self, text: str) -> int:
        """The level of the innermost loop whose variable occurs in an expression."""
        found = [n for n, v in enumerate(self.variables, 1) if re.search(rf"\b{v}\b", text)]
        return max(found, default=0)

    def write(self, level: int, line: str) -> None:
        self.levels[level].append(line)

    def at(self, value: Value, index: Index) -> tuple[str, int]:
        """The source of one element, and the level of the innermost loop in which it varies."""
        program = self.program
        if not is_tensor(value):
            return program.text(value), 0
        key = program.plan.key(value), index
        if key[0] in self.assumed:
            return self.assumed[key[0]], 0
        if (known := self.memo.get(key)) is None:
            known = self.memo[key] = self.compute(value, index)
        return known

    def compute(self, value: Value, index: Index) -> tuple[str, int]:
        program, plan = self.program, self.program.plan
        if (done := self.written.get((value, index))) is not None:
            return done
        if value in self.straight:
            number_type, (i,) = kind(value.type), index
            return self.assign(value, f"{number_type}({program.array(value)}[0] + {number_type}({i}))", self.level(i))
        if value in plan.arrays and program.is_ready(value):
            return self.variable(value, f"{program.array(value)}[{', '.join(index)}]", self.level(" ".join(index)))
        if value in plan.growing:
            first, level = self.at(plan.growing[value][0], index)
            grown = program.grown(value)
            return self.assign(value, number(value.type, f"{first} + {grown}"), level)
        if not isinstance(value, OpResult):
            raise Unsupported(f"a {value.type} of unknown origin")
        return self.operation(value.owner, value, index)

    def assign(self, value: OpResult | Value, text: str, level: int) -> tuple[str, int]:
        """A variable with this value; the expression itself if it is simple, or used only once and not named."""
        if re.fullmatch(r"-?[\w.]+|[\w]+\(-?[\w.\"]*\)", text):
            return text, level
        if not value.name and len(value.uses) < 2 and len(text) < 60:
            return f"({text})", level
        return self.variable(value, text, level)

    def variable(self, value: Value, text: str, level: int) -> tuple[str, int]:
        name = self.program.fresh(value.name or "t")
        self.write(level, f"{name} = {text}{self.program.mark(value)}")
        return name, level

    # --- operations

    def operation(self, operation: Operation, value: OpResult, index: Index) -> tuple[str, int]:
        name = operation.name
        if name == "tt.load":
            return self.load(operation, index)
        if name == "tt.make_range":
            start = operation.attributes["start"]
            text = f"int32({add(index[0], str(start))})"
            return self.assign(value, text, self.level(text))
        if name in ("arith.constant", "ub.poison"):
            return self.program.constant(operation), 0
        parts = [self.at(operand, where) for operand, where in operands_at(operation, value, index)]
        texts = [text for text, _ in parts]
        level = max((level for _, level in parts), default=0)
        if name in ("tt.splat", "tt.broadcast", "tt.expand_dims", "tt.trans", "tt.reshape", "tt.split", "tt.unsplat"):
            return parts[0]
        if name == "tt.join":
            if index[-1] in "01":
                return parts[int(index[-1])]
            text = f"{texts[0]} if {index[-1]} == 0 else {texts[1]}"
            return self.variable(value, text, max(level, self.level(index[-1])))
        if name == "tt.cat":
            size = shape_of(operation.operands[0].type)[0]
            return self.variable(value, f"{texts[0]} if {index[0]} < {size} else {texts[1]}", self.level(index[0]))
        if name == "tt.gather":
            axis, source = int(operation.attributes["axis"]), operation.operands[0]  # type: ignore[arg-type]
            chosen = f"min(max({texts[0]}, 0), {shape_of(source.type)[axis] - 1})"
            where = (*index[:axis], chosen, *index[axis + 1 :])
            return self.variable(
                value, f"{self.program.array(source)}[{', '.join(where)}]", max(level, self.level(" ".join(where)))
            )
        if name == "arith.select" and texts[0] in ("True", "False"):
            return parts[1 if texts[0] == "True" else 2]
        if name == "arith.andi" and {"True", "False"} & set(texts):
            return ("False", 0) if "False" in texts else parts[texts.index("True") ^ 1]
        if name == "arith.ori" and {"True", "False"} & set(texts):
            return ("True", 0) if "True" in texts else parts[texts.index("False") ^ 1]
        return self.assign(value, self.program.elementwise(operation, texts), level)

    def load(self, operation: Operation, index: Index) -> tuple[str, int]:
        """`x[offset] if mask else other`."""
        pointer, *rest = operation.operands
        mask, mask_level = self.at(rest[0], index if is_tensor(rest[0]) else ()) if rest else ("True", 0)
        other, other_level = (
            self.at(rest[1], index if is_tensor(rest[1]) else ())
            if len(rest) > 1
            else (held(operation.result.type, "0"), 0)
        )
        if mask == "False":
            return other, other_level
        where, level = self.at(pointer, index)
        self.guard(operation, index)
        text = loaded(operation.result.type, f"{self.program.memory(pointer)}[uint64({where})]")
        if mask != "True":
            text, level = f"{text} if {mask} else {other}", max(level, mask_level, other_level)
        return self.variable(operation.result, text, level)

    # --- what is known about indices

    def affine(self, value: Value, index: Index) -> Affine | None:
        """An integer or a pointer as an affine function of loop variables; None if it is not recognized as one."""
        plan = self.program.plan
        if not is_tensor(value):
            if isinstance(value, OpResult) and value.owner.name == "arith.constant":
                return Affine(str(int(value.owner.attributes["value"])), {})  # type: ignore[arg-type]
            text = self.program.text(value)
            return Affine(text if text == "0" else f"int64({text})", {})
        if value in plan.growing:
            first = self.affine(plan.growing[value][0], index)
            return first and Affine(add(first.base, self.program.grown(value)), first.steps, first.sides)
        if value in self.straight and (index[0] == "0" or index[0] in self.variables):
            return Affine(f"int64({self.program.array(value)}[0])", {} if index[0] == "0" else {index[0]: "1"})
        if value in plan.arrays or not isinstance(value, OpResult):
            return None
        operation = value.owner
        name = operation.name
        if name == "tt.make_range":
            start = str(operation.attributes["start"])
            if index[0] == "0" or index[0] in self.variables:
                return Affine(start, {} if index[0] == "0" else {index[0]: "1"})
            return None
        if name == "arith.constant":
            return Affine(str(operation.attributes["value"]), {})
        if name not in (
            "tt.splat",
            "tt.broadcast",
            "tt.expand_dims",
            "tt.trans",
            "tt.addptr",
            "tt.bitcast",
            "arith.addi",
            "arith.subi",
            "arith.muli",
            "arith.extsi",
            "tt.reshape",
        ):
            return None
        parts = [self.affine(operand, where) for operand, where in operands_at(operation, value, index)]
        if None in parts:
            return None
        first = parts[0]
        assert first
        if len(parts) == 1:
            if name == "arith.extsi":
                return Affine(
                    first.base, first.steps, [*first.sides, (first, element_type(operation.operands[0].type).width)]
                )
            return first
        second = parts[1]
        assert second
        sides = first.sides + second.sides
        if name == "arith.muli":
            if first.steps and second.steps:
                return None
            many, once = (first, second) if first.steps else (second, first)
            factor = f"({once.base})" if not re.fullmatch(r"\d+", once.base) else once.base
            base = many.base if many.base == "0" else times(factor, many.base)
            return Affine(base, {v: times(factor, f"{step}") for v, step in many.steps.items()}, sides)
        if name == "arith.subi":
            steps = dict(first.steps)
            for variable, step in second.steps.items():
                if variable in steps:
                    return None
                steps[variable] = f"-{step}" if re.fullmatch(r"\d+", step) else f"-({step})"
            base = second.base if second.base == "0" else f"-({second.base})"
            return Affine(add(first.base, base), steps, sides)
        if name == "tt.addptr" and element_type(operation.operands[1].type).width < 64:
            sides = [*sides, (second, element_type(operation.operands[1].type).width)]
        steps = dict(first.steps)
        for variable, step in second.steps.items():
            steps[variable] = add(steps[variable], step) if variable in steps else step
            if variable in first.steps and not re.fullmatch(r"\d+", steps[variable]):
                steps[variable] = f"({steps[variable]})"
        return Affine(add(first.base, second.base), steps, sides)

    def bound(self, mask: Value, index: Index) -> tuple[str, str, str, Affine] | None:
        """`(variable, predicate, limit, left side)` of a mask that compares `variable + base` with an invariant."""
        if not isinstance(mask, OpResult) or mask.owner.name != "arith.cmpi":
            return None
        predicate = str(mask.owner.attributes["predicate"])
        if predicate not in ("slt", "sle", "sgt", "sge"):
            return None
        left, right = (self.affine(operand, index) for operand in mask.owner.operands)
        if left is None or right is None:
            return None
        if right.steps and not left.steps:
            left, right = right, left
            predicate = {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"}[predicate]
        if right.steps or list(left.steps.values()) != ["1"]:
            return None
        (variable,) = left.steps
        side = Affine(left.base, left.steps, left.sides)
        side.sides = [*left.sides, (Affine(left.base, left.steps), element_type(mask.owner.operands[0].type).width)]
        limit = add(right.base, f"-({left.base})" if left.base != "0" else "0")
        return variable, predicate, limit, side

    def trim(self, mask: Value, index: Index, ranges: dict[str, list[str]], sides: list[tuple[Affine, int]]) -> bool:
        """Narrow loop variables' ranges to where a mask can be true. Returns whether the new ranges imply the mask."""
        text, _ = self.at(mask, index)
        if text == "True":
            return True
        if isinstance(mask, OpResult) and mask.owner.name in ("tt.broadcast", "tt.expand_dims", "tt.trans", "tt.splat"):
            ((operand, where),) = operands_at(mask.owner, mask, index)
            return is_tensor(operand) and self.trim(operand, where, ranges, sides)
        if isinstance(mask, OpResult) and mask.owner.name == "arith.andi" and mask not in self.program.plan.arrays:
            return all([self.trim(operand, index, ranges, sides) for operand in mask.owner.operands])
        found = self.bound(mask, index)
        if found is None:
            return False
        variable, predicate, limit, side = found
        limit = limit if predicate in ("slt", "sge") else add(limit, "1")
        ranges[variable][1 if predicate in ("slt", "sle") else 0] += f", {limit}"
        sides.extend(side.sides)
        return True

    # --- guards

    def guard(self, operation: Operation, index: Index) -> None:
        """Write a guard, before the loops, against out-of-bounds accesses."""
        pointer = operation.operands[0]
        masks = operation.operands[1:2] if operation.name == "tt.load" else operation.operands[2:3]
        mask = masks[0] if masks else None
        key = self.program.plan.key(pointer), self.program.plan.key(mask) if mask is not None else -1, index
        if not self.guards or key in self.guarded:
            return
        self.guarded.add(key)
        assumed, self.assumed = self.assumed, {}
        memo = self.memo
        self.memo = {k: v for k, v in memo.items() if v[1] == 0 and k[0] not in self.dependent}
        memory = self.program.memory(pointer)
        sizes = {v: str(n) for v, n in zip(self.index, self.shape, strict=True) if v != "0"}
        ranges = {v: ["0", n] for v, n in sizes.items()}
        sides: list[tuple[Affine, int]] = []
        place = self.affine(pointer, index)
        before = [len(lines) for lines in self.levels]
        exact = mask is None or is_tensor(mask) and self.trim(mask, index, ranges, sides)
        for lines, count in zip(self.levels[1:], before[1:], strict=True):
            del lines[count:]
        condition = ""
        if place is not None:
            bounds, empty = {}, []
            for variable, (first, end) in ranges.items():
                if end != sizes[variable]:
                    name = self.program.fresh(f"{variable}_end")
                    self.write(0, f"{name} = min({end})")
                    end = name
                if first != "0":
                    name = self.program.fresh(f"{variable}_first")
                    self.write(0, f"{name} = max({first})")
                    first = name
                if not (first + end).isdigit():
                    empty.append(f"{end} <= {first}")
                bounds[variable] = first, end
            low, high = place.ends(bounds)
            test = [f"0 <= {low} and {high} < len({memory})" if low != high else f"0 <= {low} < len({memory})"]
            whole = {v: ("0", n) for v, n in sizes.items()}
            for side, width in place.sides:
                least, most = side.ends(bounds)
                if (least, most) != (low, high):
                    test.extend(within(least, most, width))
            for side, width in sides:
                least, most = side.ends(whole)
                test.extend(within(least, most, width))
            test = list(dict.fromkeys(test))
            if mask is not None and not is_tensor(mask):
                empty.append(f"not {self.program.text(mask)}")
                exact = True
            condition = " or ".join([*empty, f"({' and '.join(test)})" if empty or len(test) > 1 else test[0]])
        if exact and condition:
            mark = self.program.mark(operation)
            self.write(0, f"if not ({condition}):{mark}")
            self.write(0, f"    return False{mark}")
        else:
            self.check(operation, index, condition, memory, mask)
        self.memo, self.assumed = memo, assumed

    def check(self, operation: Operation, index: Index, condition: str, memory: str, mask: Value | None) -> None:
        """Write loops that do nothing but check every index."""
        inner = Point(self.program, self.shape)
        inner.guards = False
        self.guard_behind(operation, index)
        where, level = inner.at(operation.operands[0], index)
        taken, mask_level = inner.at(mask, index if is_tensor(mask) else ()) if mask is not None else ("True", 0)
        bad, mark = self.program.fresh("bad"), self.program.mark(operation)
        test = f"not 0 <= {where} < len({memory})"
        inner.write(
            max(level, mask_level, len(self.variables)),
            f"{bad} |= {test}{mark}" if taken == "True" else f"{bad} |= {taken} and {test}{mark}",
        )
        lines = [f"{bad} = False{mark}", *inner.lines(), f"if {bad}:{mark}", f"    return False{mark}"]
        if condition:
            lines = [f"if not ({condition}):", *("    " + line for line in lines)]
        self.levels[0].extend(lines)

    def guard_behind(self, operation: Operation, index: Index) -> None:
        """Guard the loads from which an address or a mask is computed."""
        rest = operation.operands[1:2] if operation.name == "tt.load" else operation.operands[2:3]
        for value in (operation.operands[0], *rest):
            seen: set[tuple[Value, Index]] = set()
            for found, at in self.program.plan.tree(value, index, seen):
                if (
                    isinstance(found, OpResult)
                    and found.owner.name == "tt.load"
                    and found not in self.program.plan.arrays
                ):
                    self.guard(found.owner, at)

    # --- the whole

    def lines(self) -> list[str]:
        """The nest: the lines before the loops, and the loops."""
        return [*self.levels[0], *self.loops(1)]

    def loops(self, level: int) -> list[str]:
        """The lines of the loops from `level` on; level 1 is the outermost loop. Empty if no loop has a line.

        With the line "a" in level 1 and the line "b" in level 2, the result is `["for i0 in range(4):", "    a",
        "    for i1 in range(8):", "        b"]`.
        """
        # Task 10.5: `self.levels[level]` holds the lines directly in the loop of this level, without those of inner
        # loops. `self.variables[level - 1]` is the loop's variable, and `self.size(variable)` is the number of
        # iterations.
        raise NotImplementedError("Task 10.5: Loops for Numba")

    def size(self, variable: str) -> int:
        """The number of elements along the axis of a loop variable."""
        return self.shape[self.index.index(variable)]


def is_row_of_integers(value: Value) -> bool:
    shape, element = shape_of(value.type), element_type(value.type)
    return len(shape) == 1 and shape[0] >= LEAST_SPLIT and isinstance(element, IntegerType) and element.width > 1


class NestPoint(Point):
    """A nest with roots."""

    def __init__(self, program: ProgramEmitter, nest: Nest) -> None:
        super().__init__(program, nest.shape)
        self.nest = nest

    def emit(self) -> list[str]:
        """Write the nest, and a second version for the case in which offsets such as `at % n` are consecutive."""
        numbers = self.find_numbers()
        if not numbers:
            return self.emit_split()
        test = " and ".join(f"is_straight({self.program.array(value)})" for value in numbers)
        quick = NestPoint(self.program, self.nest)
        quick.straight = numbers
        parts = ([f"if {test}:", *quick.emit_split()], ["else:", *self.emit_split()])
        return [line for header, *lines in parts for line in (header, *("    " + line for line in lines))]

    def find_numbers(self) -> list[Value]:
        """One-dimensional integer arrays from which addresses in the nest are computed."""
        plan = self.program.plan
        pointers = [root.operation.operands[0] for root in self.nest.roots if isinstance(root, Store)]
        for root in self.nest.roots:
            for value, _ in plan.pulled(root):
                if isinstance(value, OpResult) and value.owner.name == "tt.load" and not self.program.is_ready(value):
                    pointers.append(value.owner.operands[0])
        behind = dict.fromkeys(value for value in plan.behind(pointers) if value in plan.arrays)
        return [value for value in behind if self.program.is_ready(value) and is_row_of_integers(value)]

    def emit_split(self) -> list[str]:
        """Write the nest. If a mask ends within the innermost loop, write this loop in two parts."""
        split = self.find_split()
        if split is None:
            self.roots()
            return self.lines()
        key, end, condition, before = split
        innermost = self.variables[-1]
        name = self.program.fresh(f"{innermost}_end")
        self.levels[0].extend([*condition, f"{name} = {end}"])
        self.assumed = {key: before[0]}
        self.roots()
        head, self.levels[-1] = self.levels[-1], []
        depth = len(self.variables)
        self.memo = {k: v for k, v in self.memo.items() if v[1] < depth and k[0] not in self.dependent}
        self.written.clear()
        self.assumed = {key: before[1]}
        self.roots()
        tail, self.levels[-1] = self.levels[-1], []
        inner = []
        size = str(self.shape[self.index.index(innermost)])
        if head:
            inner += [f"for {innermost} in range({name}):", *("    " + line for line in head)]
        if tail:
            inner += [f"for {innermost} in range({name}, {size}):", *("    " + line for line in tail)]
        for level in range(depth - 1, 0, -1):
            variable = self.variables[level - 1]
            count = self.shape[self.index.index(variable)]
            inner = [f"for {variable} in range({count}):", *("    " + line for line in [*self.levels[level], *inner])]
        return [*self.levels[0], *inner]

    def roots(self) -> None:
        """Compute the operands of every root, then write all roots."""
        effects: list[tuple[int, str]] = []
        deepest = len(self.variables)
        for root in self.nest.roots:
            if isinstance(root, Write):
                text, level = self.at(root.value, self.index)
                target = f"{self.program.target(root.target)}[{', '.join(self.index)}]"
                if isinstance(root.target, Value):
                    if not re.fullmatch(r"[\w.]+", text):
                        text, level = self.variable(root.value, text, level)
                    self.written[root.target, self.index] = text, level
                effects.append((deepest, f"{target} = {text}{self.program.mark(root.value)}"))
            else:
                effects.extend(self.store(root, deepest))
        for level, line in effects:
            self.write(level, line)

    def store(self, root: Store, deepest: int) -> list[tuple[int, str]]:
        operation = root.operation
        pointer, value, *rest = operation.operands
        mask = self.at(rest[0], self.index if is_tensor(rest[0]) else ())[0] if rest else "True"
        if mask == "False":
            return []
        where, _ = self.at(pointer, self.index)
        text, _ = self.at(value, self.index if is_tensor(value) else ())
        self.guard(operation, self.index)
        mark = self.program.mark(operation)
        line = f"{self.program.memory(pointer)}[uint64({where})] = {stored(value.type, text)}{mark}"
        return [(deepest, line)] if mask == "True" else [(deepest, f"if {mask}:{mark}"), (deepest, "    " + line)]

    def find_split(self) -> tuple[int, str, list[str], tuple[str, str]] | None:
        """The mask that splits the innermost loop: key, position, condition, values before and after the position."""
        if not self.variables:
            return None
        innermost = self.variables[-1]
        size = self.shape[self.index.index(innermost)]
        if size < LEAST_SPLIT:
            return None
        plan = self.program.plan
        counts: dict[int, int] = {}
        values: dict[int, tuple[Value, Index]] = {}
        for root in self.nest.roots:
            for value, index in plan.pulled(root):
                if isinstance(value, OpResult) and value.owner.name == "arith.cmpi" and value not in plan.arrays:
                    key = plan.key(value)
                    if key in values and values[key][1] != index:
                        counts[key] = -1000
                    counts[key] = counts.get(key, 0) + 1
                    values[key] = value, index
        best = None
        for key, _ in sorted(counts.items(), key=lambda pair: -pair[1]):
            if counts[key] > 0:
                value, index = values[key]
                found = self.bound(value, index)
                if found and found[0] == innermost:
                    best = key, found
                    break
        if best is None:
            return None
        key, (variable, predicate, limit, side) = best
        limit = limit if predicate in ("slt", "sge") else add(limit, "1")
        tests = []
        for part, width in side.sides:
            low, high = part.ends({v: ("0", str(n)) for v, n in zip(self.index, self.shape, strict=True) if v != "0"})
            tests.extend(within(low, high, width))
        condition = [f"if not ({' and '.join(dict.fromkeys(tests))}):", "    return False"] if tests else []
        self.dependent = self.find_dependent(key)
        known = ("True", "False") if predicate in ("slt", "sle") else ("False", "True")
        return key, f"max(0, min({size}, {limit}))", condition, known

    def find_dependent(self, key: int) -> set[int]:
        """The keys of all values in the nest that depend on the mask with this key."""
        plan = self.program.plan
        found = {key}
        values = {value for root in self.nest.roots for value, _ in plan.pulled(root)}
        for value in sorted((v for v in values if isinstance(v, OpResult)), key=lambda v: plan.order[v.owner]):
            if any(
                plan.key(operand) in found for operand in value.owner.operands if operand not in plan.arrays or True
            ):
                found.add(plan.key(value))
        return found

"""Random kernels whose programs part: TTIR with loops and branches in each other, drawn as plain data.

    source(statements)   # the text; its programs read `%x` and write what becomes of their numbers into `%out`

Every number that decides something depends on what the program has computed so far, or is the same for all. Loops end.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.m06_codegen.grids import kernel

SLOTS = 24  # elements of `%out` for each program
BLOCK = 4
WORDS = 8  # elements of `%x`, a power of two
SCALAR, TENSOR = "i32", f"tensor<{BLOCK}xi32>"
OPERATORS = ("addi", "subi", "muli", "andi", "xori", "minsi", "maxsi")
Value = tuple[str, str]
"""A name and a type."""

_picks = st.integers(0, 30)
_simple = (
    st.tuples(st.just("compute"), st.sampled_from(OPERATORS), _picks, _picks)
    | st.tuples(st.just("load"), _picks, st.booleans())
    | st.tuples(st.just("store"), _picks)
)


def _nested(inner: Any) -> Any:
    body = st.lists(inner, max_size=4)
    carried = st.lists(st.tuples(_picks, _picks), max_size=3)
    bounds = st.tuples(_picks, _picks, _picks)
    return (
        st.tuples(st.just("for"), bounds, carried, body)
        | st.tuples(st.just("while"), _picks, carried, body)
        | st.tuples(st.just("if"), st.tuples(_picks, _picks), carried, body, st.none() | body)
    )


statements = st.lists(st.recursive(_simple, _nested, max_leaves=12), min_size=1, max_size=5)


def source(statements: list[Any]) -> str:
    """The kernel of these statements."""
    writer = _Writer()
    writer.block(statements)
    for value in writer.values[-3:]:
        writer.store(value)
    return kernel("%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32", "\n".join(writer.lines))


class _Writer:
    """Lines, and the values that may be used in the next one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = self.slots = 0
        self.values: list[Value] = [("%n", SCALAR)]
        for number in (0, 1, 2, 3, WORDS - 1):
            self.write(f"%c{number} = arith.constant {number} : i32")
        self.write(f"%size = arith.constant {SLOTS} : i32")
        self.write("%pid = tt.get_program_id x : i32")
        self.write(f"%lanes = tt.make_range {{end = {BLOCK} : i32, start = 0 : i32}} : {TENSOR}")
        self.write("%first = arith.muli %pid, %size : i32")
        self.values += [("%c1", SCALAR), ("%pid", SCALAR), ("%lanes", TENSOR)]

    def write(self, line: str) -> None:
        self.lines.append(line)

    def new(self, type: str, text: str) -> Value:
        """A value that is computed by `text`."""
        self.count += 1
        self.write(f"%v{self.count} = {text}")
        return f"%v{self.count}", type

    def pick(self, number: int, type: str | None = None) -> Value:
        """The latest value is number 0."""
        found = [value for value in self.values if type in (None, value[1])]
        return found[~(number % len(found))]

    def as_type(self, value: Value, type: str) -> Value:
        return value if value[1] == type else self.new(type, f"tt.splat {value[0]} : i32 -> {type}")

    def small(self, number: int, limit: int) -> str:
        """A number of the program's from 0 to `limit`, which is 1 or 3."""
        return self.new(SCALAR, f"arith.andi {self.pick(number, SCALAR)[0]}, %c{limit} : i32")[0]

    def block(self, statements: list[Any]) -> None:
        for name, *parts in statements:
            getattr(self, f"_{name}")(*parts)

    def inside(self, statements: list[Any], arguments: list[Value], carried: list[tuple[int, int]], end: str) -> None:
        """A block in its own scope. It yields values of the types of its arguments, or of those that it starts from."""
        outside = list(self.values)
        self.values += arguments
        self.block(statements)
        types = [type for _, type in arguments] if arguments else [self.pick(first)[1] for first, _ in carried]
        yields = [self.pick(after, type)[0] for (_, after), type in zip(carried, types, strict=True)]
        self.write(end.format(", ".join(yields), ", ".join(types)))
        self.values = outside

    # --- statements

    def _compute(self, operator: str, first: int, second: int) -> None:
        x, y = self.pick(first), self.pick(second)
        type = TENSOR if TENSOR in (x[1], y[1]) else SCALAR
        x, y = self.as_type(x, type), self.as_type(y, type)
        self.values.append(self.new(type, f"arith.{operator} {x[0]}, {y[0]} : {type}"))

    def _load(self, number: int, masked: bool) -> None:
        at, type = self.pick(number)
        word = self.as_type((f"%c{WORDS - 1}", SCALAR), type)[0]
        index = self.new(type, f"arith.andi {at}, {word} : {type}")[0]
        pointer, pointers = self.pointer("%x", index, type)
        if masked:
            mask = self.new("", f"arith.cmpi slt, {index}, {at} : {type}")[0]
            self.values.append(self.new(type, f"tt.load {pointer}, {mask}, {at} : {pointers}"))
        else:
            self.values.append(self.new(type, f"tt.load {pointer} : {pointers}"))

    def pointer(self, base: str, index: str, type: str) -> tuple[str, str]:
        """A pointer to an element, and its type."""
        pointers = type.replace("i32", "!tt.ptr<i32>")
        if type == TENSOR:
            base = self.new(pointers, f"tt.splat {base} : !tt.ptr<i32> -> {pointers}")[0]
        return self.new(pointers, f"tt.addptr {base}, {index} : {pointers}, {type}")[0], pointers

    def store(self, value: Value) -> None:
        """Into the program's next slots."""
        name, type = value
        size = BLOCK if type == TENSOR else 1
        if self.slots + size > SLOTS:
            return
        slot = self.new(SCALAR, f"arith.constant {self.slots} : i32")[0]
        self.slots += size
        at = self.as_type((self.new(SCALAR, f"arith.addi %first, {slot} : i32")[0], SCALAR), type)[0]
        index = self.new(type, f"arith.addi {at}, %lanes : {type}")[0] if type == TENSOR else at
        pointer, pointers = self.pointer("%out", index, type)
        self.write(f"tt.store {pointer}, {name} : {pointers}")

    def _store(self, number: int) -> None:
        self.store(self.pick(number))

    def names(self, values: list[Value]) -> list[Value]:
        """New names for values that are carried or result."""
        first = self.count + 1
        self.count += len(values)
        return [(f"%v{first + i}", type) for i, (_, type) in enumerate(values)]

    def results(self, inits: list[Value]) -> str:
        """`%r:2 = `, after which `%r#0` and `%r#1` may be used."""
        self.count += 1
        name = f"%r{self.count}"
        if len(inits) == 1:
            self.values.append((name, inits[0][1]))
            return f"{name} = "
        self.values += [(f"{name}#{i}", type) for i, (_, type) in enumerate(inits)]
        return f"{name}:{len(inits)} = " if inits else ""

    def _for(self, bounds: tuple[int, int, int], carried: list[tuple[int, int]], body: list[Any]) -> None:
        lower, upper = self.small(bounds[0], 3), self.small(bounds[1], 3)
        step = self.new(SCALAR, f"arith.addi {self.small(bounds[2], 1)}, %c1 : i32")[0]
        inits = [self.pick(first) for first, _ in carried]
        arguments = self.names(inits)
        self.count += 1
        variable = f"%i{self.count}"
        at, inner = len(self.lines), len(self.values)
        self.values.append((variable, SCALAR))
        self.write("")
        end = "scf.yield {} : {}" if inits else ""
        self.inside(body, arguments, carried, end)
        del self.values[inner:]
        bound = ", ".join(f"{new[0]} = {old[0]}" for new, old in zip(arguments, inits, strict=True))
        types = ", ".join(type for _, type in inits)
        head = f"scf.for {variable} = {lower} to {upper} step {step}"
        loop = f"{head} iter_args({bound}) -> ({types}) : i32 {{" if inits else f"{head} : i32 {{"
        self.lines[at] = f"{self.results(inits)}{loop}"
        self.write("}")

    def _while(self, number: int, carried: list[tuple[int, int]], body: list[Any]) -> None:
        rounds = self.small(number, 3)
        inits = [(rounds, SCALAR), *(self.pick(first) for first, _ in carried)]
        before, after = self.names(inits), self.names(inits)
        at, inner = len(self.lines), len(self.values)
        self.write("")
        goes_on = self.new("", f"arith.cmpi sgt, {before[0][0]}, %c0 : i32")[0]
        types = ", ".join(type for _, type in inits)
        self.write(f"scf.condition({goes_on}) {', '.join(name for name, _ in before)} : {types}")
        self.write("} do {")
        self.write(f"^bb0({', '.join(f'{name}: {type}' for name, type in after)}):")
        left = self.new(SCALAR, f"arith.subi {after[0][0]}, %c1 : i32")[0]
        self.values.append(after[0])
        rest = f"scf.yield {left}{', ' if carried else ''}{{}} : {SCALAR}{', ' if carried else ''}{{}}"
        self.inside(body, after[1:], carried, rest)
        del self.values[inner:]
        bound = ", ".join(f"{new[0]} = {old[0]}" for new, old in zip(before, inits, strict=True))
        self.lines[at] = f"{self.results(inits)}scf.while ({bound}) : ({types}) -> ({types}) {{"
        self.write("}")

    def _if(
        self, compared: tuple[int, int], carried: list[tuple[int, int]], body: list[Any], other: list[Any] | None
    ) -> None:
        x, y = (self.pick(number, SCALAR)[0] for number in compared)
        condition = self.new("", f"arith.cmpi slt, {x}, {y} : i32")[0]
        ways = [(self.pick(first), self.pick(after)) for first, after in carried] if other is not None else []
        kept = [first for first, _ in ways]
        at = len(self.lines)
        self.write("")
        end = "scf.yield {} : {}" if ways else ""
        picks = [pair for pair, _ in zip(carried, ways, strict=False)]
        # Both ways have the types of `kept`: these are in reach of both as well.
        self.inside(body, kept, picks, end)
        if other is not None:
            self.write("} else {")
            self.inside(other, kept, [(first, first) for first, _ in picks], end)
        types = ", ".join(type for _, type in kept)
        self.lines[at] = f"{self.results(kept)}scf.if {condition}{f' -> ({types})' if kept else ''} {{"
        self.write("}")

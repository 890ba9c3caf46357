"""Task 9.1: patterns that match and build operations, and the driver that applies rules until none matches."""

import random

import pytest
from mini_triton.errors import Loc
from mini_triton.ir.core import BlockArgument, Module, Operation, Value
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F32, I1, I8, I32, I64, PointerType, TensorType, Type
from mini_triton.transforms.rewriting import (
    PATIENCE,
    Match,
    Pattern,
    RewriteError,
    Rewriter,
    Rule,
    build,
    constant_of,
    match_operation,
    parse,
    rule,
)

from tests.checks import described
from tests.support.m09_passes.rewrites import find, function, rewriting
from tests.support.m09_passes.rules import Maker, given_to, outcome, same

# --- matching

SUMS = function(
    "%x: i32, %y: i32, %p: !tt.ptr<i32>, %m: i1",
    """
    %zero = arith.constant 0 : i32
    %seven = arith.constant 7 : i32
    %sum = arith.addi %x, %y : i32
    %twice = arith.addi %x, %x : i32
    %more = arith.addi %x, %seven : i32
    %product = arith.muli %sum, %x : i32
    %same = arith.muli %sum, %sum : i32
    %less = arith.cmpi slt, %x, %y : i32
    %masked = tt.load %p, %m : !tt.ptr<i32>
    %other = tt.load %p, %m, %zero : !tt.ptr<i32>
    %volatile = tt.load %p, %m {isVolatile = true} : !tt.ptr<i32>
    tt.return %sum, %twice, %more : i32, i32, i32
    """,
)


class matching(described):
    """Whether the operation that computes a value of `SUMS` matches a pattern."""

    def __init__(self, pattern: str, name: str) -> None:
        self.module = parse_module(SUMS)
        self.found: Match = {}
        root, operation = parse(pattern), find(self.module, name)
        assert isinstance(root, Pattern)
        super().__init__(
            f"match_operation({pattern!r}, {words(operation)})", match_operation, root, operation, self.found
        )

    def finds(self, **names: str) -> None:
        """Require that the pattern matches, and binds the names to these values."""
        __tracebackhide__ = True
        self.returns(True)
        found = {name: value.name for name, value in self.found.items()}
        call = described(f"`found` after {self}", lambda: found)
        call.returns(names, "each name in the pattern matches a value")


def words(operation: Operation) -> str:
    """The text of an operation's line."""
    return next(line.strip() for line in SUMS.splitlines() if f"%{operation.results[0].name} =" in line)


def test_names_match_any_value() -> None:
    matching("arith.addi(x, y)", "sum").finds(x="x", y="y")
    matching("arith.addi(a, b)", "more").finds(a="x", b="seven")


def test_the_same_name_is_the_same_value() -> None:
    matching("arith.addi(x, x)", "twice").finds(x="x")
    matching("arith.addi(x, y)", "twice").finds(x="x", y="x")
    matching("arith.addi(x, x)", "sum").returns(False, "two values cannot both be x")


def test_capitals_match_constants() -> None:
    matching("arith.addi(x, C)", "more").finds(x="x", C="seven")
    matching("arith.addi(x, C)", "sum").returns(False, "%y is not a constant")


def test_numbers_match_constants_of_that_number() -> None:
    matching("arith.addi(x, 7)", "more").finds(x="x")
    matching("arith.addi(x, 8)", "more").returns(False)
    matching("arith.addi(x, 0)", "sum").returns(False, "%y is not a constant")


def test_names_of_operations_and_predicates() -> None:
    matching("arith.muli(x, y)", "sum").returns(False, "the operation has a different name")
    matching("arith.cmpi(x, y)", "less").finds(x="x", y="y")
    matching("arith.cmpi.slt(x, y)", "less").finds(x="x", y="y")
    matching("arith.cmpi.sgt(x, y)", "less").returns(False, "the predicate differs")


def test_operands_are_counted() -> None:
    matching("tt.load(p, m)", "masked").finds(p="p", m="m")
    matching("tt.load(p, m)", "other").returns(False, "the load has three operands")
    matching("tt.load(p, m, o)", "masked").returns(False, "the load has two operands")
    matching("tt.load(p, m)", "volatile").finds(p="p", m="m")


def test_operations_inside() -> None:
    matching("arith.muli(arith.addi(x, y), z)", "product").finds(x="x", y="y", z="x")
    matching("arith.muli(arith.addi(x, y), x)", "product").finds(x="x", y="y")
    matching("arith.muli(arith.addi(x, y), y)", "product").returns(
        False, "y is already %y, but the second factor is %x"
    )
    matching("arith.muli(arith.addi(x, y), arith.addi(x, z))", "same").finds(x="x", y="y", z="y")
    matching("arith.muli(x, arith.addi(y, z))", "product").returns(False, "%x is a parameter: no operation computes it")
    matching("arith.muli(arith.muli(x, y), z)", "product").returns(False, "the inner operation has a different name")


OPERATIONS = ("addi", "muli", "subi", "xori")


def tree(draw: random.Random, depth: int) -> str:
    """A random pattern."""
    if not depth or draw.random() < 0.2:
        return draw.choice(("x", "y", "z", "C", "D", "0", "3", "-1"))
    return f"arith.{draw.choice(OPERATIONS)}({tree(draw, depth - 1)}, {tree(draw, depth - 1)})"


def made(pattern: str, type: Type = I32) -> tuple[Module, Operation, Match]:
    """A function that the pattern describes, its last operation, and its values by name."""
    root = parse(pattern)
    assert isinstance(root, Pattern)
    maker = Maker(random.Random(1))
    module = maker.function(root, type)
    *_, last, _ = module.walk()
    return module, last, maker.values


def test_random_trees() -> None:
    """A pattern matches the operations that are built from it, unless one of these operations is replaced."""
    draw = random.Random(1)
    for _ in range(100):
        pattern = f"arith.addi({tree(draw, 3)}, {tree(draw, 3)})"
        module, root, values = made(pattern)
        found: Match = {}
        call = tried(pattern, module, root, found)
        call.returns(True)
        assert found == values, f"{call}\n  expected  found == {names(values)}\n  got       {names(found)}"
        draw.choice([o for o in module.walk() if len(o.operands) == 2]).name = "arith.ori"
        tried(pattern, module, root, {}).returns(False, "one of the operations differs")


def tried(pattern: str, module: Module, root: Operation, found: Match) -> described:
    """The match of a pattern with the last operation of a module."""
    words = f"match_operation({pattern!r}, …, {{}}) on the last operation of\n{print_module(module)}"
    return described(words, match_operation, parse(pattern), root, found)


def names(values: Match) -> dict[str, str]:
    return {name: value.name or str(value.type) for name, value in values.items()}


# --- building


def building(pattern: str, parameters: str, type: Type, *expected: str) -> None:
    """Require that `build` makes these operations from the named parameters, and returns the last result."""
    __tracebackhide__ = True
    module = parse_module(function(parameters, "tt.return"))
    block = module.body.operations[0].regions[0].block
    values: Match = {argument.name: argument for argument in block.arguments}
    rewriter = Rewriter({})
    call = described(f"build({pattern!r}, a result of type {type}), where the names are {parameters}", build)
    call.arguments = (rewriter, parse(pattern), values, type)
    here = Loc("kernel.py", 3, 4)
    with rewriter.before(block.operations[0]), rewriter.location(here):
        value = call.succeeds("a value")
    *made, _ = block.operations
    got = [line.strip() for line in print_module(module).splitlines() if " = " in line]
    if got != list(expected):
        call.fail("; ".join(expected), "; ".join(got))
    assert value is (made[-1].result if made else values[pattern]), f"{call} does not return the last value"
    assert all(operation.loc == here for operation in made), f"{call}: an operation has no source location"


def test_a_name_needs_no_operation() -> None:
    building("x", "%x: i32", I32)


def test_operations_are_built() -> None:
    building("arith.addi(x, y)", "%x: i32, %y: i32", I32, "%0 = arith.addi %x, %y : i32")
    building("arith.subi(y, x)", "%x: i32, %y: i32", I32, "%0 = arith.subi %y, %x : i32")
    building("arith.cmpi.slt(x, y)", "%x: i32, %y: i32", I1, "%0 = arith.cmpi slt, %x, %y : i32")


def test_operands_are_built_first() -> None:
    building(
        "arith.muli(arith.addi(x, y), arith.subi(y, x))",
        "%x: i32, %y: i32",
        I32,
        "%0 = arith.addi %x, %y : i32",
        "%1 = arith.subi %y, %x : i32",
        "%2 = arith.muli %0, %1 : i32",
    )


def test_the_result_type_is_told_where_it_is_needed() -> None:
    building("arith.extsi(x)", "%x: i8", I32, "%0 = arith.extsi %x : i8 to i32")
    building("tt.splat(x)", "%x: i8", TensorType((4,), I8), "%0 = tt.splat %x : i8 -> tensor<4xi8>")
    building(
        "arith.extui(arith.andi(x, y))",
        "%x: i8, %y: i8",
        I64,
        "%0 = arith.andi %x, %y : i8",
        "%1 = arith.extui %0 : i8 to i64",
    )


def test_numbers_are_built() -> None:
    building("0", "%x: i32", I32, "%0 = arith.constant 0 : i32")
    building("true", "%x: i32", I1, "%0 = arith.constant true")
    building("-1", "%x: i32", I1, "%0 = arith.constant true")
    building("2", "%x: i32", I1, "%0 = arith.constant false")
    building("-0.0", "%x: i32", TensorType((4,), F32), "%0 = arith.constant dense<-0.0> : tensor<4xf32>")


def test_numbers_among_operands_have_the_type_of_the_others() -> None:
    building("arith.subi(0, x)", "%x: i8", I8, "%0 = arith.constant 0 : i8", "%1 = arith.subi %0, %x : i8")
    building("arith.cmpi.eq(x, 5)", "%x: i8", I1, "%0 = arith.constant 5 : i8", "%1 = arith.cmpi eq, %x, %0 : i8")
    building(
        "arith.select(c, x, 0)",
        "%c: i1, %x: i8",
        I8,
        "%0 = arith.constant 0 : i8",
        "%1 = arith.select %c, %x, %0 : i8",
    )
    building(
        "arith.addi(arith.subi(0, 3), 5)",
        "%x: i32",
        I8,
        "%0 = arith.constant 0 : i8",
        "%1 = arith.constant 3 : i8",
        "%2 = arith.subi %0, %1 : i8",
        "%3 = arith.constant 5 : i8",
        "%4 = arith.addi %2, %3 : i8",
    )
    building(
        "tt.addptr(p, arith.subi(n, 2))",
        "%p: !tt.ptr<f32>, %n: i64",
        PointerType(F32),
        "%0 = arith.constant 2 : i64",
        "%1 = arith.subi %n, %0 : i64",
        "%2 = tt.addptr %p, %1 : !tt.ptr<f32>, i64",
    )


# --- the driver: one rule

ADD_0 = rule("arith.addi(x, 0)", "x")
MULTIPLY_1 = rule("arith.muli(x, 1)", "x")
ADD_CONSTANTS = rule("arith.addi(arith.addi(x, C), D)", "arith.addi(x, arith.addi(C, D))")


def test_an_operation_is_replaced() -> None:
    before = """
    %zero = arith.constant 0 : i32
    %sum = arith.addi %x, %zero : i32
    %out = arith.muli %sum, %sum : i32
    """
    after = """
    %out = arith.muli %x, %x : i32
    """
    rewriting(function("%x: i32", before), [ADD_0]).leaves_text(
        function("%x: i32", after), "%sum is %x, and then the constant has no uses"
    )


def test_no_rule_matches() -> None:
    same = function("%x: i32", "%out = arith.muli %x, %x : i32\ntt.return %out : i32")
    rewriting(same, [ADD_0]).leaves_text(same)
    rewriting(same, []).leaves_text(same)


def test_new_operations_stand_before_the_old_one() -> None:
    before = """
    %a = arith.muli %x, %x : i32
    %b = arith.subi %a, %y : i32
    %c = arith.muli %b, %b : i32
    """
    after = """
    %a = arith.muli %x, %x : i32
    %l = arith.ori %a, %y : i32
    %r = arith.andi %y, %a : i32
    %b = arith.xori %l, %r : i32
    %c = arith.muli %b, %b : i32
    """
    different = rule("arith.subi(x, y)", "arith.xori(arith.ori(x, y), arith.andi(y, x))")
    rewriting(function("%x: i32, %y: i32", before), [different]).leaves_text(function("%x: i32, %y: i32", after))


def test_names_and_locations_are_kept() -> None:
    text = function(
        "%x: i32",
        """
        %twice = arith.muli %x, %x : i32 loc("kernel.py":7:11)
        """,
    )
    call = rewriting(text, [rule("arith.muli(x, y)", "arith.addi(arith.ori(x, y), y)")])
    inner, outer, last = call.left.body.operations[0].regions[0].block.operations
    where = described(f"The source locations of the new operations after {call}", lambda: [inner.loc, outer.loc])
    where.returns([Loc("kernel.py", 7, 11)] * 2, "they inherit the location of the operation that they replace")
    named = described(f"The name of the replacement of %twice after {call}", lambda: last.operands[0].name)
    named.returns("twice", "a value without a name inherits the name of the result that it replaces")


def test_values_with_a_name_keep_it() -> None:
    text = function(
        "%x: i32", "%zero = arith.constant 0 : i32\n%sum = arith.addi %x, %zero : i32\ntt.return %sum : i32"
    )
    call = rewriting(text, [ADD_0])
    last = find(call.left, "tt.return")
    described(f"The name of the replacement of %sum after {call}", lambda: last.operands[0].name).returns("x")


# --- several rules


def test_the_first_rule_that_fits_is_applied() -> None:
    text = function("%x: i32, %y: i32", "%sum = arith.addi %x, %y : i32\ntt.return %sum : i32")
    refused = rule("arith.addi(x, y)", "arith.andi(x, y)", lambda x, y: False)
    rules = [
        rule("arith.addi(x, x)", "x"),
        refused,
        rule("arith.addi(x, y)", "arith.ori(x, y)"),
        rule("arith.addi(x, y)", "y"),
    ]
    expected = text.replace("arith.addi", "arith.ori")
    rewriting(text, rules).leaves_text(
        expected, "the first rule does not match, and the condition of the second rule is false"
    )


def test_functions_replace_operations() -> None:
    def second_and_first(rewriter: Rewriter, operation: Operation, x: Value, y: Value) -> tuple[Value, Value]:
        return y, x

    def none_always(rewriter: Rewriter, operation: Operation, **values: Value) -> None:
        return None

    def no_values(rewriter: Rewriter, operation: Operation, **values: Value) -> tuple[()]:
        return ()

    parameters = "%x: tensor<4xi32>, %y: tensor<4xi32>, %p: !tt.ptr<i32>, %n: i32"
    before = """
    %both = tt.join %x, %y : tensor<4xi32> -> tensor<4x2xi32>
    %a, %b = tt.split %both : tensor<4x2xi32> -> tensor<4xi32>
    %sum = arith.subi %a, %b : tensor<4xi32>
    tt.store %p, %n : !tt.ptr<i32>
    tt.return %sum : tensor<4xi32>
    """
    after = """
    %sum = arith.subi %y, %x : tensor<4xi32>
    """
    rules = [
        rule("tt.split(tt.join(x, y))", none_always),
        rule("tt.split(tt.join(x, y))", second_and_first),
        rule("tt.store(p, v)", no_values),
    ]
    rewriting(function(parameters, before), rules).leaves_text(
        function(parameters, after),
        "the first function returns None: its rule does not match; the second one returns a value for each result; "
        "the third one returns no values, as a store has no results",
    )


def test_a_value_of_another_type_is_no_replacement() -> None:
    text = function(
        "%c: i1, %x: tensor<4xi1>",
        """
        %out = arith.select %c, %x, %x : tensor<4xi1>
        """,
    )
    rewriting(text, [rule("arith.select(c, x, x)", "c")]).leaves_text(
        text, "%c is an i1, but the result is a tensor<4xi1>"
    )


def test_new_operations_are_tried() -> None:
    text = function("%x: i32, %y: i32", "%sum = arith.addi %x, %y : i32\ntt.return %sum : i32")
    names = ("addi", "muli", "andi", "ori", "xori")
    rules = [rule(f"arith.{a}(x, y)", f"arith.{b}(x, y)") for a, b in zip(names, names[1:], strict=False)]
    rewriting(text, rules).leaves_text(text.replace("addi", "xori"), "each rule creates a match for the next one")


def test_operands_inside_of_a_replacement_are_tried() -> None:
    text = function("%x: i32, %y: i32", "%sum = arith.addi %x, %y : i32\ntt.return %sum : i32")
    rules = [rule("arith.addi(x, y)", "arith.muli(arith.ori(x, y), 1)"), MULTIPLY_1, rule("arith.ori(x, y)", "x")]
    rewriting(text, rules).leaves_text(function("%x: i32, %y: i32", "tt.return %x : i32"))


# --- the order of rewrites


def test_users_are_tried_again() -> None:
    """The driver visits an operation again after one of its two uses is gone, because a rule requires a single use."""

    def x_if_used_once(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
        return x if len(operation.result.uses) == 1 else None

    before = """
    %a = math.absi %x : i32
    %b = arith.muli %a, %one : i32
    %c = arith.muli %a, %one : i32
    tt.return %b : i32
    """
    rules = [rule("math.absi(x)", x_if_used_once), rule("arith.muli(x, y)", ori_if_x_is_a_parameter)]
    after = "%b = arith.ori %x, %one : i32\ntt.return %b : i32"
    rewriting(function("%x: i32, %one: i32", before), rules).leaves_text(
        function("%x: i32, %one: i32", after),
        "%c is dead; then %a has one use and is replaced by %x; and then the other rule matches %b",
    )


def ori_if_x_is_a_parameter(rewriter: Rewriter, operation: Operation, x: Value, y: Value) -> Value | None:
    """An `arith.ori` if the first operand is a parameter of the function; otherwise, None."""
    return rewriter.create("arith.ori", x, y) if isinstance(x, BlockArgument) else None


def test_dead_operations_are_erased() -> None:
    before = """
    %a = arith.addi %x, %x : i32
    %b = arith.muli %a, %a : i32
    %c = tt.load %p : !tt.ptr<i32>
    %d = arith.subi %c, %b : i32
    tt.store %p, %x : !tt.ptr<i32>
    tt.return %x : i32
    """
    after = """
    tt.store %p, %x : !tt.ptr<i32>
    tt.return %x : i32
    """
    parameters = "%x: i32, %p: !tt.ptr<i32>"
    rewriting(function(parameters, before), []).leaves_text(
        function(parameters, after),
        "%d has no uses; then %c and %b have none; then %a has none; a store is not dead",
    )


def test_operations_in_regions() -> None:
    before = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %start = arith.addi %x, %zero : i32
    %sum = scf.for %i = %zero to %x step %one iter_args(%carried = %start) -> (i32) : i32 {
      %more = arith.addi %carried, %i : i32
      %same = arith.addi %more, %zero : i32
      %chosen = scf.if %c -> (i32) {
        %product = arith.muli %same, %one : i32
        scf.yield %product : i32
      } else {
        scf.yield %i : i32
      }
      scf.yield %chosen : i32
    }
    tt.return %sum : i32
    """
    after = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %zero to %x step %one iter_args(%carried = %x) -> (i32) : i32 {
      %more = arith.addi %carried, %i : i32
      %chosen = scf.if %c -> (i32) {
        scf.yield %more : i32
      } else {
        scf.yield %i : i32
      }
      scf.yield %chosen : i32
    }
    tt.return %sum : i32
    """
    rewriting(function("%x: i32, %c: i1", before), [ADD_0, MULTIPLY_1]).leaves_text(function("%x: i32, %c: i1", after))


def test_dead_operations_with_regions() -> None:
    """Dead operations are erased with their regions, even if rules match operations in the regions."""
    before = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %zero to %x step %one iter_args(%carried = %x) -> (i32) : i32 {
      %more = arith.addi %carried, %zero : i32
      scf.yield %more : i32
    }
    tt.return %x : i32
    """
    after = "tt.return %x : i32"
    rewriting(function("%x: i32", before), [ADD_0]).leaves_text(function("%x: i32", after), "%sum has no uses")


def test_hints_are_kept() -> None:
    text = function(
        "%x: i32, %p: !tt.ptr<i32>",
        """
        %zero = arith.constant 0 : i32
        %n = arith.addi %x, %zero {tt.divisibility = 16 : i32} : i32
        """,
    )
    rewriting(text, [ADD_0]).leaves_text(text, "a replacement would lose the author's hint")


# --- rules that never end

THERE = rule("arith.addi(x, y)", "arith.muli(y, x)")
BACK = rule("arith.muli(x, y)", "arith.addi(y, x)")
GROWING = rule("arith.addi(x, y)", "arith.subi(arith.addi(y, x), 1)")


@pytest.mark.parametrize("rules", [[THERE, BACK], [GROWING]], ids=["in circles", "more and more"])
@pytest.mark.parametrize("size", [1, 20])
def test_rules_that_never_end(rules: list[Rule], size: int) -> None:
    lines = [f"%a{i} = arith.addi %x, %zero : i32\ntt.store %p, %a{i} : !tt.ptr<i32>" for i in range(size)]
    text = function("%x: i32, %p: !tt.ptr<i32>", "\n".join(["%zero = arith.constant 0 : i32", *lines, "tt.return"]))
    total = 2 * size + 4  # the module, its function, the constant and the return are operations as well
    rewriting(text, [*rules]).raises(
        RewriteError,
        f"{PATIENCE * total + 1} times",
        *(rule.name for rule in rules),
        because=f"the module has {total} operations at the beginning, and PATIENCE is {PATIENCE}",
    )


def test_many_steps_are_not_endless() -> None:
    """A rule may match many times, as long as each rewrite leaves less to do."""
    lines = ["%v0 = arith.addi %x, %one : i32"]
    lines += [f"%v{i} = arith.addi %v{i - 1}, %one : i32" for i in range(1, 200)]
    text = function("%x: i32", "\n".join(["%one = arith.constant 1 : i32", *lines, "tt.return %v199 : i32"]))
    module = rewriting(text, [ADD_CONSTANTS, SUM]).left
    left = [o.name for o in module.walk() if o.name == "arith.addi"]
    assert len(left) == 1, f"200 additions of 1 should become one addition of 200\n  got\n{print_module(module)}"


def sum_of_both(rewriter: Rewriter, operation: Operation, C: Value, D: Value) -> Value:
    first, second = constant_of(C), constant_of(D)
    assert first is not None and second is not None
    return rewriter.constant(first + second, C.type)


SUM = rule("arith.addi(C, D)", sum_of_both)

# --- whole programs


def program(seed: int) -> str:
    """A function of random arithmetic, with zeros and ones among its operands."""
    draw = random.Random(seed)
    values = ["%x", "%y", "%c0", "%c1", "%c2"]
    lines = [f"%c{i} = arith.constant {i} : i32" for i in range(3)]
    for i in range(draw.randint(1, 25)):
        name = draw.choice(("addi", "addi", "muli", "subi"))
        lines.append(f"%v{i} = arith.{name} {draw.choice(values[-4:] + values[:3])}, {draw.choice(values)} : i32")
        values.append(f"%v{i}")
    return function("%x: i32, %y: i32", "\n".join([*lines, f"tt.return {values[-1]}, {values[-2]} : i32, i32"]))


RULES = [
    ADD_0,
    MULTIPLY_1,
    SUM,
    ADD_CONSTANTS,
    *(
        rule(f"arith.{name}(C, x)", f"arith.{name}(x, C)", lambda x, C: constant_of(x) is None)
        for name in ("addi", "muli")
    ),
    rule("arith.muli(x, 0)", "0"),
    rule("arith.subi(x, 0)", "x"),
    rule("arith.subi(x, x)", "0"),
    rule("arith.subi(arith.addi(x, y), y)", "x"),
]


def test_random_programs() -> None:
    """The rewritten functions compute the old results, and no rule matches any more."""
    for seed in range(60):
        text = program(seed)
        arguments = given_to([I32, I32], random.Random(seed))
        expected = outcome(parse_module(text), arguments)
        call = rewriting(text, RULES)
        module = call.left
        got = outcome(module, arguments)
        if expected is None or got is None or not same(expected, got):
            call.fail(str(expected), got, f"the rewritten module is\n{print_module(module)}")
        left = [(r.name, o) for o in module.walk() for r in RULES if r.pattern and match_operation(r.pattern, o, {})]
        left = [(name, o) for name, o in left if "C, x" not in name]
        assert not left, f"{call}\n  the rule {left[0][0]} still fits\n{print_module(module)}"

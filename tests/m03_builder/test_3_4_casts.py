"""Task 3.4: casts, step by step, as real Triton's front end emits them."""

import itertools

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import element_type, shape_of
from mini_triton.language.dtypes import DTYPES, cast_steps, dtype, pointer_type

from tests.oracles import questions, records
from tests.support.m03_builder.bench import Bench, Shape, term

POINTERS = ("pointer<fp32>", "pointer<fp16>")
NAMES = (*questions.DTYPES, *POINTERS)
SHAPES = ((), (16,), (4, 1))
HELPERS = ("arith.constant", "tt.splat")  # operations that may make the zero of a comparison


def of_name(name: str) -> dtype | pointer_type:
    """The dtype or pointer type of this name."""
    return pointer_type(DTYPES[name[len("pointer<") : -1]]) if name in POINTERS else DTYPES[name]


def castable() -> list[tuple[str, str]]:
    """All pairs of a source and a target that every version of real Triton can cast."""
    answers = {(a, b): records.cast_ops(a, b) for a, b in itertools.product(NAMES, repeat=2)}
    return [(source, target) for (source, target), answer in answers.items() if answer.ok and answer.common]


def cast(source: str, target: str, shape: Shape) -> tuple[Bench, Value]:
    """The builder's cast of a block's argument, and the bench that holds it."""
    bench = Bench((str(of_name(source).ir_type), shape))
    value = bench.call("cast", bench.arguments[0], iter(cast_steps(of_name(source), of_name(target))))
    assert isinstance(value, Value), f"cast returns {value!r}, which is not a value"
    return bench, value


def in_words(operation: Operation) -> records.CastOp:
    """An operation in the form of the records."""
    detail = operation.attributes.get("predicate") or operation.attributes.get("rounding") or ""
    return records.CastOp(operation.name, str(detail), str(element_type(operation.result.type)))


def test_casts_are_real_tritons() -> None:
    """Operations, predicates, roundings and types are those of `x.to(dtype)` in real Triton."""
    for source, target in castable():
        for shape in SHAPES:
            bench, value = cast(source, target, shape)
            got = [in_words(operation) for operation in bench.block.operations if operation.name not in HELPERS]
            # Real Triton's `arith.bitcast` from a type to the same type does nothing.
            expected = [op for op in records.cast_ops(source, target).value if op.name != "arith.bitcast"]
            assert got == expected, (
                f"{source} to {target}, in the shape {shape}:\n"
                f"  expected  {_shown(expected)}\n  got       {_shown(got)}"
            )
            if not bench.names:
                assert value is bench.arguments[0], "a cast that needs no operation should return the value itself"
            assert shape_of(value.type) == shape, f"{source} to {target}: a cast keeps the shape {shape}"
            assert element_type(value.type) == of_name(target).ir_type, f"{source} to {target} gives {value.type}"


def test_the_steps_of_two_casts() -> None:
    """The steps of two casts in one list give the same operations as one cast after the other."""
    for (source, middle), (start, target) in itertools.product(castable(), repeat=2):
        if middle != start:
            continue
        bench, value = cast(source, middle, (16,))
        first, second = cast_steps(of_name(source), of_name(middle)), cast_steps(of_name(middle), of_name(target))
        expected = term(bench.call("cast", value, second))
        got = bench.call("cast", bench.arguments[0], [*first, *second])
        bench.holds(got, expected, f"the steps of {source} to {middle}, then of {middle} to {target}")


def _shown(ops: list[records.CastOp]) -> str:
    return ", then ".join(f"{op.name} {op.detail}".strip() + f" : {op.type}" for op in ops) or "nothing"


def test_truth_is_not_being_zero() -> None:
    """A cast to `int1` compares the value itself with zero."""
    for source, shape in itertools.product(questions.DTYPES, SHAPES):
        if source == "int1" or not records.cast_ops(source, "int1").ok:
            continue
        bench, value = cast(source, "int1", shape)
        *_, compared = bench.block.operations
        assert value in compared.results, f"the result is not the last operation's:\n{bench.text}"
        terms = [term(operand) for operand in compared.operands]
        (constant,) = (t[1] if t[0] == "tt.splat" else t for t in terms if "arith.constant" in str(t))
        assert constant[:2] == ("arith.constant", 0), f"the cast to int1 should compare with zero, not with {constant}"

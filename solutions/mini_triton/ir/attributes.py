"""Attributes that are words in the text and numbers underneath: MLIR's enum attributes. (Given.)

A type rule declares such an attribute by its annotation, `predicate: IntPredicate`. Its value is the word, `"slt"`. The
pretty form prints the word, and the generic form prints the number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin


@dataclass(frozen=True)
class Keyword:
    """The words of an enum attribute, the integers behind them and those integers' width in bits."""

    numbers: Mapping[str, int]
    width: int = 32

    def word(self, number: int) -> str:
        return next(word for word, n in self.numbers.items() if n == number)


def _count(words: str, start: int = 0) -> dict[str, int]:
    return {word: start + i for i, word in enumerate(words.split())}


IntPredicate = Annotated[str, Keyword(_count("eq ne slt sle sgt sge ult ule ugt uge"), width=64)]
FloatPredicate = Annotated[
    str, Keyword(_count("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"), width=64)
]
Axis = Annotated[str, Keyword(_count("x y z"))]
Rounding = Annotated[str, Keyword(_count("rtz rtne"))]
InputPrecision = Annotated[str, Keyword(_count("tf32 tf32x3 ieee bf16x3 bf16x6"))]
ScaledFormat = Annotated[str, Keyword(_count("e4m3 e5m2 e2m3 e3m2 e2m1 bf16 fp16"))]
PropagateNan = Annotated[str, Keyword({"none": 0, "all": 0xFFFF})]
AtomicOp = Annotated[str, Keyword(_count("and or xor add fadd max min umax umin exch", start=1))]
MemSemantic = Annotated[str, Keyword(_count("relaxed acquire release acq_rel", start=1))]
MemScope = Annotated[str, Keyword(_count("gpu cta sys", start=1))]
Symbol = Annotated[str, "symbol"]
"""The name of a function, printed with an `@`."""
Unit = Annotated[bool, "unit"]
"""A flag that is present or absent, printed as its name alone."""


def annotation(hint: Any) -> tuple[Any, Any]:
    """The parts of a type rule's annotation: the class of an attribute's values, and its `Keyword` or kind, if any."""
    base, extra = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, None)
    return get_origin(base) or base, extra

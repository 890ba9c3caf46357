"""MLIR's enum attributes, and other kinds of attributes that type rules declare. (Given.)

A type rule declares an enum attribute by an annotation, `predicate: IntPredicate`. The attribute's value is a word,
such as `"slt"`. The pretty form prints the word, and the generic form prints the number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin


@dataclass(frozen=True)
class Keyword:
    """The words of an enum attribute, the number for each word, and the width of the numbers in bits."""

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
ReduceKind = Annotated[str, Keyword(_count("none add min max inc dec and or xor"))]
MemSemantic = Annotated[str, Keyword(_count("relaxed acquire release acq_rel", start=1))]
MemScope = Annotated[str, Keyword(_count("gpu cta sys", start=1))]
CacheModifier = Annotated[str, Keyword(_count("none ca cg wb cs wt cv", start=1))]
EvictionPolicy = Annotated[str, Keyword(_count("evict_normal evict_first evict_last", start=1))]
Symbol = Annotated[str, "symbol"]
"""The name of a function, printed with an `@`."""
Unit = Annotated[bool, "unit"]
"""A flag that is present or absent, printed as its name alone."""


def annotation(hint: Any) -> tuple[Any, Any]:
    """The parts of an attribute's annotation: the class of its values, and a `Keyword`, "symbol", "unit" or None."""
    base, extra = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, None)
    return get_origin(base) or base, extra

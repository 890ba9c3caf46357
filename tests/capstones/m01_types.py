"""Types and dtypes: their spelling, and the common type of two of them."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask

_INTEGERS = ("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "bfloat16", "float32", "float64", "float8e5", "float8e4nv")


def questions(random: Random) -> Iterator[Question]:
    widths = random.choices((1, 8, 16, 32, 64), k=3)
    floats = random.sample(("F16", "BF16", "F32", "F64"), 2)
    yield ask(
        "1.1",
        "the types' spelling and width",
        """
        from mini_triton.ir import types
        from mini_triton.ir.types import IntegerType, PointerType
        scalars = [*(IntegerType(width) for width in WIDTHS), *(getattr(types, name) for name in FLOATS)]
        pointers = [PointerType(type) for type in scalars]
        result = [[str(type), type.width] for type in (*scalars, *pointers, PointerType(pointers[0]))]
        """,
        WIDTHS=widths,
        FLOATS=floats,
    )
    shapes = [[2 ** random.randrange(6) for _ in range(random.randrange(1, 4))] for _ in range(3)]
    yield ask(
        "1.2",
        "tensor types",
        """
        from mini_triton.ir.types import F32, I1, PointerType, TensorType, element_type, shape_of, with_element
        tensors = [TensorType(tuple(shape), PointerType(F32)) for shape in SHAPES]
        result = [[str(t), t.numel, str(element_type(t)), shape_of(t), str(with_element(t, I1))] for t in tensors]
        result += [str(element_type(F32)), shape_of(F32), str(with_element(F32, I1))]
        for shape in ((3,), (0,), (1 << 21,)):
            try:
                result.append(str(TensorType(shape, F32)))
            except Exception as error:
                result.append(kind_of(error))
        """,
        SHAPES=shapes,
    )
    pairs = []
    for _ in range(20):
        shape = [2 ** random.randrange(4) for _ in range(random.randrange(1, 4))]
        pairs.append(
            ([n if random.random() < 0.6 else 1 for n in shape], [n if random.random() < 0.8 else 2 for n in shape])
        )
    yield ask(
        "1.3",
        "shapes that broadcast",
        """
        from mini_triton.ir.types import broadcast_shapes
        result = []
        for lhs, rhs in PAIRS:
            try:
                result.append(broadcast_shapes(tuple(lhs), tuple(rhs)))
            except Exception as error:
                result.append(kind_of(error))
        """,
        PAIRS=pairs,
    )
    dtypes = _INTEGERS + _FLOATS
    yield ask(
        "1.4",
        "the common dtype of two dtypes",
        """
        from importlib import import_module
        dtypes = import_module("mini_triton.language.dtypes")  # the package would load the whole language
        result = []
        for lhs, rhs, divides in PAIRS:
            try:
                result.append(str(dtypes.promote(getattr(dtypes, lhs), getattr(dtypes, rhs), divides)))
            except Exception as error:
                result.append(kind_of(error))
        """,
        PAIRS=[(random.choice(dtypes), random.choice(dtypes), random.random() < 0.3) for _ in range(60)],
    )
    literals = [True, False, 0, -1, 1.5, 1e39, 1e-50, 2**31 - 1, -(2**31), 2**31, 2**32, -(2**63), 2**63]
    literals += [random.randrange(-(2**62), 2**62) >> random.randrange(62) for _ in range(10)]
    literals += [random.uniform(-1, 1) * 10 ** random.randrange(-40, 40) for _ in range(5)]
    yield ask(
        "1.5",
        "the common dtype of a dtype and a Python number",
        """
        from importlib import import_module
        dtypes = import_module("mini_triton.language.dtypes")
        result = []
        for value, name, divides in CASES:
            try:
                result.append(str(dtypes.literal_dtype(value)))
                result.append(str(dtypes.promote_literal(getattr(dtypes, name), value, divides)))
            except Exception as error:
                result.append(kind_of(error))
        """,
        CASES=[(value, name, random.random() < 0.3) for value in literals for name in random.sample(dtypes, 4)],
    )
    yield ask(
        "1.6",
        "which casts lead from one dtype to another",
        """
        from importlib import import_module
        dtypes = import_module("mini_triton.language.dtypes")
        result = []
        for pair in PAIRS:
            src, dst = (dtypes.pointer_type(dtypes.float32) if name == "*" else getattr(dtypes, name) for name in pair)
            try:
                result.append([[str(part) for part in step] for step in dtypes.cast_steps(src, dst)])
            except Exception as error:
                result.append(kind_of(error))
        """,
        PAIRS=[(random.choice((*dtypes, "*")), random.choice((*dtypes, "*"))) for _ in range(60)],
    )

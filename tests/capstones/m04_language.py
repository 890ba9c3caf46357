"""Expressions of the language: the modules that are built for them compute the right values."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import EVALUATE, TRACE

_NUMBERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "fp32", "fp64", "i1")
_SHAPES: tuple[list[int], ...] = ([], [4], [4, 1], [2, 4], [1])

Values = dict[str, tuple[str, list[int]]]


def expressions(tasks: str, about: str, values: Values, texts: list[str], seed: int) -> Question:
    """A question for the values of expressions, or for their refusal."""
    return ask(
        tasks,
        about,
        TRACE + "\nresult = all_traced(TEXTS, VALUES)",
        EVALUATE + f"\nresult = [evaluated(found, {values!r}, {seed}) for found in given]",
        TEXTS=texts,
        VALUES=values,
    )


def questions(random: Random) -> Iterator[Question]:
    seed = random.randrange(1 << 20)

    def some(*kinds: str) -> tuple[str, list[int]]:
        return random.choice(kinds or _NUMBERS), random.choice(_SHAPES)

    for round in range(3):
        values = {name: some() for name in "abcdef"}
        texts = [f"{x} {o} {y}" for x, y in _pairs(random, values) for o in random.sample(("*", "/", "//", "%"), 2)]
        yield expressions("4.1", "products and quotients", values, texts, seed + round)
        texts = [f"{x} {o} {y}" for x, y in _pairs(random, values)
                 for o in random.sample(("+", "-", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">"), 4)]  # fmt: skip
        texts += [f"{o}{x}" for o in "-~" for x in values]
        yield expressions("4.2", "sums, bits and comparisons", values, texts, seed + round)
    shapes: Values = {
        "a": ("i32", [4]),
        "b": ("fp32", [2, 4]),
        "c": ("i8", [4, 1]),
        "d": ("i16", [2, 2, 4]),
        "s": ("i32", []),
    }
    texts = ["a[None, :]", "a[:, None]", "b[None]", "b[:, None, :]", "c[:, :, None]", "a[0]", "s[None]"]
    texts += [f"tl.expand_dims({x}, {random.randrange(-3, 3)})" for x in shapes]
    texts += [f"tl.broadcast_to({x}, ({random.choice((2, 4))}, {random.choice((4, 8))}))" for x in shapes]
    texts += [f"tl.reshape({x}, {s})" for x in shapes for s in ((8,), (2, 2), (4,), (1, 4), (2, 4, 2), (4, 4), (8, 1))]
    texts += [
        f"tl.permute(d, {tuple(random.sample(range(3), 3))})",
        "tl.trans(b)",
        "tl.trans(d, 0, 2, 1)",
        "tl.trans(a)",
    ]
    texts += ["tl.join(a, a)", "tl.join(a, s)", "tl.split(d.permute((0, 2, 1)))", "tl.interleave(b, b)", "tl.split(a)"]
    yield expressions("4.3", "indices and shapes", shapes, texts, seed)
    numbers = [random.randrange(-20, 20) for _ in range(6)] + [random.gauss(0, 9) for _ in range(3)] + [True]
    yield ask(
        "4.4",
        "numbers that the compiler knows",
        """
        from mini_triton.language import constexpr
        import operator
        result = []
        for x in NUMBERS:
            for y in NUMBERS:
                for name in NAMES:
                    try:
                        made = getattr(operator, name)(constexpr(x), y if x > y else constexpr(y))
                        result.append([type(made).__name__, made.value, bool(made)])
                    except Exception as error:
                        result.append(kind_of(error))
        for x in NUMBERS:
            try:
                result.append([*range(20)][constexpr(x)])
            except Exception as error:
                result.append(kind_of(error))
        """,
        NUMBERS=numbers,
        NAMES=[
            "add",
            "mul",
            "floordiv",
            "mod",
            "lt",
            "eq",
            "and_",
            "lshift",
            *random.sample(("sub", "truediv", "xor"), 2),
        ],
    )
    kinds = ("i8", "u8", "i32", "fp16", "fp32", "fp64", "i64")
    memory: Values = {
        "p": (f"*{random.choice(kinds)}", [4]), "q": (f"*{random.choice(kinds)}", []), "x": some(), "m": ("i1", [4]),
        "y": ("i32", [4]), "f": ("fp32", [2, 4]), "z": (random.choice(kinds), [4]),
    }  # fmt: skip
    targets = ("int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "int1", "uint32")
    texts = ["tl.load(p)", "tl.load(p, m, 0)", "tl.load(q)", "tl.load(p, m, z)", "tl.load(q + (y & 7), m, other=1)"]
    texts += ["tl.store(p, z)", "tl.store(p, 1, m)", "tl.store(q, 2)", "tl.store(p, x)", "tl.load(y)", "tl.load(q, m)"]
    texts += [f"tl.cast({x}, tl.{t})" for x in "xyfz" for t in random.sample(targets, 4)]
    texts += ["y.to(tl.float32, bitcast=True)", "f.to(tl.int32, bitcast=True)", "f.to(tl.int8, bitcast=True)"]
    yield expressions("4.5", "loads, stores and casts", memory, texts, seed)
    size = 2 ** random.randrange(1, 6)
    texts = ["tl.program_id(0)", "tl.program_id(1)", "tl.num_programs(0)", "tl.program_id(3)", f"tl.arange(0, {size})"]
    texts += [
        f"tl.arange({size}, {2 * size})",
        "tl.arange(0, 3)",
        "tl.arange(4, 4)",
        f"tl.zeros(({size}, 2), tl.float32)",
    ]
    texts += [f"tl.full(({size},), {n}, tl.{t})" for n in (random.randrange(100), 1.5, True) for t in targets]
    texts += ["tl.cdiv(a, 7)", "tl.cdiv(a, b)", "tl.cdiv(22, 7)", "tl.full((4,), b, tl.int64)"]
    yield expressions("4.6", "ranges and constants", {"a": ("i32", [4]), "b": ("i32", [])}, texts, seed)
    values = {
        "x": some("fp32", "fp64"),
        "y": some("fp32", "i32"),
        "i": some("i32", "i8", "u8"),
        "c": some("i1"),
        "h": some("fp16"),
    }
    texts = [f"tl.{f}({x})" for f in ("exp", "log2", "sin", "sqrt", "abs", "floor", "erf", "rsqrt") for x in values]
    texts += [f"tl.{f}({x}, {y})" for f in ("maximum", "minimum") for x, y in _pairs(random, values)]
    texts += [
        "tl.where(c, x, y)",
        "tl.where(c, i, 0)",
        "tl.where(x > 0, h, i)",
        "tl.clamp(x, -0.5, 0.5)",
        "tl.fma(x, y, h)",
    ]
    texts += ["tl.sigmoid(x)", "tl.clamp(h, h, h)", "tl.fma(x, x, x)", "tl.umulhi(i, i)", "tl.fdiv(x, y)"]
    yield expressions("4.7", "mathematics", values, texts, seed)
    values = {
        "x": (random.choice(("fp32", "fp16")), [4, 8]),
        "i": (random.choice(_NUMBERS[:8]), [2, 8]),
        "v": ("i32", [16]),
    }
    folds = ("sum", "max", "min", "argmax", "argmin", "xor_sum", "cumsum", "cumprod")
    texts = [f"tl.{f}({x}, {a})" for f in folds for x in values for a in (0, random.choice((1, -1)))]
    texts += [
        "tl.sum(x)",
        "tl.max(i)",
        "tl.sum(v, keep_dims=True)",
        "tl.max(x, 1, return_indices=True)",
        "tl.softmax(x)",
    ]
    texts += ["tl.reduce(x, 1, lambda a, b: a * b)", "tl.associative_scan(v, 0, lambda a, b: a + b, reverse=True)"]
    yield expressions("4.8", "reductions and scans", values, texts, seed)
    values = {
        "a": (random.choice(("fp16", "fp32")), [16, 32]), "b": (random.choice(("fp16", "fp32")), [32, 16]),
        "c": ("fp32", [16, 16]), "i": ("i8", [16, 32]), "j": ("i8", [32, 16]),
        "p": ("*i32", [4]), "q": ("*fp32", [4]), "u": ("*u32", []), "m": ("i1", [4]), "v": ("i32", [4]), "w": ("fp32", [4]),
    }  # fmt: skip
    texts = [
        "tl.dot(a, b)",
        "tl.dot(a, b, c)",
        "tl.dot(i, j)",
        "tl.dot(a, a)",
        "tl.dot(v, v)",
        "tl.dot(a, b, out_dtype=tl.float16)",
    ]
    texts += [f"tl.atomic_{f}({p}, {v}, {m})" for f in ("add", "max", "min", "xchg", "and", "xor")
              for p, v in (("p", "v"), ("q", "w"), ("u", "3"), ("p", "1")) for m in ("None", "m")]  # fmt: skip
    texts += [
        "tl.atomic_cas(p, v, v)",
        "tl.atomic_cas(p, 0, 1)",
        "tl.atomic_cas(q, w, w)",
        "tl.atomic_add(p, v, sem='relaxed')",
    ]
    yield expressions("4.9", "dot products and atomics", values, texts, seed)
    number = random.randrange(1 << 40)
    values = {"o": ("i32", [16]), "s": ("i64", []), "l": ("i64", [4])}
    texts = [
        f"tl.{f}({s}, {o})"
        for f in ("rand", "randn", "randint", "randint4x")
        for s in (number, "s")
        for o in ("o", "l")
    ]
    texts += [f"tl.philox({number}, o, o, o, o)", "tl.uint_to_uniform_float(o.to(tl.uint32))", "tl.rand4x(s, o)"]
    yield expressions("4.10", "random numbers", values, texts, seed)


def _pairs(random: Random, values: Values) -> list[tuple[str, str]]:
    numbers = ["2", "-3", "0.5", "300", "True"]
    return [tuple(random.sample([*values, random.choice(numbers)], 2)) for _ in range(12)]  # type: ignore[misc]

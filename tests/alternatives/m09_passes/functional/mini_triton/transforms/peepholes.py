import itertools
import re
from collections.abc import Callable


def table(text: str, when: Callable[..., bool] | None = None) -> list[Rule]:
    """A rule for each line and each word in braces: `{ori,xori}(x, 0) -> x`. The dialect is `arith` by default."""
    found = []
    for line in text.strip().splitlines():
        pieces = re.split(r"\{([^}]*)\}", line.strip())
        for chosen in itertools.product(*(piece.split(",") for piece in pieces[1::2])):
            row = "".join(itertools.chain.from_iterable(itertools.zip_longest(pieces[::2], chosen, fillvalue="")))
            pattern, replacement = re.sub(r"(?<![\w.])(\w+(?:\.\w+)?)\(", full_name, row).split(" -> ")
            found.append(rule(pattern, replacement, when))
    return found


def full_name(found: re.Match[str]) -> str:
    return found[0] if found[1].startswith("tt.") else f"arith.{found[0]}"


def integers() -> list[Rule]:
    left = [rule(f"{name}(C, x)", f"{name}(x, C)", is_variable) for name in COMMUTATIVE]
    ends = table("maxsi(x, C) -> x\nminsi(x, C) -> C", is_least) + table(
        "maxsi(x, C) -> C\nminsi(x, C) -> x", is_greatest
    )
    return [
        *left,
        *ends,
        *table(
            """
            {addi,subi,ori,xori,maxui,shli,shrsi,shrui}(x, 0) -> x
            {muli,andi,minui}(x, 0) -> 0
            {muli,divsi,divui,floordivsi,ceildivsi}(x, 1) -> x
            {remsi,remui}(x, 1) -> 0
            {andi,minui}(x, -1) -> x
            {ori,maxui}(x, -1) -> -1
            {subi,xori}(x, x) -> 0
            {andi,ori,maxsi,minsi,maxui,minui}(x, x) -> x
            andi(x, xori(x, -1)) -> 0
            andi(xori(x, -1), x) -> 0
            ori(x, xori(x, -1)) -> -1
            ori(xori(x, -1), x) -> -1
            subi(addi(x, y), y) -> x
            subi(addi(y, x), y) -> x
            addi(subi(x, y), y) -> x
            addi(y, subi(x, y)) -> x
            subi(subi(x, y), x) -> subi(0, y)
            xori(xori(x, y), y) -> x
            xori(xori(y, x), y) -> x
            xori(y, xori(x, y)) -> x
            xori(y, xori(y, x)) -> x
            andi(andi(x, y), y) -> andi(x, y)
            andi(andi(y, x), y) -> andi(x, y)
            andi(y, andi(x, y)) -> andi(x, y)
            andi(y, andi(y, x)) -> andi(x, y)
            ori(ori(x, y), y) -> ori(x, y)
            ori(ori(y, x), y) -> ori(x, y)
            ori(y, ori(x, y)) -> ori(x, y)
            ori(y, ori(y, x)) -> ori(x, y)
            addi(addi(x, C), D) -> addi(x, addi(C, D))
            muli(muli(x, C), D) -> muli(x, muli(C, D))
            andi(andi(x, C), D) -> andi(x, andi(C, D))
            ori(ori(x, C), D) -> ori(x, ori(C, D))
            xori(xori(x, C), D) -> xori(x, xori(C, D))
            maxsi(maxsi(x, C), D) -> maxsi(x, maxsi(C, D))
            minsi(minsi(x, C), D) -> minsi(x, minsi(C, D))
            maxui(maxui(x, C), D) -> maxui(x, maxui(C, D))
            minui(minui(x, C), D) -> minui(x, minui(C, D))
            subi(addi(x, C), D) -> addi(x, subi(C, D))
            addi(subi(x, C), D) -> addi(x, subi(D, C))
            subi(subi(x, C), D) -> subi(x, addi(C, D))
            addi(subi(C, x), D) -> subi(addi(C, D), x)
            subi(subi(C, x), D) -> subi(subi(C, D), x)
            subi(C, addi(x, D)) -> subi(subi(C, D), x)
            subi(C, subi(x, D)) -> subi(addi(C, D), x)
            subi(C, subi(D, x)) -> addi(x, subi(C, D))
            """
        ),
    ]


def comparisons_and_selects() -> list[Rule]:
    mirrored = "\n".join(f"cmpi.{p}(C, x) -> cmpi.{q}(x, C)" for p, q in MIRRORED.items())
    negated = "\n".join(f"xori(cmpi.{p}(x, y), true) -> cmpi.{NEGATED[p]}(x, y)" for p in MIRRORED)
    return [
        *table(mirrored, is_variable),
        *table(negated),
        rule("arith.select(x, false, true)", negate),
        *table(
            """
            cmpi.{eq,sle,sge,ule,uge}(x, x) -> true
            cmpi.{ne,slt,sgt,ult,ugt}(x, x) -> false
            cmpi.ult(x, 0) -> false
            cmpi.uge(x, 0) -> true
            cmpi.ne(x, false) -> x
            cmpi.eq(x, true) -> x
            cmpi.eq(x, false) -> xori(x, true)
            cmpi.ne(x, true) -> xori(x, true)
            cmpi.ne({extui,extsi}(x), 0) -> x
            select(true, x, y) -> x
            select(false, x, y) -> y
            select(x, y, y) -> y
            select(x, true, false) -> x
            select(xori(x, true), y, z) -> select(x, z, y)
            select(x, select(x, y, z), w) -> select(x, y, w)
            select(x, y, select(x, z, w)) -> select(x, y, w)
            """
        ),
    ]


def floats() -> list[Rule]:
    products = [("arith.addf", "tt.dot(a, b, 0.0)"), ("arith.addi", "tt.dot(a, b, 0)")]
    return [
        *(rule(f"{name}({product}, d)", accumulate) for name, product in products),
        *(rule(f"{name}(d, {product})", accumulate) for name, product in products),
        *table(
            """
            addf(x, -0.0) -> x
            subf(x, 0.0) -> x
            {mulf,divf}(x, 1.0) -> x
            negf(negf(x)) -> x
            subf(-0.0, subf(-0.0, x)) -> x
            subf(-0.0, x) -> negf(x)
            {maximumf,minimumf,maxnumf,minnumf}(x, x) -> x
            mulf(negf(x), negf(y)) -> mulf(x, y)
            divf(negf(x), negf(y)) -> divf(x, y)
            """
        ),
    ]


def casts() -> list[Rule]:
    back = ["arith.bitcast(x)", "tt.bitcast(x)", "tt.ptr_to_int(tt.int_to_ptr(x))", "tt.int_to_ptr(tt.ptr_to_int(x))"]
    narrowed = ["arith.truncf(arith.extf(x))", "arith.trunci(arith.extsi(x))", "arith.trunci(arith.extui(x))"]
    return [
        *(rule(pattern, drop_cast) for pattern in back),
        *(rule(pattern, narrow_less) for pattern in narrowed),
        *table(
            """
            tt.bitcast(tt.bitcast(x)) -> tt.bitcast(x)
            trunci(trunci(x)) -> trunci(x)
            extui(extui(x)) -> extui(x)
            extsi(extsi(x)) -> extsi(x)
            extsi(extui(x)) -> extui(x)
            extf(extf(x)) -> extf(x)
            """
        ),
        *table("andi(extsi(x), extsi(y)) -> extsi(andi(x, y))", have_one_type),
        *table("andi(extui(x), extui(y)) -> extui(andi(x, y))", have_one_type),
        *table("ori(extsi(x), extsi(y)) -> extsi(ori(x, y))", have_one_type),
        *table("ori(extui(x), extui(y)) -> extui(ori(x, y))", have_one_type),
        *table("xori(extsi(x), extsi(y)) -> extsi(xori(x, y))", have_one_type),
        *table("xori(extui(x), extui(y)) -> extui(xori(x, y))", have_one_type),
    ]


def shapes() -> list[Rule]:
    replacements = {
        "tt.trans(x)": drop_order,
        "tt.trans(tt.trans(x))": compose_orders,
        "tt.reshape(x)": drop_cast,
        "tt.reshape(tt.reshape(x))": merge_shapes,
        "tt.broadcast(x)": drop_cast,
        "tt.broadcast(tt.broadcast(x))": "tt.broadcast(x)",
        "tt.broadcast(tt.splat(x))": splat_again,
        "tt.reshape(tt.splat(x))": splat_again,
        "tt.expand_dims(tt.splat(x))": splat_again,
        "tt.trans(tt.splat(x))": splat_again,
        "tt.expand_dims(tt.broadcast(x))": expand_first,
        "tt.unsplat(tt.splat(x))": "x",
        "tt.split(tt.join(x, y))": split_joined,
    }
    sunk = [
        Rule(f"{name} sinks", (*TABLE, "tt.addptr"), sink, frozenset({name})) for name in ("tt.splat", "tt.broadcast")
    ]
    return [rule(pattern, replacement) for pattern, replacement in replacements.items()] + sunk


def sink(rewriter: Rewriter, operation: Operation) -> Value | None:
    shape: tuple[int, ...] = ()
    for operand in operation.operands:
        match isinstance(operand.type, TensorType) and source_shape(operand):
            case None:
                return None
            case False | ():
                continue
            case source if shape in ((), source):
                shape = source
            case _:
                return None
    small = rewriter.like(
        operation,
        *(shrink(rewriter, operand, shape) for operand in operation.operands),
        result=with_shape(operation.result.type, shape),
    )
    return rewriter.broadcast_to(small, shape_of(operation.result.type))


def memory() -> list[Rule]:
    replacements = {
        "tt.addptr(p, 0)": "p",
        "tt.load(p, true)": load_all,
        "tt.load(p, true, o)": load_all,
        "tt.load(p, false)": load_nothing,
        "tt.load(p, false, o)": load_nothing,
        "tt.store(p, v, true)": store_all,
        "tt.store(p, v, false)": store_nothing,
        "arith.select(m, tt.load(p, m), D)": select_in_load,
        "arith.select(m, tt.load(p, m, o), D)": select_in_load,
        "arith.select(m, tt.load(p, tt.splat(m)), D)": select_in_load,
    }
    chain = rule("tt.addptr(tt.addptr(p, C), D)", "tt.addptr(p, arith.addi(C, D))", sum_fits)
    return [chain, *(rule(pattern, replacement) for pattern, replacement in replacements.items())]

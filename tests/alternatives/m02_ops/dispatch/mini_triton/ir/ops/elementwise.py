"""Elementwise operations; rules by matching."""


def same_integers(lhs: Type, rhs: Type) -> Type:
    match (element_type(lhs), lhs == rhs):
        case (IntegerType(), True):
            return lhs
        case (IntegerType(), False):
            raise TypeError(f"{lhs} and {rhs} are two types")
        case _:
            raise TypeError(f"{lhs} does not consist of integers, {rhs}")


def same_floats(lhs: Type, rhs: Type) -> Type:
    match (element_type(lhs), lhs == rhs):
        case (FloatType(), True):
            return lhs
        case (FloatType(), False):
            raise TypeError(f"{lhs} and {rhs} are two types")
        case _:
            raise TypeError(f"{lhs} does not consist of floats, {rhs}")


op("tt.mulhiui", assembly=INTEGERS, pure=True)(same_integers)

op("tt.precise_divf", assembly=FLOATS, pure=True)(same_floats)

op("tt.precise_sqrt", assembly=UNARY, pure=True)(one_float)

op("arith.negf", assembly=UNARY, pure=True)(one_float)


def cmpi(lhs: Type, rhs: Type, *, predicate: IntPredicate) -> Type:
    return _booleans(same_integers(lhs, rhs))


def cmpf(lhs: Type, rhs: Type, *, predicate: FloatPredicate) -> Type:
    return _booleans(same_floats(lhs, rhs))


def select(condition: Type, true_value: Type, false_value: Type) -> Type:
    match condition:
        case IntegerType(width=1):
            fits = True
        case _:
            fits = condition == _booleans(true_value)
    if true_value == false_value and fits:
        return true_value
    raise TypeError(f"{condition} cannot choose between {true_value} and {false_value}")


def wider_float(input: Type, *, result: Type) -> Type:
    match (element_type(input), element_type(result)):
        case (FloatType(width=8), _):
            raise TypeError(f"{input} is fp8")
        case (FloatType(width=old), FloatType(width=new)) if old < new and shape_of(input) == shape_of(result):
            return result
    raise TypeError(f"{input} cannot become {result}")


def wider_integer(input: Type, *, result: Type) -> Type:
    match (element_type(input), element_type(result)):
        case (IntegerType(width=old), IntegerType(width=new)) if old < new and shape_of(input) == shape_of(result):
            return result
    raise TypeError(f"{input} cannot become {result}")


def bitcast(input: Type, *, result: Type) -> Type:
    if shape_of(input) != shape_of(result):
        raise TypeError(f"{input} and {result} differ in shape")
    match (element_type(input), element_type(result)):
        case (PointerType(), PointerType()):
            return result
        case (PointerType(), _) | (_, PointerType()):
            raise TypeError(f"of {input} and {result} only one is a pointer")
        case (one, other) if one.width == other.width:
            return result
    raise TypeError(f"{input} and {result} differ in size")


def _booleans(type: Type) -> Type:
    """`i1` in the shape of `type`."""
    return with_element(type, I1)

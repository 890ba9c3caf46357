"""Elementwise operations, one question at a time."""


def same_integers(lhs: Type, rhs: Type) -> Type:
    if not is_integer(lhs):
        raise TypeError("it works on integers, not on " + str(lhs))
    if lhs != rhs:
        raise TypeError("its operands must have the same type, got " + str(lhs) + " and " + str(rhs))
    return lhs


def same_floats(lhs: Type, rhs: Type) -> Type:
    if not is_float(lhs):
        raise TypeError("it works on floats, not on " + str(lhs))
    if lhs != rhs:
        raise TypeError("its operands must have the same type, got " + str(lhs) + " and " + str(rhs))
    return lhs


op("tt.mulhiui", assembly=INTEGERS, pure=True)(same_integers)

op("tt.precise_divf", assembly=FLOATS, pure=True)(same_floats)

op("tt.precise_sqrt", assembly=UNARY, pure=True)(one_float)

op("arith.negf", assembly=UNARY, pure=True)(one_float)


def cmpi(lhs: Type, rhs: Type, *, predicate: IntPredicate) -> Type:
    operands = same_integers(lhs, rhs)
    result = with_element(operands, I1)
    return result


def cmpf(lhs: Type, rhs: Type, *, predicate: FloatPredicate) -> Type:
    operands = same_floats(lhs, rhs)
    result = with_element(operands, I1)
    return result


def select(condition: Type, true_value: Type, false_value: Type) -> Type:
    if true_value != false_value:
        raise TypeError(f"its values must have the same type, got {true_value} and {false_value}")
    scalar_condition = condition == I1
    if not scalar_condition:
        if element_type(condition) != I1:
            raise TypeError(f"its condition must be boolean, got {condition}")
        if shape_of(condition) != shape_of(true_value):
            raise TypeError(f"its condition must have the shape of {true_value}, got {condition}")
    return true_value


def wider_float(input: Type, *, result: Type) -> Type:
    if shape_of(input) != shape_of(result):
        raise TypeError("a cast keeps the shape")
    if not is_float(input):
        raise TypeError(f"{input} is no float")
    if not is_float(result):
        raise TypeError(f"{result} is no float")
    if width(input) == 8:
        raise TypeError("fp8 goes through tt.fp_to_fp")
    if width(result) <= width(input):
        raise TypeError(f"{result} is not wider than {input}")
    return result


def wider_integer(input: Type, *, result: Type) -> Type:
    if shape_of(input) != shape_of(result):
        raise TypeError("a cast keeps the shape")
    if not is_integer(input):
        raise TypeError(f"{input} is no integer")
    if not is_integer(result):
        raise TypeError(f"{result} is no integer")
    if width(result) <= width(input):
        raise TypeError(f"{result} is not wider than {input}")
    return result


def bitcast(input: Type, *, result: Type) -> Type:
    if shape_of(input) != shape_of(result):
        raise TypeError("a bitcast keeps the shape")
    if width(input) != width(result):
        raise TypeError(f"{input} and {result} differ in size")
    input_is_pointer = isinstance(element_type(input), PointerType)
    result_is_pointer = isinstance(element_type(result), PointerType)
    if input_is_pointer and not result_is_pointer:
        raise TypeError("a pointer becomes an integer by tt.ptr_to_int")
    if result_is_pointer and not input_is_pointer:
        raise TypeError("an integer becomes a pointer by tt.int_to_ptr")
    return result

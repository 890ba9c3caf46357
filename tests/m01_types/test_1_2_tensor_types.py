"""Task 1.2: the shapes that tensor types may have, and the spelling of tensor types in MLIR."""

import itertools
import math
import re

from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.ir.types import F32, FunctionType, TensorType, element_type, shape_of, with_element

from tests.checks import calling
from tests.oracles import questions, records
from tests.support.type_names import NUMBERS, SCALARS, of_shape, scalar

POWERS = [2**power for power in range(21)]
LIMIT = POWERS[-1]
SHAPES = ((1,), (64,), (2, 4), (1, 8, 1))

powers = st.sampled_from(POWERS)
not_powers = st.integers(3, LIMIT).filter(lambda dim: dim not in POWERS) | st.integers(-LIMIT, -1)
shapes = st.lists(st.sampled_from((1, 2, 4, 16, 64)), min_size=1, max_size=7).map(tuple)


def test_shapes_that_real_triton_judged() -> None:
    for shape in questions.BLOCK_SHAPES:
        answer = records.block_shape(shape)
        call = calling(TensorType, shape, F32)
        if not answer.common:
            continue  # Triton's versions treat a dimension of 0 differently
        if answer.ok:
            call.succeeds(because="real Triton allows this shape")
            calling(getattr, TensorType(shape, F32), "numel").returns(
                answer.value, because="real Triton's limits on tensor types"
            )
            text = f"tensor<{''.join(f'{int(dim)}x' for dim in shape)}f32>"  # True is 1
            calling(str, TensorType(shape, F32)).returns(text, because="this is MLIR's spelling")
        elif answer.error in ("TypeError", "ValueError"):
            at_fault = re.search(r"element \d+|numel \(\d+\)", answer.text)
            error = TypeError if answer.error == "TypeError" else ValueError
            naming = at_fault[0] if at_fault else "dimension"
            call.raises(error, naming, because=f"real Triton says: {answer.text}")


@given(shape=shapes, name=st.sampled_from(SCALARS))
def test_powers_of_two(shape: tuple[int, ...], name: str) -> None:
    numel = math.prod(shape)
    call = calling(TensorType, shape, scalar(name))
    if numel > LIMIT:
        call.raises(ValueError, f"numel ({numel})", because=f"{LIMIT} elements are the limit")
    else:
        call.succeeds(because=f"powers of two, with not more than {LIMIT} elements")
        dimensions = "".join(f"{dim}x" for dim in shape)
        calling(getattr, TensorType(shape, scalar(name)), "numel").returns(numel)
        calling(str, TensorType(shape, scalar(name))).returns(f"tensor<{dimensions}{name}>")


@example(before=[], wrong=2**60 - 1, after=[])  # as a float, this is 2**60
@given(before=st.lists(powers, max_size=3), wrong=not_powers, after=st.lists(powers | not_powers, max_size=2))
def test_the_first_dimension_that_is_not_a_power_of_two(before: list[int], wrong: int, after: list[int]) -> None:
    call = calling(TensorType, (*before, wrong, *after), F32)
    call.raises(
        ValueError, f"element {len(before)}", because=f"{wrong} is the first dimension that is not a power of two"
    )


def test_a_dimension_that_is_not_an_int() -> None:
    for rank, wrong in itertools.product(range(3), (4.0, 2.5, "4", None)):
        call = calling(TensorType, (4,) * rank + (wrong,), F32)
        call.raises(TypeError, f"element {rank}", because=f"{wrong!r} is not an int")


def test_an_element_type_that_is_not_a_scalar() -> None:
    tensors = [TensorType((4,), scalar(name)) for name in SCALARS]
    for wrong in (*tensors, FunctionType((F32,), (F32,)), type(F32), "f32", None):
        calling(TensorType, (4,), wrong).raises(TypeError, because="the element type must be a number or pointer type")


def test_the_order_of_the_checks() -> None:
    """Real Triton's parser accepts no element type other than a scalar, so the chapter's table gives the order."""
    calling(TensorType, (), "f32").raises(TypeError, "dimension", because="the number of dimensions is checked first")
    for shape in ((3,), (4, -2), (3, 4.0), (2**21,), (2**20, 2)):
        call = calling(TensorType, shape, "f32")
        call.raises(TypeError, because="the element type is checked before the sizes")


def test_tensors_are_values() -> None:
    """Types with equal shape and element type are equal, even if one shape was given as a list."""
    for shape, name in itertools.product(SHAPES, SCALARS):
        tensor = TensorType(shape, scalar(name))
        calling(TensorType, list(shape), scalar(name)).returns(
            tensor, because="both have the same shape and element type"
        )
        calling(hash, TensorType(shape, scalar(name))).returns(hash(tensor), because="equal types hash equally")


def test_element_type_and_shape() -> None:
    for shape, name in itertools.product(((), *SHAPES), SCALARS):
        calling(element_type, of_shape(shape, name)).returns(scalar(name))
        calling(shape_of, of_shape(shape, name)).returns(shape)


def test_with_element() -> None:
    for shape, name, other in itertools.product(((), *SHAPES), (*NUMBERS, "!tt.ptr<f32>"), SCALARS):
        type = of_shape(shape, name)
        calling(with_element, type, scalar(other)).returns(of_shape(shape, other))
        assert type == of_shape(shape, name), f"with_element must not change the original type: now {type!r}"

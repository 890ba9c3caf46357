"""Task 12.6: elements at computed places, and tensors made of pieces."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m12_fusion.compiling import graph_program, insist_that_triton_compiles, normal, program, whole


def one_kernel(text: str, because: str, **inputs: torch.Tensor) -> None:
    call = graph_program(text, **inputs).computes_what_eager_does(because)
    call.launches(1, because)


# --- gather


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(axis: int, device: str) -> None:
    x, i = normal(6, 9), whole(4, 5, low=0, high=6)
    call = program(f"x.gather({axis}, i) * 2", x=x, i=i, device=device)
    call.computes_what_eager_does("x may be longer than i").launches(1, "the place is loaded, then the element")


def test_places_may_be_computed() -> None:
    because = "the place may be a computed value, not only a loaded one"
    one_kernel("x.gather(1, (i * 2) % 9)", because, x=normal(6, 9), i=whole(6, 4, low=0))


def test_negative_places_count_from_the_end() -> None:
    because = "x[-1] is the last row"
    one_kernel("x[i] * 2", because, x=normal(6, 9), i=whole(5, low=-6, high=6))
    one_kernel("x[:, i, j]", because, x=normal(3, 6, 4), i=whole(5, low=-6, high=6), j=whole(5, low=-4, high=4))
    one_kernel("x[i]", because, x=normal(6, 9), i=torch.tensor([-6, -1, 0, 5]))


def test_indices_of_32_bits() -> None:
    one_kernel("F.embedding(i, x)", "int32 is also an index dtype", x=normal(6, 9), i=whole(5, low=0, high=6).int())


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_places_are_computed_in_64_bits(dtype: torch.dtype) -> None:
    call = graph_program("x.gather(1, i)", x=normal(6, 9), i=whole(6, 4, low=0, dtype=dtype))
    call.computes_what_eager_does()
    ((group,),) = (found.groups for found in call.programs)
    for line in group.body.lines:
        for place in (group.body.lines[number] for number in line.operands if line.op == "load"):
            if place.dtype != torch.int64:
                call.fail("a place of dtype int64", place.dtype, "a tensor may have more than 2**31 elements")


def test_indices_of_symbolic_sizes() -> None:
    call = program("x[i] + x[-i]", x=normal(6, 9), i=whole(5, low=1, high=6), dynamic=True)
    call.computes_what_eager_does("the number of rows is known at the launch")


def test_embedding_with_a_norm(device: str) -> None:
    text = "F.layer_norm(F.embedding(i, w) + p, (16,))"
    call = program(text, i=whole(2, 5, low=0, high=50), w=normal(50, 16), p=normal(5, 16), device=device)
    call.computes_what_eager_does().launches(1, "the kernel reads the needed rows directly from w")


@one_in(8)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(-3, 2), st.integers(0, 2**16))
def test_gather_of_any_shape(shape: list[int], axis: int, seed: int) -> None:
    axis %= len(shape)
    x, i = normal(*shape, seed=seed), whole(*shape, low=0, high=shape[axis], seed=seed)
    graph_program(f"x.gather({axis}, i)", x=x, i=i).computes_what_eager_does(exact=True)


# --- scatter


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_scatter(axis: int) -> None:
    shape = [4, 5]
    i = whole(*[1 if n == axis % 2 else size for n, size in enumerate(shape)], low=0, high=4)
    because = "an element is overwritten if its index along the axis is in i"
    one_kernel(f"x.scatter({axis}, i, y) * 2", because, x=normal(4, 5), i=i, y=normal(*i.shape, seed=1))
    one_kernel(f"x.scatter({axis}, i, 3)", because + "; the source may be a number", x=normal(4, 5), i=i)
    because = "only the first element of the source along the axis is used, because i has one element there"
    one_kernel(f"x.scatter({axis}, i, y)", because, x=normal(4, 5), i=i, y=normal(4, 5, seed=1))


def test_the_gradient_of_cross_entropy(device: str) -> None:
    call = program("F.cross_entropy(x, t)", x=normal(9, 20), t=whole(9, low=0, high=20), gradient=True, device=device)
    call.computes_what_eager_does("the gradient is the softmax minus 1 at the target")


def test_one_hot() -> None:
    one_kernel(
        "F.one_hot(t, 10).float() * 2",
        "each element is 1 if its index equals the target, else 0",
        t=whole(20, low=0, high=10),
    )


# --- pieces

PIECES = {
    "torch.cat([x, y])": "the pieces are joined along the first axis",
    "torch.cat([x, y * 2, x.sin()], 0)": "two of the three pieces are computed",
    "torch.cat([x.t(), y.t()], -1) + 1": "views are joined along the last axis",
    "torch.cat([x[:1], y, x[1:2], y[3:]])": "two pieces have a single row",
    "torch.stack([x[:2], y[:2]], 1)": "the pieces are joined along a new axis",
    "torch.cat([x, z])": "the pieces have different dtypes",
    "torch.cat([z, x])": "the first piece has integers, but the result has floats",
    "torch.roll(x, 1, 0)": "the end of x comes before its beginning",
}


@pytest.mark.parametrize("text", PIECES)
def test_pieces(text: str) -> None:
    inputs = {"x": normal(3, 6), "y": normal(5, 6, seed=1), "z": whole(2, 6)}
    used = {name: x for name, x in inputs.items() if f"{name}" in text.replace("torch", "").replace("axis", "")}
    one_kernel(text, PIECES[text], **used)


@one_in(8)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 1))
def test_pieces_of_any_length(sizes: list[int], axis: int) -> None:
    inputs = {f"x{n}": normal(*((size, 3) if axis == 0 else (3, size)), seed=n) for n, size in enumerate(sizes)}
    text = f"torch.cat([{', '.join(inputs)}], {axis})"
    graph_program(text, **inputs).computes_what_eager_does(exact=True)


def test_pieces_of_symbolic_sizes() -> None:
    program("torch.cat([x, y], 1) * 2", x=normal(4, 5), y=normal(4, 7), dynamic=True).computes_what_eager_does()


@pytest.mark.parametrize(
    "text", ["torch.cat([x.reshape(-1)[i], y])", "torch.slice_scatter(y, x.reshape(-1)[i], 0, 1, 9, 2)"]
)
def test_a_piece_is_read_only_within_its_bounds(text: str) -> None:
    because = "a load beyond the piece x.reshape(-1)[i] would be out of bounds"
    one_kernel(text, because, x=normal(3, 2), i=whole(4, low=0, high=6), y=normal(9))


# --- slices

SLICES = {
    "torch.slice_scatter(x, y[:4], 0, 2, 6)": "rows 2 to 5 are new",
    "torch.slice_scatter(x, y[:3], 0, 2, 9, 3)": "row 5 is row 1 of y, and rows 3 and 4 are those of x",
    "torch.slice_scatter(x, y[:4], 0, 1, 9, 2)": "row 9 would be the next one, but the slice ends there",
    "torch.slice_scatter(x * 2, y[:2].sin(), 0, -3, 99, 2) + 1": "rows 7 and 9 are new, and both operands are computed",
    "torch.slice_scatter(x, y.t()[:10], 1, 0, 6, 2)": "columns 0, 2 and 4 are new",
    "torch.slice_scatter(x, z, 0, 4, 6)": "z has integers, but the result has floats",
    "torch.slice_scatter(z, x[:1], 0, 1)": "x has floats, but the result has integers",
}


@pytest.mark.parametrize("text", SLICES)
def test_slices(text: str) -> None:
    inputs = {"x": normal(10, 6), "y": normal(4, 6, seed=1), "z": whole(2, 6)}
    if "y.t()" in text:
        inputs["y"] = normal(3, 10, seed=1)
    used = {name: x for name, x in inputs.items() if name in text.partition("(")[2]}
    one_kernel(text, SLICES[text], **used)


@one_in(8)
@given(st.integers(1, 8), st.integers(0, 7), st.integers(1, 8), st.integers(1, 4), st.integers(0, 1))
def test_slices_of_any_step(size: int, start: int, count: int, step: int, axis: int) -> None:
    shape = [3, size] if axis else [size, 3]
    start %= size
    piece = [*shape]
    piece[axis] = len(range(size)[start : start + count : step])
    text = f"torch.slice_scatter(x, y, {axis}, {start}, {start + count}, {step})"
    call = graph_program(text, x=normal(*shape), y=normal(*piece, seed=1))
    call.computes_what_eager_does("y is the slice of the result", exact=True)


def test_gradients() -> None:
    program("torch.cat([x * y, y.sin()], 1)", x=normal(4, 5), y=normal(4, 5), gradient=True).computes_what_eager_does()


def test_real_triton_compiles_the_kernels() -> None:
    slices = "torch.slice_scatter(x, x[:2] + i[:2, :1], 0, 1, 5, 2)"
    for text in ("torch.cat([x.gather(1, i), x], 1)", "x.scatter(1, i[:, :1], 2.0)", slices):
        call = graph_program(text, x=normal(6, 9), i=whole(6, 4, low=0, high=9))
        insist_that_triton_compiles(call.computes_what_eager_does())

"""Tensors for kernels, and the rounding errors of right results.

Expected results are computed by PyTorch in fp64, from the same inputs. A kernel computes in fp32 and rounds once, at
the end, so its error has two parts: the error of fp32, which each task derives from its sums, and the final rounding.
"""

from typing import Any

from hypothesis import strategies as st

from tests.oracles import pytorch as torch

FLOATS = ("float32", "float16", "bfloat16")
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}  # relative rounding error
SMALLEST = {"float64": 2.0**-1074, "float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}  # above zero
U = UNIT["float32"]

# NumPy adds 128 terms in 8 sums before it adds in pairs; Triton adds in pairs from the start. In either order, a term
# takes part in at most this many additions, each of which rounds it by U.
ADDITIONS = 32

VIEWS: dict[str, Any] = {  # views of a matrix of 10 by 12
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "every other row": lambda x: x[::2],
    "every third column": lambda x: x[:, ::3],
    "from the second column on": lambda x: x[:, 1:],
    "three axes": lambda x: x.reshape(5, 2, 12),
    "no element": lambda x: x[:, :0],
    "no axis": lambda x: x[3, 4],
}
SEEDS = st.integers(0, 2**31 - 1)
LENGTHS = st.one_of(st.sampled_from([1, 2, 16, 17, 31, 64, 97, 128, 129]), st.integers(1, 300))


def dtype_of(x: Any) -> str:
    """The name of an array's dtype: `float32`."""
    return str(x.dtype).removeprefix("torch.")


def normal(shape: tuple[int, ...], seed: int, dtype: str = "float32", scale: float = 1.0) -> Any:
    """Normally distributed numbers with standard deviation `scale`."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * scale).to(getattr(torch, dtype))


def rounding(expected: Any, dtype: str) -> Any:
    """The rounding error of each of these numbers in a dtype: half a unit in the last place."""
    return expected.abs() * UNIT[dtype] + SMALLEST[dtype]


def padded(rows: Any, gap: int, filler: float) -> Any:
    """The same matrix with `gap` elements of `filler` after each row."""
    wide = rows.new_full((rows.shape[0], rows.shape[1] + gap), filler)
    wide[:, : rows.shape[1]] = rows
    return wide


def guarded(x: Any, filler: float, margin: int = 1024) -> tuple[Any, Any]:
    """The same contiguous tensor inside a longer one, with `margin` elements of `filler` on either side; and
    the longer tensor.
    """
    whole = x.new_full((margin + x.numel() + margin,), filler)
    inner = whole[margin : margin + x.numel()].view(x.shape)
    inner.copy_(x)
    return inner, whole

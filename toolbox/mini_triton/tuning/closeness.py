"""Whether two results are equal up to rounding, whoever computed them. (Given.)"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

ACCUMULATED = 32
"""The number of rounding errors by which two sums of the same elements, in different orders, may differ."""

ROUNDED = 2
"""The same limit for dtypes narrower than fp32: kernels compute in fp32 and round once, at the end."""


def assert_close(x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = "") -> None:
    """Raise `AssertionError` unless the computed `x` is close to the expected `y` everywhere:

        |x - y| <= atol + rtol * |y|

    Both may be arrays, tensors, lists or numbers. The tolerances follow from the dtypes: integers and booleans must be
    equal; floats may differ by a few rounding errors of the coarser dtype. The errors are relative to the element
    (rtol) and to the typical size of all expected elements (atol), because terms of a sum may cancel. NaN is close to
    NaN, and an infinity is close to itself.
    """
    got, expected = as_array(x), as_array(y)
    if got.shape != expected.shape:
        raise AssertionError(f"{err_msg}\nthe shapes differ: got {got.shape}, expected {expected.shape}".lstrip())
    relative = tolerance(got.dtype, expected.dtype)
    rtol = relative if rtol is None else rtol
    atol = relative * size(expected) if atol is None else atol
    if not rtol and not atol:
        np.testing.assert_array_equal(got, expected, err_msg)  # integers stay exact
    else:
        left, right = got.astype(np.float64), expected.astype(np.float64)
        np.testing.assert_allclose(left, right, rtol, atol, err_msg=f"{err_msg}\ndtypes {got.dtype}, {expected.dtype}")


def as_array(value: Any) -> np.ndarray:
    """An array, a tensor on any device and of any dtype, a list or a number, as a NumPy array."""
    if not hasattr(value, "detach"):
        return np.asarray(value)
    tensor = value.detach().cpu()
    name = str(tensor.dtype).removeprefix("torch.")
    if hasattr(ml_dtypes, name):  # PyTorch cannot convert these to NumPy; a float32 holds all of their values
        return tensor.float().numpy().astype(getattr(ml_dtypes, name))
    return tensor.numpy()


def tolerance(got: np.dtype, expected: np.dtype) -> float:
    """The relative tolerance for values of these dtypes: that of the coarser dtype."""
    floats = [dtype for dtype in (got, expected) if dtype.kind not in "iub"]
    if not floats:
        return 0.0
    coarsest = max(floats, key=lambda dtype: float(ml_dtypes.finfo(dtype).eps))
    return float(ml_dtypes.finfo(coarsest).eps) * (ROUNDED if coarsest.itemsize < 4 else ACCUMULATED)


def size(expected: np.ndarray) -> float:
    """The typical size of the elements: their root mean square, without infinities and NaN."""
    values = np.abs(expected.astype(np.float64))
    finite = values[np.isfinite(values)]
    largest = float(finite.max(initial=0.0))
    return largest * float(np.sqrt(np.mean(np.square(finite / largest)))) if largest else 0.0

"""Helpers for functions that launch kernels: argument checks, and memory for results. (Given.)

Arrays are torch tensors or NumPy arrays. torch is imported only for tensors.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")


def describe(x: Any) -> str:
    """A description such as `a float32 Tensor of shape (3, 4)`."""
    return f"a {str(x.dtype).removeprefix('torch.')} {type(x).__name__} of shape {tuple(x.shape)}"


def check(
    name: str, x: Any, rank: int | None = None, dtypes: tuple[str, ...] = FLOATS, contiguous: bool = False
) -> None:
    """Raise TypeError or ValueError, in the caller's terms, unless `x` is an array that a kernel can take.

    `dtypes` are names without `torch.`.
    """
    if not isinstance(x, np.ndarray) and not is_tensor(x):
        raise TypeError(f"{name} must be a torch tensor or a NumPy array, not {type(x).__name__}")
    if str(x.dtype).removeprefix("torch.") not in dtypes:
        raise TypeError(f"{name} must hold {' or '.join(dtypes)}, but is {describe(x)}")
    if rank is not None and len(x.shape) != rank:
        raise ValueError(f"{name} must have {rank} dimensions, but is {describe(x)}")
    if contiguous and not (x.is_contiguous() if is_tensor(x) else x.flags.c_contiguous):
        raise ValueError(f"{name} must be contiguous, but is {describe(x)} with strides {strides_of(x)}")


def check_alike(name: str, x: Any, other: str, like: Any, dtype: bool = True) -> None:
    """Raise TypeError or ValueError unless two arrays share a library, a device and, if `dtype`, a dtype."""

    def both() -> str:
        return f"{name} is {describe(x)} and {other} is {describe(like)}"

    if is_tensor(x) != is_tensor(like):
        raise TypeError(f"{both()}: both must belong to one library")
    if dtype and x.dtype != like.dtype:
        raise TypeError(f"{both()}: their dtypes must be equal")
    if is_tensor(x) and x.device != like.device:
        raise ValueError(f"{name} is on {x.device} and {other} is on {like.device}: they must be on one device")


def check_statistics(name: str, x: Any, shape: tuple[int, ...], other: str, like: Any) -> None:
    """Raise TypeError or ValueError unless `x` is a result of the forward pass: contiguous fp32 of this shape."""
    check(name, x, dtypes=("float32",), contiguous=True)
    check_alike(name, x, other, like, dtype=False)
    if tuple(x.shape) != shape:
        raise ValueError(f"{name} is {describe(x)} and {other} is {describe(like)}: {name} must have the shape {shape}")


def check_whole(name: str, number: Any, least: int | None = None) -> None:
    """Raise TypeError or ValueError unless `number` is an integer of at least `least`."""
    if not isinstance(number, Integral):
        raise TypeError(f"{name} must be an integer, not {number!r}")
    if least is not None and int(number) < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")


def is_tensor(x: Any) -> bool:
    """Whether `x` is a torch tensor."""
    return hasattr(x, "data_ptr")


def on_gpu(x: Any) -> bool:
    """Whether `x` is in the memory of a GPU, which needs other tile sizes than a CPU."""
    return is_tensor(x) and x.device.type == "cuda"


def unless_tuned(kernel: Any, **tiles: int) -> dict[str, int]:
    """The tiles of a launch; none for a kernel from `kernels.tuned`, which chooses its own tiles."""
    return {} if hasattr(kernel, "configs") else tiles


def strides_of(x: Any) -> tuple[int, ...]:
    """The strides of `x` in elements."""
    return tuple(x.stride()) if is_tensor(x) else tuple(stride // x.itemsize for stride in x.strides)


def size_of(x: Any) -> int:
    """The number of elements of `x`."""
    return x.numel() if is_tensor(x) else x.size


def flat(x: Any) -> Any:
    """The elements of `x` as a contiguous vector: `x` itself if possible, or a copy."""
    row = x.reshape(-1)  # still strided if `x` is a slice such as `y[::2]`
    return row.contiguous() if is_tensor(row) else np.ascontiguousarray(row)


def empty_like(x: Any, shape: tuple[int, ...] | None = None, dtype: str | None = None) -> Any:
    """A new, uninitialized, contiguous array of the same library, on the same device."""
    shape = tuple(x.shape) if shape is None else shape
    if not is_tensor(x):
        return np.empty(shape, dtype or x.dtype)
    import torch

    return torch.empty(shape, dtype=getattr(torch, dtype) if dtype else x.dtype, device=x.device)

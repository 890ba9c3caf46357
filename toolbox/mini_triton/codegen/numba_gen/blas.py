"""`c += a @ b`, computed by the BLAS library that NumPy uses. (Given.)

Numba's own `np.dot` needs SciPy. Most NumPy packages include OpenBLAS, whose functions can be called by address.
Without OpenBLAS, loops compute the product.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
from collections.abc import Iterator

import llvmlite.binding
import numpy as np
from numba import njit, types

ROW_MAJOR, AS_IT_IS = 101, 111


def _library() -> ctypes.CDLL | None:
    """NumPy's OpenBLAS."""
    here = os.path.dirname(np.__file__)
    for pattern in ("../numpy.libs/*openblas*", ".dylibs/*openblas*"):
        for path in glob.glob(os.path.join(here, pattern)):
            with contextlib.suppress(OSError):
                return ctypes.CDLL(path)
    return None


LIBRARY = _library()
HAS_BLAS = LIBRARY is not None and hasattr(LIBRARY, "scipy_cblas_sgemm64_")


def _declare(name: str, float_type: types.Type) -> types.ExternalFunction:
    """Declare a BLAS function under a name that machine code can find, in this process and in later ones."""
    symbol = f"mini_triton_{name}"
    llvmlite.binding.add_symbol(symbol, ctypes.cast(getattr(LIBRARY, f"scipy_cblas_{name}64_"), ctypes.c_void_p).value)
    i, p = types.int64, types.voidptr
    enum = types.int32
    return types.ExternalFunction(
        symbol,
        types.void(enum, enum, enum, i, i, i, float_type, p, i, p, i, float_type, p, i),
    )


if HAS_BLAS:
    _sgemm = _declare("sgemm", types.float32)
    _dgemm = _declare("dgemm", types.float64)

    @njit(error_model="numpy")
    def sgemm(a, b, c, beta):
        """`c = beta * c + a @ b` for float32 matrices."""
        (m, k), n = a.shape, b.shape[1]
        _sgemm(
            ROW_MAJOR,
            AS_IT_IS,
            AS_IT_IS,
            m,
            n,
            k,
            np.float32(1),
            a.ctypes,
            k,
            b.ctypes,
            n,
            np.float32(beta),
            c.ctypes,
            n,
        )

    @njit(error_model="numpy")
    def dgemm(a, b, c, beta):
        """`c = beta * c + a @ b` for float64 matrices."""
        (m, k), n = a.shape, b.shape[1]
        _dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1.0, a.ctypes, k, b.ctypes, n, float(beta), c.ctypes, n)

else:

    @njit(error_model="numpy")
    def sgemm(a, b, c, beta):
        for i in range(a.shape[0]):
            if beta == 0:
                c[i] = 0
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    dgemm = sgemm


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """A context in which a matrix product runs on one thread, because programs already run in parallel."""
    if LIBRARY is None or not HAS_BLAS:
        yield
        return
    before = LIBRARY.scipy_openblas_get_num_threads64_()
    LIBRARY.scipy_openblas_set_num_threads64_(1)
    try:
        yield
    finally:
        LIBRARY.scipy_openblas_set_num_threads64_(before)

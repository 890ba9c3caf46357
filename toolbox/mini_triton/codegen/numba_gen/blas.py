"""`c += a @ b`, computed by the BLAS library that NumPy uses. (Given.)

Numba's own `np.dot` needs SciPy. Most NumPy packages include OpenBLAS, whose functions can be called by address.
Without OpenBLAS, loops compute the product.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
from collections.abc import Callable, Iterator

import llvmlite.binding
import numpy as np
from numba import njit, types

from mini_triton.codegen.numba_gen.library import named

ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112


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


def _product(name: str, scalar: types.Type) -> Callable[..., None]:
    """A BLAS function as `c = beta * c + a @ b`, under a name that machine code can find, also in later processes."""
    symbol = f"mini_triton_{name}"
    llvmlite.binding.add_symbol(symbol, ctypes.cast(getattr(LIBRARY, f"scipy_cblas_{name}64_"), ctypes.c_void_p).value)
    flags, sizes, p, i = [types.int32] * 3, [types.int64] * 3, types.voidptr, types.int64
    gemm = types.ExternalFunction(symbol, types.void(*flags, *sizes, scalar, p, i, p, i, scalar, p, i))

    def product(a, b, c, beta):
        (m, k), n = a.shape, b.shape[1]
        one, other = a.dtype.type(1), a.dtype.type(beta)
        a_form, a_row = (AS_IT_IS, k) if a.flags.c_contiguous else (TRANSPOSED, m)
        gemm(ROW_MAJOR, a_form, AS_IT_IS, m, n, k, one, a.ctypes, a_row, b.ctypes, n, other, c.ctypes, n)

    return njit(error_model="numpy")(named(name, product))


if HAS_BLAS:
    sgemm, dgemm = _product("sgemm", types.float32), _product("dgemm", types.float64)
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
    assert LIBRARY is not None
    before = LIBRARY.scipy_openblas_get_num_threads64_()
    LIBRARY.scipy_openblas_set_num_threads64_(1)
    try:
        yield
    finally:
        LIBRARY.scipy_openblas_set_num_threads64_(before)

"""Arithmetic exactly as the IR means it, on NumPy scalars and arrays of any shapes that fit each other. (Given.)

NumPy agrees with the IR where nothing is listed here: integers wrap around, floats are rounded to nearest even.

What wraps around, divides by zero or is no number makes NumPy warn. The caller turns that off, once for a whole
kernel: `np.errstate(all="ignore")`.
"""

from mini_triton.exact.casts import (
    fp_to_fp,
    fptosi,
    fptoui,
    rounded,
    saturated,
    sitofp,
    to_odd,
    toward_zero,
    truncf,
    uitofp,
)
from mini_triton.exact.floats import clampf, erf, exp2, fma, maximumf, maxnumf, minimumf, minnumf
from mini_triton.exact.integers import (
    ceildivsi,
    divsi,
    divui,
    maxui,
    minui,
    mulhiui,
    remsi,
    remui,
    shli,
    shrsi,
    shrui,
    unsigned,
)
from mini_triton.exact.libdevice import extern
from mini_triton.exact.scaled import scaled

__all__ = [
    "ceildivsi",
    "clampf",
    "divsi",
    "divui",
    "erf",
    "exp2",
    "extern",
    "fma",
    "fp_to_fp",
    "fptosi",
    "fptoui",
    "maximumf",
    "maxnumf",
    "maxui",
    "minimumf",
    "minnumf",
    "minui",
    "mulhiui",
    "remsi",
    "remui",
    "rounded",
    "saturated",
    "scaled",
    "shli",
    "shrsi",
    "shrui",
    "sitofp",
    "to_odd",
    "toward_zero",
    "truncf",
    "uitofp",
    "unsigned",
]

"""Functions for generated code in Numba's simulator: each thread of a program is a Python thread. (Given.)"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from mini_triton import exact


def device(function):
    return function


# --- vectors


def _load(count):
    def load(buffer, first, memory, at):
        buffer[first : first + count] = memory[at : at + count]

    return load


def _store(count):
    def store(buffer, first, memory, at):
        memory[at : at + count] = buffer[first : first + count]

    return store


# --- between threads

_slots: dict[int, object] = {}


def shuffle_xor(value, distance):
    """The value of the thread whose number in the warp differs from the caller's in the bits of `distance`.

    All threads must call it.
    """
    me: Any = threading.current_thread()
    _slots[me.thread_id] = value
    me.syncthreads()
    other = _slots[me.thread_id ^ distance]
    me.syncthreads()
    return other


_lock = threading.Lock()


def _atomic(combine):
    def atomic(memory, at, value):
        with _lock, np.errstate(all="ignore"):
            old = memory[at]
            memory[at] = combine(old, value)
        return old

    return atomic


def atomic_cas(memory, at, expected, value):
    with _lock:
        old = memory[at]
        if old == expected:
            memory[at] = value
    return old


atomic_add, atomic_fadd = _atomic(np.add), _atomic(np.add)
atomic_and, atomic_or, atomic_xor = _atomic(np.bitwise_and), _atomic(np.bitwise_or), _atomic(np.bitwise_xor)
atomic_max, atomic_min = _atomic(np.maximum), _atomic(np.minimum)
atomic_umax, atomic_umin = _atomic(exact.maxui), _atomic(exact.minui)
atomic_exch = _atomic(lambda old, value: value)


def _as(dtype):
    return lambda memory: memory.view(dtype)


# --- numbers, bits, and functions


def select(condition, x, y):
    return x if condition else y


def bits_of_32(x):
    return np.float32(x).view(np.int32)


def bits_of_64(x):
    return np.float64(x).view(np.int64)


def float_of_32(x):
    return np.int32(x).view(np.float32)


def float_of_64(x):
    return np.int64(x).view(np.float64)


def from_f16(bits):
    return np.float32(np.uint16(bits).view(np.float16))


def to_f16(x):
    return np.float16(x).view(np.uint16)


exp, exp2, log, log2, sin, cos, acos = np.exp, exact.exp2, np.log, np.log2, np.sin, np.cos, np.arccos
maxnumf, minnumf, times, quotient = exact.maxnumf, exact.minnumf, np.multiply, np.divide
sqrt, floor, ceil, absolute, fmod, erf, fma = np.sqrt, np.floor, np.ceil, np.abs, np.fmod, exact.erf, exact.fma
mulhi_64 = exact.mulhiui


load_2, load_4, load_8, load_16 = (_load(count) for count in (2, 4, 8, 16))
store_2, store_4, store_8, store_16 = (_store(count) for count in (2, 4, 8, 16))

as_int8, as_int16, as_int32, as_int64 = (_as(f"int{width}") for width in (8, 16, 32, 64))
as_uint16, as_float32, as_float64 = (_as(dtype) for dtype in ("uint16", "float32", "float64"))

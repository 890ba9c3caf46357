"""Task 7.6: a compiled kernel is found in memory or on disk, or else compiled."""

import itertools
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest
from mini_triton import environment
from mini_triton.errors import CompilationError
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime import cache, compiled_kernel, inspection
from mini_triton.runtime.options import OPTIONS, Options
from mini_triton.runtime.pipeline import run_stages

from tests.checks import described
from tests.support.m07_jit.options import OTHER_OPTIONS
from tests.support.sources import load

# --- in memory

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def plus(v):
    return v + STEP
@triton.jit
def minus(v):
    return v - STEP
@triton.jit
def kernel(x, n, SIZE: tl.constexpr = 1, F: tl.constexpr = plus):
    tl.store(x, F(n) + SIZE + settings.BIAS)
"""


def kernels(text: str = KERNELS, file: str = "kernels_of_the_caches.py") -> dict[str, Any]:
    settings = ModuleType("settings")
    vars(settings).update(BIAS=constexpr(3))
    names = load(text, file)
    names.update(STEP=constexpr(2), settings=settings)
    return names


def warm(names: dict[str, Any], *arguments: Any, **keywords: Any) -> Any:
    """The compiled kernel for these arguments, without an error."""
    return asked(names, *arguments, **keywords).succeeds()


def asked(names: dict[str, Any], x: Any, n: Any, **keywords: Any) -> described:
    """The call of `find` for these arguments and options."""
    options = {name: keywords.pop(name) for name in OPTIONS if name in keywords}
    values = {"x": x, "n": n, "SIZE": 1, "F": names["plus"]} | keywords
    shown = {name: "<array>" if isinstance(value, np.ndarray) else value for name, value in values.items()}
    words = f"kernel.find({shown}, Options({', '.join(f'{a}={b}' for a, b in options.items())})) in\n{KERNELS}"
    return described(words, names["kernel"].find, values, Options(**options))


X = np.zeros(4, np.float32)


def test_equal_specializations_share_a_kernel() -> None:
    names = kernels()
    first = warm(names, X, 5)
    for arguments in ((X, 6), (np.ones(4, np.float32), -7), (np.zeros((2, 8), np.float32)[:, ::2], 5)):
        assert warm(names, *arguments) is first, f"kernel(x, 5) and kernel{arguments} need the same compiled kernel"
    assert warm(names, X, 5, num_warps=4) is first, "4 warps are the default"


def test_other_specializations_have_kernels_of_their_own() -> None:
    names = kernels()
    found = {
        "5": warm(names, X, 5),
        "16": warm(names, X, 16),
        "1": warm(names, X, 1),
        "2**31 + 1": warm(names, X, 2**31 + 1),
        "5.0": warm(names, X, 5.0),
        "True": warm(names, X, True),
        "5, of an fp16 array": warm(names, X.astype(np.float16), 5),
        "5, of an int32 array": warm(names, X.view(np.int32), 5),
        "5, of an array at an odd address": warm(names, X[1:], 5),
        "5, SIZE=2": warm(names, X, 5, SIZE=2),
        "5, SIZE=True": warm(names, X, 5, SIZE=True),
        "5, SIZE=1.0": warm(names, X, 5, SIZE=1.0),
        "5, F=minus": warm(names, X, 5, F=names["minus"]),
        "1, SIZE=2": warm(names, X, 1, SIZE=2),
        "constexpr(2)": warm(names, X, constexpr(2)),
    }
    kinds = list(found)
    for i, a in enumerate(kinds):
        for b in kinds[:i]:
            assert found[a] is not found[b], f"kernel(x, {a}) and kernel(x, {b}) must not share a compiled kernel"


def test_other_options_have_kernels_of_their_own() -> None:
    names = kernels()
    with mock.patch.object(names["kernel"], "compile", side_effect=lambda *_: object()):
        found = {"the defaults": warm(names, X, 5)}
        found |= {f"{name}={value}": warm(names, X, 5, **{name: value}) for name, value in OTHER_OPTIONS.items()}
    for a, b in itertools.combinations(found, 2):
        assert found[a] is not found[b], f"launches with {a} and with {b} must not share a compiled kernel"


@pytest.mark.parametrize(
    "path, value",
    [("STEP", constexpr(9)), ("STEP", constexpr(2.0)), ("settings.BIAS", constexpr(9)), ("plus", None), ("OTHER", 2)],
)
def test_a_changed_reference(path: str, value: Any) -> None:
    """A launch is refused after a change to a global, an attribute or a callee that the kernel's functions read."""
    text = KERNELS.replace("return v - STEP", "return v - OTHER").replace("F(n)", "F(plus(n))")
    names = kernels(text)
    names["OTHER"] = constexpr(1)
    owner, _, name = path.rpartition(".")
    space = vars(names[owner]) if owner else names
    arguments = {"F": names["minus"]}
    first = warm(names, X, 5, **arguments)
    old, space[name] = space[name], value or names["minus"]
    for n in (5, 16):
        asked(names, X, n, **arguments).raises(
            RuntimeError, path, because=f"the kernel was compiled with {path} = {old}"
        )
    space[name] = old
    assert warm(names, X, 5, **arguments) is first, "this launch equals the first one, so its kernel must be found"


def test_globals_of_two_callees_with_one_name() -> None:
    """Two functions of the same name, in two files, read a global of the same name. Either global may change."""
    for which in ("left", "right"):
        names = kernels(KERNELS.replace("F(n)", "left(n) + right(n)"))
        for name, step in (("left", 1), ("right", 2)):
            space = kernels(file=f"{name}.py")
            space["STEP"] = constexpr(step)
            names[name] = space["plus"]
        first = warm(names, X, 5)
        space = names[which].fn.__globals__
        old, space["STEP"] = space["STEP"], constexpr(9)
        asked(names, X, 5).raises(RuntimeError, "STEP", because=f"{which} was compiled with another STEP")
        space["STEP"] = old
        assert warm(names, X, 5) is first, "this launch equals the first one, so its kernel must be found"


@pytest.mark.parametrize("call", ["F(n)", "F[0](n)", "F[1](F[0](n))"])
def test_functions_as_arguments(call: str) -> None:
    """Each launch passes other functions, alone or in a tuple. The globals that any of them reads may change."""
    text = KERNELS.replace("return v - STEP", "return v - OTHER").replace("= plus", "= None")
    names = kernels(text.replace("F(n)", call))
    names["OTHER"] = constexpr(1)
    plus, minus = names["plus"], names["minus"]
    arguments = {"STEP": plus, "OTHER": minus} if call == "F(n)" else {"STEP": (plus, plus), "OTHER": (plus, minus)}
    first = {path: warm(names, X, 5, F=F) for path, F in arguments.items()}
    for path, F in arguments.items():
        old, names[path] = names[path], constexpr(9)
        asked(names, X, 5, F=F).raises(RuntimeError, path, because=f"a function in F was compiled with {path} = {old}")
        names[path] = old
        assert warm(names, X, 5, F=F) is first[path], "this launch equals an earlier one, so its kernel must be found"


def test_a_repaired_global() -> None:
    """The user corrects a global that a kernel cannot read; the next launch must not be refused."""
    names = kernels()
    names["STEP"] = 1
    asked(names, X, 5).raises(CompilationError, "STEP", because="kernels read only globals that are constexpr")
    names["STEP"] = constexpr(2)
    first = warm(names, X, 5)
    names["STEP"] = constexpr(9)
    asked(names, X, 5).raises(RuntimeError, "STEP", because="a kernel was compiled with STEP = constexpr(2)")
    names["STEP"] = constexpr(2)
    assert warm(names, X, 5) is first, "this launch equals the one that succeeded, so its kernel must be found"


def test_changes_that_do_not_matter() -> None:
    names = kernels()
    first = warm(names, X, 5)
    names["UNUSED"] = 1
    vars(names["settings"])["OTHER"] = 2
    names["STEP"] = constexpr(1 + 1)
    assert warm(names, X, 5) is first, "nothing that the kernel reads has changed: STEP is 2 again"


# --- between processes, each of which loads the kernels' source again


def test_found_on_disk() -> None:
    first = warm(kernels(), X, 5)
    with mock.patch.object(
        compiled_kernel, "run_stages", side_effect=AssertionError("the entry on disk was compiled again")
    ):
        again = warm(kernels(), X, 6)
    assert again.asm == first.asm, "the entry on disk differs from the compiled kernel"
    names = kernels()
    names["STEP"] = constexpr(7)
    assert warm(names, X, 5).asm["ttir"] != first.asm["ttir"], (
        "with STEP = 7, the kernel compiled with STEP = 2 must not be found on disk"
    )


def test_functions_as_arguments_on_disk() -> None:
    """The second launch passes a function that reads a global, and that no earlier kernel has called."""
    found = []
    for other in (1, 2):
        names = kernels(KERNELS.replace("return v - STEP", "return v - OTHER"))
        names["OTHER"] = constexpr(other)
        warm(names, X, 5)
        found.append(warm(names, X, 5, F=names["minus"]))
    assert found[0].asm["ttir"] != found[1].asm["ttir"], (
        "with OTHER = 2, the kernel compiled with OTHER = 1 must not be found on disk"
    )


def test_a_damaged_file_is_replaced() -> None:
    first = warm(kernels(), X, 5)
    path = cache.path_of(first.hash)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(UserWarning, match=path.name):
        again = warm(kernels(), X, 5)
    assert again.asm == first.asm and path.read_bytes() == whole, "the damaged file should be replaced"


@pytest.mark.parametrize(
    "variable, value, is_compiled",
    [
        (cache.ALWAYS_COMPILE, "1", True),
        (cache.ALWAYS_COMPILE, "0", False),
        (inspection.DUMP, "1", True),
        (environment.PRINT, "stages", True),
    ],
)
def test_always_compile(variable: str, value: str, is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    key = warm(kernels(), X, 5).hash
    cache.store(key, {**(cache.load(key) or {}), "is old": True})
    monkeypatch.setenv(variable, value)
    with mock.patch.object(compiled_kernel, "run_stages", wraps=run_stages) as stages:
        warm(kernels(), X, 5)
    asked = f"with {variable}={value} the entry on disk should {'not ' * is_compiled}be read"
    assert stages.call_count == is_compiled, asked
    assert ("is old" not in (cache.load(key) or {})) == is_compiled, "each newly compiled kernel should be stored"

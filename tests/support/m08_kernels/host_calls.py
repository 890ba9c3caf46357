"""Calls of host functions that launch kernels: the kernels must do the work, and results must be within tolerance.

call = host_call(softmax, x)
call.gives(torch.softmax(x.double(), 1), allowed)
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np

from tests.checks import calling
from tests.oracles import hosts
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.tensors import dtype_of, guarded

LARGEST_SHOWN = 8  # the most elements of an array whose values a failure shows
# The operators of torch that a host function may call: those that allocate memory or return views of it.
HANDLING = frozenset(
    "empty empty_strided empty_like new_empty zeros zeros_like new_zeros zero_ fill_ full ones view _unsafe_view "
    "_reshape_alias reshape as_strided permute transpose t expand unsqueeze squeeze slice select unbind split detach "
    "alias clone copy_ _to_copy lift_fresh cat stack split_with_sizes select_backward slice_backward randint random_ "
    "_local_scalar_dense".split()
)


class Words(str):
    """A description in place of a returned value."""


class host_call(calling):
    """A call to a host function, which must launch kernels, keep its arguments unchanged, and not compute with torch.

    `besides` names operators of torch that the function may call, such as "addmm". Kernels must compute each element of
    the first `of_kernels` results; by default, of all results.
    """

    seen_to_work: set[Any] = set()  # functions whose results were seen to come from kernels

    def __init__(
        self, function: Any, *arguments: Any, besides: Sequence[str] = (), of_kernels: int | None = None, **options: Any
    ) -> None:
        super().__init__(function, *arguments, **options)
        self.besides, self.of_kernels = frozenset(besides) | HANDLING, of_kernels

    def __call__(self) -> Any:
        __tracebackhide__ = True
        arrays = [value for value in (*self.arguments, *self.options.values()) if is_array(value)]
        before = [as_numpy(value).copy() for value in arrays]
        with watched() as (launched, used):
            result = super().__call__()
        if computed := sorted(set(used) - self.besides):
            names = ", ".join(f"torch's {name}" for name in computed)
            self.fail("kernels that do the work", Words(f"a result that {names} computed"))
        if not launched:
            self.fail("kernels that do the work", Words("a result, but no kernel was launched"))
        for value, old in zip(arrays, before, strict=True):
            if not np.array_equal(as_numpy(value), old, equal_nan=True):
                self.fail("unchanged arguments", Words(f"a changed argument, {self.shown(value)}"))
        return result

    def insist_on_kernels(self) -> None:
        """Fail if results do not change when the kernels store other values. Each function is checked once."""
        __tracebackhide__ = True
        named = (self.function, *[value for value in self.arguments if isinstance(value, str)])
        if named in self.seen_to_work:
            return
        right = results_of(calling.__call__(self))[: self.of_kernels]
        if not all(as_numpy(x).size for x in right):
            return  # no conclusion is possible
        self.seen_to_work.add(named)
        with watched(spoiled):
            wrong = results_of(calling.__call__(self))[: self.of_kernels]
        for x, y in zip(right, wrong, strict=True):
            if (same := as_numpy(x) == as_numpy(y)).any():
                words = f"a result in which {same.sum()} of {same.size} elements were computed elsewhere"
                self.fail("kernels that do the work", Words(words))

    def shown(self, value: Any) -> str:
        """Arrays by their dtype and shape; small ones with their values."""
        if isinstance(value, Words):
            return str(value)
        if isinstance(value, tuple):
            return f"({', '.join(map(self.shown, value))})"
        if not is_array(value):
            return repr(value)
        kind = "array" if isinstance(value, np.ndarray) else "tensor"
        dtype, shape = dtype_of(value), tuple(value.shape)
        values = f" {as_numpy(value).tolist()}" if 0 < as_numpy(value).size <= LARGEST_SHOWN else ""
        return f"<{dtype} {kind} of shape {shape}{values}>"

    def gives(self, expected: Any, allowed: Any = 0.0, dtype: Any = None, because: str = "") -> Any:
        """Require an array of this dtype, whose elements differ from `expected` by at most `allowed`."""
        __tracebackhide__ = True
        result = self()
        self.compare("the result", result, expected, allowed, dtype, because)
        return result

    def compare(
        self, what: str, got: Any, expected: Any, allowed: Any = 0.0, dtype: Any = None, because: str = ""
    ) -> None:
        """Fail unless an array is within the tolerance. NaN equals NaN, and an infinity equals itself."""
        __tracebackhide__ = True
        if not is_array(got):
            self.fail(f"{what}: an array", got, because)
        if dtype is not None and got.dtype != dtype:
            self.fail(f"{what} of dtype {dtype}", got, because)
        if tuple(got.shape) != tuple(expected.shape):
            self.fail(f"{what} of shape {tuple(expected.shape)}", got, because)
        if difference := different(as_numpy(got), as_numpy(expected), as_numpy(allowed)):
            right, wrong = difference
            where = f"{what} at " if re.search(r"\w,? \w", what.removeprefix("the ")) else what
            self.fail(where + right, Words(where + wrong), because)
        self.insist_on_kernels()


class kernel_call(host_call):
    """A launch of a kernel, without its host function. The results are in the arguments."""

    def __init__(self, kernel: Any, grid: Sequence[int], *arguments: Any, **options: Any) -> None:
        super().__init__(lambda *given, **chosen: kernel[grid](*given, **chosen), *arguments, **options)
        self.kernel, self.grid = kernel, grid

    def insist_on_kernels(self) -> None:
        """A launch needs no check, because only the kernel can do the work."""

    def compare_guarded(
        self, name: str, result: tuple[Any, Any], expected: Any, allowed: Any = 0.0, because: str = ""
    ) -> None:
        """Fail unless a result, `guarded` by -7, is within the tolerance, and the memory around it is unchanged."""
        __tracebackhide__ = True
        inner, whole = result
        self.compare(name, inner, expected, allowed, because=because)
        self.compare(f"the memory around {name}", whole, guarded(inner, -7)[1], because="only the result may change")

    def insist_on_fp32(self) -> None:
        """Fail if a product of fp32 matrices uses TF32. On a CPU, the values do not show it."""
        __tracebackhide__ = True
        self()
        text = self.function(*self.arguments, **self.options).asm["ttir"]
        if cut := re.search(r"tt\.dot .*inputPrecision = tf32\b", text):
            because = "TF32, the default, has only 11 of fp32's 24 significant bits, so a GPU's result would be inexact"
            self.fail('products with input_precision="ieee"', Words(cut[0]), because)

    def __call__(self) -> None:
        __tracebackhide__ = True
        with watched() as (launched, _):
            calling.__call__(self)
        if not launched:
            self.fail("a kernel that mini_triton compiles", Words("a different function"))

    def __repr__(self) -> str:
        options = [f"{name}={self.shown(value)}" for name, value in self.options.items()]
        arguments = ", ".join([*map(self.shown, self.arguments), *options])
        return f"{self.kernel.fn.__name__}[{self.grid}]({arguments})"


class triton_call(host_call):
    """A call to a host function whose kernels real Triton runs: on the GPU, or by its interpreter.

    Without a GPU, real Triton's compiler must also accept the kernels. Before this call, they run on mini_triton. With
    MINI_TRITON_BACKEND=ptx, our own back end takes real Triton's place (`tests.oracles.hosts`).
    """

    def __init__(self, device: str, function: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(function, *arguments, **options)
        self.device = device

    def __call__(self) -> Any:
        __tracebackhide__ = True
        super().__call__()
        call = self.function, self.arguments, self.options
        wanted = f"kernels that {hosts.RUNNER} runs"
        try:
            result = hosts.call(self.device, *call)
            if self.device == "cpu" and not hosts.OWN_BACK_END:
                wanted = "kernels that real Triton compiles for a GPU"
                hosts.call("none", *call)
        except hosts.Refused as refusal:
            self.fail(wanted, Words(refusal))
        return result

    def __repr__(self) -> str:
        setting = "MINI_TRITON_BACKEND=ptx" if hosts.OWN_BACK_END else "KERNELS_COMPILER=triton"
        return f"with {setting}: {super().__repr__()}"


def different(got: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> tuple[str, str] | None:
    """The worst difference, as the expected and the actual element in words; None if there is none."""
    if got.dtype.kind in "iu" and expected.dtype.kind in "iu":
        got, expected = got.astype(object), expected.astype(object)
    else:
        got, expected = got.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        off = abs(got - expected).astype(np.float64)
        same = (got == expected) | ((got != got) & (expected != expected))
    wrong = ~(same.astype(bool) | (off <= allowed))  # `off <= allowed` is False for NaN
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        badness = np.where(wrong, np.nan_to_num(off / np.maximum(allowed, 1e-300), nan=np.inf), -1.0)
    worst = np.unravel_index(np.argmax(badness), badness.shape)
    place = f"[{', '.join(map(str, worst))}]"
    limit = float(np.broadcast_to(allowed, wrong.shape)[worst])
    much = f" ± {limit:.3g}" if limit else ""
    count = f"; {wrong.sum()} of {wrong.size} elements are wrong"
    count += common_factor(got, expected)
    perhaps = " (perhaps nothing was written there, or a masked-off element was used)" * bool(got[worst] != got[worst])
    return f"{place} = {expected[worst]}{much}", f"{place} = {got[worst]}{perhaps}{count}"


def common_factor(got: np.ndarray, expected: np.ndarray) -> str:
    """A remark if all large elements differ by the same factor, as after a forgotten scale."""
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(got).all() and np.isfinite(expected).all()):
        return ""
    large = abs(expected) > 0.1 * abs(expected).max()
    if large.sum() < 4:
        return ""
    factors = got[large] / expected[large]
    factor = float(np.median(factors))
    is_common = (abs(factors - factor) <= 0.01 * abs(factor)).all() and abs(factor - 1) > 0.02 and factor != 0
    return f", each about {factor:.3g} times the expected value" if is_common else ""


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array or a torch tensor."""
    return isinstance(value, np.ndarray) or hasattr(value, "data_ptr")


def as_numpy(value: Any) -> np.ndarray:
    """An array or a number as a NumPy array; as fp64 if NumPy does not have its dtype."""
    if not hasattr(value, "data_ptr"):
        return np.asarray(value)
    value = value.detach().cpu()
    return (value.double() if value.is_floating_point() else value).numpy()


def results_of(result: Any) -> list[Any]:
    """The arrays that a function returns: one, or a tuple of several."""
    return [value for value in (result if isinstance(result, tuple) else (result,)) if is_array(value)]


def spoiled(value: Any) -> np.ndarray:
    """A value that no kernel would store in place of `value`."""
    stored = np.asarray(value)
    return ~stored if stored.dtype.kind in "iub" else np.full_like(stored, np.nan)


@contextlib.contextmanager
def watched(change: Callable[[Any], Any] = lambda value: value) -> Iterator[tuple[list[str], list[str]]]:
    """The names of the kernels launched in the `with` block, and of torch's operators called outside the kernels.

    In the block, a masked-off element of a load without `other`, which is undefined, is NaN, or 77 for integers.
    Kernels store `change(value)` in place of a value.
    """
    from mini_triton.codegen.library import memory
    from mini_triton.errors import CompilationError
    from mini_triton.runtime.jit import JITFunction

    dispatch: Any = torch.utils._python_dispatch
    launched: list[str] = []
    used: list[str] = []
    launch, load, store = JITFunction.launch, memory.load, memory.store

    class OperatorRecorder(dispatch.TorchDispatchMode):
        _should_skip_dynamo = classmethod(lambda cls: False)  # skipping its frames would load the compiler of PyTorch

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            used.append(function.__name__.partition(".")[0])
            return function(*args, **(kwargs or {}))

    def counted(self: JITFunction, *arguments: Any, **keywords: Any) -> Any:
        launched.append(self.fn.__name__)
        try:
            with dispatch._disable_current_modes():
                return launch(self, *arguments, **keywords)
        except CompilationError as error:  # a stub's `raise` does not compile; report the stub's message
            if stub := re.search(r"""raise NotImplementedError\(["'](Task .*)["']\)""", str(error)):
                raise NotImplementedError(stub[1]) from None
            raise

    def undefined(buffer: Any, offset: Any, mask: Any = None, other: Any = None) -> Any:
        if mask is not None and other is None:
            kind = buffer.data.dtype
            other = np.array(77 if kind.kind in "iub" else np.nan).astype(kind)
        return load(buffer, offset, mask, other)

    def changed(buffer: Any, offset: Any, value: Any, mask: Any = None) -> None:
        store(buffer, offset, change(value), mask)

    with (
        mock.patch.object(JITFunction, "launch", counted),
        mock.patch.multiple(memory, load=undefined, store=changed),
        OperatorRecorder(),
    ):
        yield launched, used

"""The subject of the page: a kernel, the types of its arguments, and, if it was launched, the arguments themselves."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mini_triton.language.constexpr import unwrap
from mini_triton.runtime.arguments import to_python, with_parts
from mini_triton.runtime.binding import bind
from mini_triton.runtime.grids import grid_of
from mini_triton.runtime.jit import COMPILE_ONLY, JITFunction
from mini_triton.runtime.options import Options
from mini_triton.runtime.pipeline import Compilation
from mini_triton.runtime.specialization import Specialized, specialize
from mini_triton.runtime.tuples import flatten_arguments
from mini_triton.tools.coalescing import source_of
from mini_triton.tools.loading import kernel_in

LIBRARIES = {"np": "numpy", "torch": "torch"}
"""Names that a launch may use even if its file does not import them."""


@dataclass(frozen=True)
class Subject:
    """A kernel for arguments of certain types; with `grid` and `values`, a launch."""

    compilation: Compilation
    grid: tuple[int, int, int] | None = None
    values: Mapping[str, Any] | None = None  # by parameter


class Captured(BaseException):
    """Ends the Python code that launches the kernel."""

    def __init__(self, kernel: JITFunction, grid: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        super().__init__(kernel)
        self.kernel, self.grid, self.arguments, self.keywords = kernel, grid, arguments, keywords


def read_signature(names: Mapping[str, Any], signature: str, name: str | None, num_warps: int = 4) -> Subject:
    """The kernel of this name, for arguments of these types. Raises `ValueError` for a wrong signature or name."""
    source = source_of(kernel_in(names, name), signature)
    arguments = {name: Specialized(type, bool(source.attrs.get(name))) for name, type in source.signature.items()}
    return Subject(Compilation(source.fn, arguments, source.constants, Options(num_warps=num_warps), hash=""))


def find_launch(names: Mapping[str, Any], expression: str, name: str | None = None) -> Subject:
    """Evaluate an expression up to its first launch of the kernel `name`, or of any kernel if `name` is None.

    This launch does not run, but earlier launches of other kernels do. Raises `ValueError` if there is no such launch,
    or if the expression fails before.
    """
    libraries = {known: importlib.import_module(module) for known, module in LIBRARIES.items() if known in expression}
    original = JITFunction.launch

    def launch(kernel: JITFunction, grid: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if grid is not COMPILE_ONLY and name in (None, kernel.fn.__name__):
            raise Captured(kernel, grid, arguments, keywords)
        return original(kernel, grid, *arguments, **keywords)

    JITFunction.launch = launch  # type: ignore[method-assign]
    try:
        eval(compile(expression, "--launch", "eval"), {**libraries, **names})
    except Captured as captured:
        return read_launch(captured)
    except NotImplementedError:
        raise
    except Exception as error:
        raise ValueError(f"argument --launch: {''.join(traceback.format_exception_only(error)).strip()}") from error
    finally:
        JITFunction.launch = original  # type: ignore[method-assign]
    raise ValueError(f"{expression} does not launch {name or 'a kernel'}")


def read_launch(launch: Captured) -> Subject:
    """A launch, with its arguments specialized as usual."""
    kernel, arguments = launch.kernel, launch.arguments
    keywords = kernel.with_debug(launch.keywords)
    while flat := flatten_arguments(kernel, arguments, keywords):
        kernel, arguments, keywords = flat[0], (), flat[1]
    name = kernel.fn.__name__
    values, options = bind(name, kernel.parameters, arguments, keywords)
    specialized = {
        parameter.name: specialize(name, parameter, values[parameter.name]) for parameter in kernel.parameters
    }
    constants = {
        parameter: unwrap(to_python(values[parameter]))
        for parameter, known in specialized.items()
        if known.type == "constexpr"
    }
    compilation = Compilation(kernel, specialized, constants, Options(**options), hash="")
    return Subject(compilation, grid_of(name, launch.grid, values), with_parts(values))

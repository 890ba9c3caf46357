"""For chapter 6: the code generated for a kernel, and its results."""

from __future__ import annotations

from typing import Any, Literal

from grader.workbench import module_of, new_file

Mode = Literal["batched", "fast"]


def define(body: str, **arguments: Any) -> Any:
    """The module of a kernel. A string is an argument's type, anything else a constant."""
    return module_of(body, arguments, new_file())


def show(module: Any, mode: Mode, word: str = "") -> None:
    """Print those lines of the generated function that contain `word`."""
    from mini_triton.analysis.pointers import origins
    from mini_triton.codegen.numpy_gen import generate

    (function,) = module.body.operations
    source, _ = generate(function, mode, origins(function))
    print("\n".join(line for line in source.partition("\n\n\n")[2].splitlines() if word in line))


def run(module: Any, mode: Mode | None, grid: tuple[int, ...], **arguments: Any) -> None:
    """Launch a kernel on NumPy arrays and numbers: by generated code or, without a mode, by the interpreter."""
    import numpy as np
    from mini_triton.ir import interpreter
    from mini_triton.ir.storage import Buffer

    values = [Buffer.of(name, x) if isinstance(x, np.ndarray) else x for name, x in arguments.items()]
    if mode:
        from mini_triton.codegen import compile_module

        compile_module(module, mode)(grid, values)
    else:
        interpreter.run(module, grid, values)

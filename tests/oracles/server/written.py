"""Kernels given as Python source, compiled by real Triton's front end. Only the server may import this module.

A text becomes a module in a file of its own. After the answer, the file, the module's entry in `sys.modules`, and its
entries in caches of Python and Triton are removed.
"""

import contextlib
import importlib.util
import itertools
import linecache
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
from triton.compiler import CompilationError

from tests.oracles.server import frontend, said

NAME = "written"  # the name of every such module
AFTER_CSE = ("canonicalizer", "combine", "reorder_broadcast", "cse", "symbol_dce", "loop_unroll")

_numbers = itertools.count()


def make(text: str, steps: bool, lower: bool, **question: Any) -> frontend.Answer:
    """Compile a kernel in Python source by Triton's own front end: `steps` keeps all stages, `lower` makes a cubin.

    If Triton refuses the kernel, the answer contains the reason, as data.
    """
    try:
        with loaded(text) as module:
            return _made(*source(module, **question), steps, lower)
    except Exception as error:
        refused = refusal(error, text)
        return {"ok": False, **refused, "diagnostic": _anonymous(said()) or refused["diagnostic"]}


def _made(source: Any, capability: int, options: dict[str, Any], steps: bool, lower: bool) -> frontend.Answer:
    module = frontend.raw_module(source, capability, options)
    stages = {"raw": module.str_nodebug()}
    frontend.run(module, ("inliner",))
    stages |= {"inlined": module.str_nodebug(), "located": _anonymous(str(module))}
    frontend.run(module, ("canonicalizer", "cse"))
    answer = {"canonical": module.str_nodebug(), "ops": frontend.counted(module)}
    if steps:
        frontend.run(module, AFTER_CSE)
        answer |= stages | {"optimised": module.str_nodebug()}
    return answer | (frontend.lowered(source, capability, options) if lower else {})


@contextlib.contextmanager
def loaded(text: str, folder: str = "") -> Iterator[ModuleType]:
    """The text as a module, which exists only in the `with` block."""
    file = Path(folder or os.environ["TRITON_CACHE_DIR"], f"{NAME}_{next(_numbers)}.py")
    file.write_text(text, encoding="utf-8")
    specification = importlib.util.spec_from_file_location(NAME, file)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[NAME] = module  # `inspect` reads this entry
    try:
        exec(compile(text, str(file), "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[NAME]
        linecache.cache.pop(str(file), None)
        file.unlink()
        registry = getattr(triton.runtime.jit, "_triton_jit_function_registry", {})
        for key in [key for key in registry if key.startswith(f"{NAME}:")]:
            del registry[key]


def source(
    module: ModuleType,
    kernel: str,
    signature: dict[str, str],
    constexprs: dict[str, Any],
    divisible: Sequence[str],
    capability: int,
    options: dict[str, Any],
) -> tuple[Any, int, dict[str, Any]]:
    """A specialized kernel of the module, the capability of a GPU, and Triton's options."""
    constants = {name: constant(value, module) for name, value in constexprs.items()}
    function = getattr(module, kernel)
    return frontend.source(function, signature, constants, divisible), capability, options


def _anonymous(diagnostic: str) -> str:
    """A message of C++, without the name of the text's file."""
    return re.sub(rf"[^\s\"]*{NAME}_\d+\.py", "kernel.py", diagnostic)


def constant(value: Any, module: ModuleType) -> Any:
    """A constant from JSON: a list becomes a tuple, and `{"code": "tl.float16"}` the value of this code in the text."""
    if isinstance(value, list):
        return tuple(constant(item, module) for item in value)
    if isinstance(value, Mapping):
        return eval(value["code"], module.__dict__)
    return value


def refusal(error: BaseException, text: str) -> dict[str, Any]:
    """The refusal of a text: the error's class and message, and the lines of the text that led to it, outermost first.

    Triton wraps an error once for every call that led to it; the message is that of the innermost error.
    """
    lines = []
    if isinstance(error, SyntaxError):
        lines.append((error.lineno, (error.offset or 1) - 1))
    while isinstance(error, CompilationError):
        node, begin = error.node, text.find(error.src) if error.src else -1
        if hasattr(node, "lineno") and begin >= 0:  # Triton's own helpers are not in the text
            place = text.count("\n", 0, begin) + node.lineno, node.col_offset
            lines += [place] if place not in lines else []
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    words = (error.error_message or "") if isinstance(error, CompilationError) else error
    line, column = lines[-1] if lines else (None, None)
    found = {"error": type(error).__name__, "diagnostic": str(words), "line": line, "column": column}
    return found | {"lines": [line for line, _ in lines]}

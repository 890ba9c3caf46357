"""How fast a launch is, beside real Triton: `mini-triton bench add.py --launch "add(x, y)"`. (Given.)

Everyone runs the same call on the same arguments. The results must agree before anything is timed: what the call
returns, and the arrays among its arguments. Real Triton works in another process; for arguments on a CPU, its
interpreter runs the kernels. Numba works on one core, as the others do, unless NUMBA_NUM_THREADS says otherwise.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import importlib
import importlib.util
import os
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from mini_triton.runtime.arguments import is_memory
from mini_triton.runtime.jit import BACKEND
from mini_triton.tools.loading import load_file
from mini_triton.tuning.comparison import Call, Peer, Row, compare, gain
from mini_triton.tuning.peers import Elsewhere, here
from mini_triton.tuning.tables import milliseconds, ratio

LIBRARIES = {"np": "numpy", "torch": "torch"}
"""Names that a launch may use even if its file does not import them."""
OURS = {"numpy": "mini_triton, NumPy", "numba": "mini_triton, Numba"}
THEIRS = {False: "Triton's interpreter", True: "Triton"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 1 if results differ or someone fails, and otherwise 0."""
    parser = argparse.ArgumentParser(prog="mini-triton bench", description="Time a launch, beside real Triton.")
    parser.add_argument("file", type=Path, help="a Python file with the kernel, which is executed")
    parser.add_argument("--launch", metavar="CALL", required=True, help='a call: "softmax(torch.ones(4, 781))"')
    options = parser.parse_args(arguments)
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    try:
        seed()
        make = call_maker(load_file(options.file), options.launch)
        on_gpu = any(getattr(array, "is_cuda", False) for array in make().memory)
    except (NotImplementedError, ModuleNotFoundError):
        raise
    except Exception as error:
        parser.error(f"{type(error).__name__}: {error}")
    ours = {"numpy": "mini_triton"} if on_gpu else {one: OURS[one] for one in OURS if importlib.util.find_spec(one)}
    peers = [here(name, partial(on, backend, make), with_steps=False) for backend, name in ours.items()]
    other = None
    if importlib.util.find_spec("triton"):
        other = Elsewhere(TRITON_INTERPRET="0" if on_gpu else "1")
        real = other.peer(THEIRS[on_gpu], with_real_triton, str(options.file.resolve()), options.launch)
        peers.insert(0, real)
    judge = peers[0]
    peers[0] = replace(judge, solve=lambda: judged(judge))
    try:
        row = compare(options.launch, peers)
    except JudgeError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    finally:
        if other:
            other.close()
    console = Console()
    console.print(table_of(row, [peer.name for peer in peers]))
    for name, reason in row.refused.items():
        console.print(f"{name} is refused: {reason}", style="red", markup=False, highlight=False)
    if other is None:
        console.print("Real Triton is not installed.")
    return int(bool(row.refused))


class JudgeError(Exception):
    """The first peer cannot run the call, so no result can be compared."""


def judged(judge: Peer) -> Sequence[Any]:
    """The results of the first peer. Raises `JudgeError` instead of its errors."""
    try:
        return judge.solve()
    except NotImplementedError:
        raise
    except Exception as error:
        text = f"{judge.name} fails: {type(error).__name__}: {error}"
        if "numpy.ndarray" in text:
            text += "\nPass tensors of PyTorch: real Triton's kernels do not take NumPy arrays."
        raise JudgeError(text) from error


def seed() -> None:
    """Let all generators of random numbers begin anew, so that everyone draws the same arguments."""
    random.seed(0)
    np.random.seed(0)
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch").manual_seed(0)


def call_maker(
    names: Mapping[str, Any], text: str, adapt: Callable[[Any], Any] = lambda value: value
) -> Callable[[], Call]:
    """A function that evaluates the arguments of a call, and returns the call, which has not run yet.

    Raises `ValueError` if the text is not a call. `adapt` changes the arguments of a `kernel[grid](...)`.
    """
    tree = ast.parse(text, "--launch", "eval").body
    if not isinstance(tree, ast.Call):
        raise ValueError(f"a launch is a call, such as softmax(x), but {text} is not")
    change = adapt if isinstance(tree.func, ast.Subscript) else (lambda value: value)
    libraries = {name: importlib.import_module(module) for name, module in LIBRARIES.items() if name in text}
    function, bind = ast.unparse(tree.func), ast.unparse(ast.Call(ast.Name("_bind"), tree.args, tree.keywords))

    def bound(*arguments: Any, **keywords: Any) -> tuple[list[Any], dict[str, Any]]:
        return [change(value) for value in arguments], {name: change(value) for name, value in keywords.items()}

    def make() -> Call:
        seed()
        scope = {**libraries, **names, "_bind": bound}
        arguments, keywords = eval(bind, scope)
        run = eval(function, scope)
        memory = [value for value in (*arguments, *keywords.values()) if is_memory(value)]
        return Call(lambda: run(*arguments, **keywords), memory)

    return make


def on(backend: str, make: Callable[[], Call]) -> Call:
    """A call whose kernels this back end runs, until another is chosen."""
    os.environ[BACKEND] = backend
    return make()


def with_real_triton(file: str, text: str) -> Call:
    """A call of a file that imports real Triton, even if the file itself imports mini_triton."""
    return call_maker(real_names(Path(file)), text, as_tensor)()


@cache
def real_names(path: Path) -> dict[str, Any]:
    """The names that a file defines, with real Triton. The file may import files beside it."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)  # Triton reads a kernel's source when it is launched first
    copy = Path(folder.name, path.name)
    copy.write_text(path.read_text(encoding="utf-8").replace("mini_triton", "triton"), encoding="utf-8")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    seed()
    spec.loader.exec_module(module)
    return vars(module)


def as_tensor(value: Any) -> Any:
    """An argument of real Triton's kernels, which take tensors instead of arrays."""
    return importlib.import_module("torch").from_numpy(value) if isinstance(value, np.ndarray) else value


def table_of(row: Row, names: Sequence[str]) -> Table:
    """A line for each peer: its median time, and how many times as fast as the first peer it is."""
    result = Table("", "ms", f"as fast as {names[0]}", box=None, padding=(0, 0, 0, 2))
    for column in result.columns[1:]:
        column.justify = "right"
    for name in names:
        result.add_row(name, milliseconds(row, name), ratio(gain(row, names[0], name)))
    return result


if __name__ == "__main__":
    sys.exit(main())

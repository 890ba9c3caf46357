"""Run a program that imports Triton, unchanged, on mini_triton. (Given.)

    mini-triton run script.py ARGUMENTS
    mini-triton run -m module ARGUMENTS

`hooks.py` and `cuda.py` have what PyTorch's users see; `substitution.py` has the names of modules.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

from mini_triton.compat import substitution
from mini_triton.environment import BOUNDS, SANITIZE
from mini_triton.runtime.back_ends import BACK_ENDS
from mini_triton.runtime.bounds import MODES
from mini_triton.runtime.jit import BACKEND
from mini_triton.sanitizer.allocations import track_allocations
from mini_triton.sanitizer.reports import KINDS, wanted
from mini_triton.tools import cuda, hooks

VARIABLES = {"bounds": BOUNDS, "backend": BACKEND, "sanitize": SANITIZE}
"""Options, and the environment variables that they set."""


def add_options(add: Callable[..., Any], prefix: str = "--") -> None:
    """Declare the options of a run. `add` is `add_argument` of argparse, or `addoption` of pytest."""
    add(f"{prefix}bounds", choices=MODES, help="what an out-of-bounds access does (default: error)")
    add(f"{prefix}backend", choices=BACK_ENDS, help="what runs launches that do not name a back end (default: numpy)")
    add(f"{prefix}sanitize", metavar="KINDS", help=f"look for defects of these kinds: {','.join(KINDS)}, or 1 for all")
    add(f"{prefix}device", choices=cuda.PLACES, default="auto", help=f"auto: CUDA tensors are {cuda.PLACES['auto']}")


def prepare(options: Mapping[str, str | None]) -> None:
    """From now on, `import triton` imports mini_triton, with these options."""
    for name, variable in VARIABLES.items():
        if value := options[name]:
            os.environ[variable] = value
    substitution.install()
    hooks.after_import("torch", lambda: hooks.prepare_torch(options["device"] or "auto"))


def main(arguments: Sequence[str] | None = None, name: str = "run") -> None:
    """The command line of `mini-triton run`, or of the command `name`."""
    parser = argparse.ArgumentParser(
        prog=f"mini-triton {name}",
        usage="%(prog)s [options] SCRIPT [ARGUMENTS]\n       %(prog)s [options] -m MODULE [ARGUMENTS]",
        description="Run a program that imports Triton, unchanged, on mini_triton.",
    )
    add_options(parser.add_argument)
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="a module, as in python -m")
    parser.add_argument("script", nargs=argparse.REMAINDER, help="a file")
    options = vars(parser.parse_args(spell_out(sys.argv[1:] if arguments is None else arguments)))
    module, script = options.pop("module"), options.pop("script")
    if not module and not script:
        parser.error("name a script, or a module after -m")
    if script and not Path(script[0]).exists():
        parser.error(f"there is no file {script[0]}")
    prepare(options)
    try:
        wanted()
    except ValueError as error:
        parser.error(str(error))
    try:
        run(module or script, is_module=bool(module))
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, NotImplementedError) and str(error).startswith("Task "):
            raise  # a part of the compiler that its learner has not written
        cuda.explain(error)
        package = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if package and importlib.util.find_spec(package.partition(".")[0]) is None:
            error.add_note(f"To install it, run `pip install {package.partition('.')[0]}`.")
        show = without_own_frames(sys.excepthook)
        if isinstance(error, KeyboardInterrupt):  # whose exit code is Python's own
            sys.excepthook = show
            raise
        show(type(error), error, error.__traceback__)
        sys.exit(1)


def sanitize(arguments: Sequence[str] | None = None) -> None:
    """The command line of `mini-triton sanitize`: `run` with the sanitizer."""
    main(["--sanitize", *(sys.argv[1:] if arguments is None else arguments)], "sanitize")


def spell_out(arguments: Sequence[str]) -> list[str]:
    """The command line, with `--sanitize=1` for an option `--sanitize`, for which argparse would take the next word."""
    words = list(arguments)
    at = 0
    while at < len(words) and words[at].startswith("--"):  # the program's own options come after its name
        if words[at] == "--sanitize":
            words[at] = "--sanitize=1"
        at += 1 if "=" in words[at] else 2
    return words


def run(program: Sequence[str], is_module: bool) -> None:
    """Run a script or a module, with its arguments, as `python` does."""
    sys.argv = list(program)
    with track_allocations() if "uninitialized" in wanted() else nullcontext():
        if is_module:
            sys.path[0] = os.getcwd()
            runpy.run_module(program[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.realpath(program[0]))
            runpy.run_path(os.path.abspath(program[0]), run_name="__main__")


def without_own_frames(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook for uncaught exceptions whose tracebacks begin with the program's first frame."""

    def show(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        own = [frame.f_code for frame, _ in traceback.walk_tb(at)].index(run.__code__)
        for _ in range(own + 1):
            at = at and at.tb_next
        while at and at.tb_frame.f_code.co_filename.startswith(("<frozen ", runpy.__file__)):
            at = at.tb_next
        hook(kind, error.with_traceback(at), at)

    return show


if __name__ == "__main__":
    main()

"""All tools as one command: `mini-triton explore …`, or `python -m mini_triton explore …`. (Given.)"""

from __future__ import annotations

import re
import sys
from argparse import REMAINDER, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pkgutil import resolve_name

import mini_triton

COMMANDS = {
    "run": ("mini_triton.tools.run:main", "run a program that imports Triton on mini_triton"),
    "sanitize": ("mini_triton.tools.run:sanitize", "run a program, and check every memory access of its kernels"),
    "explore": ("mini_triton.tools.explore.__main__:main", "show a kernel at every stage, on one HTML page"),
    "emulate": ("mini_triton.tools.emulate:main", "run a kernel's PTX without a GPU, and report races and costs"),
    "bench": ("mini_triton.tools.bench:main", "time a launch, beside real Triton, if results agree"),
    "coalescing": ("mini_triton.tools.coalescing:main", "report the width of a kernel's loads and stores on a GPU"),
    "bisect": ("mini_triton.tools.bisect:main", "find the pass that breaks a kernel"),
    "compile": ("mini_triton.tools.compile:main", "compile a kernel ahead of time, to C"),
    "link": ("mini_triton.tools.link:main", "link compiled variants of a kernel into one C function"),
}
"""For each command: the function that runs it, and what it does."""

PACKAGES = ("matplotlib", "ml_dtypes", "numba", "numpy", "pandas", "pygments", "torch", "triton")
"""The packages that a command may need."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code: 2 for wrong usage, 1 if a package or a task's solution is missing."""
    lines = (f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    parser = ArgumentParser(
        prog="mini-triton",
        description="Tools for kernels written in Triton's language. They do not need a GPU.",
        epilog="\n".join(["commands:", *lines, "", "`mini-triton COMMAND --help` shows the options of a command."]),
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=describe_version())
    parser.add_argument("command", metavar="COMMAND", help="one of the commands below")
    parser.add_argument("arguments", metavar="...", nargs=REMAINDER, help="the arguments of the command")
    options = parser.parse_args(arguments)
    if options.command.endswith(".py"):
        parser.error(f"name a command before the file, such as `mini-triton run {options.command}`")
    if options.command not in COMMANDS:
        nearest = get_close_matches(options.command, COMMANDS, 1, 0)
        parser.error(f"there is no command {options.command!r}; did you mean {nearest[0]}?")
    try:
        return resolve_name(COMMANDS[options.command][0])(options.arguments) or 0
    except NotImplementedError as error:
        stub = re.match(r"Task (\d+\.\d+): (.*)", str(error))
        if not stub:
            raise
        problem = f"task {stub[1]} is not written yet: {stub[2]}"
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "mini_triton":
            raise
        problem = f"{package} is not installed: run `pip install {package}`" if package in PACKAGES else str(error)
    print(f"mini-triton {options.command}: {problem}", file=sys.stderr)
    return 1


def describe_version() -> str:
    """The version of this package, if it is installed, and the version of Triton whose language it implements."""
    try:
        ours = version("mini-triton-kata")
    except PackageNotFoundError:
        ours = "(not installed)"
    return f"mini-triton {ours}, for the language of Triton {mini_triton.__version__}"


if __name__ == "__main__":
    sys.exit(main())

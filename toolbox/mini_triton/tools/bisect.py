"""Find the pass that breaks a kernel, by running a script with different numbers of passes. (Given.)

    mini-triton bisect check.py [arguments]

    41 passes: wrong
    0 passes: right
    20 passes: wrong
    ...
    Pass 17 makes the script wrong: licm on matmul_kernel.

The command then prints the module before and after this pass. The script must exit with 0 if its results are right, and
with any other code otherwise, as after an exception. The command exits with 0 if the script is right, 1 if it found a
pass, and 2 if the script is wrong even without passes.

Source: `-opt-bisect-limit` of LLVM.
"""

from __future__ import annotations

import argparse
import bisect
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mini_triton
from mini_triton.runtime import cache
from mini_triton.transforms import manager


@dataclass(frozen=True)
class Run:
    """The result of one run of the script: whether it was right, its errors, and the passes that ran."""

    right: bool
    errors: str
    passes: list[dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="mini-triton bisect", description="Find the guilty pass.")
    parser.add_argument("script", help="a Python file; its exit code says whether its results are right")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the arguments of the script")
    options = parser.parse_args(arguments)

    @functools.cache
    def tried(limit: int | None) -> Run:
        run = run_script([options.script, *options.arguments], limit)
        print(f"{len(run.passes)} passes: {'right' if run.right else 'wrong'}", flush=True)
        return run

    whole = tried(None)
    if whole.right:
        return 0
    if not tried(0).right:
        print(f"No pass is to blame:\n{whole.errors}")
        return 2
    first = bisect.bisect_left(range(len(whole.passes)), True, key=lambda limit: not tried(limit).right)
    print(explain(first, tried(first) if first < len(whole.passes) else whole))
    return 1


def run_script(command: Sequence[str], limit: int | None) -> Run:
    """Run a Python script that runs at most `limit` passes; all passes if `limit` is None."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "passes.jsonl")
        ours = str(Path(mini_triton.__file__).parents[1])
        variables = {
            manager.LOG: str(log),
            manager.LIMIT: "" if limit is None else str(limit),
            cache.DIRECTORY: folder,
            "PYTHONPATH": os.pathsep.join(filter(None, [ours, os.environ.get("PYTHONPATH")])),
        }
        done = subprocess.run([sys.executable, *command], env=os.environ | variables, capture_output=True, text=True)
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return Run(done.returncode == 0, done.stderr, [json.loads(line) for line in lines])


def explain(number: int, run: Run) -> str:
    """A report on pass `number`, the last one of this run, which made the script wrong."""
    guilty = run.passes[number - 1]
    name, kernel = guilty["name"], guilty["kernel"]
    return "\n".join([
        f"Pass {number} makes the script wrong: {name} on {kernel}.",
        *(f"──── {kernel}: {when} {name}\n{guilty[when]}" for when in ("before", "after")),
        f"──── what the script says\n{run.errors}",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

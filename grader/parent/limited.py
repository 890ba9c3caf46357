"""Run a function on a submission's bytes in a process with limits: a few bytes can keep a parser busy for hours."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from typing import Any

from grader.course.curriculum import ROOT

SECONDS = 10  # of processor time; on a clock, five times as long
MEMORY = 2 << 30


class Exceeded(Exception):
    """The function took too much time or memory; the text is the last step that it began."""


def call(function: str, *arguments: Any) -> Any:
    """The result of `module:function` for plain arguments. Raises `Exceeded`.

    The function's last argument is a function that it calls with the name of each step. Arguments and result are plain
    JSON values.
    """
    command = [sys.executable, "-m", __name__, function, str(SECONDS)]
    text = json.dumps(arguments).encode()
    try:
        done = subprocess.run(command, input=text, capture_output=True, cwd=ROOT, timeout=5 * SECONDS)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired as late:
        steps = late.stderr or b""
    except ValueError:
        steps = done.stderr
    raise Exceeded((steps.decode("utf-8", "replace").strip().splitlines() or ["its files"])[-1])


def _limit(seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, value in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _main(name: str, seconds: str) -> None:
    _limit(int(seconds))
    module, _, function = name.partition(":")
    run = getattr(importlib.import_module(module), function)
    result = run(*json.loads(sys.stdin.buffer.read()), lambda step: print(ascii(step), file=sys.stderr, flush=True))
    print(json.dumps(result))


if __name__ == "__main__":
    _main(*sys.argv[1:])

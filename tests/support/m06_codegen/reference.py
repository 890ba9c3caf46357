"""The reference's interpreter of IR, in a separate process, because the learner's modules have the same names.

after = run(text, (4,), [x, out, 1000])
"""

import base64
import functools
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 (with it, NumPy knows its dtypes by name)
import numpy as np

from tests.oracles import brokered

ROOT = Path(__file__).parents[3]


def run(text: str, grid: Sequence[int], arguments: Sequence[Any]) -> list[Any]:
    """The arguments, arrays and numbers, after a kernel has run program by program."""
    process = _process()
    try:
        _send(process.stdin, {"text": text, "grid": list(grid), "arguments": [_plain(x) for x in arguments]})
        return [_value(x) for x in json.loads(process.stdout.readline())]
    except BaseException:  # includes a time limit, after which a late answer would be taken for the next one
        process.kill()
        _process.cache_clear()
        raise


def _send(pipe: Any, message: Any) -> None:
    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.flush()


def _plain(value: Any) -> Any:
    """An argument as plain JSON: neither process trusts the other, so they exchange only data."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    bits = base64.b64encode(value.tobytes()).decode()
    return {"dtype": value.dtype.name, "shape": value.shape, "bits": bits}


def _value(plain: Any) -> Any:
    """The argument that `_plain` describes."""
    if not isinstance(plain, dict):
        return plain
    bits = bytearray(base64.b64decode(plain["bits"]))  # a writable copy
    return np.frombuffer(bits, np.dtype(plain["dtype"])).reshape(plain["shape"])[()]


@functools.cache
def _process() -> Any:
    if brokered.is_needed():
        return brokered.Process(__name__, {})
    command = [sys.executable, "-m", __name__]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _serve() -> None:
    """Answer until the pipe closes."""
    # A copy of the course without solutions has only the learner's interpreter, which other tests judge.
    trees = [ROOT / "solutions", ROOT / "exercises"]  # mini_triton finds the toolbox beside either
    sys.path.insert(0, str(next(tree for tree in trees if tree.is_dir())))
    from mini_triton.ir import interpreter
    from mini_triton.ir.parser import parse_module

    for line in sys.stdin.buffer:
        asked = json.loads(line)
        arguments = [_value(x) for x in asked["arguments"]]
        given = [interpreter.Buffer.of("x", x) if isinstance(x, np.ndarray) else x for x in arguments]
        interpreter.run(parse_module(asked["text"]), asked["grid"], given)
        _send(sys.stdout.buffer, [_plain(x) for x in arguments])


if __name__ == "__main__":
    _serve()

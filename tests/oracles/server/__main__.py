"""Real Triton in a process of its own: questions come in on stdin, answers go out on stdout.

Run as `python -m tests.oracles.server`. A line holds a JSON list of requests; each request gets one line, a
JSON object, in order. `{"do": "frontend.parse", "text": …}` calls the function `parse` of the module `frontend`.
The answer to a question that Triton refuses is `{"ok": false, "diagnostic": …}`. A question that kills Triton kills
this process; the client sees the pipe close, and knows which question was being answered.

Stdout belongs to the protocol, so all output of Triton goes to stderr. Stderr must be a file opened for reading and
appending: it is emptied before a question and read afterwards, so the answer can contain C++ diagnostics.
"""

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import traceback
from typing import Any, TextIO

from tests.oracles.server import said

FOLDER = os.environ["TRITON_CACHE_DIR"]  # a folder of the client, which this process fills
PATIENCE = 600  # seconds, after which even a question that hangs in C++ ends, and so does an orphaned process


def main() -> None:
    """Answer until stdin closes, as it also does when the client is killed."""
    _raise_limits()
    answers = _take_stdout()
    for line in sys.stdin:
        for request in json.loads(line):
            signal.alarm(PATIENCE)
            answers.write(json.dumps(_answer(**request)) + "\n")
            answers.flush()
        signal.alarm(0)
    shutil.rmtree(FOLDER, ignore_errors=True)


def _answer(do: str, **arguments: Any) -> dict[str, Any]:
    """The answer to one request, which includes any error."""
    os.ftruncate(2, 0)
    module, _, function = do.partition(".")
    try:
        asked = getattr(importlib.import_module(f"tests.oracles.server.{module}"), function)
        return {"ok": True} | (asked(**arguments) or {})
    except Exception as error:
        diagnostic = said() or "".join(traceback.format_exception_only(error)).strip()
        return {"ok": False, "error": type(error).__name__, "diagnostic": diagnostic.replace(FOLDER + os.sep, "")}


def _take_stdout() -> TextIO:
    """The protocol's own stream. After this call, file descriptor 1 is stderr, for all other output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _raise_limits() -> None:
    """Raise the limits that this process inherited from a learner's process, because LLVM needs more."""
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (hard, hard))


if __name__ == "__main__":
    main()

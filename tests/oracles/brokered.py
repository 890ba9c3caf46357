"""Processes that the grader starts for us: a confined process may start none.

`KATA_ORACLES` is the descriptor of a socket to the grader, which starts what `start` asks for.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import time
from collections.abc import Mapping
from typing import IO, Any


def is_needed() -> bool:
    """Whether this process is one that may not start others."""
    return "KATA_ORACLES" in os.environ


class Process:
    """Like `subprocess.Popen`, as far as a client of an oracle uses it."""

    def __init__(self, program: str, environment: Mapping[str, str], stderr: IO[bytes] | None = None) -> None:
        """Start `python -m program`, with these variables besides the system's."""
        stdin, ours_in = os.pipe()
        ours_out, stdout = os.pipe()
        errors = os.dup(stderr.fileno()) if stderr else os.open(os.devnull, os.O_WRONLY)
        request = {"do": "start", "program": program, "environment": dict(environment)}
        try:
            self.number = _ask(request, stdin, stdout, errors)
        finally:
            for descriptor in (stdin, stdout, errors):
                os.close(descriptor)
        self.status: int | None = None
        self.stdin: IO[bytes] | None = os.fdopen(ours_in, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(ours_out, "rb")

    def poll(self) -> int | None:
        """Its exit status, once it has been waited for: to ask each time would cost more than a question."""
        return self.status

    def wait(self) -> int:
        """Its exit status, when it has ended."""
        while self.status is None:
            self.status = _ask({"do": "poll", "process": self.number})
            time.sleep(0.01 if self.status is None else 0)
        return self.status

    def kill(self) -> None:
        """End it."""
        self.status = _ask({"do": "kill", "process": self.number})


def _ask(request: Mapping[str, Any], *descriptors: int) -> Any:
    socket.send_fds(_grader(), [json.dumps(request).encode()], descriptors)
    answer = b""
    while not answer.endswith(b"\n"):
        received = _grader().recv(1 << 16)
        if not received:
            raise OSError("the grader does not start this process")
        answer += received
    return json.loads(answer)


@functools.cache
def _grader() -> socket.socket:
    return socket.socket(fileno=int(os.environ["KATA_ORACLES"]))

"""Processes that the grader starts for a confined process, which may not start processes itself.

`KATA_ORACLES` is the descriptor of a socket to the grader, which starts the process that a request `start` names.
"""

import functools
import json
import os
import socket
import time
from collections.abc import Mapping
from typing import IO, Any


def is_needed() -> bool:
    """Whether this process is confined."""
    return "KATA_ORACLES" in os.environ


class Process:
    """The part of `subprocess.Popen` that a client of an oracle uses."""

    def __init__(self, program: str, environment: Mapping[str, str], stderr: IO[bytes] | None = None) -> None:
        """Start `python -m program`, with these environment variables in addition to the system's."""
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
        """The exit status after `wait`, otherwise None. A request to the grader would cost more than a question."""
        return self.status

    def wait(self) -> int:
        """Wait for the end of the process. Return its exit status."""
        while self.status is None:
            self.status = _ask({"do": "poll", "process": self.number})
            time.sleep(0.01 if self.status is None else 0)
        return self.status

    def kill(self) -> None:
        """Kill the process."""
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

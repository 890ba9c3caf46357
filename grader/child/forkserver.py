"""A process that loads libraries once, and then forks for each module to run.

`python -m grader.child.forkserver numpy pytest` loads these libraries. Standard input is a socket. A message names a
module, and brings the descriptors of the fork: input, output, errors, and a pipe for the exit status. The fork answers
with its process id. The server ends when the other end closes.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

MESSAGE = 1 << 20  # bytes at most


def serve(server: socket.socket) -> dict[str, Any]:
    """Fork for each message. Returns the message in the fork; the server itself never returns."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    statuses: dict[int, int] = {}  # the pipe of each fork
    gc.freeze()  # a collection in a fork would copy the pages of these objects
    while True:
        ready, _, _ = select.select([server.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report(statuses)
        if server.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(server, MESSAGE, 4)
            if not message:
                os._exit(0)
            *streams, status = descriptors
            if not (pid := os.fork()):
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.setsid()
                server.send(str(os.getpid()).encode())
                _take(streams)
                return json.loads(message)
            statuses[pid] = status
            for stream in streams:
                os.close(stream)


def _report(statuses: dict[int, int]) -> None:
    """Write the exit status of each fork that has ended to its pipe."""
    while statuses:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with suppress(BrokenPipeError):
            os.write(statuses[pid], str(os.waitstatus_to_exitcode(status)).encode())
        os.close(statuses.pop(pid))


def _take(streams: Iterable[int]) -> None:
    """Make these the standard streams of this process, and close all other files."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with suppress(Exception):  # the module that needs the library reports its absence
            importlib.import_module(name)
    request = serve(socket.socket(fileno=os.dup(0)))
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv[1:] = request["arguments"]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)

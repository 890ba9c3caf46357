"""Child processes that have their libraries from the start: forks of a server that loaded them once."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import IO

from grader.child.job import LIBRARIES
from grader.course.curriculum import ROOT

CAN_FORK = sys.platform == "linux"  # libraries of other systems do not survive a fork

_servers: dict[tuple[object, ...], Server] = {}
_lock = threading.Lock()


class Fork:
    """The part of `subprocess.Popen` that the parent of a child uses."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes], status: int) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._status = status

    def wait(self, timeout: float | None = None) -> int:
        """The exit status. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fork", timeout or 0.0)
            self.returncode = int(os.read(self._status, 16) or -signal.SIGKILL)  # nothing: the server was killed, too
            os.close(self._status)
        return self.returncode

    def kill(self) -> None:
        """End the process."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class Server:
    """A process with some libraries, which forks for each module to run."""

    def __init__(self, environment: Mapping[str, str], libraries: Collection[str]) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "grader.child.forkserver", *LIBRARIES, *libraries]
        with theirs:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self.close)

    def run(self, module: str, environment: Mapping[str, str], stderr: IO[bytes]) -> Fork | None:
        """Start `python -m module` from the project's folder, as the leader of its own process group.

        None if the server has ended.
        """
        theirs_in, stdin = os.pipe()
        stdout, theirs_out = os.pipe()
        status, theirs_status = os.pipe()
        theirs = theirs_in, theirs_out, stderr.fileno(), theirs_status
        request = {"module": module, "arguments": [], "folder": str(ROOT), "environment": dict(environment)}
        pid = b""
        with _lock, suppress(OSError):  # another thread may have closed the socket
            socket.send_fds(self.socket, [json.dumps(request).encode()], theirs)
            pid = self.socket.recv(16)
        for descriptor in (theirs_in, theirs_out, theirs_status):
            os.close(descriptor)
        if pid:
            return Fork(int(pid), os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), status)
        for descriptor in (stdin, stdout, status):
            os.close(descriptor)
        self.close()
        return None

    def close(self) -> None:
        """End the process; forks go on."""
        self.socket.close()
        self.process.wait()


def fork(module: str, environment: Mapping[str, str], libraries: Collection[str], stderr: IO[bytes]) -> Fork | None:
    """Start `python -m module` in a fork of a server with these libraries. None if the server ends twice."""
    for _ in range(2):
        if started := server(environment, libraries).run(module, environment, stderr):
            return started
    return None


def server(environment: Mapping[str, str], libraries: Collection[str] = ()) -> Server:
    """The server for children with these libraries, started if necessary. Variables of Python have to be the same."""
    key = (*sorted(item for item in environment.items() if item[0].startswith("PYTHON")), *sorted(libraries))
    with _lock:
        if key not in _servers or _servers[key].process.poll() is not None:
            _servers[key] = Server(environment, libraries)
        return _servers[key]

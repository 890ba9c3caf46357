"""Oracle processes for tests that must not start processes: the parent starts each oracle, separately confined.

A test's process sends a request over a socket, with the pipes for the oracle (see `tests.oracles.brokered`).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from grader.child import boundary
from grader.course.curriculum import ROOT

PROGRAMS = ("tests.oracles.server", "tests.support.m06_codegen.reference")
_REFERENCE = PROGRAMS[1:]  # the programs that run the reference
_VARIABLES = ("TRITON_CACHE_DIR", "TRITON_DEFAULT_FP_FUSION", "TRITON_INTERPRET", "KERNELS_COMPILER")
_MOST = 20
_MESSAGE = 1 << 16


class Oracles:
    """The oracles of one child process. `theirs` is the child's end of the socket."""

    def __init__(self, bounds: dict[str, Any], work: Path) -> None:
        self.bounds = bounds | {"processes": True}  # real Triton runs an assembler
        self.work = work
        self.ours, self.theirs = socket.socketpair()
        self.started: list[subprocess.Popen[bytes]] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """End all oracles."""
        self.theirs.close()
        with suppress(OSError):
            self.ours.shutdown(socket.SHUT_RDWR)
        for process in self.started:
            process.kill()
            process.wait()

    def _serve(self) -> None:
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError), self.ours:
            while True:
                data, descriptors, *_ = socket.recv_fds(self.ours, _MESSAGE, 3)
                try:
                    if not data:
                        return
                    answer = self._answer(json.loads(data), descriptors)
                finally:
                    for descriptor in descriptors:
                        os.close(descriptor)
                self.ours.sendall(json.dumps(answer).encode() + b"\n")

    def _answer(self, request: dict[str, Any], descriptors: list[int]) -> int | None:
        """The number of a process that was started, or the exit status of one, None while it runs."""
        match request["do"]:
            case "start":
                return self._start(request["program"], request["environment"], descriptors)
            case "poll":
                return boundary.exit_status(self.started[request["process"]].poll())
            case "kill":
                self.started[request["process"]].kill()
                return boundary.exit_status(self.started[request["process"]].wait())
        raise ValueError(request["do"])

    def _start(self, program: str, environment: dict[str, str], descriptors: list[int]) -> int:
        if program not in PROGRAMS or len(self.started) >= _MOST or len(descriptors) != 3:
            raise ValueError(program)
        chosen = {name: str(value) for name, value in environment.items() if name in _VARIABLES}
        bounds = self.bounds | {"write": [str(self.work)]}
        if program in _REFERENCE:
            bounds |= {"read": [*bounds["read"], str(ROOT / "solutions")]}
        script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from grader.parent import oracles; oracles.run()"
        command = boundary.command([sys.executable, "-I", "-c", script, json.dumps(bounds), program])
        stdin, stdout, stderr = descriptors
        self.started.append(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=boundary.environment(self.work) | chosen,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        )
        return len(self.started) - 1


def run() -> None:
    """The oracle's process: bind it, then be the program that the command line names."""
    import runpy

    bounds, program = sys.argv[1:]
    boundary.enter(boundary.Bounds(**json.loads(bounds)))
    sys.argv = [program]
    runpy.run_module(program, run_name="__main__", alter_sys=True)

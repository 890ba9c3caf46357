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

TRITON, REFERENCE = "tests.oracles.server", "tests.support.m06_codegen.reference"
_REFERENCE_JUDGES = (6,)  # the milestones in which the reference's interpreter judges
_REFERENCE_READS = ("__init__.py", "errors.py", "exact", "formats.py", "ir")  # of solutions/mini_triton
_VARIABLES = ("TRITON_CACHE_DIR", "TRITON_DEFAULT_FP_FUSION", "TRITON_INTERPRET", "KERNELS_COMPILER")
_MOST = 20  # processes in a child's life; a question that kills Triton costs one
_AT_ONCE = 4
_MEMORY = 4 << 30  # bytes of data of one process
_TASKS = 64  # threads and processes in the namespace of one process
_MESSAGE = 1 << 16


class Oracles:
    """The oracles of one child process. `theirs` is the child's end of the socket."""

    def __init__(self, bounds: dict[str, Any], work: Path, milestone: int) -> None:
        self.bounds = bounds | {"write": [str(work)]}
        self.work = work
        self.programs = (TRITON, REFERENCE) if milestone in _REFERENCE_JUDGES else (TRITON,)
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
        with suppress(OSError, ValueError, LookupError, TypeError, RecursionError), self.ours:
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
        alive = sum(process.poll() is None for process in self.started)
        too_many = alive >= _AT_ONCE or len(self.started) >= _MOST
        if program not in self.programs or too_many or len(descriptors) != 3:
            raise ValueError(program)
        chosen = {name: str(value) for name, value in environment.items() if name in _VARIABLES}
        stdin, stdout, stderr = descriptors
        if program == REFERENCE:  # its errors would show lines of its source
            reference = [str(ROOT / "solutions/mini_triton" / name) for name in _REFERENCE_READS]
            bounds = self.bounds | {"read": [*self.bounds["read"], *reference, str(ROOT / "toolbox")]}
            stderr = subprocess.DEVNULL
        else:  # real Triton runs an assembler
            bounds = self.bounds | {"processes": True}
        script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from grader.parent import oracles; oracles.run()"
        command = boundary.command([sys.executable, "-I", "-c", script, json.dumps(bounds), program])
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
    import resource
    import runpy

    text, program = sys.argv[1:]
    bounds = boundary.Bounds(**json.loads(text))
    if not bounds.gpu:  # CUDA maps far more than it uses
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    if "KATA_NAMESPACES" in os.environ:  # there, the limit counts only this namespace's tasks
        resource.setrlimit(resource.RLIMIT_NPROC, (_TASKS, _TASKS))
    boundary.enter(bounds)
    sys.argv = [program]
    runpy.run_module(program, run_name="__main__", alter_sys=True)

"""Real Triton in a process of its own: questions come in on stdin, answers go out on stdout.

Run as `python -m tests.oracles.server`. A line holds a JSON list of requests; each request gets one line, a
JSON object, in order. A question that Triton refuses is answered `{"ok": false, "diagnostic": …}`. A
question that kills Triton kills this process: the client sees the pipe close and knows which question it
was.

Stdout belongs to the protocol, so whatever Triton prints goes to stderr. Stderr must be a file opened for
reading and appending: it is emptied before a question and read after it, which is how C++ diagnostics reach
the answer.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TextIO

Answer = dict[str, Any]
RENEW_CONTEXT_AFTER = 2000  # types and attributes live as long as their context


PATIENCE = 600  # seconds: then even a question that hangs in C++ ends, and with it an orphaned process


def main() -> None:
    """Answer until stdin closes, which it also does when the client is killed."""
    _raise_limits()
    answers = _take_stdout()
    server = Server()
    for line in sys.stdin:
        for request in json.loads(line):
            signal.alarm(PATIENCE)
            answers.write(json.dumps(server.answer(request)) + "\n")
            answers.flush()
        signal.alarm(0)
    shutil.rmtree(server.folder, ignore_errors=True)


class Server:
    """One MLIR context, reused from question to question, and the handlers of the requests by name."""

    def __init__(self) -> None:
        import triton
        from triton._C.libtriton import ir, passes
        from triton.backends.compiler import GPUTarget

        self.triton, self.ir, self.passes, self.target = triton, ir, passes, GPUTarget
        self.folder = os.environ["TRITON_CACHE_DIR"]  # the client's, for us to fill
        self.file = os.path.join(self.folder, "module.ttir")
        self.parsed = 0
        self.context: Any = None
        self.handlers: dict[str, Callable[..., Answer]] = {
            "version": self.version,
            "parse": self.parse,
            "canonical": self.canonical,
            "ops": self.ops,
            "compile": self.compile,
            "frontend": self.frontend,
            "probe": self.probe,
            "launch": self.launch,
        }

    def answer(self, request: dict[str, Any]) -> Answer:
        """The answer to one request; whatever goes wrong is part of the answer."""
        _empty_diagnostics()
        arguments = dict(request)
        handler = self.handlers[arguments.pop("do")]
        try:
            return {"ok": True, **handler(**arguments)}
        except Exception as error:
            diagnostic = _diagnostic(error).replace(self.file, "module.ttir")
            return {"ok": False, "error": type(error).__name__, "diagnostic": diagnostic}

    def version(self) -> Answer:
        """Triton's version."""
        return {"version": self.triton.__version__}

    def parse(self, text: str, locations: bool = False) -> Answer:
        """Parse and verify; the module as Triton prints it."""
        module = self._module(text)
        return {"text": str(module) if locations else module.str_nodebug()}

    def canonical(self, text: str, passes: Iterable[str] = ("inliner", "canonicalizer", "cse")) -> Answer:
        """The module after passes of these names."""
        return {"text": self._after(text, passes).str_nodebug()}

    def ops(self, text: str, passes: Iterable[str] = ()) -> Answer:
        """How often each op occurs, after passes of these names."""
        counts: Counter[str] = Counter()
        self._after(text, passes).walk(lambda op: counts.update([op.get_name()]))
        return {"ops": dict(sorted(counts.items()))}

    def compile(self, text: str, capability: int, options: dict[str, Any] | None = None) -> Answer:
        """Compile TTIR down to a cubin for a GPU that need not be there."""
        self._write(text)
        target = self.target("cuda", capability, 32)
        kernel = self.triton.compile(self.file, target=target, options=options or {})
        return _compiled(kernel)

    def frontend(self, kernel: str, capability: int = 90, lower: bool = False, **arguments: Any) -> Answer:
        """What Triton's own front end makes of a kernel of ours: raw to optimised, PTX on request."""
        from tests.oracles import frontend

        source = frontend.source(kernel, **arguments)
        module = frontend.raw_module(source, capability)
        answer = {"raw": module.str_nodebug(), "raw_with_locations": str(module)}
        self._run(module, ("inliner",))
        answer |= {"inlined": module.str_nodebug(), "inlined_with_locations": str(module)}
        self._run(module, ("canonicalizer", "cse"))
        answer["canonical"] = module.str_nodebug()
        self._run(
            module, ("canonicalizer", "combine", "reorder_broadcast", "cse", "symbol_dce", "loop_unroll")
        )
        answer["optimised"] = module.str_nodebug()
        if lower:
            answer |= _compiled(self.triton.compile(source, target=self.target("cuda", capability, 32)))
        return answer

    def probe(self, question: str, arguments: list[Any]) -> Answer:
        """One of the questions whose answers are recorded (see `tests.oracles.probes`)."""
        from tests.oracles import probes

        return {"answer": probes.ask(question, arguments)}

    def launch(self, text: str, **arguments: Any) -> Answer:
        """Run a module on this machine's GPU (see `tests.oracles.launch`)."""
        from tests.oracles import launch

        self._write(text)
        launch.run(self.file, **arguments)
        return {}

    def _write(self, text: str) -> None:
        with open(self.file, "w") as file:
            file.write(text)

    def _module(self, text: str) -> Any:
        if self.parsed % RENEW_CONTEXT_AFTER == 0:
            from tests.oracles import frontend

            self.context = frontend.new_context()
        self.parsed += 1
        self._write(text)
        module = self.ir.parse_mlir_module(self.file, self.context)
        module.context = self.context
        return module

    def _run(self, module: Any, passes: Iterable[str]) -> None:
        manager = self.ir.pass_manager(module.context)
        manager.enable_debug()
        for name in passes:
            group = self.passes.common if hasattr(self.passes.common, f"add_{name}") else self.passes.ttir
            getattr(group, f"add_{name}")(manager)
        manager.run(module, "oracle")

    def _after(self, text: str, passes: Iterable[str]) -> Any:
        module = self._module(text)
        self._run(module, passes)
        return module


def _compiled(kernel: Any) -> Answer:
    return {
        "ttir": kernel.asm["ttir"],
        "ptx": kernel.asm["ptx"],
        "cubin_size": len(kernel.asm["cubin"]),
        "shared": kernel.metadata.shared,
    }


def _diagnostic(error: Exception) -> str:
    """What C++ said, else what Python said. C++ may dump whole modules: its first lines are what matters."""
    sys.stderr.flush()
    said = os.pread(2, 1 << 16, 0).decode(errors="replace")
    lines = list(dict.fromkeys(line for line in said.splitlines() if "error:" in line))
    python = "".join(traceback.format_exception_only(error)).strip()
    return "\n".join(lines[:5]) or python


def _empty_diagnostics() -> None:
    os.ftruncate(2, 0)


def _take_stdout() -> TextIO:
    """The protocol's own stream; from here on fd 1 is stderr, for everyone who prints."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _raise_limits() -> None:
    """Children inherit the limits of a learner's process, and LLVM needs more than a learner does."""
    import resource

    for limit in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (hard, hard))


if __name__ == "__main__":
    main()

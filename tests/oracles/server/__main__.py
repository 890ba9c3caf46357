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


TTIR_PASSES = ("inliner", "canonicalizer", "combine", "reorder_broadcast", "cse", "symbol_dce", "loop_unroll")
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
        self.modules = 0
        self.context: Any = None
        self.handlers: dict[str, Callable[..., Answer]] = {
            "version": self.version,
            "parse": self.parse,
            "canonical": self.canonical,
            "ops": self.ops,
            "compile": self.compile,
            "written": self.written,
            "probe": self.probe,
            "launch": self.launch,
            "launch_written": self.launch_written,
            "interpret": self.interpret,
            "call": self.call,
            "disassemble": self.disassemble,
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
        return {"ops": _ops(self._after(text, passes))}

    def compile(self, text: str, capability: int, options: dict[str, Any] | None = None) -> Answer:
        """Compile TTIR down to a cubin for a GPU that need not be there."""
        self._write(text)
        target = self.target("cuda", capability, 32)
        kernel = self.triton.compile(self.file, target=target, options=options or {})
        return _compiled(kernel)

    def disassemble(self, cubin: str) -> Answer:
        """What NVIDIA's disassembler says of a cubin, given as hexadecimal digits."""
        from triton.tools.disasm import get_sass

        return {"sass": get_sass(bytes.fromhex(cubin))}

    def written(self, text: str, steps: bool, lower: bool, **question: Any) -> Answer:
        """What Triton's own front end makes of a kernel in a Python text, step by step and down to a cubin on demand.

        Why Triton refuses it is part of the answer, as data.
        """
        from tests.oracles.server import written

        try:
            with written.loaded(text, self.folder) as module:
                source, capability, options = written.source(module, **question)
                return self._made(source, capability, options, steps, lower)
        except Exception as error:
            return self._refused(error, text)

    def probe(self, question: str, arguments: list[Any]) -> Answer:
        """One of the questions whose answers are recorded (see `server.probes`)."""
        from tests.oracles.server import probes

        return {"answer": probes.ask(question, arguments)}

    def launch(self, text: str, options: dict[str, Any], signature: list[str], **arguments: Any) -> Answer:
        """Run a module on this machine's GPU (see `server.launches`)."""
        from tests.oracles.server import launches

        self._write(str(self._after(text, TTIR_PASSES)))  # which a file is taken to be beyond
        launches.run(launches.compiled(self.file, options, signature), **arguments)
        return {}

    def launch_written(
        self, text: str, arguments: str, grid: list[int], parameters: list[int | None], **question: Any
    ) -> Answer:
        """Run a kernel in a Python text, as Triton itself compiles it."""
        from tests.oracles.server import launches, written

        with written.loaded(text, self.folder) as module:
            source, _, options = written.source(module, **question)
            launches.run(launches.compiled(source, options), arguments, grid, parameters)
        return {}

    def interpret(
        self, text: str, arguments: str, grid: list[int], parameters: list[int | None], **question: Any
    ) -> Answer:
        """Run a kernel in a Python text by Triton's interpreter, which this process must have been started for."""
        from tests.oracles.server import launches, written

        with written.loaded(text, self.folder) as module:
            launches.interpret(module, arguments, grid, parameters, **question)
        return {}

    def call(self, **arguments: Any) -> Answer:
        """Call a host function of the course's kernels (see `server.hosts`)."""
        from tests.oracles.server import hosts

        hosts.call(**arguments)
        return {}

    def _write(self, text: str) -> None:
        with open(self.file, "w") as file:
            file.write(text)

    def _fresh_enough(self) -> Any:
        """The context, which has not lived through too many modules."""
        if self.modules % RENEW_CONTEXT_AFTER == 0:
            from tests.oracles.server import frontend

            self.context = frontend.new_context()
        self.modules += 1
        return self.context

    def _module(self, text: str) -> Any:
        context = self._fresh_enough()
        self._write(text)
        module = self.ir.parse_mlir_module(self.file, context)
        module.context = context
        return module

    def _made(self, source: Any, capability: int, options: dict[str, Any], steps: bool, lower: bool) -> Answer:
        from tests.oracles.server import frontend, written

        module = frontend.raw_module(source, capability, self._fresh_enough(), options)
        answer: Answer = {}
        if steps:
            answer |= {"raw": module.str_nodebug()}
        self._run(module, ("inliner",))
        if steps:
            answer |= {"inlined": module.str_nodebug(), "located": written.anonymous(str(module))}
        self._run(module, ("canonicalizer", "cse"))
        answer |= {"canonical": module.str_nodebug(), "ops": _ops(module)}
        if steps:
            self._run(module, ("canonicalizer", "combine", "reorder_broadcast", "cse", "symbol_dce", "loop_unroll"))
            answer["optimised"] = module.str_nodebug()
        if lower:
            target = self.target("cuda", capability, 32)
            answer |= _compiled(self.triton.compile(source, target=target, options=options))
        return answer

    def _refused(self, error: Exception, text: str) -> Answer:
        from tests.oracles.server import written

        refusal = written.refusal(error, text)
        return {"ok": False, **refusal, "diagnostic": written.anonymous(_said()) or refusal["diagnostic"]}

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


def _ops(module: Any) -> dict[str, int]:
    counts: Counter[str] = Counter()
    module.walk(lambda op: counts.update([op.get_name()]))
    return dict(sorted(counts.items()))


def _compiled(kernel: Any) -> Answer:
    return {
        "ttir": kernel.asm["ttir"],
        "ttgir": kernel.asm["ttgir"],
        "ptx": kernel.asm["ptx"],
        "cubin_size": len(kernel.asm["cubin"]),
        "cubin": kernel.asm["cubin"].hex(),
        "shared": kernel.metadata.shared,
    }


def _diagnostic(error: Exception) -> str:
    """What C++ said, else what Python said."""
    return _said() or "".join(traceback.format_exception_only(error)).strip()


def _said() -> str:
    """The errors that C++ reported. It may dump whole modules: its first lines are what matters."""
    sys.stderr.flush()
    said = os.pread(2, 1 << 16, 0).decode(errors="replace")
    return "\n".join(list(dict.fromkeys(line for line in said.splitlines() if "error:" in line))[:5])


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

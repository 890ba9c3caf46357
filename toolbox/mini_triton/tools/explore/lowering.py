"""Real Triton's stages, run in a separate process: Triton loads while our stages run, and may abort without harm.

The process reads a request, a line of JSON. It answers with the text of its stages, or with the reason why there is no
text.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import mini_triton
from mini_triton.backends import handoff

Texts: TypeAlias = dict[str, str]
"""The text of each stage, by name; or, under "", the reason why there is no text."""


class Lowering:
    """The process. Use it in a `with`."""

    def __enter__(self) -> Lowering:
        ours = str(Path(mini_triton.__file__).parents[1])
        path = os.pathsep.join(filter(None, [ours, os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, kernel: str, ttir: str, types: list[str], capability: int, options: dict[str, Any]) -> None:
        """Request the compilation of a module's text. `answer` waits for the result."""
        assert self.process.stdin
        request = {"kernel": kernel, "ttir": ttir, "types": types, "capability": capability, "options": options}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `answer` reports why the process has ended

    def answer(self) -> Texts:
        """Real Triton's answer to the last request."""
        output, errors = self.process.communicate()
        if self.process.returncode:
            return {"": f"real Triton stopped: {(errors.strip().splitlines() or ['no message'])[-1]}"}
        return json.loads(output.splitlines()[-1])


# --- in the process


def main() -> None:
    """Load Triton, read a request, answer it."""
    if importlib.util.find_spec("triton"):
        importlib.import_module("triton")  # while the other process makes the request
    print(json.dumps(lower(**json.loads(sys.stdin.readline()))))


def lower(kernel: str, ttir: str, types: list[str], capability: int, options: dict[str, Any]) -> Texts:
    """The text of real Triton's stages, including Triton's TTIR, which is ours after Triton's passes."""
    try:
        lowered = handoff.lower(kernel, ttir, types, capability, options)
    except Exception as error:  # real Triton raises many kinds, and a half-written compiler may raise anything
        return {"": f"{type(error).__name__}: {error}"}
    return texts_of(lowered.asm)


def texts_of(asm: Mapping[str, Any]) -> Texts:
    """The text of each stage."""
    return {stage: asm[stage] for stage in ("ttir", "ttgir", "llir", "ptx")} | {"sass": disassemble(asm["cubin"])}


def disassemble(cubin: bytes) -> str:
    """Disassembled machine code with source lines; "" if Triton came without NVIDIA's disassembler."""
    from triton import knobs

    with tempfile.TemporaryDirectory(prefix="mini-triton-") as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        try:
            command = [knobs.nvidia.nvdisasm.path, "--print-line-info", "--print-code", str(file)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, RuntimeError, subprocess.CalledProcessError):
            return ""


if __name__ == "__main__":
    main()

"""A stand-in for NVIDIA's assembler, whose machine code is known, and whose messages tests choose.

with StandIn() as assembler:
    assemble("text", "sm_90")
    assembler.runs, assembler.files()
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from unittest import mock

from mini_triton.backends.threads import assembler
from mini_triton.backends.threads.assembler import options_for

CACHE = "MINI_TRITON_CACHE_DIR"


class StandIn:
    """Replaces `run` and `version`, and gives this process an empty cache. A hook `meanwhile` is called once, when half
    of the machine code is written.
    """

    def __init__(self, said: str = "", version: str = "ptxas 12.8") -> None:
        self.said, self.version = said, version
        self.meanwhile: Callable[[], Any] | None = None
        self.runs = 0
        self.made: list[Path] = []
        self.options: list[Sequence[str]] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            stack.enter_context(mock.patch.dict(os.environ))
            stack.enter_context(mock.patch.object(assembler, "run", self.run))
            stack.enter_context(mock.patch.object(assembler, "version", lambda: self.version))
            self.use(self.folder / "cache")
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def use(self, cache: Path) -> None:
        """Set the cache's folder."""
        self.cache = cache
        os.environ[CACHE] = str(cache)

    def files(self) -> list[Path]:
        """All files in the cache's folder."""
        return sorted(path for path in self.cache.rglob("*") if path.is_file())

    def run(self, ptx: str, made: Path, *options: str) -> str:
        """Write machine code to a file, as the assembler does: step by step."""
        self.runs += 1
        self.made.append(Path(made))
        self.options.append(options)
        code = machine_code(ptx, options, self.version)
        with open(made, "wb") as file:
            file.write(code[: len(code) // 2])
            file.flush()
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile:
                meanwhile()
            file.write(code[len(code) // 2 :])
        return self.said if "--verbose" in options else ""


def machine_code(ptx: str, options: Sequence[str], version: str = "ptxas 12.8") -> bytes:
    """The stand-in's machine code."""
    return repr((ptx, tuple(options), version)).encode()


def expected(ptx: str, target: str, fused: bool = True, version: str = "ptxas 12.8") -> bytes:
    """The machine code that `assemble` must return."""
    return machine_code(ptx, options_for(target, fused), version)

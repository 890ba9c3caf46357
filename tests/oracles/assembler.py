"""NVIDIA's assembler and its cuobjdump, which reads machine code.

made = assembler.assemble(PTX, "--gpu-name=sm_90", "--verbose")
made.said, made.resources("add")["REG"]
"""

import re
from dataclasses import dataclass

from tests.oracles import triton


@dataclass(frozen=True)
class Assembled:
    """Machine code, none if the assembler refuses the text, and what the tools say about it."""

    cubin: bytes
    said: str
    dumped: str

    def resources(self, kernel: str) -> dict[str, int]:
        """The resources of a kernel by NVIDIA's names, such as "REG" and "SHARED"."""
        (line,) = re.findall(rf"Function {re.escape(kernel)}:\n(.*)", self.dumped)
        return {name: int(size) for name, size in re.findall(r"\b([A-Z]+):(\d+)", line)}


def assemble(ptx: str, *options: str) -> Assembled:
    """Run the assembler on a text."""
    request = {"do": "assembling.assemble", "text": ptx, "options": list(options)}
    (answer,) = triton.insist_on("compiler", [request], triton.COMPILE_SECONDS)
    return Assembled(bytes.fromhex(answer["cubin"]), answer["said"], answer["resources"])

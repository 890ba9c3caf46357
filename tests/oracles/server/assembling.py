"""NVIDIA's tools, which come with Triton: machine code of PTX. Tests use `tests.oracles.assembler`."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from triton import knobs


def assemble(text: str, options: list[str]) -> dict[str, Any]:
    """The machine code of a PTX text, what the assembler says, and what NVIDIA's cuobjdump says about resources.

    Without machine code, the assembler has refused the text.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text)
        command = [knobs.nvidia.ptxas.path, *options, str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return {"said": done.stderr, "cubin": "", "resources": ""}
        command = [knobs.nvidia.cuobjdump.path, "-res-usage", str(made)]
        resources = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {"said": done.stderr, "cubin": made.read_bytes().hex(), "resources": resources}

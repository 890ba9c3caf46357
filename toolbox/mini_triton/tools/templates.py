"""Templates of the C files that the ahead-of-time compiler and its linker write. (Given.)

Source: `compile.c`, `compile.h` and `link.h` in Triton's `python/triton/tools/extra/cuda/`.
"""

from __future__ import annotations

from pathlib import Path
from string import Template


def template(file: str) -> Template:
    """The template in a file of this folder."""
    return Template(Path(__file__).with_name(file).read_text(encoding="utf-8"))


HEADER = template("compile.h")
"""The header for a C program. Its comments list all arguments for the linker, including those known to be 1."""
SOURCE = template("compile.c")
"""The machine code of one kernel, and the function that launches it on the current GPU."""
LINKED_HEADER = template("link.h")
"""The header for a C program that calls a linked kernel."""
ALGORITHM = Template("CUresult $name($prototype);\nvoid load_$name(void);\nvoid unload_$name(void);")
LINKED = template("link.c")
"""The dispatchers of a linked kernel, and the choice among them."""

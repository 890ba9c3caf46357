"""Real Triton's recorded modules of the corpus's kernels, for tests of the parser and of back ends.

    modules.text(case)         # TTIR: inlined, canonical, one function, structured control flow only
    modules.texts("raw")       # a few kernels, by name, as the front end leaves them, with calls and jumps
    modules.texts("located")   # the same kernels, inlined, with source locations
    modules.texts("optimised") # the same kernels after all of Triton's passes

Triton's inliner, canonicalizer and CSE make the modules of `modules.text`. An `scf.if` replaces the jumps of a kernel
that returns early.
"""

import functools
import re
import zipfile
from pathlib import Path

from tests import oracles
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.oracles import triton
from tests.oracles.records import LEADING
from tests.support.m05_frontend.early_returns import structured

FILE = Path(__file__).parent / "records" / "corpus_modules.zip"
IN_FULL = ("add_kernel", "softmax_row", "matmul_kernel", "while_nested", "early_exits_2", "arg_reductions")
FOLDERS = re.compile(r'(?<=")/[^"]*/(?=[^"/]+")')  # the folder of the sources on a machine
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that the same texts make the same file


def text(case: Case) -> str:
    """The module of a case. Ends the test if there is none."""
    recorded = texts("canonical")
    if str(case) not in recorded:
        oracles.unavailable(f"no module of {case} is recorded")
    oracles.note("triton", f"records {LEADING}")
    return recorded[str(case)]


@functools.cache
def texts(stage: str) -> dict[str, str]:
    """All modules that are recorded at this stage, by the names of their cases."""
    with zipfile.ZipFile(FILE) as file:
        names = [name for name in file.namelist() if name.endswith(f".{stage}.ttir")]
        return {name.partition(".")[0]: file.read(name).decode() for name in names}


def write() -> list[str]:
    """Record the modules again, only with the version of Triton that the project is pinned to."""
    if triton.version() != LEADING:
        return [f"the corpus is recorded with Triton {LEADING}, but Triton {triton.version()} is installed"]
    with zipfile.ZipFile(FILE, "w") as file:
        for name, content in emit().items():
            file.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    texts.cache_clear()
    return []


def check() -> list[str]:
    """The modules that differ from the modules of the installed Triton."""
    if triton.version() != LEADING:
        return []
    current = emit()
    with zipfile.ZipFile(FILE) as file:
        recorded = {name: file.read(name).decode() for name in file.namelist()}
    return [f"module: {name}" for name in sorted({*recorded, *current}) if recorded.get(name) != current.get(name)]


def emit() -> dict[str, str]:
    """The contents that the installed Triton gives the files."""
    made = triton.frontends([case.source() for case in CASES], steps=True)
    stages = {str(case): stage for case, stage in zip(CASES, made, strict=True)}
    files = {f"{name}.canonical.ttir": _canonical(stage) for name, stage in stages.items()}
    for name in IN_FULL:
        files[f"{name}.raw.ttir"] = stages[name].raw
        files[f"{name}.located.ttir"] = FOLDERS.sub("", stages[name].located)
        files[f"{name}.optimised.ttir"] = stages[name].optimised
    return files


def _canonical(made: triton.Made) -> str:
    assert made, made.diagnostic
    passes = [*triton.COMMON_PASSES, "symbol_dce"]  # the last pass removes functions that were inlined
    return triton.canonical(structured(made.raw) if " cf." in made.canonical else made.canonical, passes)

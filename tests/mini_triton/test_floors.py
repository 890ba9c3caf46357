"""The packages of the compiler stand on floors: each imports only modules of its own floor and of the floors below."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.curriculum import ROOT

FLOORS = (
    "environment errors formats compat.aliases compat.driver compat.missing compat.substitution compat.toolbox"
    " tuning.measuring",
    "exact",
    "emulator",
    "ir",
    "analysis",
    "language",
    "transforms",
    "frontend",
    "codegen",
    "backends",
    "sanitizer",
    "runtime compat.reinterpret",
    # see runtime.back_ends
    "backends.page codegen.back_end codegen.numba_gen.back_end emulator.back_end"
    " backends.threads.assembler backends.threads.back_end backends.threads.launch backends.occupancy",
    "tuning testing",
    "fusion",
    "compat tools",
    "pytest __main__",
)
"""From the ground up. A module without an entry is on its package's floor."""
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names.split()}
FILES = {
    ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
    for root in (ROOT / "solutions/mini_triton", ROOT / "toolbox/mini_triton")
    for file in root.rglob("*.py")
    if file != root / "__init__.py"  # it loads names of all floors, on first use
}


def level(module: str) -> int:
    """The number of a module's floor."""
    while module not in LEVEL:
        module, _, _ = module.rpartition(".")
        assert module, "every module has a floor"
    return LEVEL[module]


def imported(file: Path) -> Iterator[str]:
    """The modules of this package that a file imports, in functions as well; without imports for annotations only."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name.partition(".")[2] in FILES else node.module for name in inside]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.partition(".")[2] for name in names if name.startswith("mini_triton."))


def test_imports_run_down() -> None:
    up = {(a, b) for a, file in FILES.items() for b in imported(file) if level(b) > level(a)}
    assert not up


@pytest.mark.parametrize("name", LEVEL)
def test_every_entry_is_a_module(name: str) -> None:
    assert any(f"{module}.".startswith(f"{name}.") for module in FILES)

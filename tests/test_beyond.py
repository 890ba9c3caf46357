"""The pages beyond the course are correct: their tables agree with the installed Triton and with this repository."""

import ast
import importlib.util
import re
import textwrap
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from grader.course.curriculum import ROOT

NVCC = (ROOT / "docs/triton_beside_nvcc.md").read_text(encoding="utf-8")
OURS = [ROOT / "solutions/mini_triton", ROOT / "toolbox/mini_triton"]
found = importlib.util.find_spec("triton")
THEIRS = Path(str(found.origin)).parent if found else None
needs_triton = pytest.mark.skipif(THEIRS is None, reason="Triton is not installed")


def test_the_page_quotes_the_kernel() -> None:
    page = (ROOT / "docs/where_it_goes.md").read_text(encoding="utf-8")
    (quoted,) = re.findall(r"^```python\n(?!>>>)(.*?)^```", page, re.MULTILINE | re.DOTALL)
    source = (ROOT / "toolbox/kernels/quantized.py").read_text(encoding="utf-8")
    assert textwrap.indent(quoted, " " * 8) in source


def table(name: str) -> list[list[str]]:
    """The cells of the table that a page marks with this name, without the head."""
    text = NVCC.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def code(cell: str) -> list[str]:
    """The words in backticks."""
    return re.findall(r"`([^`]+)`", cell)


ONLY = {name: row[1] for row in table("differences") for name in code(row[0])}
"""The versions of Triton that have a pass, by pass, for passes that some versions lack."""


@cache
def names(file: Path) -> set[str]:
    """What a file defines: functions, classes, methods and constants, such as `JITFunction.run`."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def check_names(cell: str, *roots: Path) -> None:
    """Every file exists and defines the names after it."""
    for part in cell.split(";"):
        file, *wanted = code(part)
        assert wanted, f"no names after {file}"
        (path,) = (root / file for root in roots if (root / file).is_file())
        missing = set(wanted) - names(path)
        assert not missing, f"{path} does not define {', '.join(sorted(missing))}"


@pytest.mark.parametrize("row", table("entry points"), ids=lambda row: row[0])
def test_entry_points_of_this_course(row: list[str]) -> None:
    check_names(row[2], *OURS)


@needs_triton
@pytest.mark.parametrize("row", table("entry points"), ids=lambda row: row[0])
def test_entry_points_of_triton(row: list[str]) -> None:
    assert THEIRS
    check_names(row[1], THEIRS)


@needs_triton
def test_the_passes_are_those_of_the_installed_triton() -> None:
    assert THEIRS
    source = (THEIRS / "backends/nvidia/compiler.py").read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    (body,) = (ast.get_source_segment(source, node) for node in functions if node.name == "make_ttgir")
    installed = re.findall(r"\.add_(\w+)\(", str(body))
    here = version("triton").rpartition(".")[0]
    assert any(here in row[1] for row in table("differences")), f"the page does not mention Triton {here}"
    listed = [code(row[0])[0] for row in table("passes")]
    expected = {name for name in {*listed, *ONLY} if here in ONLY.get(name, here)}
    assert expected == set(installed)
    common = [name for name in dict.fromkeys(installed) if name in listed]
    assert common == [name for name in listed if name in expected], "in the order in which the passes first run"


@needs_triton
@pytest.mark.parametrize("row", [row for row in table("passes") if code(row[2])], ids=lambda row: code(row[0])[0])
def test_a_pass_has_an_effect_on_its_example(row: list[str]) -> None:
    from tests.support.passes_of_triton import changed

    (function, name), (example,), here = code(row[0]), code(row[2]), version("triton").rpartition(".")[0]
    if here not in ONLY.get(function, here) or here not in (re.findall(r"\d\.\d", row[2]) or [here]):
        pytest.skip(f"Triton {here} lacks {function}, or its effect")
    kernel, target = example.split()
    assert name in changed(kernel, target), f"{name} does not change {kernel} for {target}"

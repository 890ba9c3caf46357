"""The text of a kernel at every stage, or the reason why there is none.

A half-written compiler is shown as far as it goes: whatever a stage raises is the reason why its column is empty.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from mini_triton.codegen import NumpyKernel
from mini_triton.frontend.function import KernelSource
from mini_triton.ir.core import Module
from mini_triton.ir.printer import Printer
from mini_triton.ir.verifier import verify_after
from mini_triton.runtime.pipeline import STAGES, Compilation, Stage, last_module
from mini_triton.tools.explore.lowering import Texts
from mini_triton.tools.explore.relations import Line, Place, read_mlir, read_text
from mini_triton.transforms.manager import Manager, Ran, chosen

TRITONS = {"ttir": "our module, after real Triton's passes on TTIR"}
"""Stages of real Triton's that are not in `STAGES`, and what they are."""


@dataclass
class Column:
    """A stage, as the page shows it."""

    name: str
    title: str
    about: str
    suffix: str
    lines: list[Line] = field(default_factory=list)
    reason: str = ""  # why there are no lines


@dataclass(frozen=True)
class Step:
    """The module after a pass that changed it, or before all passes; and the passes since that changed nothing."""

    name: str
    lines: list[Line]
    idle: list[Ran] = field(default_factory=list)


@dataclass
class Ours:
    """What our own compiler makes of a kernel."""

    texts: dict[str, str] = field(default_factory=dict)  # by stage
    reasons: dict[str, str] = field(default_factory=dict)  # by stage: why it has no text
    steps: list[Step] = field(default_factory=list)
    module: Module | None = None  # after the passes
    program: NumpyKernel | None = None


def run_ours(compilation: Compilation, hand_off: Callable[[str], None]) -> Ours:
    """Run our own stages. As soon as there is a module for real Triton, `hand_off` gets its text."""
    ours = Ours()
    product: Any = None
    broken = ""
    shared = [stage for stage in STAGES if not stage.device]
    for stage in [*shared, *(stage for stage in STAGES if stage.device not in ("", "gpu"))]:
        if broken:
            ours.reasons[stage.name] = f"This stage needs the result of the stage {broken}."
            continue
        given: Any = product if stage.device in ("", "cpu") else ours.texts[last_module().name]
        try:
            result = run_passes(given, ours.steps) if stage.name == "passes" else stage.run(given, compilation)
            if isinstance(result, Module):
                verify_after(stage.name, result)
            ours.texts[stage.name] = str(stage.text(result))
        except Exception as error:  # a half-written compiler may raise anything
            ours.reasons[stage.name] = f"{type(error).__name__}: {error}"
            broken = "" if stage.device else stage.name
            continue
        if not stage.device:
            product = result
        if isinstance(result, NumpyKernel):
            ours.program = result
        if stage is shared[-1]:
            ours.module = result
            hand_off(ours.texts[stage.name])
    return ours


@dataclass
class Recorder(Manager):
    """Runs passes, and keeps the module after each that changes it. A value has the same name in all of them."""

    steps: list[Step] = field(default_factory=list)
    printer: Printer = field(default_factory=lambda: Printer(locations=True))

    def keep(self, name: str) -> None:
        """Keep the module as it is now."""
        self.steps.append(Step(name, read_mlir(self.printer.operation(self.module, ""))))

    def run_pass(self, name: str) -> bool:
        before = len(self.ran)
        changed = super().run_pass(name)
        if changed:
            self.keep(name)
        else:
            self.steps[-1].idle.extend(self.ran[before:])
        return changed


def run_passes(module: Module, steps: list[Step]) -> Module:
    """Run the passes that are chosen, and add a step for each that changes the module."""
    recorder = Recorder(module, steps=steps)
    recorder.keep("the front end")
    recorder.run(chosen())
    return module


def differences(before: list[Line], after: list[Line]) -> Iterator[tuple[str, Line]]:
    """The lines of both, each once, with "-" for those that went, "+" for those that came, " " for the others."""
    old, new = ([line.text for line in lines] for lines in (before, after))
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (("-", line) for line in before[first:last])
        yield from ((" " if tag == "equal" else "+", line) for line in after[start:end])


def columns_of(ours: Ours, tritons: Texts, source: Mapping[Place, str]) -> list[Column]:
    """A column for every stage but the first, the passes and those that are not text."""
    columns: list[Column] = []
    for stage in STAGES:
        if stage.name in ("source", "passes") or not stage.form.unit:
            continue
        if stage.device == "gpu" and not any(column.name == "triton" for column in columns):
            columns.append(column_of("triton", "Triton's TTIR", TRITONS["ttir"], "ttir", tritons, "ttir", source))
        texts = tritons if stage.device == "gpu" else {**ours.texts, "": ours.reasons.get(stage.name, "")}
        columns.append(column_of(stage.name, title_of(stage), stage.adds, stage.form.suffix, texts, stage.name, source))
    return columns


def column_of(
    name: str, title: str, about: str, suffix: str, texts: Texts, stage: str, source: Mapping[Place, str]
) -> Column:
    """The column of a stage, with its text, or else the reason under ""."""
    text = texts.get(stage)
    if not text:
        return Column(name, title, about, suffix, reason=texts.get("") or "Triton's disassembler is not here.")
    return Column(name, title, about, suffix, read_text(suffix, text, source))


def title_of(stage: Stage) -> str:
    """What the page calls a stage."""
    return {"numpy": "NumPy", "numba": "Numba"}.get(stage.name, stage.name.upper())


# --- the source


@dataclass(frozen=True)
class SourceLine:
    """A line of the source column: of a function; or above it, the name of its file."""

    number: int  # 0 for a name
    text: str
    place: Place | None = None


def source_of(kernel: KernelSource, places: set[Place]) -> list[SourceLine]:
    """The kernel, then all other functions that lines come from."""
    here = (kernel.file, kernel.loc(kernel.tree).line)
    spans = {file: spans_of(file) for file in {here[0], *(file for file, _ in places)}}
    wanted: dict[tuple[str, range], None] = {}
    for file, line in [here, *sorted(places, key=lambda place: (place[0] != here[0], place))]:
        around = [span for span in spans[file] if line in span]
        if around:
            wanted.setdefault((file, min(around, key=len)))
    lines = []
    for file, span in wanted:
        texts = [linecache.getline(file, number).rstrip() for number in span]
        indent = min((len(text) - len(text.lstrip()) for text in texts if text), default=0)
        lines.append(SourceLine(0, file.replace("\\", "/").rpartition("/")[2]))
        lines += [SourceLine(n, text[indent:], (file, n)) for n, text in zip(span, texts, strict=True)]
    return lines


def spans_of(file: str) -> list[range]:
    """The lines of each function in a file, decorators included."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [
        range(min([f.lineno, *(d.lineno for d in f.decorator_list)]), (f.end_lineno or f.lineno) + 1) for f in functions
    ]

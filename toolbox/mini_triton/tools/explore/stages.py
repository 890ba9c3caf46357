"""The text of a kernel at each stage, or the reason why the text is missing.

The page also works for a half-written compiler: if a stage fails, the error is the reason why its text is missing.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from types import MappingProxyType
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


@dataclass(frozen=True)
class Column:
    """A stage, as the page shows it."""

    name: str
    title: str
    about: str
    suffix: str
    lines: list[Line]
    reason: str  # why there are no lines


@dataclass(frozen=True)
class Step:
    """The module after a pass that changed it, or before all passes; and the following passes that changed nothing."""

    name: str
    lines: list[Line]
    idle: list[Ran] = field(default_factory=list)


@dataclass
class Ours:
    """The stages of our own compiler."""

    texts: dict[str, str] = field(default_factory=dict)  # by stage
    reasons: dict[str, str] = field(default_factory=dict)  # by stage: the reason for a missing text
    steps: list[Step] = field(default_factory=list)
    error: str = ""  # why the kernel does not compile
    module: Module | None = None  # after the passes
    program: NumpyKernel | None = None


def run_ours(compilation: Compilation, hand_off: Callable[[str], None]) -> Ours:
    """Run our own stages. As soon as there is a module for real Triton, its text is passed to `hand_off`."""
    ours = Ours()
    products: dict[str, Any] = {"": None}  # of the last stage, by target
    broken: dict[str, str] = {}  # the stage that failed, by target
    for stage in (stage for stage in STAGES if stage.device != "gpu"):
        if guilty := broken.get("") or broken.get(stage.device):
            ours.reasons[stage.name] = f"This stage needs the result of the stage {guilty}."
            continue
        if stage.device not in products:
            products[stage.device] = products[""] if stage.device == "cpu" else ours.texts[last_module().name]
        given = products[stage.device]
        try:
            result = run_passes(given, ours.steps) if stage.name == "passes" else stage.run(given, compilation)
            if isinstance(result, Module):
                verify_after(stage.name, result)
            ours.texts[stage.name] = str(stage.text(result))
        except Exception as error:  # a half-written compiler may raise anything
            ours.reasons[stage.name], broken[stage.device] = f"{type(error).__name__}: {error}", stage.name
            if not stage.device:
                ours.error = ours.reasons[stage.name]
            continue
        products[stage.device] = result
        if isinstance(result, NumpyKernel):
            ours.program = result
        if stage == last_module():
            ours.module = result
            hand_off(ours.texts[stage.name])
    return ours


@dataclass
class Recorder(Manager):
    """Runs passes, and records the module after each pass that changes it. A value keeps its name in all records."""

    steps: list[Step] = field(default_factory=list)
    printer: Printer = field(default_factory=lambda: Printer(locations=True))

    def keep(self, name: str) -> None:
        """Record the current module."""
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
    """Run the chosen passes, and add a step for each pass that changes the module."""
    recorder = Recorder(module, steps=steps)
    recorder.keep("the front end")
    recorder.run(chosen())
    return module


def differences(before: list[Line], after: list[Line]) -> Iterator[tuple[str, Line]]:
    """The lines of `before` and `after`, each once, marked "-" if removed, "+" if added, " " otherwise."""
    old, new = ([line.text for line in lines] for lines in (before, after))
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (("-", line) for line in before[first:last])
        yield from ((" " if tag == "equal" else "+", line) for line in after[start:end])


def our_columns(ours: Ours, source: Mapping[Place, str]) -> Iterator[Column]:
    """A column for each of our stages except the source and the passes."""
    for stage in STAGES:
        if stage.name not in ("source", "passes") and stage.device != "gpu":
            yield column_of(stage, ours.texts.get(stage.name, ""), ours.reasons.get(stage.name, ""), source)


def tritons_columns(tritons: Texts) -> Iterator[Column]:
    """A column for each of real Triton's stages that is text."""
    reason = tritons.get("", "Triton came without NVIDIA's disassembler.")
    ttir = next(stage for stage in STAGES if stage.name == "ttir")
    column = column_of(ttir, tritons.get("ttir", ""), reason)
    yield replace(column, name="triton", title="Triton's TTIR", about="our module, after real Triton's passes on TTIR")
    for stage in STAGES:
        if stage.device == "gpu" and stage.form.unit:
            yield column_of(stage, tritons.get(stage.name, ""), reason)


def column_of(stage: Stage, text: str, reason: str, source: Mapping[Place, str] = MappingProxyType({})) -> Column:
    """The column of a stage, with its text, or the reason why the text is missing."""
    lines = read_text(stage.form.suffix, text, source)
    return Column(stage.name, title_of(stage), stage.adds, stage.form.suffix, lines, "" if text else reason)


def title_of(stage: Stage) -> str:
    """The page's name for a stage."""
    words = {"numpy": "NumPy", "numba": "Numba", "layouts": "Layouts", "our": "Our"}
    return " ".join(words.get(word, word.upper()) for word in stage.name.split("_"))


# --- the source


@dataclass(frozen=True)
class SourceLine:
    """A line of the source column: a line of a function, or the name of its file above it."""

    number: int  # 0 for a name
    text: str
    place: Place | None = None


def source_of(kernel: KernelSource, places: set[Place]) -> list[SourceLine]:
    """The kernel, then all other functions from which lines come."""
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

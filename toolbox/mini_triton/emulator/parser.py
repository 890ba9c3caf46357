"""The parser: PTX's text as a list of instructions, with symbols, labels, and the Python line of each instruction.

The parser does not know instructions. It splits `@%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1+8];` into a predicate, an
opcode with modifiers, and operands, which remain text. Scopes, as inline PTX uses them, get names of their own.
"""

from __future__ import annotations

import math
import re
from collections import ChainMap, Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from mini_triton.emulator.types import Type, type_of

Scope = ChainMap[str, str]
"""The names of registers and labels in a block in braces, each with its name in the kernel."""
SUFFIX = ""
"""The key of what a scope appends to the names that it declares."""
LIBRARY = re.compile(r"[/\\]triton[/\\](?:language|experimental)[/\\]|^(?:standard|core)\.py$")
"""Triton's own files: a finding there belongs to the line that calls it."""


class PtxError(Exception):
    """Text that the emulator cannot parse, or an instruction that it does not know."""


@dataclass(frozen=True)
class Place:
    """A line of a Python file, from `.loc`."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}:{self.line}"


@dataclass(frozen=True)
class Instruction:
    """One instruction."""

    number: int  # among the kernel's instructions
    text: str
    line: int  # in the PTX, counted from 1
    place: Place | None
    predicate: str  # "" if the instruction has none
    negated: bool
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """The opcode with its modifiers."""
        return ".".join([self.opcode, *self.modifiers])

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """The types among the modifiers, in order."""
        return tuple(map(type_of, filter(is_type, self.modifiers)))

    @property
    def type(self) -> Type:
        """The last type among the modifiers."""
        if not self.types:
            raise PtxError(f"line {self.line}: {self.text}: this instruction needs a type")
        return self.types[-1]

    def has(self, *modifiers: str) -> bool:
        """Whether it has one of these modifiers."""
        return any(modifier in self.modifiers for modifier in modifiers)

    def one_of(self, *modifiers: str) -> str:
        """The first of these modifiers that it has; "" if it has none of them."""
        return next((modifier for modifier in modifiers if modifier in self.modifiers), "")

    @property
    def space(self) -> str:
        """The memory that it accesses; "generic" if the address tells."""
        spaces = (modifier.partition("::")[0] for modifier in self.modifiers)
        return next((s for s in spaces if s in ("global", "shared", "local", "const", "param")), "generic")


@dataclass(frozen=True)
class Symbol:
    """A variable: its place in a memory, or its initial bytes."""

    space: str
    offset: int
    data: bytes = b""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: a number, or an array of bytes."""

    name: str
    type: Type
    size: int = 0  # of an array, in bytes


@dataclass
class Kernel:
    """A parsed kernel."""

    name: str
    parameters: Sequence[Parameter]
    threads: int | None  # of a CTA, if the text says it
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # the number of an instruction
    tables: dict[str, list[str]] = field(default_factory=dict)  # the labels of `.branchtargets`
    registers: dict[str, Type] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=lambda: {"shared": 0, "local": 0})  # static bytes, by memory

    @cached_property
    def mentions(self) -> Counter[str]:
        """How many instructions mention a register."""
        words = (NAME.findall(" ".join((*i.operands, i.predicate))) for i in self.instructions)
        return Counter(word for found in words for word in set(found))


COMMENT = re.compile(r"(\.loc\b[^\n]*|\"[^\"\n]*\")|/\*.*?\*/|//[^\n]*", re.S)
"""A comment; or text that stays: strings, and `.loc`, whose comments say which calls were inlined."""
ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{]*)\{")
PARAMETER = re.compile(r"\.([busf]\d+)\s.*?([\w$]+)(?:\[(\d+)\])?\s*$", re.S)
THREADS = re.compile(r"\.(?:reqntid|maxntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
CLUSTERS = re.compile(r"\.(?:explicit|req)\w*cluster")
VARIABLE = re.compile(
    r"\.(shared|local|global|const)\s+(?:\.align\s+(\d+)\s+)?\.([a-z]\d+)\s+([\w$]+)"
    r"(\[(\d*)\])?(?:\s*=\s*\{?([^};]*)\}?)?"
)
STATEMENT = re.compile(
    r"\s*(?:\.loc\b(?P<loc>[^\n]*)|\.(?:pragma|file|section)\b[^\n]*"
    r"|(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)|(?P<brace>[{}])"
    r"|\.reg\s+\.(?P<type>\w+)\s(?P<registers>[^;]*);|\.branchtargets(?P<targets>[^;]*);|\.[^;]*;"
    r"|(?P<instruction>(?:@(?P<negated>!?)(?P<predicate>[%\w$]+)\s+)?(?P<name>[^\s;{}]+)"
    r"(?P<operands>(?:[^;{}]|\{[^{};]*\})*));)"
)
REGISTERS = re.compile(r"([%\w$]+)(?:<(\d+)>)?")
NAME = re.compile(r"%?[A-Za-z_$][\w$]*(?:\.\d+)?")


def parse(text: str, name: str | None = None) -> Kernel:
    """The kernel of this name, or the first kernel. Raises `PtxError`, with the line, for what is not PTX."""
    text = COMMENT.sub(lambda comment: comment[1] or re.sub(r"[^\n]", " ", comment[0]), text)
    entry = next((entry for entry in ENTRY.finditer(text) if name in (None, entry[1])), None)
    if not entry:
        raise PtxError(f"the text has no kernel {name or ''}".rstrip())
    if CLUSTERS.search(entry[3]):
        raise PtxError(f"line {_line(text, entry.start())}: the emulator does not know clusters")
    threads = THREADS.search(entry[3])
    count = math.prod(int(n or 1) for n in threads.groups()) if threads else None
    kernel = Kernel(entry[1], [*map(_parameter, filter(str.strip, (entry[2] or "").split(",")))], count)
    end = _read_body(kernel, text, entry.end())
    variables = [*VARIABLE.finditer(text, 0, entry.start()), *VARIABLE.finditer(text, entry.end(), end)]
    for variable in sorted(variables, key=lambda v: v[5] == "[]"):  # shared memory that a launch adds is the last
        _declare(kernel, variable)
    return kernel


def _parameter(text: str) -> Parameter:
    match = PARAMETER.search(text)
    if not match:
        raise PtxError(f"the emulator does not know the parameter {text.strip()}")
    return Parameter(match[2], type_of(match[1]), int(match[3] or 0))


def _declare(kernel: Kernel, variable: re.Match[str]) -> None:
    """Give a variable a place."""
    space, alignment, element, name, brackets, length, values = variable.groups()
    size = type_of(element).width // 8
    total = size * int(length or not brackets)
    if space in ("global", "const"):
        numbers = (int(value, 0) % 256**size for value in (values or "").split(",") if value.strip())
        data = b"".join(number.to_bytes(size, "little") for number in numbers)
        kernel.symbols[name] = Symbol(space, 0, data.ljust(total, b"\0"))
    else:
        step = int(alignment or size)
        offset = -(-kernel.sizes[space] // step) * step
        kernel.symbols[name], kernel.sizes[space] = Symbol(space, offset), offset + total


def _read_body(kernel: Kernel, text: str, at: int) -> int:
    """Read labels, registers and instructions. Returns where the brace is that ends the kernel."""
    files: dict[str, str] = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M))
    place, label, scopes = None, "", 0
    scope: Scope | None = ChainMap({SUFFIX: ""})
    found: list[tuple[Scope, re.Match[str], Place | None]] = []
    while scope:
        match = STATEMENT.match(text, at)
        if not match:
            raise PtxError(f"line {_line(text, at)}: this is not PTX: {text[at : at + 60].strip()!r}")
        at = match.end()
        if match["loc"]:
            place = _place(match["loc"], files) or place
        elif match["label"]:
            label = scope[match["label"]] = match["label"] + scope[SUFFIX]
            kernel.labels[label] = len(found)
        elif match["brace"] == "{":
            scopes += 1
            scope = scope.new_child({SUFFIX: f".{scopes}"})
        elif match["brace"]:
            scope = scope.parents if scope[SUFFIX] else None
        elif match["registers"]:
            for name, count in REGISTERS.findall(match["registers"]):
                for each in [f"{name}{n}" for n in range(int(count))] if count else [name]:
                    scope[each] = each + scope[SUFFIX]
                    kernel.registers[scope[each]] = type_of(match["type"])
        elif match["targets"]:
            kernel.tables[label] = [target.strip() for target in match["targets"].split(",")]
        elif match["name"]:
            found.append((scope, match, place))
    line, last = 1, 0
    for number, (inner, match, place) in enumerate(found):  # labels may follow the branches to them
        start = match.start("instruction")
        line, last = line + text.count("\n", last, start), start
        rename = partial(NAME.sub, lambda n, names=inner: names.get(n[0], n[0])) if inner[SUFFIX] else str
        opcode, *modifiers = match["name"].split(".")
        operands = tuple(map(rename, split_operands(match["operands"])))
        words, predicate = " ".join(match["instruction"].split()), rename(match["predicate"] or "")
        kernel.instructions.append(
            Instruction(
                number, words, line, place, predicate, bool(match["negated"]), opcode, tuple(modifiers), operands
            )
        )
    return at


def split_operands(text: str) -> list[str]:
    """Operands separated by commas outside of brackets."""
    return [operand.strip() for operand in re.findall(r"(?:\[[^]]*\]|\{[^}]*\}|\([^)]*\)|[^,])+", text)]


def _place(text: str, files: dict[str, str]) -> Place | None:
    """The author's line in `2 191 40 // standard.py:191:40 @[ add.py:18:19 ]`; None for line 0."""
    number, line = text.split()[:2]
    chain = [(files.get(number, ""), line), *re.findall(r"@\[\s*([^:\s]+):(\d+)", text)]
    file, line = next((call for call in chain if not LIBRARY.search(call[0])), chain[0])
    known = next((path for path in files.values() if path.endswith(file)), file)
    return Place(known, int(line)) if int(line) else None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def is_type(word: str) -> bool:
    """Whether a modifier names a type."""
    try:
        return bool(type_of(word))
    except KeyError:
        return False

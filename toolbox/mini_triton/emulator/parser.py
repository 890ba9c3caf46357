"""The parser: PTX's text as a list of instructions, with symbols, labels, and the Python line of each instruction.

The parser does not know instructions. It splits `@%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1+8];` into a predicate, an
opcode with modifiers, and operands, which remain text. Scopes, as inline PTX uses them, get names of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mini_triton.emulator.types import Type, type_of

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


@dataclass
class Scope:
    """A block in braces, with the registers and labels declared in it."""

    number: int
    parent: Scope | None
    names: set[str] = field(default_factory=set)

    def rename(self, name: str) -> str:
        """The name of a register or label, unique in the kernel."""
        scope: Scope | None = self
        while scope and scope.number and name not in scope.names:
            scope = scope.parent
        return f"{name}.{scope.number}" if scope and scope.number else name


@dataclass(frozen=True)
class Symbol:
    """A variable: its place in a memory, or its initial bytes."""

    space: str
    offset: int
    size: int
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
    target: str
    text: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # the number of an instruction
    tables: dict[str, list[str]] = field(default_factory=dict)  # the labels of `.branchtargets`
    registers: dict[str, Type] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=lambda: {"shared": 0, "local": 0})  # static bytes, by memory
    dynamic: str = ""  # the symbol of the shared memory whose size a launch chooses

    @cached_property
    def mentions(self) -> Counter[str]:
        """How many instructions mention a register."""
        words = (NAME.findall(" ".join((*i.operands, i.predicate))) for i in self.instructions)
        return Counter(word for found in words for word in set(found))


ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{]*)\{")
STATEMENT = re.compile(
    r"\s*(?:(?P<line>\.(?:loc|pragma|file|section)\b[^\n]*)|(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)|(?P<brace>[{}])"
    r"|(?P<statement>(?:[^;{}]|\{[^{};]*\})+);)"
)
VARIABLE = re.compile(
    r"\.(shared|local|global|const)\s+(?:\.align\s+(\d+)\s+)?\.([a-z]\d+)\s+([\w$]+)"
    r"(\[(\d*)\])?(?:\s*=\s*\{?([^}]*)\}?)?"
)
CLUSTERS = re.compile(r"\.(?:explicit|req)\w*cluster")
NAME = re.compile(r"%?[A-Za-z_$][\w$]*(?:\.\d+)?")


def parse(text: str, name: str | None = None) -> Kernel:
    """The kernel of this name, or the first kernel. Raises `PtxError`, with the line, for what is not PTX."""
    clean = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), text, flags=re.S)
    files = {number: path for number, path in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', clean, re.M)}
    entries = [entry for entry in ENTRY.finditer(clean) if name in (None, entry[1])]
    if not entries:
        raise PtxError(f"the text has no kernel {name or ''}".rstrip())
    entry = entries[0]
    if CLUSTERS.search(entry[3]):
        raise PtxError(f"line {_line(clean, entry.start())}: the emulator does not know clusters")
    threads = re.search(r"\.(?:reqntid|maxntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", entry[3])
    count = int(threads[1]) * int(threads[2] or 1) * int(threads[3] or 1) if threads else None
    target = re.search(r"\.target\s+(\w+)", clean)
    kernel = Kernel(entry[1], list(_parameters(entry[2] or "")), count, target[1] if target else "", text)
    for variable in VARIABLE.finditer(re.sub(r"//[^\n]*", "", clean[: entries[0].start()])):
        _declare(kernel, variable)
    _read_body(kernel, clean, entry.end(), files)
    return kernel


def _parameters(text: str) -> Iterator[Parameter]:
    for parameter in filter(str.strip, re.sub(r"//[^\n]*", "", text).split(",")):
        match = re.search(r"\.([busf]\d+)\s.*?([\w$]+)(?:\[(\d+)\])?\s*$", parameter, re.S)
        if not match:
            raise PtxError(f"the emulator does not know the parameter {parameter.strip()}")
        yield Parameter(match[2], type_of(match[1]), int(match[3] or 0))


def _declare(kernel: Kernel, variable: re.Match[str]) -> None:
    """Give a variable a place."""
    space, alignment, element, name, brackets, length, values = variable.groups()
    size = type_of(element).width // 8
    if values:
        numbers = [int(value, 0) % 256**size for value in values.split(",") if value.strip()]
        data = b"".join(number.to_bytes(size, "little") for number in numbers)
        kernel.symbols[name] = Symbol(space, 0, len(data), data.ljust(int(length or 1) * size, b"\0"))
        return
    if brackets and not length:
        kernel.dynamic = name
        return
    used, step = kernel.sizes.get(space, 0), int(alignment or size)
    offset = -(-used // step) * step
    total = size * int(length or 1)
    kernel.symbols[name] = Symbol(space, offset, total, bytes(total) if space in ("global", "const") else b"")
    kernel.sizes[space] = offset + total


def _read_body(kernel: Kernel, text: str, at: int, files: dict[str, str]) -> None:
    """Read declarations and instructions up to the brace that ends the kernel."""
    scopes = [Scope(0, None)]
    scope: Scope | None = scopes[0]
    found: list[tuple[Scope, re.Match[str], Place | None]] = []
    place, label = None, ""
    body = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), text)
    while scope:
        match = STATEMENT.match(body, at)
        if not match:
            raise PtxError(f"line {_line(text, at)}: this is not PTX: {text[at : at + 60].strip()!r}")
        at = match.end()
        if match["line"]:
            whole = text[match.start("line") : text.find("\n", match.start("line"))]
            place = _place(whole, files) or place
        elif match["label"]:
            label = match["label"]
            scope.names.add(label)
            kernel.labels[scope.rename(label)] = len(found)
        elif match["brace"] == "{":
            scopes.append(Scope(len(scopes), scope))
            scope = scopes[-1]
        elif match["brace"]:
            scope = scope.parent
        elif (words := match["statement"].strip()).startswith(".reg"):
            _declare_registers(kernel, scope, words)
        elif words.startswith(".branchtargets"):
            kernel.tables[label] = [target.strip() for target in words.split(None, 1)[1].split(",")]
        elif variable := VARIABLE.match(words):
            _declare(kernel, variable)
        elif not words.startswith("."):
            found.append((scope, match, place))
    line, last = 1, 0
    for scope, match, place in found:  # labels may follow the branches to them
        start = match.start("statement") + len(match["statement"]) - len(match["statement"].lstrip())
        line, last = line + text.count("\n", last, start), start
        kernel.instructions.append(_instruction(scope, match, line, place))
    if kernel.dynamic:
        kernel.symbols[kernel.dynamic] = Symbol("shared", -(-kernel.sizes["shared"] // 16) * 16, 0)


def _declare_registers(kernel: Kernel, scope: Scope, words: str) -> None:
    type, names = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", words, re.S).groups()  # type: ignore[union-attr]
    for name in re.split(r"\s*,\s*", names.strip()):
        name, _, count = name.partition("<")
        for each in [name + str(n) for n in range(int(count.rstrip("> ")))] if count else [name]:
            scope.names.add(each)
            kernel.registers[scope.rename(each)] = type_of(type)


def _instruction(scope: Scope, match: re.Match[str], line: int, place: Place | None) -> Instruction:
    text = " ".join(match["statement"].split())
    guard, negated, predicate, words = re.fullmatch(r"(@(!?)([%\w$]+)\s+)?(.*)", text).groups()  # type: ignore
    opcode, _, operands = words.partition(" ")
    rename = (lambda operand: NAME.sub(lambda n: scope.rename(n[0]), operand)) if scope.number else str
    name, *modifiers = opcode.split(".")
    split = tuple(rename(operand) for operand in split_operands(operands))
    guard = rename(predicate) if guard else ""
    return Instruction(text, line, place, guard, bool(negated), name, tuple(modifiers), split)


def split_operands(text: str) -> list[str]:
    """Operands separated by commas outside of brackets."""
    return [operand.strip() for operand in re.findall(r"(?:\[[^]]*\]|\{[^}]*\}|\([^)]*\)|[^,])+", text)]


def _place(text: str, files: dict[str, str]) -> Place | None:
    """The author's line in `.loc 2 191 40 // standard.py:191:40 @[ add.py:18:19 ]`; None for line 0."""
    match = re.match(r"\.loc\s+(\d+)\s+(\d+)", text)
    if not match:
        return None
    path = files.get(match[1], "")
    chain = [(path, match[2]), *re.findall(r"@\[\s*([^:\s]+):(\d+)", text)]
    own = [(file, line) for file, line in chain if not LIBRARY.search(file)]
    file, line = own[0] if own else chain[0]
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

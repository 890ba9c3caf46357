"""A kernel of the corpus: its file, its arguments, its constants, and a launch of it.

A launch is written as text: `[name = ]file.kernel[grid](arguments; constants)`, whose further lines are indented. Its
arguments are `out x: *fp32[1000], n: i32 = 1000, p: fp32 = 0.5, ids: *i32[8] = below 100`.

    *fp32[1000]         a buffer of 1000 random numbers; the length may be an expression
    = zeros, ones       a buffer of zeros, or of ones
    = below 100         a buffer of random integers from 0 to 99
    = ascending         a buffer of random numbers in order
    = bits              a buffer of random bits
    = 3 1 4             a buffer of these numbers, repeated
    = addresses a b     a buffer of the addresses of other buffers
    i32:16 = 1008       a number that the compiler takes for a multiple of 16, as it takes all pointers

Constants are `BLOCK=64, KIND='gelu', DTYPE=tl.float16`: a value that is not a literal is code of the kernel's file.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.oracles.triton import Code, Source

KERNELS = Path(__file__).parent / "kernels"
TARGETS = ("sm_80", "sm_90")
_LAUNCH = re.compile(r"(?:(\w+) = )?(\w+)\.(\w+)\[(.+?)\]\((.+?)(?:; (.+))?\)")
_GROUP = re.compile(
    r"(?P<names>[\w ]+): (?P<type>\*?\w+)(?P<divisible>:16)?(?:\[(?P<length>[^]]+)\])?(?: = (?P<value>.+))?"
)


@dataclass(frozen=True)
class Argument:
    """A parameter that is not a constant: a number with a value, or a buffer with a length and a filling.

    A buffer need not be a parameter: another buffer may hold its address.
    """

    name: str
    type: str  # in the spelling of signatures
    divisible: bool
    length: int | None = None
    value: str = ""

    @property
    def number(self) -> int | float:
        """The argument's value, if it is a number."""
        return float(self.value) if self.type.startswith(("fp", "bf")) else int(self.value)


@dataclass(frozen=True, eq=False)
class Case:
    """A specialized kernel, and a launch of it."""

    name: str  # differs between specializations of one kernel
    path: Path
    kernel: str
    grid: Sequence[int]
    arguments: Sequence[Argument]
    constexprs: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name

    @property
    def is_here(self) -> bool:
        """Whether its kernel exists."""
        return bool(re.search(rf"^def {self.kernel}\(", self.path.read_text(encoding="utf-8"), re.MULTILINE))

    @cached_property
    def parameters(self) -> list[str]:
        """The names of all parameters, in order."""
        text = self.path.read_text(encoding="utf-8")
        match = re.search(rf"^def {self.kernel}\((.*?)\):", text, re.MULTILINE | re.DOTALL)
        assert match, f"no kernel {self.kernel}"
        return re.findall(r"(?:^|,)\s*(\w+)", match[1])

    def source(self, target: str = "sm_90") -> Source:
        """The kernel's source and specialization, for a compiler."""
        known = {argument.name: argument.type for argument in self.arguments}
        known |= dict.fromkeys(self.constexprs, "constexpr")
        signature = {name: known[name] for name in self.parameters if name in known}
        divisible = [argument.name for argument in self.arguments if argument.divisible and argument.name in signature]
        text = self.path.read_text(encoding="utf-8")
        return Source(text, self.kernel, signature, self.constexprs, divisible, target)


def listed(launches: str) -> tuple[Case, ...]:
    """The cases that are written in a text."""
    return tuple(_case(line) for line in re.sub(r"\n +", " ", launches).splitlines() if line)


def make_case(
    file: str, kernel: str, arguments: str, constants: Mapping[str, Any], grid: Sequence[int] = (1,), suffix: str = ""
) -> Case:
    """One case, whose name ends in a suffix."""
    name = f"{kernel}{suffix}".replace("-", "minus_")
    values = ", ".join(f"{constant}={value!r}" for constant, value in constants.items())
    (found,) = listed(f"{name} = {file}.{kernel}[{', '.join(map(str, grid))}]({arguments}; {values})")
    return found


def _case(line: str) -> Case:
    match = _LAUNCH.fullmatch(line)
    assert match, f"this is not a launch: {line}"
    name, file, kernel, grid, arguments, constants = match.groups()
    call = ast.parse(f"f({constants or ''})", mode="eval").body
    assert isinstance(call, ast.Call)
    constexprs = {str(keyword.arg): _constant(keyword.value) for keyword in call.keywords}
    given = tuple(argument for group in arguments.split(", ") for argument in _arguments(group))
    return Case(name or kernel, KERNELS / f"{file}.py", kernel, [*map(int, grid.split(", "))], given, constexprs)


def _constant(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return Code(ast.unparse(value))


def _arguments(group: str) -> list[Argument]:
    match = _GROUP.fullmatch(group)
    assert match, f"this is not an argument: {group}"
    pointer = match["type"].startswith("*")
    length = eval(match["length"]) if match["length"] else None
    assert pointer == (length is not None), f"a buffer has a length, and a number has no length: {group}"
    return [
        Argument(name, match["type"], pointer or bool(match["divisible"]), length, match["value"] or "")
        for name in match["names"].split()
    ]

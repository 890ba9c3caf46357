"""TTIR as real Triton prints it, read into lines: operands, results and nesting.

Text may use a name again once its first owner is out of sight; here every value has a name of its own.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Shape = tuple[int, ...]

VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
TENSOR = re.compile(r"tensor<((?:\d+x)+)((?:!tt\.ptr<\w+>|\w+))>")
_BOUND = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)")  # an argument of a region, and what it starts as
_RESULTS = re.compile(r"(%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*) = (.*)")
_POLICY = re.compile(r" \{cachePolicy = #tt\.cache_policy<cache_modifier = (\w+), eviction_policy = (\w+)>\}")


@dataclass(frozen=True, eq=False)
class Line:
    """One operation as text: its name, the values it makes and uses, and what is inside of it."""

    text: str
    name: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    regions: "tuple[Region, ...]" = ()

    @property
    def types(self) -> list[Shape]:
        """The shapes of all tensor types in the text, in order."""
        return [tuple(map(int, dims.split("x")[:-1])) for dims, _ in TENSOR.findall(self.text)]

    @property
    def shape(self) -> Shape:
        """The shape of the results; where they differ, of the last."""
        arrow = "->" if "->" in self.text else " : "
        found = TENSOR.findall(self.text.rpartition(arrow)[2])
        return tuple(map(int, found[-1][0].split("x")[:-1])) if found else ()


@dataclass(eq=False)
class Region:
    """The arguments of a region's only block, and its lines."""

    arguments: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def parse(text: str) -> tuple[str, tuple[Line, ...]]:
    """The header of the module's function and its lines. Spellings that differ between versions become the same."""
    text = _POLICY.sub(_hint, text.replace("ttg.barrier all", "gpu.barrier"))
    lines = iter([line.strip() for line in text.splitlines() if line.strip()])
    header = next(line for line in lines if line.startswith("tt.func"))
    names = {name: name for name in VALUE.findall(header)}
    region, _ = _region(lines, names, [], itertools.count())
    return header, tuple(region.lines)


def _hint(policy: re.Match[str]) -> str:
    """The cache policy of an access in words, as Triton prints it up to 3.8."""
    cache, evict = policy.groups()
    return f" cacheModifier = {cache}" if cache != "none" else f" evictionPolicy = {evict}"


def parameters(header: str) -> list[str]:
    """Type and attributes of each parameter."""
    return re.findall(r"%\w+: ((?:!tt\.ptr<\w+>|[\w<>]+)(?: \{[^}]*\})?)", header)


def _region(
    lines: Iterator[str], names: dict[str, str], arguments: list[str], fresh: Iterator[int]
) -> tuple[Region, str]:
    """A region up to the line that closes it, and that line."""
    names = dict(names)
    region = Region(_defined(arguments, names, fresh))
    for text in lines:
        if text.startswith("}"):
            return region, text
        if text.startswith("^"):
            assert not region.lines, f"several blocks in one region: {text}"
            region.arguments += _defined(VALUE.findall(text), names, fresh)
        else:
            region.lines.append(_line(text, lines, names, fresh))
    return region, ""


def _line(text: str, lines: Iterator[str], names: dict[str, str], fresh: Iterator[int]) -> Line:
    made, rest = match.groups() if (match := _RESULTS.fullmatch(text)) else ("", text)
    arguments = [argument for argument, _ in _BOUND.findall(rest)]
    operands = tuple(names[name] for name in VALUE.findall(_BOUND.sub(r"\2", rest)))
    regions: list[Region] = []
    end = text
    while end.endswith("{"):
        region, end = _region(lines, names, [] if regions else arguments, fresh)
        regions.append(region)
    if regions:
        text = f"{text} {end.lstrip('})')}".strip()  # what comes after a region: types, attributes
    name = re.match(r'"?([\w.]+)', rest)[1]  # type: ignore[index]
    return Line(text, name, tuple(_defined(_spread(made), names, fresh)), operands, tuple(regions))


def _defined(made: list[str], names: dict[str, str], fresh: Iterator[int]) -> list[str]:
    """New, unique names for the values that are defined in the text."""
    for name in made:
        names[name] = f"{name}@{next(fresh)}"
    return [names[name] for name in made]


def _spread(made: str) -> list[str]:
    """`%3:2, %4` as the names by which results are used: `%3#0`, `%3#1`, `%4`."""
    names = []
    for result in filter(None, made.split(", ")):
        name, _, count = result.partition(":")
        names += [f"{name}#{i}" for i in range(int(count))] if count else [name]
    return names

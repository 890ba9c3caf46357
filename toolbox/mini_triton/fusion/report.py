"""A report of what was fused, as text, and as a picture with a box for each kernel. (Given.)"""

from __future__ import annotations

from html import escape

from mini_triton.fusion.grouping import Group
from mini_triton.fusion.program import CompiledGraph
from mini_triton.fusion.tensors import Called, Tensor

WIDTH, LINE, GAP = 260, 16, 36


def describe(program: CompiledGraph) -> str:
    """A line for each kernel and for each call, in order."""
    lines = []
    kernels = iter(program.kernels)
    for group in program.groups:
        first = group.members[0]
        if isinstance(first, Called):
            lines.append(f"  PyTorch: {first.call.target}: {first.reason}")
        else:
            names = ", ".join(tensor.name for tensor in group.members)
            lines.append(f"  {next(kernels).name}: {names} ({group.bytes:,} bytes)")
    calls = sum(group.is_call for group in program.groups)
    count = len(program.kernels)
    moved = f"{count} {'kernel moves' if count == 1 else 'kernels move'} {program.bytes:,} bytes"
    title = f"{moved}; calls to PyTorch: {calls}"
    return "\n".join([title, *lines])


def draw(program: CompiledGraph) -> str:
    """The graph as SVG: a box for each kernel, which lists its tensors, and a dashed box for each call."""
    sources = {group: program.sources(group) for group in program.groups}
    depth: dict[Group, int] = {}
    for group in program.groups:
        depth[group] = max((depth[source] + 1 for source in sources[group]), default=0)
    places: dict[Group, tuple[int, int, int]] = {}
    bottom = 0
    for level in range(max(depth.values(), default=0) + 1):
        row = [group for group in program.groups if depth[group] == level]
        height = max(2 + len(group.members) for group in row) * LINE
        for number, group in enumerate(row):
            places[group] = number * (WIDTH + GAP), bottom, (2 + len(group.members)) * LINE
        bottom += height + GAP
    width = max((x + WIDTH for x, _, _ in places.values()), default=WIDTH)
    parts = [_arrow(places[source], places[group]) for group in places for source in sources[group]]
    parts += [_box(group, *place) for group, place in places.items()]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 {width + 16} {bottom}" font-family="monospace"'
    style = "<style>text{font-size:12px;fill:currentColor}rect,path{stroke:currentColor;fill:none}</style>"
    return "\n".join([f"{head}>", style, *parts, "</svg>"])


def _arrow(start: tuple[int, int, int], end: tuple[int, int, int]) -> str:
    x, y, height = start
    return f'<path d="M{x + WIDTH // 2} {y + height} L{end[0] + WIDTH // 2} {end[1]}" opacity="0.4"/>'


def _box(group: Group, x: int, y: int, height: int) -> str:
    dashes = ' stroke-dasharray="4"' if group.is_call else ""
    box = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="6"{dashes}/>'
    title = "PyTorch" if group.is_call else f"{group.bytes:,} bytes"
    lines = [title, *(_line(tensor) + " (stored)" * (tensor in group.stored) for tensor in group.members)]
    places = [(x + 10, y + LINE * (number + 1) + 4) for number in range(len(lines))]
    texts = [f'<text x="{x}" y="{y}">{escape(line)}</text>' for (x, y), line in zip(places, lines, strict=True)]
    return "\n".join([box, *texts])


def _line(tensor: Tensor) -> str:
    return f"{tensor.name}: {', '.join(map(str, tensor.shape)) or 'one'}"

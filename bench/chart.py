"""Times as dots on a logarithmic axis, or ratios as bars, in SVG: one row a workload. Needs no library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

COLORS = ("#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df")
LETTER, GAP, WIDTH, ROW, TOP, RIGHT = 7, 12, 620, 22, 44, 24
"""Sizes in pixels. A letter of a wide font, such as DejaVu Sans, has this average width."""
LONGEST = 3.0
"""Bars that would be longer end there, with an arrow."""
DARK = {
    "#ffffff": "#0d1117",
    "#1f2328": "#f0f6fc",
    "#57606a": "#9198a1",
    "#0969da": "#79c0ff",
    "#cf222e": "#ff8182",
    "#1a7f37": "#56d364",
    "#9a6700": "#e3b341",
    "#8250df": "#d2a8ff",
}
"""In dark mode, the color for each; grid lines stay."""
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def dots(rows: Mapping[str, Mapping[str, float]]) -> str:
    """The picture of `{"softmax 128x1024": {"ours": 0.0003, ...}, ...}`, in seconds; sorted by the first series."""
    everyone = list(dict.fromkeys(who for times in rows.values() for who in times))
    rows = dict(sorted(rows.items(), key=lambda row: row[1][everyone[0]]))
    colors = dict(zip(everyone, COLORS, strict=False))
    exponents = [math.log10(seconds) for times in rows.values() for seconds in times.values()]
    low, high = math.floor(min(exponents)), math.ceil(max(exponents))
    left, bottom = width_of(rows), TOP + ROW * len(rows)

    def x(seconds: float) -> str:
        return f"{left + WIDTH * (math.log10(seconds) - low) / (high - low):.1f}"

    lines = [text(left + 150 * i, 18, f"● {who}", fill=colors[who]) for i, who in enumerate(everyone)]
    for exponent in range(low, high + 1):
        place = x(10.0**exponent)
        lines.append(f'<path d="M{place} {TOP - 12}V{bottom}" stroke="#d8dee4"/>')
        lines.append(text(place, bottom + 18, label(exponent), anchor="middle", fill="#57606a"))
    for number, (name, times) in enumerate(rows.items()):
        y = TOP + ROW * number
        lines.append(text(left - GAP, y + 4, name, anchor="end"))
        lines.append(f'<path d="M{x(min(times.values()))} {y}H{x(max(times.values()))}" stroke="#d0d7de"/>')
        for who, seconds in times.items():
            title = f"<title>{escape(name)}, {escape(who)}: {seconds * 1e3:.3g} ms</title>"
            lines.append(f'<circle cx="{x(seconds)}" cy="{y}" r="5" fill="{colors[who]}">{title}</circle>')
    swapped = "".join(f'[fill="{light}"]{{fill:{dark}}}' for light, dark in DARK.items())
    grid = "path{stroke-opacity:.25}"
    style = f"<style>@media (prefers-color-scheme:dark){{{swapped}{grid}}}</style>"
    return picture([style, *lines], left, bottom, "#ffffff")


def bars(ratios: Mapping[str, float], title: str, dark: bool = False) -> str:
    """The picture of `{"softmax 128x1024": 1.3, ...}`: bars, and a line where both are equally fast."""
    ink, pale, ground = ("#e6edf3", "#8b949e", "#0d1117") if dark else ("#1f2328", "#57606a", "#ffffff")
    most = math.ceil(min(max(*ratios.values(), 2.0), LONGEST) * 2) / 2
    left, bottom = width_of(ratios), TOP + ROW * len(ratios)
    unit = WIDTH / most
    lines = [text(left, 20, title, fill=ink)]
    for number in range(int(most * 2) + 1):
        lines.append(
            text(f"{left + unit * number / 2:.1f}", bottom + 14, f"{number / 2:g}", anchor="middle", fill=pale)
        )
    for number, (name, ratio) in enumerate(ratios.items()):
        y, length = TOP + ROW * number, unit * min(ratio, most)
        color = "#1a7f37" if ratio >= 1 else "#9a6700"
        lines.append(text(left - GAP, y + 4, name, anchor="end", fill=ink))
        lines.append(f'<rect x="{left}" y="{y - 8}" width="{length:.1f}" height="16" rx="2" fill="{color}"/>')
        if ratio > most:
            lines.append(text(f"{left + length - 6:.1f}", y + 4, f"{ratio:.2f} ▸", "end", "#ffffff"))
        else:
            lines.append(text(f"{left + length + 6:.1f}", y + 4, f"{ratio:.2f}", fill=ink))
    lines.append(f'<path d="M{left + unit:.1f} {TOP - 14}V{bottom - 4}" stroke="{ink}" stroke-dasharray="3 3"/>')
    return picture(lines, left, bottom, ground)


def width_of(names: Iterable[str]) -> int:
    """The width of the column of names, with a gap on both sides."""
    return max(map(len, names)) * LETTER + 2 * GAP


def picture(lines: Sequence[str], left: int, bottom: float, ground: str) -> str:
    """A whole picture of these lines; the axes begin at `left`."""
    size = left + WIDTH + RIGHT, bottom + 30
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
            'font-family="DejaVu Sans, sans-serif" font-size="12">',
            f'<rect width="100%" height="100%" fill="{ground}"/>',
            *lines,
            "</svg>\n",
        ]
    )


def text(x: float | str, y: float, words: str, anchor: str = "start", fill: str = "#1f2328") -> str:
    """Words that begin, end, or have their middle, at a place."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


def label(exponent: int) -> str:
    """A power of ten seconds: "10 ms"."""
    value, unit = next((unit for unit in UNITS if exponent >= round(math.log10(unit[0]))), UNITS[-1])
    return f"{10.0**exponent / value:g} {unit}"

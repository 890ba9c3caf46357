"""A small pen for SVG: boxes, arrows, cells and text, in light colors that browsers replace in dark mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

WIDTH = 440  # of every drawing, in its own units: text of size 13 stays legible on a phone of 390 pixels

LIGHT = {
    "ink": "#1f2328",
    "muted": "#59636e",
    "rule": "#8c959f",
    "paper": "#ffffff",
    "faint": "#eff2f5",
    "blue": "#0550ae",
    "blue-soft": "#c8e1ff",
    "orange": "#953800",
    "orange-soft": "#ffdfb6",
    "green": "#116329",
    "green-soft": "#b4f1b4",
    "purple": "#6639ba",
    "purple-soft": "#e6d5ff",
}
DARK = {
    "ink": "#f0f6fc",
    "muted": "#9198a1",
    "rule": "#6e7681",
    "paper": "#0d1117",
    "faint": "#21262d",
    "blue": "#a5d6ff",
    "blue-soft": "#0c4a8a",
    "orange": "#ffc680",
    "orange-soft": "#6e3b06",
    "green": "#aff5b4",
    "green-soft": "#12592a",
    "purple": "#d8b9ff",
    "purple-soft": "#4c2889",
}

FIGURES: dict[str, Callable[[], Drawing]] = {}
"""What draws each figure, by the name of its file."""


def figure(draw: Callable[[], Drawing]) -> Callable[[], Drawing]:
    """Declare a figure; its name is that of the function."""
    FIGURES[draw.__name__] = draw
    return draw


class Drawing:
    """One figure: shapes and text, from the upper left corner."""

    def __init__(self, height: float, alt: str, width: float = WIDTH) -> None:
        self.height = height
        self.width = width
        self.alt = alt
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: str = "ink",
        size: float = 13,
        anchor: str = "start",
        mono: bool = False,
        bold: bool = False,
    ) -> None:
        """One line of text, whose baseline is at y."""
        style = f'x="{x:g}" y="{y:g}" fill="{LIGHT[color]}" font-size="{size:g}" text-anchor="{anchor}"'
        style += ' class="mono"' * mono + ' font-weight="600"' * bold
        self.parts.append(f'<text {style} xml:space="preserve">{escape(text)}</text>')

    def lines(self, x: float, y: float, lines: Iterable[str], step: float = 18, **style: object) -> None:
        """Lines of text, one below the other."""
        for number, line in enumerate(lines):
            self.text(x, y + number * step, line, **style)  # type: ignore[arg-type]

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = "faint",
        stroke: str = "rule",
        dashed: bool = False,
        radius: float = 5,
    ) -> None:
        """A rectangle."""
        dashes = ' stroke-dasharray="4 3"' * dashed
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'fill="{_color(fill)}" stroke="{_color(stroke)}"{dashes}/>'
        )

    def label(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: str,
        fill: str = "faint",
        color: str = "ink",
        mono: bool = False,
        size: float = 13,
        **style: object,
    ) -> None:
        """A box with a line of text in its middle."""
        self.box(x, y, width, height, fill, **style)  # type: ignore[arg-type]
        self.text(x + width / 2, y + height / 2 + size * 0.36, text, color, size, "middle", mono)

    def arrow(self, *points: tuple[float, float], color: str = "rule", dashed: bool = False) -> None:
        """A line through these points, with a head at its end."""
        self.line(*points, color=color, dashed=dashed, head=True)

    def line(
        self,
        *points: tuple[float, float],
        color: str = "rule",
        dashed: bool = False,
        head: bool = False,
        width: float = 1.5,
    ) -> None:
        """A line through these points."""
        path = " ".join(f"{'M' if number == 0 else 'L'}{x:g} {y:g}" for number, (x, y) in enumerate(points))
        dashes = ' stroke-dasharray="4 3"' * dashed
        self.parts.append(f'<path d="{path}" fill="none" stroke="{LIGHT[color]}" stroke-width="{width:g}"{dashes}/>')
        if head:
            (x0, y0), (x, y) = points[-2:]
            length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5 or 1.0
            dx, dy = (x - x0) / length * 8, (y - y0) / length * 8
            corners = f"{x:g} {y:g}L{x - dx - dy / 2:g} {y - dy + dx / 2:g}L{x - dx + dy / 2:g} {y - dy - dx / 2:g}Z"
            self.parts.append(f'<path d="M{corners}" fill="{LIGHT[color]}"/>')

    def dot(self, x: float, y: float, color: str) -> None:
        """A filled circle."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{LIGHT[color]}"/>')

    def cells(
        self,
        x: float,
        y: float,
        texts: Sequence[Sequence[object]],
        fills: Callable[[int, int], str],
        width: float = 26,
        height: float = 24,
        size: float = 12,
    ) -> None:
        """A table of small boxes: `fills(row, column)` is the color of each."""
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                fill = fills(i, j)
                left, top = x + j * width, y + i * height
                self.box(left, top, width, height, fill, "paper", radius=2)
                color = fill.removesuffix("-soft") if fill.endswith("-soft") else "muted"
                if text != "":
                    self.text(left + width / 2, top + height / 2 + size * 0.36, str(text), color, size, "middle", True)

    @property
    def svg(self) -> str:
        """The whole file."""
        size = f'width="{self.width * 1.3:g}" height="{self.height * 1.3:g}"'
        box = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} {size} role="img" aria-label="{escape(self.alt)}">'
        paper = f'<rect width="{self.width:g}" height="{self.height:g}" rx="8" fill="{LIGHT["paper"]}"/>'
        body = "\n".join([paper, *self.parts])
        swapped = "".join(
            f"[{light}]{{{paint}:{DARK[name]}}}"
            for paint in ("fill", "stroke")
            for name in LIGHT
            if (light := f'{paint}="{LIGHT[name]}"') in body
        )
        style = (
            f"<style>@media (prefers-color-scheme:dark){{{swapped}}}"
            'text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}'
            '.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}</style>'
        )
        return "\n".join([head, style, body, "</svg>", ""])


def _color(name: str) -> str:
    return name if name == "none" else LIGHT[name]

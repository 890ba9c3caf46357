"""Figures of milestone 13: who holds what, and how threads exchange elements."""

from __future__ import annotations

from docs.figures.drawing import Drawing, figure


@figure
def scan_steps() -> Drawing:
    """A scan over lanes: each lane takes what an earlier lane has, from distances 1, 2 and 4."""
    d = Drawing(258, "Eight lanes take parts from lanes at distances 1, 2 and 4; then each has all up to itself")
    x = [64 + 50 * lane for lane in range(8)]
    for step, name in enumerate(("has", "1", "2", "4")):
        y, before, distance = 44 + 58 * step, (1 << step) // 2, 1 << step
        d.text(8, y + 4, name, "muted", 12)
        for lane in range(8):
            first = max(0, lane - distance + 1)
            text = "abcdefgh"[first : lane + 1] if lane - first < 4 else f"{'abcdefgh'[first]}…{'abcdefgh'[lane]}"
            color = "green" if first == 0 else "blue"
            d.label(x[lane] - 21, y - 12, 42, 24, text, f"{color}-soft", color, mono=True, size=12)
            if step:
                d.line((x[lane], y - 46), (x[lane], y - 12))
                if lane >= before:
                    d.line((x[lane - before], y - 46), (x[lane], y - 12), color="orange")
    for lane in range(8):
        d.text(x[lane], 22, f"lane {lane}", "ink", 11, "middle", True)
    d.text(64, 252, "orange: shfl.sync.up by 1, 2, 4; green: all up to the lane", "orange", 12)
    return d

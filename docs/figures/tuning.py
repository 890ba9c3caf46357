"""Figures of milestone 11: the queue of a GPU, and the roof of a kernel."""

from __future__ import annotations

import math

from docs.figures.drawing import Drawing, figure


@figure
def queue() -> Drawing:
    """Two timed runs: what the host appends, and when the GPU gets there."""
    d = Drawing(196, "The host appends clearing, an event, a launch and an event; the GPU reaches them later, in order")
    d.text(12, 24, "the host appends", bold=True)
    d.text(12, 104, "the GPU", bold=True)
    for run in range(2):
        x, at = 12 + run * 168, 40 + run * 190
        for place, (name, fill) in enumerate((("clear", "faint"), ("start", "blue-soft"), ("launch", "orange-soft"))):
            d.label(x + place * 44, 34, 42, 26, name, fill, fill.removesuffix("-soft") if place else "ink", size=12)
        d.label(x + 132, 34, 30, 26, "end", "blue-soft", "blue", size=12)
        d.label(at, 116, 90, 30, "clearing", size=12)
        d.label(at + 94, 116, 92, 30, "kernel", "orange-soft", "orange", size=12)
        for begin, end in (((x + 65, 60), (at + 92, 112)), ((x + 147, 60), (at + 188, 112))):
            d.line(begin, end, color="blue", dashed=True)
        d.line((at + 92, 156), (at + 92, 162), (at + 188, 162), (at + 188, 156), color="blue")
        d.text(at + 140, 180, "the time of this run", "blue", 12, "middle")
    for x in (132, 228, 322, 418):
        d.dot(x, 131, "blue")
    d.label(350, 34, 82, 26, "synchronize", "paper", "muted", size=12, dashed=True)
    return d


@figure
def roof() -> Drawing:
    """The roofline of an H200."""
    bandwidth, peak = 4.8e12, 990e12
    d = Drawing(290, "Below 206 operations per byte, memory limits a kernel on an H200; above 206, arithmetic does")

    def at(intensity: float, rate: float) -> tuple[float, float]:
        return 60 + math.log10(intensity / 0.1) * 88, 240 - math.log10(rate / 1e11) * 48

    for power in range(-1, 4):
        x, _ = at(10.0**power, 1e11)
        d.line((x, 240), (x, 30), color="faint")
        d.text(x, 256, f"{10.0**power:g}", "muted", 12, "middle")
    for power, name in ((12, "1"), (13, "10"), (14, "100"), (15, "1000")):
        _, y = at(1, 10.0**power)
        d.line((60, y), (412, y), color="faint")
        d.text(54, y + 4, name, "muted", 12, "end")
    ridge = peak / bandwidth
    d.line(at(0.1, 0.1 * bandwidth), at(ridge, peak), at(1000, peak), color="orange", width=2.5)
    for intensity, name in ((0.17, "vector add"), (1.3, "softmax"), (340.0, "product")):
        x, y = at(intensity, min(intensity * bandwidth, peak))
        d.dot(x, y, "blue")
        d.text(x + 8, y + 20, name, "blue", 12)
    d.text(120, 100, "memory: 4.8 TB/s", "orange", 12, "middle")
    d.text(320, 34, "arithmetic: 990 TFLOP/s", "orange", 12, "middle")
    d.text(236, 278, "operations per byte", "muted", 12, "middle")
    d.text(16, 20, "TFLOP/s", "muted", 12)
    return d

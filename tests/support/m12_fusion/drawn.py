"""Random programs, as texts with their inputs. Operators take any earlier values.

A small change of an operand changes the result of each of these operators by little. `floor` and `>` are not drawn,
because they may turn a rounding error of an fp32 operand into a large difference.
"""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from tests.support.m12_fusion.compiling import normal

UNARY = (
    *("torch.sin({0})", "torch.tanh({0})", "torch.relu({0})", "-{0}", "{0}.abs()", "torch.sigmoid({0})", "{0} * 2"),
    *("torch.sqrt({0}.abs() + 1)", "0.5 - {0}", "{0}.to(torch.float64)", "{0}.clamp(-1, 2)"),
)
BINARY = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "torch.maximum({0}, {1})", "{0} / ({1}.abs() + 1)")
DTYPES = (torch.float32, torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16)
REDUCED = (
    *("{0}.sum({axis}{keep})", "{0}.mean({axis}{keep})", "{0}.amax({axis}{keep})", "{0}.amin({axis}{keep})"),
    *("torch.softmax({0}, {axis})", "{0}.var({axis}, correction=0{keep})", "{0}.sum()"),
    "torch.nn.functional.layer_norm({0}, {0}.shape[-1:])",
)
MOST = 3000
"""The largest number of a tensor's elements."""


class Drawing:
    """A growing program: its lines, and their values."""

    def __init__(self, draw: Any, sizes: tuple[int, ...], dtypes: tuple[torch.dtype, ...]) -> None:
        self.draw = draw
        self.inputs: dict[str, torch.Tensor] = {}
        self.values: dict[str, torch.Tensor] = {}
        self.lines: list[str] = []
        shape = draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=3).filter(lambda x: math.prod(x) <= MOST))
        for number in range(draw(st.integers(1, 3))):
            own = [size if draw(st.integers(0, 4)) else 1 for size in shape][
                draw(st.integers(0, 1)) * (len(shape) > 1) :
            ]
            x = normal(*own, dtype=draw(st.sampled_from(dtypes)), seed=number)
            if len(own) > 1 and draw(st.booleans()):
                x = x.transpose(0, -1).contiguous().transpose(0, -1)
            self.inputs[f"x{number}"] = self.values[f"x{number}"] = x

    def pick(self) -> str:
        """The name of a value; later values are more likely."""
        names = list(self.values)
        return self.draw(st.sampled_from(names[-4:] if self.draw(st.booleans()) else names))

    def add(self, expression: str) -> None:
        """Add a line if PyTorch accepts it, and if its results have few elements, none of which is large."""
        try:
            value = eval(expression, {"torch": torch}, self.values)
        except (RuntimeError, IndexError, TypeError):
            return
        if value.numel() > MOST or not value.numel() or not bool((value.abs() < 100).all()):
            return
        name = f"v{len(self.lines)}"
        self.values[name] = value
        self.lines.append(f"({name} := {expression})")

    def operator(self) -> None:
        if self.draw(st.booleans()):
            self.add(self.draw(st.sampled_from(UNARY)).format(self.pick()))
        else:
            self.add(self.draw(st.sampled_from(BINARY)).format(self.pick(), self.pick()))

    def axis_of(self, name: str) -> int:
        return self.draw(st.integers(-self.values[name].dim(), self.values[name].dim() - 1))

    def view(self) -> None:
        name = self.pick()
        x = self.values[name]
        if not x.dim():
            return
        axis, other = self.axis_of(name), self.axis_of(name)
        start, step = self.draw(st.integers(-2, 2)), self.draw(st.integers(1, 3))
        texts = [f"{name}.transpose({axis}, {other})", f"{name}.reshape(-1)", f"{name}.unsqueeze({axis})"]
        texts += [
            f"{name}[{start}::{step}]",
            f"{name}[..., {start}:]",
            f"{name}[..., ::{step}].transpose({axis}, {other})",
        ]
        texts += [f"{name}.reshape({x.numel() // x.shape[0]}, {x.shape[0]})", f"{name}.reshape({x.shape[-1]}, -1)"]
        texts += [f"{name}.permute({', '.join(map(str, self.draw(st.permutations(range(x.dim())))))})"]
        self.add(self.draw(st.sampled_from(texts)))

    def reduction(self) -> None:
        name = self.pick()
        if self.values[name].dim():
            keep = self.draw(st.sampled_from(["", ", keepdim=True"]))
            self.add(self.draw(st.sampled_from(REDUCED)).format(name, axis=self.axis_of(name), keep=keep))

    def product(self) -> None:
        self.add(f"({self.pick()} @ {self.pick()}.transpose(-1, -2)) / 4")

    def call(self) -> None:
        name = self.pick()
        if self.values[name].dim():
            self.add(f"torch.cumsum({name}, {self.axis_of(name)}) / {len(self.values)}")

    def program(self) -> tuple[str, dict[str, torch.Tensor]]:
        """The program's text: lines that bind names, one or two of which are results."""
        names = [f"v{number}" for number in range(len(self.lines))]
        if not names:
            self.add("torch.sin(x0)")
            names = ["v0"]
        results = sorted({names[-1], self.draw(st.sampled_from(names))})
        return f"[{', '.join(self.lines)}, ({', '.join(results)},)][-1]", self.inputs


def programs(steps: str, sizes: tuple[int, ...], dtypes: tuple[torch.dtype, ...] = DTYPES, most: int = 8) -> Any:
    """Programs whose lines are drawn from these methods of `Drawing`."""

    @st.composite
    def drawn(draw: Any) -> tuple[str, dict[str, torch.Tensor]]:
        drawing = Drawing(draw, sizes, dtypes)
        for _ in range(draw(st.integers(1, most))):
            getattr(drawing, draw(st.sampled_from(steps.split())))()
        return drawing.program()

    return drawn()


def pointwise_programs() -> Any:
    """Elementwise operators and views."""
    return programs("operator view", (1, 2, 3, 7, 12))


def programs_with_calls() -> Any:
    """Elementwise operators, views, and operators that PyTorch computes."""
    return programs("operator operator operator view call", (1, 3, 8), most=12)


def programs_with_reductions() -> Any:
    return programs("operator operator view reduction reduction", (1, 2, 5, 17, 33), most=9)


def programs_with_products() -> Any:
    return programs("operator operator view product call", (1, 4, 17, 33), (torch.float32,), most=10)

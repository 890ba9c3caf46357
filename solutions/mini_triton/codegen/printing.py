"""`tl.device_print`. (Given.)"""

from __future__ import annotations

from mini_triton.codegen.emission import Emission
from mini_triton.ir.core import Operation


class Printing(Emission):
    """Writes tt.print."""

    def tt_print(self, operation: Operation) -> None:
        attributes = operation.attributes
        values = [self.full(operand, self.mode != "plain") for operand in operation.operands]
        signed = tuple(bool(one) for one in (attributes.get("isSigned") or ()))  # type: ignore[union-attr]
        words = [repr(attributes["prefix"]), f"({', '.join(values)},)" if values else "()", repr(signed)]
        words += [repr(bool(attributes["hex"])), self.active or "None"]
        self.write(f"printing.show(programs, {', '.join(words)})")

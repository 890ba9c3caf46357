"""Programs delete each variable after its last use, so that its memory is free. (Given.)

Otherwise, a backward pass would hold all activations until all gradients are computed.

Source: `FreeIfNotReusedLine` in PyTorch's `torch/_inductor/codegen/wrapper.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def delete_after_last_use(steps: Sequence[str]) -> Iterator[str]:
    """The statements of a function, with `del` after the last one that names a variable. The last statement returns."""
    names = [[node for node in ast.walk(ast.parse(step)) if isinstance(node, ast.Name)] for step in steps]
    variables = {name.id for step in names for name in step if isinstance(name.ctx, ast.Store)}
    last = {name.id: number for number, step in enumerate(names) for name in step if name.id in variables}
    for number, step in enumerate(steps):
        yield step
        dead = [name for name in last if last[name] == number]
        if dead and number + 1 < len(steps):
            yield f"del {', '.join(dead)}"

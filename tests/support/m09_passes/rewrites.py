"""Modules before and after rules, side by side in a failure.

rewriting(function("%x: i32", '''
    %zero = arith.constant 0 : i32
    %sum = arith.addi %x, %zero : i32
    tt.return %sum : i32
'''), rules).gives(function("%x: i32", "tt.return %x : i32"))
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from mini_triton.errors import VerificationError
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify
from mini_triton.transforms.rewriting import Rule, rewrite

from tests.checks import described


def function(parameters: str, body: str, name: str = "f") -> str:
    """The text of a module with one function, whose results are those of its `tt.return`."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    returned = re.search(r"tt\.return (?:.*) : (.*)$", lines)
    results = f" -> ({returned[1]})" if returned else ""
    return f"module {{\n  tt.func private @{name}({parameters}){results} {{\n{lines}\n  }}\n}}\n"


def joined(texts: Iterable[str]) -> str:
    """One module with the functions of all these, each under a name `f0`, `f1`, ..."""
    functions = ["\n".join(text.splitlines()[1:-1]) for text in texts]
    renamed = [re.sub(r"@\w+", f"@f{number}", text, count=1) for number, text in enumerate(functions)]
    return "\n".join(["module {", *renamed, "}", ""])


def shown(module: Operation | str) -> str:
    """The text of a module whose values have numbers for names."""
    copy = parse_module(module if isinstance(module, str) else print_module(module))
    for operation in copy.walk():
        blocks = [block for region in operation.regions for block in region.blocks]
        for value in (*operation.results, *(argument for block in blocks for argument in block.arguments)):
            value.name = ""
    return print_module(copy)


def find(module: Operation, name: str) -> Operation:
    """The operation with this name, or whose first result has it."""
    return next(o for o in module.walk() if o.name == name or (o.results and o.results[0].name == name))


class rewriting(described):
    """The call of `rewrite` on a module, and what is asked of it. The module is verified after it."""

    def __init__(self, text: str, rules: Sequence[Rule]) -> None:
        self.text = text
        self.module: Module = parse_module(text)
        names = "\n".join(f"  {rule.name}" for rule in rules)
        shown_rules = f"with the rules\n{names}\n" if len(rules) < 9 else f"with {len(rules)} rules "
        super().__init__(f"Rewriting {shown_rules}of\n{text}", rewrite, self.module, rules)

    def shown(self, value: Any) -> str:
        return value if isinstance(value, str) else super().shown(value)

    def done(self) -> Module:
        """The module afterwards, which is right in itself."""
        __tracebackhide__ = True
        self.succeeds("a rewritten module")
        try:
            verify(self.module)
        except VerificationError as error:
            self.fail("a module that is well formed", error, f"it is now\n{print_module(self.module)}")
        return self.module

    def gives(self, expected: str, because: str = "") -> None:
        """It becomes this module, and whether anything has changed is said. A second time nothing happens."""
        __tracebackhide__ = True
        before = shown(self.module)
        changed = self.succeeds("True or False")
        if shown(self.module) != shown(expected):
            self.fail("\n" + shown(expected), "\n" + shown(self.module), because)
        if changed is not (before != shown(expected)):
            self.fail(str(before != shown(expected)), changed, "`rewrite` returns whether it has changed anything")
        self.settles()

    def settles(self) -> None:
        """If it is called again, nothing happens."""
        __tracebackhide__ = True
        again = self.succeeds("False")
        if again is not False:
            self.fail("False the second time", again, f"there was nothing left to do in\n{print_module(self.module)}")

"""Modules before and after rules.

rewriting(function("%x: i32", '''
    %zero = arith.constant 0 : i32
    %sum = arith.addi %x, %zero : i32
'''), rules).leaves_text(function("%x: i32", "tt.return %x : i32"))
"""

import re
import textwrap
from collections.abc import Iterable, Sequence

from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.rewriting import Rule, rewrite

from tests.support.m09_passes.passing import put


def function(parameters: str, body: str, name: str = "f") -> str:
    """The text of a module with one function. Without a `tt.return`, it returns the results of its last operation."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    if "tt.return" not in lines:
        (made,) = parse_module(function(parameters, f"{lines}\ntt.return")).body.operations
        results = made.regions[0].block.operations[-2].results
        names, types = (", ".join(words) for words in zip(*((f"%{r.name}", str(r.type)) for r in results), strict=True))
        lines += f"\n    tt.return {names} : {types}"
    returned = re.search(r"tt\.return (?:.*) : (.*)$", lines)
    signature = f"({parameters}) -> ({returned[1]})" if returned else f"({parameters})"
    return f"module {{\n  tt.func private @{name}{signature} {{\n{lines}\n  }}\n}}\n"


def joined(texts: Iterable[str]) -> str:
    """One module with the functions of all these modules, named `f0`, `f1`, ..."""
    functions = ["\n".join(text.splitlines()[1:-1]) for text in texts]
    renamed = [re.sub(r"@\w+", f"@f{number}", text, count=1) for number, text in enumerate(functions)]
    return "\n".join(["module {", *renamed, "}", ""])


def find(module: Operation, name: str) -> Operation:
    """The operation with this name, or with a first result of this name."""
    return next(o for o in module.walk() if o.name == name or (o.results and o.results[0].name == name))


def rewriting(text: str, rules: Sequence[Rule]) -> put:
    """The call that applies these rules to the module in a text, as a pass."""

    def apply(module: Operation) -> bool:
        return rewrite(module, rules)

    names = "; ".join(rule.name for rule in rules) if len(rules) < 9 else f"{len(rules)} of them"
    apply.__name__ = f"With the rules {names}: rewrite"
    return put(apply, text)

"""Passes: each keeps a kernel's results, and leaves at most as many operations as the reference's pass."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.kernels import draw
from tests.capstones.running import COMPILE, INTERPRET

_PASSES = {
    "9.1": "Rewriter(by_root([rule('arith.addi(x, 0)', 'x'), rule('arith.muli(x, 1)', 'x'), rule('arith.muli(x, x)', 'arith.addi(x, x)')"
    ", rule('arith.addi(x, C)', 'arith.subi(x, C)', lambda x, C: False)])).rewrite",
    "9.2": "Rewriter(by_root(FOLDING)).rewrite",
    "9.3": "Rewriter(by_root((*FOLDING, *peepholes()))).rewrite",
    "9.4": "merge_equal",
    "9.5": "eliminate_dead_code",
    "9.6": "hoist_invariants",
    "9.9": "lambda module: [simplify_control_flow(module), predicate_branches(module)]",
}
_IMPORTS = """
from mini_triton.transforms.control_flow import simplify_control_flow
from mini_triton.transforms.cse import merge_equal
from mini_triton.transforms.dce import eliminate_dead_code
from mini_triton.transforms.folding import FOLDING
from mini_triton.transforms.licm import hoist_invariants
from mini_triton.transforms.peepholes import peepholes
from mini_triton.transforms.predication import predicate_branches
from mini_triton.transforms.rewriting import Rewriter, by_root, rule
"""
_CALLS = """
module {
  tt.func private @inner(%v: i32, %n: i32) -> i32 attributes {noinline = false} {
    %a = arith.muli %v, %n : i32
    %b = arith.addi %a, %v : i32
    tt.return %b : i32
  }
  tt.func private @outer(%v: i32, %n: i32) -> (i32, i32) attributes {noinline = false} {
    %k = arith.constant NUMBER : i32
    %m = arith.cmpi sgt, %n, %k : i32
    %c = scf.if %m -> (i32) {
      %d = tt.call @inner(%v, %k) : (i32, i32) -> i32
      scf.yield %d : i32
    } else {
      scf.yield %n : i32
    }
    %e = tt.call @inner(%c, %n) : (i32, i32) -> i32
    tt.return %e, %c : i32, i32
  }
  tt.func public @kernel(%x: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %z = arith.constant 0 : i32
    %o = arith.constant 1 : i32
    %r = scf.for %i = %z to %n step %o iter_args(%t = %n) -> (i32) : i32 {
      %p:2 = tt.call @outer(%t, %i) : (i32, i32) -> (i32, i32)
      %s = arith.addi %p#0, %p#1 : i32
      scf.yield %s : i32
    }
    %q = tt.call @inner(%r, %n) : (i32, i32) -> i32
    tt.store %x, %q : !tt.ptr<i32>
    tt.return
  }
}
"""
_COUNT = """
from collections import Counter
def loops_around(operation):
    around = operation.parent_op
    return 0 if around is None else (around.name in ("scf.for", "scf.while")) + loops_around(around)
operations = [o for o in parse_module(given).walk() if o.name != "arith.constant"]
result.append(dict(Counter(f"in {loops_around(operation)} loops" for operation in operations)))
"""


def questions(random: Random) -> Iterator[Question]:
    seed = random.randrange(1 << 20)
    kernels = [kernel for kernel in draw(random) if kernel.feature not in ("simple", "exact")]
    k = [random.randrange(2, 9) for _ in range(6)]
    loop = (
        "@triton.jit\ndef kernel(x, out, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    a = 0\n"
        f"    b = n * {k[0]}\n    for j in range(0, n):\n        a += b * {k[1]} + (n + {k[2]}) * (n + {k[2]})\n        b = b + 0\n"
        f"        unused = a * {k[3]}\n    if {k[4]} > 3:\n        a = a + n * n\n    t = a\n    if n > {k[5]}:\n        t = a + 1\n"
        f"    for j in range(0, 1):\n        t = t * 2 + j\n    tl.store(out + i, tl.load(x + i) + t + (a * {k[0]} + a * {k[0]}))\n"
    )
    cases = [(kernel.text, kernel.signature, kernel.constants, kernel.given, kernel.grid) for kernel in kernels]
    cases.append((loop, {"x": "*i32", "out": "*i32", "n": "i32", "B": "constexpr"}, {"B": 16}, {"n": k[0] + 3}, (1,)))
    calling = [case for case in cases if case[0].count("def ") > 1]
    for task, text in _PASSES.items():
        chosen = [*random.sample(cases[:-1], 4), *calling, cases[-1]]
        for case in [case for case in chosen if task != "9.9" or case not in calling]:  # 9.9 needs no inlining
            yield ask(
                task,
                "a kernel after a pass",
                COMPILE
                + _IMPORTS
                + f"\nmodule = built({case[0]!r}, {case[1]!r}, {case[2]!r})\n"
                + f"({text})(module)\nresult = print_module(module)",
                INTERPRET
                + f"\nresult = interpreted(given, {case[4]!r}, arguments({seed}, {case[1]!r}, {case[3]!r}))"
                + _COUNT,
            )
    signature, number = {"x": "*i32", "n": "i32"}, random.randrange(2, 9)
    yield ask(
        "9.7",
        "calls in a loop and in functions",
        """
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.printer import print_module
        from mini_triton.transforms.inlining import inline_calls
        module = parse_module(TEXT)
        inline_calls(module)
        result = print_module(module)
        """,
        INTERPRET
        + f"\nresult = interpreted(given, (1, 1, 1), arguments({seed}, {signature}, {{'n': {number + 2}}}))"
        + _COUNT,
        TEXT=_CALLS.replace("NUMBER", str(number)),
    )
    facts = (
        "@triton.jit\ndef kernel(x, out, n, B: tl.constexpr):\n    p = tl.program_id(0)\n"
        f"    i = p * {2 ** k[0]} + tl.arange(0, B)\n    r = i // {2 ** (k[1] % 5)}\n    c = i % {2 ** (k[2] % 5)}\n"
        f"    d = i[:, None] * {4 * k[3]} + tl.arange(0, {2 ** (k[4] % 4 + 1)})[None, :]\n    m = i < {16 * k[5]}\n"
        "    tl.store(out + i, tl.load(x + r, mask=m) + tl.load(x + c))\n    tl.store(out + d, tl.load(x + d))\n"
    )
    yield ask(
        "9.8",
        "the facts of axis analysis",
        COMPILE
        + """
from mini_triton.analysis.axis_info import AxisAnalysis
module = built(TEXT, {"x": "*fp32", "out": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 64})
analysis = AxisAnalysis(module)
result = []
for operation in module.walk():
    if operation.name in ("tt.load", "tt.store"):
        result.append([[list(fact[:3]) for fact in analysis[v]] for v in operation.operands if "f32" not in str(v.type) or "ptr" in str(v.type)])
""",
        TEXT=facts,
    )
    through = (
        "@triton.jit\ndef kernel(x, out, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    at = x + i\n    j = 0\n"
        f"    for k in range(0, n):\n        tl.store(out + i, tl.load(at, mask=i < {2 ** (k[0] % 6)}))\n"
        f"        at += {2 ** (k[1] % 5)}\n        j += {k[2]}\n    if n > 3:\n        i += {2 ** (k[3] % 4)}\n"
        f"    else:\n        i += {k[4]}\n    while j > {k[5]}:\n        j -= 4\n        tl.store(out + i + j, 1.0)\n"
    )
    yield ask(
        "9.10",
        "how wide accesses are",
        COMPILE
        + """
from mini_triton.transforms.coalescing import accesses
from mini_triton.frontend.compiler import ast_to_ttir
result = []
for text in TEXTS:
    for divisible in ((), ("x", "out", "n")):
        kernel = load(HEADER + text)["kernel"]
        signature = {"x": "*fp32", "out": "*fp16", "n": "i32", "B": "constexpr"}
        module = ast_to_ttir(kernel, signature=signature, constexprs={"B": 512}, divisible=divisible)
        result.append([[a.operation.name, a.axis, a.bytes, list(a.limits)] for a in accesses(module)])
""",
        TEXTS=[facts, through],
    )

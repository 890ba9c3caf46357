"""Kernels with atomic operations, and with loops that wait for other programs, as TTIR text."""

from __future__ import annotations

from tests.support.m06_codegen.kernels import kernel

EIGHT = "(tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>"
FOUR = EIGHT.replace("8", "4")
ALL = "atomic_rmw {}, acq_rel, gpu, {}, {}, %true : (!tt.ptr<i32>, i32, i1) -> i32"
COUNT = kernel(
    "%counter: !tt.ptr<i32>, %out: !tt.ptr<i32>, %step: i32",
    f"""
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %old = tt.{ALL.format("add", "%counter", "%step")}
    %at = tt.addptr %out, %pid : !tt.ptr<i32>, i32
    tt.store %at, %old : !tt.ptr<i32>
    """,
)
UNUSED = kernel(
    "%counter: !tt.ptr<i32>, %step: i32",
    f"""
    %true = arith.constant true
    %old = tt.{ALL.format("add", "%counter", "%step")}
    """,
)
TURNS = kernel(
    "%counter: !tt.ptr<i32>, %out: !tt.ptr<i32>, %step: i32",
    """
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %next = arith.addi %pid, %c1 : i32
    %old = tt.atomic_cas acq_rel, gpu, %counter, %pid, %next : (!tt.ptr<i32>, i32, i32) -> i32
    %at = tt.addptr %out, %pid : !tt.ptr<i32>, i32
    tt.store %at, %old : !tt.ptr<i32>
    """,
)
HISTOGRAM = kernel(
    "%x: !tt.ptr<i32>, %bins: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32",
    f"""
    %size = arith.constant 8 : i32
    %ones = arith.constant dense<1> : tensor<8xi32>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size : i32
    %lanes = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %starts = tt.splat %start : i32 -> tensor<8xi32>
    %at = arith.addi %starts, %lanes : tensor<8xi32>
    %limit = tt.splat %n : i32 -> tensor<8xi32>
    %mask = arith.cmpi slt, %at, %limit : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %px = tt.addptr %xs, %at : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %bin = tt.load %px, %mask : tensor<8x!tt.ptr<i32>>
    %all = tt.splat %bins : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %pb = tt.addptr %all, %bin : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %old = tt.atomic_rmw add, acq_rel, gpu, %pb, %ones, %mask : {EIGHT}
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %po = tt.addptr %outs, %at : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %po, %old, %mask : tensor<8x!tt.ptr<i32>>
    """,
)
ALIKE = kernel(
    "%x: !tt.ptr<i32>",
    f"""
    %ones = arith.constant dense<3> : tensor<4xi32>
    %true = arith.constant dense<true> : tensor<4xi1>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %old = tt.atomic_rmw add, acq_rel, gpu, %xs, %ones, %true : {FOUR}
    """,
)
ALIKE_READ = kernel(
    "%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32",
    f"""
    %size = arith.constant 4 : i32
    %true = arith.constant dense<true> : tensor<4xi1>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %ns = tt.splat %n : i32 -> tensor<4xi32>
    %old = tt.atomic_rmw add, acq_rel, gpu, %xs, %ns, %true : {FOUR}
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size : i32
    %p = tt.addptr %out, %start : !tt.ptr<i32>, i32
    %lanes = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %at = tt.addptr %ps, %lanes : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    tt.store %at, %old : tensor<4x!tt.ptr<i32>>
    """,
)
LOCK = kernel(
    "%lock: !tt.ptr<i32>, %total: !tt.ptr<i32>, %n: i32",
    f"""
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    scf.while : () -> () {{
      %old = tt.atomic_cas acq_rel, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
      %taken = arith.cmpi eq, %old, %c1 : i32
      scf.condition(%taken)
    }} do {{
      scf.yield
    }}
    %sum = tt.load %total : !tt.ptr<i32>
    %three = arith.muli %sum, %n : i32
    %next = arith.addi %three, %c1 : i32
    tt.store %total, %next : !tt.ptr<i32>
    %free = tt.{ALL.format("exch", "%lock", "%c0")}
    """,
)

READS = {
    "a load": "%y = tt.load %x : !tt.ptr<i32>",
    "an exchange": f"%true = arith.constant true\n%y = tt.{ALL.format('exch', '%x', '%n')}",
    "a swap": "%y = tt.atomic_cas acq_rel, gpu, %x, %n, %c0 : (!tt.ptr<i32>, i32, i32) -> i32",
    "a load in a branch": """
        %p = arith.cmpi sgt, %n, %c0 : i32
        %y = scf.if %p -> (i32) {
          %z = tt.load %x : !tt.ptr<i32>
          scf.yield %z : i32
        } else {
          scf.yield %c0 : i32
        }
    """,
}
PLACES = {"alone": ("", ""), "in a loop": ("scf.for %j = %c0 to %n step %c1 : i32 {", "}")}
PLACES["in a branch"] = ("%some = arith.cmpi sgt, %n, %c1 : i32\nscf.if %some {", "}")


def loop(condition: str, body: str, before: str = "", after: str = "", following: str = "%next") -> str:
    """A while loop that counts to %y; or whose body hands on another value."""
    begin = "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
    head = f"%r = scf.while (%i = %c0) : (i32) -> i32 {{\n{condition}\n%more = arith.cmpi slt, %i, %y : i32\n"
    tail = f"%next = arith.addi %k, %c1 : i32\nscf.yield {following} : i32\n}}"
    text = f"{head}scf.condition(%more) %i : i32\n}} do {{\n^bb0(%k: i32):\n{body}\n{tail}"
    return kernel("%x: !tt.ptr<i32>, %u: !tt.ptr<i32>, %a: i64, %n: i32", f"{begin}{before}\n{text}\n{after}")


RING = kernel(
    "%flags: !tt.ptr<i32>, %out: !tt.ptr<i32>",
    f"""
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %mine = tt.addptr %flags, %pid : !tt.ptr<i32>, i32
    %r = scf.while (%i = %c0) : (i32) -> i32 {{
      %flag = tt.load %mine : !tt.ptr<i32>
      %empty = arith.cmpi eq, %flag, %c0 : i32
      scf.condition(%empty) %flag : i32
    }} do {{
    ^bb0(%k: i32):
      scf.yield %k : i32
    }}
    %next = tt.addptr %mine, %c1 : !tt.ptr<i32>, i32
    %more = arith.addi %r, %r : i32
    %old = tt.{ALL.format("or", "%next", "%more")}
    %at = tt.addptr %out, %pid : !tt.ptr<i32>, i32
    tt.store %at, %r : !tt.ptr<i32>
    """,
)

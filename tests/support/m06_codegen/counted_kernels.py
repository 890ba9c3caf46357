"""Kernels whose programs have a number each, `%n`, read from memory; and longer ones of them.

judge_body("%double = arith.addi %n, %n : i32" + store("%double"), [4, 0, 2], "each doubles its own")
"""

from __future__ import annotations

import numpy as np

from tests.support.m06_codegen.kernels import judge, kernel

PARAMETERS = "%counts: !tt.ptr<i32>, %x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %k: i32"
BEGIN = """
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%c2 = arith.constant 2 : i32
%c3 = arith.constant 3 : i32
%pid = tt.get_program_id x : i32
%at_n = tt.addptr %counts, %pid : !tt.ptr<i32>, i32
%n = tt.load %at_n : !tt.ptr<i32>
%at_out = tt.addptr %out, %pid : !tt.ptr<i32>, i32
"""


def store(value: str, at: str = "%at_out") -> str:
    """`value` becomes the program's element of `%out`."""
    return f"tt.store {at}, {value} : !tt.ptr<i32>\n"


def number(values: int | list[int]) -> np.ndarray:
    return np.array(values, np.int32)


def judge_body(
    body: str, counts: list[int], because: str, x: list[int] | None = None, out: int = 32, k: int = 3
) -> None:
    """Each program has its own number, `%n`. It writes into `%out`."""
    __tracebackhide__ = True
    arguments = [number(counts), number(x or [5, -3, 8, 1]), np.full(out, -7, np.int32), k]
    judge(kernel(PARAMETERS, BEGIN + body), (len(counts),), arguments, because=because)


TENSORS_CARRIED = """
    %lanes = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %zeros = arith.constant dense<0> : tensor<4xi32>
    %fours = arith.constant dense<4> : tensor<4xi32>
    %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zeros, %b = %lanes) -> (tensor<4xi32>, tensor<4xi32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<4xi32>
      %sum = arith.addi %a, %b : tensor<4xi32>
      %moved = arith.addi %is, %b : tensor<4xi32>
      scf.yield %sum, %moved : tensor<4xi32>, tensor<4xi32>
    }
    %place = tt.splat %pid : i32 -> tensor<4xi32>
    %row = arith.muli %place, %fours : tensor<4xi32>
    %at = arith.addi %row, %lanes : tensor<4xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %p = tt.addptr %outs, %at : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %result = arith.addi %t#0, %t#1 : tensor<4xi32>
    tt.store %p, %result : tensor<4x!tt.ptr<i32>>
"""

MASKED = """
    %lanes = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %fours = arith.constant dense<4> : tensor<4xi32>
    %place = tt.splat %pid : i32 -> tensor<4xi32>
    %row = arith.muli %place, %fours : tensor<4xi32>
    %at = arith.addi %row, %lanes : tensor<4xi32>
    %limit = tt.splat %n : i32 -> tensor<4xi32>
    %mask = arith.cmpi slt, %lanes, %limit : tensor<4xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %inside = arith.cmpi slt, %pid, %k : i32
    scf.if %inside {
      %p = tt.addptr %xs, %at : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
      %y = tt.load %p, %mask, %place : tensor<4x!tt.ptr<i32>>
      %q = tt.addptr %outs, %at : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
      tt.store %q, %y : tensor<4x!tt.ptr<i32>>
    }
"""

TENSORS_CHOSEN = """
    %lanes = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %ones = arith.constant dense<1> : tensor<4xi32>
    %row = arith.addi %n, %n : i32
    %place = tt.addptr %out, %row : !tt.ptr<i32>, i32
    %some = arith.cmpi sgt, %n, %c2 : i32
    %y:2 = scf.if %some -> (tensor<4xi32>, !tt.ptr<i32>) {
      %far = tt.addptr %place, %n : !tt.ptr<i32>, i32
      scf.yield %lanes, %far : tensor<4xi32>, !tt.ptr<i32>
    } else {
      scf.yield %ones, %place : tensor<4xi32>, !tt.ptr<i32>
    }
    %starts = tt.splat %y#1 : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %p = tt.addptr %starts, %lanes : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    tt.store %p, %y#0 : tensor<4x!tt.ptr<i32>>
"""

LOOPS_IN_LOOPS = """
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %inner = scf.for %j = %i to %k step %c1 iter_args(%t = %s) -> (i32) : i32 {
        %most = scf.for %m = %c0 to %j step %c1 iter_args(%u = %t) -> (i32) : i32 {
          %next = arith.addi %u, %m : i32
          scf.yield %next : i32
        }
        %more = arith.addi %most, %c1 : i32
        scf.yield %more : i32
      }
      scf.yield %inner : i32
    }
    %last = arith.addi %sum, %k : i32
"""

INNER_STORES = """
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %j = %c0 to %n step %c1 : i32 {
        tt.store %at_out, %i : !tt.ptr<i32>
      }
    }
"""

DIVIDED = """
    %r:3 = scf.while (%a = %n, %count = %c0) : (i32, i32) -> (i32, i32, i32) {
      %left = arith.subi %a, %c3 : i32
      %more = arith.cmpi sge, %left, %c0 : i32
      scf.condition(%more) %left, %count, %a : i32, i32, i32
    } do {
    ^bb0(%b: i32, %c: i32, %d: i32):
      tt.store %at_out, %d : !tt.ptr<i32>
      %next = arith.addi %c, %c1 : i32
      scf.yield %b, %next : i32, i32
    }
    %ten = arith.constant 10 : i32
    %tens = arith.muli %r#1, %ten : i32
    %both = arith.addi %tens, %r#2 : i32
    %sum = arith.addi %both, %r#0 : i32
    %there = arith.addi %ten, %ten : i32
    %p = tt.addptr %at_out, %there : !tt.ptr<i32>, i32
"""

GUARDED_WHILE = """
    %some = arith.cmpi sgt, %n, %c0 : i32
    scf.if %some {
      %r = scf.while (%i = %n) : (i32) -> i32 {
        %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
        %y = tt.load %p : !tt.ptr<i32>
        %more = arith.cmpi ne, %y, %k : i32
        scf.condition(%more) %i : i32
      } do {
      ^bb0(%j: i32):
        %next = arith.addi %j, %c1 : i32
        scf.yield %next : i32
      }
      tt.store %at_out, %r : !tt.ptr<i32>
    }
"""

BRANCH_IN_BRANCH = """
    %some = arith.cmpi sgt, %n, %c1 : i32
    scf.if %some {
      %late = arith.cmpi sgt, %pid, %c1 : i32
      scf.if %late {
        tt.store %at_out, %pid : !tt.ptr<i32>
      } else {
        tt.store %at_out, %n : !tt.ptr<i32>
      }
    }
"""

LOOP_IN_BRANCH = """
    %some = arith.cmpi sgt, %n, %c1 : i32
    scf.if %some {
      scf.for %i = %c0 to %n step %c1 : i32 {
        tt.store %at_out, %i : !tt.ptr<i32>
      }
    }
"""

ALL_IN_ONE_PLACE = {
    "a value": "%is = arith.cmpi eq, %n, %c2 : i32\nscf.if %is {\ntt.store %out, %pid : !tt.ptr<i32>\n}",
    "a mask": """
        %is = arith.cmpi eq, %n, %c2 : i32
        scf.if %is {
          %late = arith.cmpi sgt, %pid, %c1 : i32
          tt.store %out, %k, %late : !tt.ptr<i32>
        }
    """,
    "nothing": """
        %is = arith.cmpi eq, %n, %c2 : i32
        scf.if %is {
          %no = arith.cmpi slt, %k, %c0 : i32
          tt.store %out, %k, %no : !tt.ptr<i32>
        }
    """,
}

SEARCH = """
    %r:2 = scf.while (%i = %n) : (i32) -> (i32, i32) {
      %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
      %y = tt.load %p : !tt.ptr<i32>
      %more = arith.cmpi slt, %y, %k : i32
      scf.condition(%more) %i, %y : i32, i32
    } do {
    ^bb0(%j: i32, %z: i32):
      %next = arith.addi %j, %c1 : i32
      scf.yield %next : i32
    }
    %ten = arith.constant 10 : i32
    %tens = arith.muli %r#0, %ten : i32
    %both = arith.addi %tens, %r#1 : i32
"""

WRAPPING = """
    %at_step = tt.addptr %x, %pid : !tt.ptr<i32>, i32
    %step = tt.load %at_step : !tt.ptr<i32>
    %long = arith.constant 4294967296 : i64
    %n_ = arith.extsi %n : i32 to i64
    %step_ = arith.extsi %step : i32 to i64
    %long_n = arith.muli %n_, %long : i64
    %long_step = arith.muli %step_, %long : i64
    %none = arith.constant 0 : i64
    %most = arith.constant 2147483647 : i32
    %seven = arith.constant 7 : i32
    %less = arith.subi %most, %seven : i32
    %near = arith.addi %less, %pid : i32
    %rounds = scf.for {} iter_args(%count = %c0) -> (i32) : {} {{
      %p = tt.addptr %out, %count : !tt.ptr<i32>, i32
      tt.store %p, %c3 : !tt.ptr<i32>
      %next = arith.addi %count, %c1 : i32
      scf.yield %next : i32
    }}
    %hundred = arith.constant 100 : i32
    %behind = arith.addi %pid, %hundred : i32
    %result = tt.addptr %out, %behind : !tt.ptr<i32>, i32
"""
